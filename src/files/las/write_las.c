// Points and their fields as LAS.
#include "base/assert.h"
#include "device/device.h"
#include "files/array.h"
#include "files/las/las.h"
#include "saved/output.h"
#include <string.h>

// Which field an item of a record gets; NULL: none.
typedef struct given {
    const sap_field* field;
    int64_t times; // colours of 8 bits become those of 16
} given;

typedef struct las_writing {
    sap_source source; // the file without points that these are put in
    const sap_point_set* set;
    sap_las_header header;
    sap_las_items items, known; // of the records; described by the file that the points come from
    int64_t format_items;       // what follows these in `items` are extra bytes
    given* givens;              // of each item
    size_t givens_bytes, record_size, points_at, late_at;
    sap_output* output; // or, if it is to be packed, the bytes
    sap_array* bytes;
    bool no_memory;
    unsigned char fresh[SAP_LAS_HEADER_14];
} las_writing;

static void put(las_writing* w, const void* bytes, size_t size) {
    if (w->output) {
        sap_output_put(w->output, bytes, size);
        return;
    }
    void* to = w->no_memory ? NULL : sap_array_add(w->source.device, w->bytes, size);
    if (to)
        memcpy(to, bytes, size);
    else
        w->no_memory = true;
}

static double coordinate(const sap_point_set* set, int64_t row, int axis) {
    if (axis >= set->dims) return 0;
    const int64_t index = row * set->dims + axis;
    return set->coords_f64 ? set->coords_f64[index] : (double)set->coords[index];
}

// ---- A header for points that come from no LAS.

static double power_of_ten(int exponent) {
    char text[16];
    sap_decimal decimal;
    text[0] = '1';
    text[1] = 'e';
    const int length = 2 + sap_print_int(exponent, text + 2);
    sap_decimal_scan(text, text + length, &decimal);
    return sap_decimal_double(&decimal);
}

// Of what is finite: the rest is refused where the points are checked.
static void bounds_of(const sap_point_set* set, int axis, double* lower, double* upper) {
    bool found = false;
    *lower = *upper = 0;
    for (int64_t row = 0; row < set->count; row++) {
        const double value = coordinate(set, row, axis);
        if (!isfinite(value)) continue;
        if (!found || value < *lower) *lower = value;
        if (!found || value > *upper) *upper = value;
        found = true;
    }
}

// Steps of the finest power of ten that leaves a quarter of the integers for the bounds, counted from a round number.
static void choose_scale(las_writing* w, double wanted) {
    const int finest = -290, coarsest = 300, round_steps = 9;
    double lower[3], upper[3], half = 0; // of the longest side, which itself may overflow
    for (int a = 0; a < 3; a++) {
        bounds_of(w->set, a, &lower[a], &upper[a]);
        half = fmax(half, upper[a] / 2 - lower[a] / 2);
    }
    if (!(half > 0)) half = fmax(fmax(fabs(lower[0]), fabs(lower[1])), fmax(fabs(lower[2]), 1)) / 2;
    int exponent = finest;
    if (half > power_of_ten(finest)) exponent = (int)log10(half) - round_steps;
    while (exponent > finest && half / power_of_ten(exponent - 1) <= 0x1p29) exponent--;
    while (exponent < coarsest && half / power_of_ten(exponent) > 0x1p29) exponent++;
    const double scale = wanted > 0 ? wanted : power_of_ten(exponent), round = power_of_ten(exponent + round_steps);
    for (int a = 0; a < 3; a++) {
        const double offset = nearbyint((lower[a] / 2 + upper[a] / 2) / round) * round;
        sap_las_store_double(w->fresh + SAP_LAS_SCALE + 8 * a, scale);
        sap_las_store_double(w->fresh + SAP_LAS_OFFSET + 8 * a, isfinite(offset) ? offset + 0.0 : 0);
    }
}

// Characters of a field that is zero behind them.
static void put_characters(unsigned char* to, const char* text) {
    while (*text) *to++ = (unsigned char)*text++;
}

static bool has(const las_writing* w, const char* name) { return sap_field_named(w->set, name) != NULL; }

static bool goes_beyond(const las_writing* w, const char* name, double most) {
    const sap_field* field = sap_field_named(w->set, name);
    for (int64_t row = 0; field && row < w->set->count; row++) {
        const sap_value value = sap_field_value(field, row);
        if (sap_value_double(&value) > most) return true;
    }
    return false;
}

static bool needs_latest(const las_writing* w) {
    return has(w, "overlap") || has(w, "scanner_channel") || has(w, "scan_angle") || has(w, "nir") ||
           goes_beyond(w, "classification", 31) || goes_beyond(w, "return_number", 7) ||
           goes_beyond(w, "number_of_returns", 7);
}

// Whether the format's 16 bits hold the field; without it they need not.
static bool fits_short(const las_writing* w, const char* name) {
    const sap_field* field = sap_field_named(w->set, name);
    for (int64_t row = 0; field && row < w->set->count; row++) {
        const sap_value value = sap_field_value(field, row);
        const double real = sap_value_double(&value);
        if (!(real >= 0 && real <= UINT16_MAX && real == nearbyint(real))) return false;
    }
    return true;
}

static void begin_fresh(las_writing* w, double scale) {
    const bool latest = needs_latest(w), time = has(w, "gps_time"), wave = has(w, "wave_packet"), nir = has(w, "nir");
    const bool colors = has(w, "red") && has(w, "green") && has(w, "blue") && fits_short(w, "red") &&
                        fits_short(w, "green") && fits_short(w, "blue");
    int format = colors ? (time ? 3 : 2) : time ? 1 : 0;
    if (wave) format = colors ? 5 : 4;
    if (latest) format = wave ? (colors || nir ? 10 : 9) : nir ? 8 : colors ? 7 : 6;
    const int minor = latest ? 4 : wave ? 3 : 2;
    const size_t size = latest ? SAP_LAS_HEADER_14 : wave ? SAP_LAS_HEADER_13 : SAP_LAS_HEADER_12;
    unsigned char* h = w->fresh;
    put_characters(h, "LASF");
    if (latest) h[SAP_LAS_ENCODING] = 16; // coordinate systems are well-known text, as these formats ask for
    h[SAP_LAS_MINOR - 1] = 1;
    h[SAP_LAS_MINOR] = (unsigned char)minor;
    put_characters(h + SAP_LAS_SYSTEM, "OTHER");
    put_characters(h + SAP_LAS_SOFTWARE, "Sapwood");
    sap_las_store(h + SAP_LAS_HEADER_SIZE, size, 2);
    sap_las_store(h + SAP_LAS_POINTS_AT, size, 4);
    h[SAP_LAS_FORMAT] = (unsigned char)format;
    sap_las_store(h + SAP_LAS_RECORD_SIZE, sap_las_format_size(format), 2);
    choose_scale(w, scale);
    w->source.bytes = h;
    w->source.size = size;
}

// ---- Which field goes where.

// The integer that an item of so many bits holds for a value; false if it holds none that is the same.
static bool whole_for(const sap_las_item* item, const sap_value* value, int64_t times, uint64_t* bits) {
    const int count = item->bits ? item->bits : 8 * item->cell.bytes;
    const bool with_sign = item->cell.kind == 'i';
    const double high = ldexp(1, with_sign ? count - 1 : count), low = with_sign ? -high : 0;
    if (value->kind != 'f' && !item->scaled) {
        *bits = (uint64_t)(value->whole * times);
        if (value->kind == 'u') return !with_sign && count == 64;
        const int64_t whole = value->whole * times;
        if (count == 64) return with_sign || whole >= 0;
        return (double)whole >= low && (double)whole < high;
    }
    const double real = sap_value_double(value);
    const double number = item->scaled ? nearbyint((real - item->move) / item->scale) : real;
    if (!(number >= low && number < high) || number != nearbyint(number)) return false;
    *bits = with_sign ? (uint64_t)(int64_t)number : (uint64_t)number;
    return item->scaled ? number * item->scale + item->move == real : true;
}

// The bits that an item holds for a value; false if it holds none that is the same.
static bool bits_for(const sap_las_item* item, const sap_value* value, int64_t times, uint64_t* bits) {
    if (item->cell.kind != 'f') return whole_for(item, value, times, bits);
    double real = sap_value_double(value);
    const bool exact = value->kind == 'f' || fabs(real) <= 0x1p53;
    const double number = item->scaled ? (real - item->move) / item->scale : real;
    const float narrow = (float)number;
    uint32_t narrow_bits;
    if (item->cell.bytes == 4) {
        memcpy(&narrow_bits, &narrow, sizeof narrow_bits);
        *bits = narrow_bits;
    } else {
        memcpy(bits, &number, sizeof number);
    }
    const double stored = item->cell.bytes == 4 ? (double)narrow : number;
    const double back = item->scaled ? stored * item->scale + item->move : stored;
    return exact && (back == real || isnan(real));
}

static bool fits(const las_writing* w, const sap_las_item* item, const sap_field* field, int64_t times) {
    uint64_t bits;
    for (int64_t row = 0; row < w->set->count; row++) {
        const sap_value value = sap_field_value(field, row);
        if (!bits_for(item, &value, times, &bits)) return false;
    }
    return true;
}

static sap_las_item* named(const sap_las_items* items, int64_t first, int64_t end, const char* name) {
    for (int64_t i = first; i < end; i++)
        if (!strcmp(items->list[i].name, name)) return &items->list[i];
    return NULL;
}

// Extra bytes for a field: described as they were in the file that it came from, if that holds it.
static sap_status add_extra(las_writing* w, const sap_field* field) {
    const size_t most = 32;
    sap_las_item item = {.cell = sap_field_cell(field->type)};
    const sap_las_item* before = named(&w->known, 0, w->known.count, field->name);
    if (before && before->description && fits(w, before, field, 1)) item = *before;
    if (!item.description) strncpy(item.name, field->name, most);
    item.offset = w->record_size;
    item.cell.big_endian = false;
    w->record_size += item.cell.bytes;
    const size_t described = (size_t)(w->items.count - w->format_items + 1) * SAP_LAS_EXTRA_BYTES;
    if (w->record_size > UINT16_MAX || described > UINT16_MAX)
        return sap_fail(w->source.device, SAP_ERROR_UNSUPPORTED, "LAS has no room for so many fields; leave some out");
    return sap_las_items_add(&w->source, &w->items, &item);
}

static bool is_color(const sap_field* field) {
    return sap_is_color((sap_span){field->name, field->name + strlen(field->name)});
}

// Colours of 8 bits become those of 16.
static int64_t times_of(const sap_field* field) { return field->type == SAP_FIELD_U8 && is_color(field) ? 257 : 1; }

// Colours go where the format has them only if all of them fit: a colour of which one channel lies elsewhere is another.
static bool colors_fit(const las_writing* w) {
    for (int32_t f = 0; f < w->set->field_count; f++) {
        const sap_field* field = &w->set->fields[f];
        const sap_las_item* item = is_color(field) ? named(&w->items, 3, w->format_items, field->name) : NULL;
        if (item && !fits(w, item, field, times_of(field))) return false;
    }
    return true;
}

static sap_status place_fields(las_writing* w) {
    const sap_las_items* items = &w->items;
    w->format_items = items->count;
    w->record_size = sap_las_format_size(w->header.format);
    sap_status status = SAP_OK;
    w->givens_bytes = ((size_t)items->count + (size_t)w->set->field_count) * sizeof *w->givens;
    w->givens = sap_memory_allocate_zero(w->source.device, w->givens_bytes);
    if (!w->givens) return sap_fail(w->source.device, SAP_ERROR_MEMORY, "no memory for the list of fields");
    const bool with_colors = colors_fit(w);
    for (int32_t f = 0; f < w->set->field_count && status == SAP_OK; f++) {
        const sap_field* field = &w->set->fields[f];
        const sap_las_item* item = named(items, 3, w->format_items, field->name);
        const int64_t at = item ? item - items->list : items->count, times = times_of(field);
        if (item && !w->givens[at].field && (is_color(field) ? with_colors : fits(w, item, field, times))) {
            w->givens[at] = (given){field, times};
            continue;
        }
        if (item)
            (void)sap_fail(w->source.device, SAP_OK,
                           "%s: LAS holds it in another form, in which not all values fit; it is kept as extra bytes",
                           field->name);
        w->givens[items->count] = (given){field, 1};
        status = add_extra(w, field);
    }
    return status;
}

// ---- The bytes.

static void describe(unsigned char description[SAP_LAS_EXTRA_BYTES], const sap_las_item* item) {
    static const uint8_t numbers[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}; // as of sap_field_type
    memset(description, 0, SAP_LAS_EXTRA_BYTES);
    if (item->description) {
        memcpy(description, item->description, SAP_LAS_EXTRA_BYTES);
        return;
    }
    description[2] = numbers[sap_field_type_of(item->cell)];
    memcpy(description + 4, item->name, 32); // cut off, if it is longer
}

// `header`: that of a record that described extra bytes before, or NULL.
static void put_descriptions(las_writing* w, const unsigned char* before) {
    unsigned char header[SAP_LAS_RECORD_HEADER] = {0}, description[SAP_LAS_EXTRA_BYTES];
    const size_t count = (size_t)(w->items.count - w->format_items);
    put_characters(header + 2, "LASF_Spec");
    sap_las_store(header + 18, 4, 2);
    if (before) memcpy(header, before, sizeof header);
    sap_las_store(header + 20, count * SAP_LAS_EXTRA_BYTES, 2);
    put(w, header, sizeof header);
    for (int64_t i = w->format_items; i < w->items.count; i++) {
        describe(description, &w->items.list[i]);
        put(w, description, sizeof description);
    }
}

// The records ahead of the points, with those that describe extra bytes made anew. `writing` false: how many bytes and
// records that is.
static size_t put_records(las_writing* w, bool writing, uint32_t* records) {
    const size_t extra = (size_t)(w->items.count - w->format_items);
    size_t at = w->header.header_size, bytes = 0;
    bool described = !extra;
    *records = 0;
    for (uint32_t i = 0; i < w->header.records; i++) {
        const sap_las_record record = sap_las_record_next(&w->source, &at);
        const bool describes = sap_las_describes_extra(&record);
        if ((describes && described) || sap_las_is_laszip(&record)) continue;
        ++*records;
        bytes += describes ? SAP_LAS_RECORD_HEADER + extra * SAP_LAS_EXTRA_BYTES : record.end - record.at;
        if (writing && describes) put_descriptions(w, w->source.bytes + record.at);
        if (writing && !describes) put(w, w->source.bytes + record.at, record.end - record.at);
        described |= describes;
    }
    if (!described) {
        ++*records;
        bytes += SAP_LAS_RECORD_HEADER + extra * SAP_LAS_EXTRA_BYTES;
        if (writing) put_descriptions(w, NULL);
    }
    return bytes;
}

// What the header says of all points.
typedef struct summary {
    double lower[3], upper[3];
    uint64_t returns[15];
} summary;

static int32_t step_of(const las_writing* w, double value, int axis) {
    return (int32_t)nearbyint((value - w->header.offset[axis]) / w->header.scale[axis]);
}

static sap_status check_points(const las_writing* w) {
    const sap_las_header* h = &w->header;
    for (int64_t row = 0; row < w->set->count; row++)
        for (int a = 0; a < w->set->dims; a++) {
            const double value = coordinate(w->set, row, a), step = nearbyint((value - h->offset[a]) / h->scale[a]);
            const char name = (char)('x' + a);
            if (!isfinite(value))
                return sap_fail(w->source.device, SAP_ERROR_NOT_FINITE,
                                "point %lld is not finite, which LAS cannot hold", (long long)row);
            if (!(step >= INT32_MIN && step <= INT32_MAX))
                return sap_fail(w->source.device, SAP_ERROR_RANGE,
                                "point %lld: %c = %g is beyond what a LAS with scale %g and offset %g can hold",
                                (long long)row, name, value, h->scale[a], h->offset[a]);
        }
    return SAP_OK;
}

// The field that fills an item which every format has, or NULL.
static const sap_field* placed(const las_writing* w, const char* name) {
    const sap_las_item* item = named(&w->items, 3, w->format_items, name);
    SAP_ASSERT(item);
    return w->givens[item - w->items.list].field;
}

// Where nothing is said of returns, each point is the first of one.
static bool has_returns(const las_writing* w) { return placed(w, "return_number") || placed(w, "number_of_returns"); }

static void summarize(const las_writing* w, summary* s) {
    const sap_field* field = placed(w, "return_number");
    const int64_t otherwise = has_returns(w) ? 0 : 1;
    memset(s, 0, sizeof *s);
    for (int64_t row = 0; row < w->set->count; row++) {
        for (int a = 0; a < 3; a++) {
            const double value = step_of(w, coordinate(w->set, row, a), a) * w->header.scale[a] + w->header.offset[a];
            if (row == 0 || value < s->lower[a]) s->lower[a] = value;
            if (row == 0 || value > s->upper[a]) s->upper[a] = value;
        }
        sap_value number = {.kind = 'i', .whole = otherwise};
        if (field) number = sap_field_value(field, row);
        const double real = sap_value_double(&number);
        if (real >= 1 && real <= 15) s->returns[(int)real - 1]++;
    }
}

static void put_header(las_writing* w) {
    enum { OLD_RETURNS = 5, RETURNS = 15, OLD_FORMATS = 6 };
    unsigned char h[SAP_LAS_HEADER_14];
    const size_t known = w->header.header_size < sizeof h ? w->header.header_size : sizeof h;
    const uint64_t count = (uint64_t)w->set->count;
    const bool wide = w->header.minor >= 4, narrow = !wide || w->header.format < OLD_FORMATS;
    uint32_t records;
    summary s;
    SAP_ASSERT(w->source.bytes);
    summarize(w, &s);
    memcpy(h, w->source.bytes, known);
    w->points_at =
        w->header.header_size + put_records(w, false, &records) + w->header.points_at - w->header.records_end;
    w->late_at = w->points_at + (size_t)count * w->record_size;
    sap_las_store(h + SAP_LAS_POINTS_AT, w->points_at, 4);
    sap_las_store(h + SAP_LAS_RECORDS, records, 4);
    sap_las_store(h + SAP_LAS_RECORD_SIZE, w->record_size, 2);
    sap_las_store(h + SAP_LAS_COUNT, narrow ? count : 0, 4);
    for (int i = 0; i < OLD_RETURNS; i++) sap_las_store(h + SAP_LAS_RETURNS + 4 * i, narrow ? s.returns[i] : 0, 4);
    for (int a = 0; a < 3; a++) {
        sap_las_store_double(h + SAP_LAS_SCALE + 8 * a, w->header.scale[a]);
        sap_las_store_double(h + SAP_LAS_BOUNDS + 16 * a, s.upper[a]);
        sap_las_store_double(h + SAP_LAS_BOUNDS + 16 * a + 8, s.lower[a]);
    }
    const bool within = w->header.waves_at >= w->header.late_at && w->header.waves_at < w->header.late_end;
    if (w->header.minor >= 3 && within)
        sap_las_store(h + SAP_LAS_WAVES_AT, w->header.waves_at - w->header.late_at + w->late_at, 8);
    if (wide) {
        sap_las_store(h + SAP_LAS_LATE_AT, w->header.late_records ? w->late_at : 0, 8);
        sap_las_store(h + SAP_LAS_LATE_RECORDS, w->header.late_records, 4);
        sap_las_store(h + SAP_LAS_COUNT_64, count, 8);
        for (int i = 0; i < RETURNS; i++) sap_las_store(h + SAP_LAS_RETURNS_64 + 8 * i, s.returns[i], 8);
    }
    put(w, h, known);
    put(w, w->source.bytes + known, w->header.header_size - known);
    put_records(w, true, &records);
    put(w, w->source.bytes + w->header.records_end, w->header.points_at - w->header.records_end);
}

static void put_points(las_writing* w) {
    unsigned char record[UINT16_MAX];
    const sap_las_items* items = &w->items;
    const bool counted = has_returns(w);
    const unsigned char single = w->header.format < 6 ? 1 | 1 << 3 : 1 | 1 << 4; // the first return of one
    SAP_ASSERT(w->record_size <= sizeof record);
    memset(record, 0, w->record_size);
    for (int64_t row = 0; row < w->set->count; row++) {
        record[14] = counted ? 0 : single;
        record[15] = 0;
        for (int a = 0; a < 3; a++)
            sap_las_store(record + 4 * a, (uint32_t)step_of(w, coordinate(w->set, row, a), a), 4);
        for (int64_t i = 3; i < items->count; i++) {
            const sap_las_item* item = &items->list[i];
            uint64_t bits = 0;
            if (!w->givens[i].field) continue;
            const sap_value value = sap_field_value(w->givens[i].field, row);
            bits_for(item, &value, w->givens[i].times, &bits);
            if (item->bits)
                record[item->offset] |= (unsigned char)(bits << item->shift);
            else
                sap_las_store(record + item->offset, bits, item->cell.bytes);
        }
        put(w, record, w->record_size);
    }
    put(w, w->source.bytes + w->header.late_at, w->header.late_end - w->header.late_at);
}

static sap_status prepare(las_writing* w, double scale) {
    const sap_point_set* set = w->set;
    if (set->dims > 3)
        return sap_fail(w->source.device, SAP_ERROR_UNSUPPORTED, "LAS has three coordinates, but points have %d",
                        (int)set->dims);
    if (set->las) {
        w->source.bytes = set->las;
        w->source.size = set->las_size;
        w->source.name = "points->las";
    } else {
        begin_fresh(w, scale);
    }
    sap_status status = sap_las_header_read(&w->source, &w->header);
    for (int a = 0; a < 3 && scale > 0; a++) w->header.scale[a] = scale;
    if (status == SAP_OK) status = check_points(w);
    if (status == SAP_OK) status = sap_las_items_of_format(&w->source, &w->header, &w->items);
    if (status == SAP_OK) status = sap_las_items_extra(&w->source, &w->header, false, &w->known);
    return status == SAP_OK ? place_fields(w) : status;
}

// What LASzip has packed, with the records behind it that LASzip does not know.
static void put_packed(const las_writing* w, const sap_las_header* whole, const sap_file_bytes* packed) {
    const size_t known = whole->late_records ? SAP_LAS_HEADER_14 : 0;
    unsigned char h[SAP_LAS_HEADER_14];
    SAP_ASSERT(packed->size >= known);
    memcpy(h, packed->memory, known);
    if (known) {
        sap_las_store(h + SAP_LAS_LATE_AT, packed->size, 8);
        sap_las_store(h + SAP_LAS_LATE_RECORDS, whole->late_records, 4);
        if (whole->waves_at >= whole->late_at && whole->waves_at < whole->late_end)
            sap_las_store(h + SAP_LAS_WAVES_AT, whole->waves_at - whole->late_at + packed->size, 8);
    }
    sap_output_put(w->output, h, known);
    sap_output_put(w->output, (const unsigned char*)packed->memory + known, packed->size - known);
    sap_output_put(w->output, w->source.bytes + whole->late_at, whole->late_end - whole->late_at);
}

// Written to memory, packed, and put in the file.
static sap_status write_packed(las_writing* w, const char* path) {
    const sap_las_header whole = w->header;
    sap_array bytes = {NULL, 0, 0};
    sap_file_bytes packed = {NULL, 0, 0};
    sap_output output;
    w->bytes = &bytes; // cppcheck-suppress autoVariables -- taken back below
    w->header.late_records = 0;
    w->header.late_end = w->header.late_at;
    put_header(w);
    put_points(w);
    sap_status status = SAP_OK;
    if (w->no_memory)
        status = sap_fail(w->source.device, SAP_ERROR_MEMORY, "no memory for the points that are to be packed");
    const sap_source las = {.device = w->source.device, .bytes = bytes.memory, .size = bytes.used};
    if (status == SAP_OK) status = sap_laszip_pack(&las, &packed);
    if (status == SAP_OK) status = sap_output_open(&output, w->source.device, path);
    if (status == SAP_OK) {
        w->output = &output;
        put_packed(w, &whole, &packed);
        w->output = NULL;
        status = sap_output_close(&output);
    }
    sap_file_release(w->source.device, &packed);
    sap_array_release(w->source.device, &bytes);
    w->bytes = NULL;
    return status;
}

sap_status sap_las_write(sap_device* device, const char* path, bool packed, const sap_point_set* set, double scale) {
    las_writing w = {.source.device = device, .set = set};
    sap_output output;
    sap_status status = packed ? sap_laszip_check(device) : SAP_OK;
    if (status == SAP_OK) status = prepare(&w, scale);
    if (status == SAP_OK && packed) {
        status = write_packed(&w, path);
    } else if (status == SAP_OK) {
        status = sap_output_open(&output, device, path);
        if (status == SAP_OK) {
            w.output = &output;
            put_header(&w);
            put_points(&w);
            status = sap_output_close(&output);
            w.output = NULL;
        }
    }
    sap_memory_release(device, w.givens, w.givens_bytes);
    sap_las_items_release(&w.source, &w.items);
    sap_las_items_release(&w.source, &w.known);
    return status;
}
