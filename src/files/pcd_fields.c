// The fields of a PCD that are no coordinates.
#include "base/assert.h"
#include "files/fields.h"
#include "files/pcd.h"
#include <string.h>

// Where a field lies.
typedef struct place {
    const unsigned char* first; // its first byte; NULL: in lines
    size_t stride;              // from point to point
    int64_t number;             // of a row's numbers, its first one
} place;

// PCL keeps colours as the bytes blue, green, red and alpha of one number.
static bool is_packed(const sap_pcd_field* field) {
    return field->count == 1 && field->cell.bytes == 4 &&
           (sap_span_equal(field->name, "rgb") || sap_span_equal(field->name, "rgba"));
}

static sap_span name_of(const sap_pcd_field* field) {
    static const char* const names[3][2] = {{"normal_x", "nx"}, {"normal_y", "ny"}, {"normal_z", "nz"}};
    for (int a = 0; a < 3; a++)
        if (sap_span_equal(field->name, names[a][0])) return (sap_span){names[a][1], names[a][1] + 2};
    return field->name;
}

// In lines a draft's number is the place in the row, and its stride which of the packed colours it is, from 1.
static sap_status draft_colors(const sap_source* source, const sap_pcd_field* field, place at,
                               sap_field_drafts* drafts) {
    static const char* const names[] = {"red", "green", "blue", "alpha"};
    static const int bytes[] = {2, 1, 0, 3};
    const int colors = sap_span_equal(field->name, "rgba") ? 4 : 3;
    sap_status status = SAP_OK;
    for (int c = 0; c < colors && status == SAP_OK; c++) {
        const sap_field_draft draft = {.name = {names[c], names[c] + strlen(names[c])},
                                       .number = at.number,
                                       .part = -1,
                                       .column = {at.first ? at.first + bytes[c] : NULL,
                                                  at.first ? at.stride : (size_t)bytes[c] + 1,
                                                  {'u', 1, false}}};
        status = sap_field_drafts_add(source, drafts, &draft);
    }
    return status;
}

static sap_status draft_field(const sap_source* source, const sap_pcd_field* field, place at,
                              sap_field_drafts* drafts) {
    const bool padding = sap_span_equal(field->name, "_");
    if (sap_pcd_axis(source, field) >= 0 || padding) return SAP_OK;
    if (is_packed(field)) return draft_colors(source, field, at, drafts);
    sap_status status = SAP_OK;
    for (int64_t i = 0; i < field->count && status == SAP_OK; i++) {
        const sap_field_draft draft = {
            .name = name_of(field),
            .number = at.number + i,
            .part = field->count > 1 ? i : -1,
            .column = {at.first ? at.first + (size_t)i * field->cell.bytes : NULL, at.stride, field->cell}};
        status = sap_field_drafts_add(source, drafts, &draft);
    }
    return status;
}

static sap_status draft_fields(const sap_pcd_header* h, const unsigned char* bytes, sap_field_drafts* drafts) {
    sap_pcd_header rest = *h;
    sap_pcd_field field = {.number = 0};
    const char* bad = NULL;
    const bool packed = h->data == SAP_PCD_COMPRESSED;
    place at = {.number = 0};
    size_t offset = 0;
    sap_status status = SAP_OK;
    while (status == SAP_OK && sap_pcd_field_next(&rest, &field, &bad)) {
        const size_t width = (size_t)field.count * field.cell.bytes;
        if (bytes) {
            at.first = bytes + offset;
            at.stride = packed ? width : h->row_bytes;
        }
        status = draft_field(h->lines.source, &field, at, drafts);
        offset += packed ? width * (size_t)h->points : width;
        at.number += field.count;
    }
    SAP_ASSERT(!bad); // the coordinates have been found in them
    return status;
}

// The bits of a number that stands for four bytes: as a float, or as an integer.
static uint32_t packed_bits(const sap_decimal* decimal, bool is_float) {
    const float value = sap_decimal_float(decimal);
    int64_t whole = 0;
    uint32_t bits;
    if (!is_float) return sap_decimal_whole(decimal, &whole) ? (uint32_t)whole : 0;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

// Whether the packed colours of the header are floats.
static bool packed_is_float(const sap_pcd_header* h) {
    sap_pcd_header rest = *h;
    sap_pcd_field field = {.number = 0};
    const char* bad = NULL;
    while (sap_pcd_field_next(&rest, &field, &bad))
        if (is_packed(&field)) return field.cell.kind == 'f';
    return false;
}

static void take_row(sap_span line, const sap_field_drafts* drafts, bool is_float, const sap_point_set* set,
                     int64_t row) {
    int64_t f = 0;
    sap_span word;
    for (int64_t number = 0; f < drafts->count && sap_word_next(&line, &word); number++) {
        sap_decimal decimal = {.kind = SAP_DECIMAL_NAN};
        bool read = false;
        for (; f < drafts->count && drafts->list[f].number == number; f++) {
            if (!read) read = sap_span_number(word, &decimal);
            if (!read) decimal = (sap_decimal){.kind = SAP_DECIMAL_NAN};
            const size_t channel = drafts->list[f].column.stride;
            if (channel)
                ((uint8_t*)(uintptr_t)set->fields[f].values)[row] =
                    (uint8_t)(packed_bits(&decimal, is_float) >> 8 * (channel - 1));
            else
                sap_field_put(&set->fields[f], row, &decimal);
        }
    }
}

static void take_text(const sap_pcd_header* h, const sap_field_drafts* drafts, const sap_point_set* set) {
    sap_lines lines = h->lines;
    const bool is_float = packed_is_float(h);
    for (int64_t row = 0; row < set->count;) {
        sap_span line, look, word;
        const bool there = sap_line_next(&lines, &line);
        SAP_ASSERT(there);
        look = line;
        if (sap_word_next(&look, &word)) take_row(line, drafts, is_float, set, row++);
    }
}

sap_status sap_pcd_fields(const sap_pcd_header* h, const unsigned char* bytes, sap_point_set* set) {
    const sap_source* source = h->lines.source;
    sap_field_drafts drafts = {NULL, 0, 0};
    sap_status status = draft_fields(h, bytes, &drafts);
    if (status == SAP_OK)
        status = bytes ? sap_fields_take(source, &drafts, set) : sap_fields_make(source, &drafts, set);
    if (status == SAP_OK && !bytes && drafts.count) take_text(h, &drafts, set);
    sap_field_drafts_release(source, &drafts);
    return status;
}
