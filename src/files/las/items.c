// Which numbers the record of a point holds, by its format and by what describes its extra bytes.
#include "base/assert.h"
#include "device/memory.h"
#include "files/las/las.h"
#include <stdio.h>
#include <string.h>

enum { WAVE = 29, COLORS = 6, TIME = 8 };

size_t sap_las_format_size(int format) {
    static const uint8_t sizes[SAP_LAS_LAST_FORMAT + 1] = {20, 28, 26, 34, 57, 63, 30, 36, 38, 59, 67};
    SAP_ASSERT(format >= 0 && format <= SAP_LAS_LAST_FORMAT);
    return sizes[format];
}

sap_status sap_las_items_add(const sap_source* source, sap_las_items* items, const sap_las_item* item) {
    enum { LEAST = 32, MOST = SAP_MOST_FIELDS + 3 };
    if (items->count == MOST)
        return sap_bad_byte(source, SAP_ERROR_UNSUPPORTED, -1, "points have more than %d fields; leave some out",
                            SAP_MOST_FIELDS);
    const size_t used = (size_t)items->count * sizeof *item;
    if (used == items->allocated) {
        const size_t bytes = used ? 2 * used : LEAST * sizeof *item;
        sap_las_item* list = sap_memory_allocate(source->device, bytes);
        if (!list) return sap_bad_byte(source, SAP_ERROR_MEMORY, -1, "no memory for the list of fields");
        if (used) memcpy(list, items->list, used);
        sap_memory_release(source->device, items->list, items->allocated);
        items->list = list;
        items->allocated = bytes;
    }
    items->list[items->count++] = *item;
    return SAP_OK;
}

void sap_las_items_release(const sap_source* source, sap_las_items* items) {
    sap_memory_release(source->device, items->list, items->allocated);
    *items = (sap_las_items){NULL, 0, 0};
}

sap_field_type sap_las_item_type(const sap_las_item* item) {
    return item->scaled ? SAP_FIELD_F64 : sap_field_type_of(item->cell);
}

// A row of the tables below: a number at this byte, of all its bits or of a few of a byte.
typedef struct row {
    const char* name;
    char kind;
    uint8_t bytes, offset, shift, bits;
} row;

static const row early[] = {{"intensity", 'u', 2, 12, 0, 0},
                            {"return_number", 'u', 1, 14, 0, 3},
                            {"number_of_returns", 'u', 1, 14, 3, 3},
                            {"scan_direction", 'u', 1, 14, 6, 1},
                            {"edge_of_flight_line", 'u', 1, 14, 7, 1},
                            {"classification", 'u', 1, 15, 0, 5},
                            {"synthetic", 'u', 1, 15, 5, 1},
                            {"key_point", 'u', 1, 15, 6, 1},
                            {"withheld", 'u', 1, 15, 7, 1},
                            {"scan_angle_rank", 'i', 1, 16, 0, 0},
                            {"user_data", 'u', 1, 17, 0, 0},
                            {"point_source_id", 'u', 2, 18, 0, 0},
                            {NULL, 0, 0, 0, 0, 0}};
static const row late[] = {{"intensity", 'u', 2, 12, 0, 0},         {"return_number", 'u', 1, 14, 0, 4},
                           {"number_of_returns", 'u', 1, 14, 4, 4}, {"synthetic", 'u', 1, 15, 0, 1},
                           {"key_point", 'u', 1, 15, 1, 1},         {"withheld", 'u', 1, 15, 2, 1},
                           {"overlap", 'u', 1, 15, 3, 1},           {"scanner_channel", 'u', 1, 15, 4, 2},
                           {"scan_direction", 'u', 1, 15, 6, 1},    {"edge_of_flight_line", 'u', 1, 15, 7, 1},
                           {"classification", 'u', 1, 16, 0, 0},    {"user_data", 'u', 1, 17, 0, 0},
                           {"scan_angle", 'i', 2, 18, 0, 0},        {"point_source_id", 'u', 2, 20, 0, 0},
                           {"gps_time", 'f', 8, 22, 0, 0},          {NULL, 0, 0, 0, 0, 0}};
static const row time_row[] = {{"gps_time", 'f', 8, 0, 0, 0}, {NULL, 0, 0, 0, 0, 0}};
static const row colors[] = {
    {"red", 'u', 2, 0, 0, 0}, {"green", 'u', 2, 2, 0, 0}, {"blue", 'u', 2, 4, 0, 0}, {NULL, 0, 0, 0, 0, 0}};
static const row nir[] = {{"nir", 'u', 2, 0, 0, 0}, {NULL, 0, 0, 0, 0, 0}};
static const row wave[] = {{"wave_packet", 'u', 1, 0, 0, 0}, {"wave_offset", 'u', 8, 1, 0, 0},
                           {"wave_size", 'u', 4, 9, 0, 0},   {"wave_location", 'f', 4, 13, 0, 0},
                           {"wave_dx", 'f', 4, 17, 0, 0},    {"wave_dy", 'f', 4, 21, 0, 0},
                           {"wave_dz", 'f', 4, 25, 0, 0},    {NULL, 0, 0, 0, 0, 0}};

static sap_status add_rows(const sap_source* source, const row* rows, size_t start, sap_las_items* items) {
    sap_status status = SAP_OK;
    for (; rows->name && status == SAP_OK; rows++) {
        sap_las_item item = {.cell = {rows->kind, rows->bytes, false},
                             .offset = start + rows->offset,
                             .shift = rows->shift,
                             .bits = rows->bits};
        snprintf(item.name, sizeof item.name, "%s", rows->name);
        status = sap_las_items_add(source, items, &item);
    }
    return status;
}

sap_status sap_las_items_of_format(const sap_source* source, const sap_las_header* header, sap_las_items* items) {
    const int format = header->format, latest = 6;
    const bool has_time = format == 1 || (format >= 3 && format <= 5);
    const bool has_colors = format == 2 || format == 3 || format == 5 || format == 7 || format == 8 || format == 10;
    const bool has_nir = format == 8 || format == 10;
    const bool has_wave = format == 4 || format == 5 || format == 9 || format == 10;
    size_t at = format < latest ? 20 : 30;
    sap_status status = SAP_OK;
    for (int a = 0; a < 3 && status == SAP_OK; a++) {
        const sap_las_item item = {.name = {"xyz"[a]},
                                   .cell = {'i', 4, false},
                                   .offset = 4 * (size_t)a,
                                   .scaled = true,
                                   .scale = header->scale[a],
                                   .move = header->offset[a]};
        status = sap_las_items_add(source, items, &item);
    }
    if (status == SAP_OK) status = add_rows(source, format < latest ? early : late, 0, items);
    if (status == SAP_OK && has_time) status = add_rows(source, time_row, at, items);
    at += has_time ? TIME : 0;
    if (status == SAP_OK && has_colors) status = add_rows(source, colors, at, items);
    at += has_colors ? COLORS : 0;
    if (status == SAP_OK && has_nir) status = add_rows(source, nir, at, items);
    at += has_nir ? 2 : 0;
    if (status == SAP_OK && has_wave) status = add_rows(source, wave, at, items);
    at += has_wave ? WAVE : 0;
    SAP_ASSERT(status != SAP_OK || at == sap_las_format_size(format));
    return status;
}

// ---- Extra bytes.

static const sap_cell extra_cells[] = {{'u', 1, false}, {'i', 1, false}, {'u', 2, false}, {'i', 2, false},
                                       {'u', 4, false}, {'i', 4, false}, {'u', 8, false}, {'i', 8, false},
                                       {'f', 4, false}, {'f', 8, false}};

// Adds `parts` numbers of one description, or bytes that nothing describes, in as far as the records have room for them.
static sap_status add_parts(const sap_source* source, const sap_las_item* first, int64_t parts, int64_t start,
                            bool numbered, size_t end, sap_las_items* items) {
    sap_status status = SAP_OK;
    for (int64_t i = 0; i < parts && status == SAP_OK; i++) {
        sap_las_item item = *first;
        item.offset += (size_t)i * item.cell.bytes;
        if (item.offset + item.cell.bytes > end) break;
        if (numbered) snprintf(item.name, sizeof item.name, "%.32s_%d", first->name, (int)(start + i));
        status = sap_las_items_add(source, items, &item);
    }
    return status;
}

static void take_scale(sap_las_item* item, const unsigned char* description) {
    enum { HAS_SCALE = 8, HAS_OFFSET = 16 };
    const int options = description[3];
    item->scale = options & HAS_SCALE ? sap_las_load_double(description + 112) : 1;
    item->move = options & HAS_OFFSET ? sap_las_load_double(description + 136) : 0;
    item->scaled =
        (options & (HAS_SCALE | HAS_OFFSET)) && isfinite(item->scale) && item->scale != 0 && isfinite(item->move);
}

static sap_status add_described(const sap_source* source, const unsigned char* description, size_t end, size_t* at,
                                sap_las_items* items) {
    const int type = description[2], numbers = 30, kinds = 10;
    sap_las_item item = {.cell = {'u', 1, false}, .offset = *at};
    memcpy(item.name, description + 4, 32);
    if (!*item.name) snprintf(item.name, sizeof item.name, "extra");
    int64_t parts = description[3]; // of an unknown type: so many bytes
    if (type > 0 && type <= numbers) {
        item.cell = extra_cells[(type - 1) % kinds];
        parts = 1 + (type - 1) / kinds;
        take_scale(&item, description);
    }
    item.description = type > 0 && parts == 1 ? description : NULL;
    *at += (size_t)parts * item.cell.bytes;
    return add_parts(source, &item, parts, 0, parts > 1, end, items);
}

sap_status sap_las_items_extra(const sap_source* source, const sap_las_header* header, bool rest,
                               sap_las_items* items) {
    size_t at = sap_las_format_size(header->format), record_at = header->header_size;
    sap_status status = SAP_OK;
    for (uint32_t i = 0; i < header->records && status == SAP_OK; i++) {
        const sap_las_record record = sap_las_record_next(source, &record_at);
        if (!sap_las_describes_extra(&record)) continue;
        const unsigned char* description = record.first;
        for (; record.last - description >= SAP_LAS_EXTRA_BYTES && status == SAP_OK && at < header->record_size;
             description += SAP_LAS_EXTRA_BYTES)
            status = add_described(source, description, header->record_size, &at, items);
    }
    if (status != SAP_OK || !rest || at >= header->record_size) return status;
    const sap_las_item item = {.name = "extra", .cell = {'u', 1, false}, .offset = at};
    return add_parts(source, &item, (int64_t)(header->record_size - at), 0, true, header->record_size, items);
}
