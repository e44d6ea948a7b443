// The properties of a PLY's vertices that are no coordinates.
#include "base/assert.h"
#include "files/fields.h"
#include "files/ply.h"

// Appends what is no coordinate. Where all rows are alike, `first` is the first byte of the first one.
static sap_status draft_fields(const sap_ply_file* ply, const unsigned char* first, sap_field_drafts* drafts) {
    const sap_ply_element* vertex = ply->vertex;
    size_t offset = 0;
    for (size_t i = 0; i < vertex->properties; i++) {
        const sap_ply_property* property = &ply->all_properties[vertex->first + i];
        const sap_field_draft draft = {.name = property->name,
                                       .part = -1,
                                       .column = {first ? first + offset : NULL, vertex->least_bytes, property->cell}};
        const bool wanted = property->axis < 0 && !property->count_cell.kind;
        const sap_status status = wanted ? sap_field_drafts_add(ply->source, drafts, &draft) : SAP_OK;
        if (status != SAP_OK) return status;
        offset += property->cell.bytes;
    }
    return SAP_OK;
}

static void take_row(const sap_ply_file* ply, sap_span line, const sap_field* fields, int64_t row) {
    const sap_ply_element* vertex = ply->vertex;
    for (size_t i = 0; i < vertex->properties; i++) {
        sap_span word;
        sap_decimal decimal;
        const bool there = sap_word_next(&line, &word) && sap_span_number(word, &decimal);
        SAP_ASSERT(there); // the walk before has looked
        if (ply->all_properties[vertex->first + i].axis < 0) sap_field_put(fields++, row, &decimal);
    }
}

static void take_text(const sap_ply_file* ply, const sap_point_set* set) {
    sap_lines lines = ply->at_vertices;
    for (int64_t row = 0; set->field_count && row < set->count;) {
        sap_span line, look, word;
        const bool there = sap_line_next(&lines, &line);
        SAP_ASSERT(there);
        look = line;
        if (sap_word_next(&look, &word)) take_row(ply, line, set->fields, row++);
    }
}

sap_status sap_ply_fields(const sap_ply_file* ply, sap_point_set* set) {
    sap_field_drafts drafts = {NULL, 0, 0};
    if (ply->vertex->lists)
        return sap_bad_byte(ply->source, SAP_OK, -1,
                            "vertices have lists, so their properties beside the coordinates are left out");
    const unsigned char* first = ply->ascii ? NULL : ply->source->bytes + ply->vertices_start;
    sap_status status = draft_fields(ply, first, &drafts);
    if (status == SAP_OK)
        status = ply->ascii ? sap_fields_make(ply->source, &drafts, set) : sap_fields_take(ply->source, &drafts, set);
    if (status == SAP_OK && ply->ascii) take_text(ply, set);
    sap_field_drafts_release(ply->source, &drafts);
    return status;
}
