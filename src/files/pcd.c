// PCD: a text of keywords that lists the fields, then a point a line or a point a row of numbers.
#include "files/pcd.h"
#include "base/assert.h"
#include "device/memory.h"
#include "files/lzf.h"
#include <string.h>

static sap_status bad_header(const sap_pcd_header* h, const char* what, sap_span word) {
    char shown[SAP_SHOWN_BYTES];
    return sap_bad_line(h->lines.source, SAP_ERROR_FORMAT, h->lines.number, "%s '%s'; correct the PCD header", what,
                        sap_span_show(word, shown));
}

static sap_status take_count(const sap_pcd_header* h, sap_span rest, int64_t* count) {
    sap_span word = {rest.last, rest.last};
    if (!sap_word_next(&rest, &word) || !sap_span_count(word, count))
        return bad_header(h, "not a number of points:", word);
    return SAP_OK;
}

static sap_status take_data(sap_pcd_header* h, sap_span rest) {
    sap_span word = {rest.last, rest.last};
    sap_word_next(&rest, &word);
    h->data = sap_span_equal(word, "ascii")               ? SAP_PCD_ASCII
              : sap_span_equal(word, "binary")            ? SAP_PCD_BINARY
              : sap_span_equal(word, "binary_compressed") ? SAP_PCD_COMPRESSED
                                                          : SAP_PCD_NONE;
    return h->data == SAP_PCD_NONE ? bad_header(h, "unknown kind of data", word) : SAP_OK;
}

static sap_status take_line(sap_pcd_header* h, sap_span key, sap_span rest) {
    if (sap_span_equal(key, "FIELDS") || sap_span_equal(key, "COLUMNS")) {
        h->fields = rest;
        h->fields_line = h->lines.number;
    } else if (sap_span_equal(key, "SIZE")) {
        h->sizes = rest;
    } else if (sap_span_equal(key, "TYPE")) {
        h->types = rest;
    } else if (sap_span_equal(key, "COUNT")) {
        h->counts = rest;
    } else if (sap_span_equal(key, "WIDTH")) {
        return take_count(h, rest, &h->width);
    } else if (sap_span_equal(key, "HEIGHT")) {
        return take_count(h, rest, &h->height);
    } else if (sap_span_equal(key, "POINTS")) {
        return take_count(h, rest, &h->points);
    } else if (sap_span_equal(key, "DATA")) {
        return take_data(h, rest);
    } else if (!sap_span_equal(key, "VERSION") && !sap_span_equal(key, "VIEWPOINT")) {
        return bad_header(h, "this is not a PCD file, or it has an unknown word:", key);
    }
    return SAP_OK;
}

static sap_status read_lines(sap_pcd_header* h) {
    sap_span line, key;
    bool returns = false;
    while (sap_line_next(&h->lines, &line)) {
        if (h->lines.number == 1) returns = h->lines.line_end == SAP_LINE_END_RETURN;
        if (!sap_word_next(&line, &key) || *key.first == '#') continue;
        sap_status status = take_line(h, key, line);
        if ((h->data == SAP_PCD_BINARY || h->data == SAP_PCD_COMPRESSED) && returns) sap_lines_end_at_return(&h->lines);
        if (status != SAP_OK || h->data != SAP_PCD_NONE) return status;
    }
    return sap_bad_byte(h->lines.source, SAP_ERROR_FORMAT, (int64_t)h->lines.source->size,
                        "the file ends within its header; it is truncated, or not a PCD file");
}

static bool type_of(sap_span type, int64_t size, sap_cell* cell) {
    bool f = sap_span_equal(type, "F"), i = sap_span_equal(type, "I"), u = sap_span_equal(type, "U");
    if (!f && !i && !u) return false;
    if (size != 1 && size != 2 && size != 4 && size != 8) return false;
    *cell = (sap_cell){'f', (uint8_t)size, false};
    if (i) cell->kind = 'i';
    if (u) cell->kind = 'u';
    return !f || size >= 4;
}

int32_t sap_pcd_axis(const sap_source* source, const sap_pcd_field* field) {
    if (field->count < 1) return -1;
    if (sap_chosen_count(source)) return sap_chosen_axis(source, field->name, field->number);
    const int32_t axis = sap_axis_named(field->name, false);
    return axis < 3 ? axis : -1;
}

bool sap_pcd_field_next(sap_pcd_header* rest, sap_pcd_field* field, const char** bad) {
    sap_span word, type;
    int64_t size = 0;
    field->count = 1;
    field->number++;
    if (!sap_word_next(&rest->fields, &field->name)) return false;
    if (!sap_word_next(&rest->sizes, &word) || !sap_span_count(word, &size) || !sap_word_next(&rest->types, &type) ||
        !type_of(type, size, &field->cell)) {
        *bad = "unknown SIZE and TYPE of field";
        return false;
    }
    const bool counted = rest->counts.first != NULL;
    if (!counted || (sap_word_next(&rest->counts, &word) && sap_span_count(word, &field->count))) return true;
    *bad = "no COUNT for field";
    return false;
}

// Notes where a field stands, if it is one of x, y and z, or of those chosen.
static sap_status note_field(sap_pcd_header* h, const sap_pcd_field* field) {
    const int32_t axis = sap_pcd_axis(h->lines.source, field);
    if (axis < 0) return SAP_OK;
    if (h->place[axis] >= 0) return bad_header(h, "a second field", field->name);
    h->place[axis] = h->numbers;
    h->offset[axis] = h->row_bytes;
    h->count[axis] = field->count;
    h->cell[axis] = field->cell;
    return SAP_OK;
}

// Goes through FIELDS, SIZE, TYPE and COUNT side by side.
static sap_status read_fields(sap_pcd_header* h) {
    sap_pcd_header rest = *h;
    sap_pcd_field field = {.number = 0};
    const char* bad = NULL;
    for (int axis = 0; axis < SAP_MAX_DIMS; axis++) h->place[axis] = -1;
    while (sap_pcd_field_next(&rest, &field, &bad)) {
        const sap_status status = note_field(h, &field);
        if (status != SAP_OK) return status;
        size_t bytes;
        if (field.count > INT32_MAX || !sap_size_multiply((uint64_t)field.count, field.cell.bytes, &bytes) ||
            !sap_size_add(h->row_bytes, bytes, &h->row_bytes))
            return bad_header(h, "rows that no memory can hold, because of field", field.name);
        h->numbers += field.count;
    }
    if (bad) return bad_header(h, bad, field.name);
    const int32_t chosen = sap_chosen_count(h->lines.source);
    h->dims = chosen ? chosen : h->place[2] >= 0 ? 3 : h->place[1] >= 0 ? 2 : 1;
    for (int axis = 0; axis < h->dims; axis++)
        if (h->place[axis] < 0 && chosen)
            return sap_chosen_missing(h->lines.source, axis, sap_span_trim(h->fields));
        else if (h->place[axis] < 0)
            return sap_bad_line(h->lines.source, SAP_ERROR_FORMAT, h->fields_line ? h->fields_line : h->lines.number,
                                "the header has no field '%c', so there are no points", "xyz"[axis]);
    return SAP_OK;
}

// The number of points: POINTS, or WIDTH * HEIGHT, which must agree.
static sap_status check_points(sap_pcd_header* h) {
    int64_t product = -1;
    if (h->width >= 0 && __builtin_mul_overflow(h->width, h->height < 0 ? 1 : h->height, &product))
        return sap_bad_line(h->lines.source, SAP_ERROR_RANGE, h->lines.number, "WIDTH * HEIGHT overflows");
    if (h->points < 0) h->points = product;
    if (h->points < 0 || (product >= 0 && h->points != product))
        return sap_bad_line(h->lines.source, SAP_ERROR_FORMAT, h->lines.number,
                            "POINTS is not WIDTH * HEIGHT; correct the PCD header");
    return SAP_OK;
}

// `row` is the first row that is missing, from 0.
static sap_status too_short(const sap_pcd_header* h, int64_t row) {
    return sap_bad_byte(h->lines.source, SAP_ERROR_FORMAT, (int64_t)h->lines.source->size,
                        "the file ends before point %lld of %lld; it is truncated; get it again", (long long)row + 1,
                        (long long)h->points);
}

// `bytes`: as of sap_pcd_fields.
static sap_status take_columns(const sap_pcd_header* h, sap_column* columns, const unsigned char* bytes,
                               sap_point_set** made) {
    const sap_source* source = h->lines.source;
    int64_t first;
    const int64_t rows = sap_part_take(source, h->points, &first);
    bool fits = true;
    for (int axis = 0; axis < h->dims; axis++) {
        columns[axis].first += (size_t)first * columns[axis].stride;
        fits = fits && sap_column_fits_float(&columns[axis], rows);
    }
    sap_sink sink;
    sap_status status = sap_columns_check(source, columns, h->dims, rows);
    if (status != SAP_OK) return status;
    status = sap_point_set_make(source, rows, h->dims, fits, made, &sink);
    if (status != SAP_OK) return status;
    sap_columns_store(columns, h->dims, rows, &sink);
    return source->with_fields ? sap_pcd_fields(h, bytes, *made) : SAP_OK;
}

static sap_status read_binary(const sap_pcd_header* h, sap_point_set** made) {
    const sap_source* source = h->lines.source;
    SAP_ASSERT(h->row_bytes > 0 && h->lines.offset <= source->size);
    size_t rows = (source->size - h->lines.offset) / h->row_bytes;
    if ((uint64_t)h->points > rows) return too_short(h, (int64_t)rows);
    sap_column columns[SAP_MAX_DIMS];
    for (int axis = 0; axis < h->dims; axis++) {
        size_t first = h->lines.offset + (h->points ? h->offset[axis] : 0);
        columns[axis] = (sap_column){source->bytes + first, h->row_bytes, h->cell[axis]};
    }
    return take_columns(h, columns, source->bytes + h->lines.offset, made);
}

static uint32_t load_32(const unsigned char* at) {
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

// Two sizes, compressed and not, then the fields one after another, each of all points.
static sap_status read_compressed(const sap_pcd_header* h, sap_point_set** made) {
    enum { SIZES_BYTES = 8 };
    const sap_source* source = h->lines.source;
    const size_t start = h->lines.offset;
    SAP_ASSERT(h->row_bytes > 0 && start <= source->size);
    if (source->size - start < SIZES_BYTES) return too_short(h, 0);
    const size_t packed = load_32(source->bytes + start), size = load_32(source->bytes + start + 4);
    if (packed > source->size - start - SIZES_BYTES)
        return sap_bad_byte(source, SAP_ERROR_FORMAT, (int64_t)source->size,
                            "the file ends after %zu of %zu compressed bytes; it is truncated; get it again",
                            source->size - start - SIZES_BYTES, packed);
    if (size % h->row_bytes || size / h->row_bytes != (uint64_t)h->points || size / SAP_LZF_MOST > packed)
        return sap_bad_byte(source, SAP_ERROR_FORMAT, (int64_t)start,
                            "%zu bytes that %zu compressed ones stand for are not those of %lld points of %zu bytes; "
                            "the file is damaged; get it again",
                            size, packed, (long long)h->points, h->row_bytes);
    unsigned char* bytes = sap_memory_allocate(source->device, size ? size : 1);
    if (!bytes) return sap_bad_byte(source, SAP_ERROR_MEMORY, -1, "no memory for %zu bytes expanded", size);
    size_t at = 0;
    const unsigned char* in = source->bytes + start + SIZES_BYTES;
    sap_status status = SAP_OK;
    if (!sap_lzf_expand(in, packed, bytes, size, &at))
        status = sap_bad_byte(source, SAP_ERROR_FORMAT, (int64_t)(start + SIZES_BYTES + at),
                              "the compressed bytes are damaged; get the file again");
    sap_column columns[SAP_MAX_DIMS];
    for (int axis = 0; axis < h->dims; axis++)
        columns[axis] = (sap_column){bytes + h->offset[axis] * (size_t)h->points,
                                     (size_t)h->count[axis] * h->cell[axis].bytes, h->cell[axis]};
    if (status == SAP_OK) status = take_columns(h, columns, bytes, made);
    sap_memory_release(source->device, bytes, size ? size : 1);
    return status;
}

static sap_status take_row(const sap_pcd_header* h, const sap_lines* lines, sap_span line, sap_sink* sink,
                           int64_t row) {
    int64_t number = 0;
    for (sap_span word; sap_word_next(&line, &word); number++) {
        for (int axis = 0; axis < h->dims; axis++) {
            sap_decimal decimal;
            char shown[SAP_SHOWN_BYTES];
            if (h->place[axis] != number) continue;
            if (!sap_span_number(word, &decimal))
                return sap_bad_line(lines->source, SAP_ERROR_FORMAT, lines->number, "'%s' is not a number%s",
                                    sap_span_show(word, shown), sap_number_remedy(lines->source, word));
            if (!sap_sink_put(sink, &decimal, row * h->dims + axis))
                return sap_beyond_float(lines->source, lines->number, word);
        }
    }
    if (number != h->numbers)
        return sap_bad_line(lines->source, SAP_ERROR_FORMAT, lines->number,
                            "%lld numbers, but the header says %lld per line", (long long)number,
                            (long long)h->numbers);
    return SAP_OK;
}

static sap_status walk_text(const sap_pcd_header* h, sap_sink* sink) {
    sap_lines lines = h->lines;
    sap_span line, word;
    int64_t row = 0;
    while (sap_line_next(&lines, &line)) {
        sap_span look = line;
        if (!sap_word_next(&look, &word)) continue;
        if (row == h->points)
            return sap_bad_line(
                lines.source, SAP_ERROR_FORMAT, lines.number,
                "the header says %lld points, but more rows follow; correct POINTS and WIDTH, or remove the rows",
                (long long)h->points);
        sap_status status = take_row(h, &lines, line, sink, row++);
        if (status != SAP_OK) return status;
    }
    return row < h->points ? too_short(h, row) : SAP_OK;
}

static sap_status read_text(const sap_pcd_header* h, sap_point_set** made) {
    sap_sink sink = {NULL, NULL, true, h->lines.source->real_bits};
    sap_status status = walk_text(h, &sink);
    if (status != SAP_OK) return status;
    // A declared float or double says more than the digits do; integers are looked at.
    bool has_double = false, has_int = false;
    for (int axis = 0; axis < h->dims; axis++) {
        has_double |= h->cell[axis].kind == 'f' && h->cell[axis].bytes == 8;
        has_int |= h->cell[axis].kind != 'f';
    }
    bool fits = !has_double && (sink.fits_float || !has_int);
    status = sap_point_set_make(h->lines.source, h->points, h->dims, fits, made, &sink);
    if (status == SAP_OK) status = walk_text(h, &sink);
    return status == SAP_OK && h->lines.source->with_fields ? sap_pcd_fields(h, NULL, *made) : status;
}

sap_status sap_read_pcd(const sap_source* source, sap_point_set** set) {
    sap_pcd_header h = {.lines = {.source = source}, .width = -1, .height = -1, .points = -1};
    sap_point_set* made = NULL;
    sap_status status = read_lines(&h);
    if (status == SAP_OK) status = read_fields(&h);
    if (status == SAP_OK) status = check_points(&h);
    if (status == SAP_OK && h.data != SAP_PCD_BINARY)
        status = sap_part_refuse(source, h.data == SAP_PCD_COMPRESSED ? "a compressed PCD" : "a PCD of text");
    if (status == SAP_OK)
        status = h.data == SAP_PCD_BINARY       ? read_binary(&h, &made)
                 : h.data == SAP_PCD_COMPRESSED ? read_compressed(&h, &made)
                                                : read_text(&h, &made);
    if (status == SAP_OK)
        *set = made;
    else
        sap_point_set_free(made);
    return status;
}
