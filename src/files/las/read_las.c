// Points and their fields out of LAS.
#include "base/assert.h"
#include "device/memory.h"
#include "files/las/las.h"
#include <float.h>
#include <string.h>

// A file as it is read.
typedef struct las_reading {
    const sap_source* source;
    const sap_source* behind; // where the records behind the points are: what LASzip unpacks has none
    sap_las_header header;
    sap_las_items items;
    int64_t first; // row that is wanted
    int32_t dims;
    const sap_las_item* axes[SAP_MAX_DIMS];
} las_reading;

static double real_of(const sap_las_item* item, const unsigned char* record) {
    const unsigned char* at = record + item->offset;
    if (item->bits) return *at >> item->shift & ((1 << item->bits) - 1);
    double value;
    if (item->cell.kind == 'i' && item->cell.bytes == 4)
        value = (int32_t)(uint32_t)sap_las_load(at, 4);
    else
        value = sap_cell_double(at, item->cell);
    return item->scaled ? value * item->scale + item->move : value;
}

// The coordinates: x, y and z, or those chosen.
static sap_status choose_axes(las_reading* r) {
    const sap_las_items* items = &r->items;
    const int32_t chosen = sap_chosen_count(r->source);
    r->dims = chosen ? chosen : 3;
    for (int64_t i = 0; i < items->count; i++) {
        const char* name = items->list[i].name;
        const int32_t axis = chosen  ? sap_chosen_axis(r->source, (sap_span){name, name + strlen(name)}, i + 1)
                             : i < 3 ? (int32_t)i
                                     : -1;
        if (axis >= 0 && !r->axes[axis]) r->axes[axis] = &items->list[i];
    }
    for (int32_t axis = 0; axis < chosen; axis++)
        if (!r->axes[axis]) return sap_chosen_missing(r->source, axis, (sap_span){NULL, NULL});
    return SAP_OK;
}

// Whether the coordinates are x, y and z.
static bool is_usual(const las_reading* r) {
    bool usual = r->dims == 3;
    for (int axis = 0; axis < 3 && usual; axis++) usual = r->axes[axis] == &r->items.list[axis];
    return usual;
}

static bool is_axis(const las_reading* r, const sap_las_item* item) {
    for (int32_t axis = 0; axis < r->dims; axis++)
        if (r->axes[axis] == item) return true;
    return false;
}

static const unsigned char* record_at(const las_reading* r, int64_t row) {
    return r->source->bytes + r->header.points_at + (size_t)(r->first + row) * r->header.record_size;
}

static sap_status take_points(const las_reading* r, sap_point_set** made) {
    sap_sink sink;
    sap_status status = sap_point_set_make(r->source, r->header.count, r->dims, false, made, &sink);
    for (int64_t row = 0; status == SAP_OK && row < r->header.count; row++) {
        const unsigned char* record = record_at(r, row);
        for (int32_t axis = 0; axis < r->dims; axis++) {
            const double value = real_of(r->axes[axis], record);
            const int64_t index = row * r->dims + axis;
            if (sink.coords_f64)
                sink.coords_f64[index] = value;
            else
                sink.coords[index] = (float)value;
            if (sink.coords && isfinite(value) && !isfinite(sink.coords[index]))
                return sap_bad_byte(r->source, SAP_ERROR_RANGE, record + r->axes[axis]->offset - r->source->bytes,
                                    "%g is beyond the range of a float; points can be read as double", value);
        }
    }
    return status;
}

// The columns that are plain numbers are taken as they lie there; bits and scaled ones are computed.
static sap_status take_fields(const las_reading* r, sap_point_set* set) {
    sap_field_drafts drafts = {NULL, 0, 0};
    sap_status status = SAP_OK;
    for (int64_t i = 0; i < r->items.count && status == SAP_OK; i++) {
        const sap_las_item* item = &r->items.list[i];
        const sap_field_draft draft = {.name = {item->name, item->name + strlen(item->name)},
                                       .part = -1,
                                       .number = i + 1,
                                       .column = {NULL, 0, sap_field_cell(sap_las_item_type(item))}};
        if (!is_axis(r, item)) status = sap_field_drafts_add(r->source, &drafts, &draft);
    }
    if (status == SAP_OK) status = sap_fields_make(r->source, &drafts, set);
    sap_field_drafts_release(r->source, &drafts);
    if (status != SAP_OK) return status;
    const sap_field* field = set->fields;
    for (int64_t i = 0; i < r->items.count; i++) {
        const sap_las_item* item = &r->items.list[i];
        if (is_axis(r, item)) continue;
        unsigned char* values = (unsigned char*)(uintptr_t)field->values;
        const size_t bytes = sap_field_bytes(field->type);
        const bool big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
        for (int64_t row = 0; row < set->count; row++) {
            const unsigned char* at = record_at(r, row) + item->offset;
            if (item->scaled)
                ((double*)(void*)values)[row] = real_of(item, record_at(r, row));
            else if (item->bits)
                values[row] = (unsigned char)(*at >> item->shift & ((1 << item->bits) - 1));
            else
                for (size_t b = 0; b < bytes; b++) values[(size_t)row * bytes + b] = at[big ? bytes - 1 - b : b];
        }
        field++;
    }
    SAP_ASSERT(field - set->fields == set->field_count);
    return SAP_OK;
}

// The file without its points: the header, with what names a place or a number of points made to fit, the records ahead
// of the points and those behind.
static sap_status keep_rest(const las_reading* r, sap_point_set* set) {
    const sap_las_header* h = &r->header;
    const unsigned char* bytes = r->source->bytes;
    const size_t late = h->late_end - h->late_at, size = h->points_at + late;
    enum { WAVES_WITHIN = 2, COUNTS = 6 * 4, WIDE_COUNTS = 16 * 8 };
    sap_status status = sap_fields_keep_las(r->source, bytes, h->points_at, late, set);
    if (status != SAP_OK) return status;
    unsigned char* copy = (unsigned char*)(uintptr_t)set->las;
    if (late) memcpy(copy + h->points_at, r->behind->bytes + h->late_at, late);
    SAP_ASSERT(set->las_size == size);
    copy[SAP_LAS_FORMAT] = (unsigned char)h->format;
    memset(copy + SAP_LAS_COUNT, 0, COUNTS);
    if (h->minor >= 4) {
        memset(copy + SAP_LAS_COUNT_64, 0, WIDE_COUNTS);
        sap_las_store(copy + SAP_LAS_LATE_AT, late ? h->points_at : 0, 8);
        sap_las_store(copy + SAP_LAS_LATE_RECORDS, h->late_records, 4);
    }
    if (h->minor >= 3 && (copy[SAP_LAS_ENCODING] & WAVES_WITHIN)) {
        const bool kept = h->waves_at >= h->late_at && h->waves_at < h->late_end;
        sap_las_store(copy + SAP_LAS_WAVES_AT, kept ? h->waves_at - h->late_at + h->points_at : 0, 8);
        if (!kept) copy[SAP_LAS_ENCODING] &= (unsigned char)~WAVES_WITHIN;
        if (!kept && h->waves_at)
            return sap_bad_byte(r->source, SAP_OK, -1,
                                "the samples of waveforms within the file are left out; what points say of them is "
                                "kept");
    }
    return SAP_OK;
}

// `whole` is the file, whose header has been read, and `source` that, or what LASzip made of it.
static sap_status read_plain(const sap_source* source, const sap_source* whole, const sap_las_header* header,
                             sap_point_set** made) {
    las_reading r = {.source = source, .behind = whole};
    sap_status status = sap_las_header_read(source, &r.header);
    if (status == SAP_OK && r.header.packed)
        status = sap_bad_byte(source, SAP_ERROR_FORMAT, SAP_LAS_FORMAT, "what LASzip unpacked is packed itself");
    r.header.late_at = header->late_at;
    r.header.late_end = header->late_end;
    r.header.late_records = header->late_records;
    if (status == SAP_OK) r.header.count = sap_part_take(source, r.header.count, &r.first);
    if (status == SAP_OK) status = sap_las_items_of_format(source, &r.header, &r.items);
    if (status == SAP_OK) status = sap_las_items_extra(source, &r.header, true, &r.items);
    if (status == SAP_OK) status = choose_axes(&r);
    if (status == SAP_OK) status = take_points(&r, made);
    if (status == SAP_OK && source->with_fields) status = take_fields(&r, *made);
    if (status == SAP_OK && source->with_fields && is_usual(&r)) status = keep_rest(&r, *made);
    sap_las_items_release(source, &r.items);
    return status;
}

sap_status sap_read_las(const sap_source* source, sap_point_set** set) {
    sap_las_header header;
    sap_point_set* made = NULL;
    sap_file_bytes unpacked = {NULL, 0, 0};
    sap_source plain = *source;
    sap_status status = sap_las_header_read(source, &header);
    if (status == SAP_OK && header.packed) status = sap_part_refuse(source, "LAZ");
    if (status == SAP_OK && header.packed) {
        status = sap_laszip_unpack(source, &header, &unpacked);
        plain.bytes = unpacked.memory;
        plain.size = unpacked.size;
        if (status == SAP_OK && header.minor >= 4 && unpacked.size >= SAP_LAS_HEADER_14)
            memset((unsigned char*)unpacked.memory + SAP_LAS_LATE_RECORDS, 0, 4);
    }
    if (status == SAP_OK) status = read_plain(&plain, source, &header, &made);
    sap_file_release(source->device, &unpacked);
    if (status == SAP_OK)
        *set = made;
    else
        sap_point_set_free(made);
    return status;
}
