// PLY's elements, as text or as numbers of either byte order, and the points among them. All elements are walked, so
// that a cut file is found out even if its vertices are complete.
#include "files/ply.h"
#include "base/assert.h"
#include "device/device.h"
#include <string.h>

// Which coordinates the properties are: those chosen, or named; in capitals if none has a small letter.
static void name_axes(const sap_ply_file* ply) {
    sap_ply_property* properties = &ply->all_properties[ply->vertex->first];
    bool chosen = sap_chosen_count(ply->source) > 0, small = false;
    for (size_t i = 0; i < ply->vertex->properties; i++) small |= properties[i].axis >= 0;
    for (size_t i = 0; i < ply->vertex->properties; i++) {
        if (properties[i].count_cell.kind) continue;
        if (chosen)
            properties[i].axis = sap_chosen_axis(ply->source, properties[i].name, (int64_t)i + 1);
        else if (!small)
            properties[i].axis = sap_axis_named(properties[i].name, true);
    }
}

// Finds out dims; x, y and z must be there from the first on, each once, and c3, c4, … follow without a gap.
static sap_status check_axes(sap_ply_file* ply) {
    const sap_ply_element* vertex = ply->vertex;
    int found[SAP_MAX_DIMS + 1] = {0};
    for (size_t i = 0; i < vertex->properties; i++) {
        int32_t axis = ply->all_properties[vertex->first + i].axis;
        if (axis >= 0) found[axis]++;
    }
    const int32_t chosen = sap_chosen_count(ply->source);
    ply->dims = chosen ? chosen : found[2] ? 3 : found[1] ? 2 : 1;
    while (!chosen && ply->dims >= 3 && ply->dims <= SAP_MAX_DIMS && found[ply->dims]) ply->dims++;
    if (ply->dims > SAP_MAX_DIMS)
        return sap_bad_line(ply->source, SAP_ERROR_UNSUPPORTED, vertex->line,
                            "element vertex has coordinates up to c%d, but points have at most %d; leave some out",
                            SAP_MAX_DIMS, SAP_MAX_DIMS);
    for (int32_t axis = 0; axis < ply->dims; axis++) {
        char name[SAP_AXIS_BYTES];
        if (chosen && found[axis] != 1) return sap_chosen_missing(ply->source, axis, (sap_span){NULL, NULL});
        if (found[axis] != 1)
            return sap_bad_line(ply->source, SAP_ERROR_FORMAT, vertex->line,
                                "element vertex needs one number property '%s'; it has %d", sap_axis_name(axis, name),
                                found[axis]);
    }
    for (size_t i = 0; i < vertex->properties; i++) {
        sap_ply_property* property = &ply->all_properties[vertex->first + i];
        if (property->axis >= ply->dims) property->axis = -1; // behind a gap
    }
    return SAP_OK;
}

// The axes of a mesh: no coordinates beyond z, but colours in their place if there are all three, each once.
static void name_mesh_axes(const sap_ply_file* ply) {
    static const char* const names[] = {"red", "green", "blue"};
    sap_ply_property *properties = &ply->all_properties[ply->vertex->first], *colors[3] = {NULL, NULL, NULL};
    int found[3] = {0, 0, 0};
    for (size_t i = 0; i < ply->vertex->properties; i++) {
        sap_ply_property* property = &properties[i];
        if (property->axis >= 3) property->axis = -1;
        for (int color = 0; color < 3; color++) {
            if (property->count_cell.kind || !sap_span_equal(property->name, names[color])) continue;
            colors[color] = property;
            found[color]++;
        }
    }
    if (found[0] != 1 || found[1] != 1 || found[2] != 1) return;
    for (int32_t color = 0; color < 3; color++) colors[color]->axis = 3 + color;
}

// `row` is the first row that is missing, from 0.
static sap_status too_short(const sap_ply_file* ply, const sap_ply_element* element, int64_t row) {
    char shown[SAP_SHOWN_BYTES];
    return sap_bad_byte(ply->source, SAP_ERROR_FORMAT, (int64_t)ply->source->size,
                        "the file ends before %s %lld of %lld; it is truncated; get it again",
                        sap_span_show(element->name, shown), (long long)row + 1, (long long)element->count);
}

// ---- Text.

sap_status sap_ply_number(const sap_ply_file* ply, const sap_lines* lines, sap_span* line, sap_decimal* decimal,
                          sap_span* word) {
    char shown[SAP_SHOWN_BYTES];
    if (!sap_word_next(line, word))
        return sap_bad_line(ply->source, SAP_ERROR_FORMAT, lines->number, "the line has too few numbers");
    if (!sap_span_number(*word, decimal))
        return sap_bad_line(ply->source, SAP_ERROR_FORMAT, lines->number, "'%s' is not a number%s",
                            sap_span_show(*word, shown), sap_number_remedy(ply->source, *word));
    return SAP_OK;
}

sap_status sap_ply_length(const sap_ply_file* ply, const sap_lines* lines, sap_span word, const sap_decimal* decimal,
                          int64_t* length) {
    char shown[SAP_SHOWN_BYTES];
    if (sap_span_count(word, length)) return SAP_OK;
    return sap_bad_line(ply->source, SAP_ERROR_FORMAT, lines->number,
                        decimal->negative ? "a list has the negative length %s; correct the line"
                                          : "a list has the length '%s'; give a whole number",
                        sap_span_show(word, shown));
}

sap_status sap_ply_row_end(const sap_ply_file* ply, const sap_lines* lines, sap_span line) {
    sap_span word;
    if (!sap_word_next(&line, &word)) return SAP_OK;
    return sap_bad_line(ply->source, SAP_ERROR_FORMAT, lines->number, "the line has too many numbers");
}

static sap_status take_text_row(const sap_ply_file* ply, const sap_ply_element* element, const sap_lines* lines,
                                sap_span line, sap_sink* sink, int64_t row) {
    sap_span word;
    sap_decimal decimal;
    for (size_t i = 0; i < element->properties; i++) {
        const sap_ply_property* property = &ply->all_properties[element->first + i];
        sap_status status = sap_ply_number(ply, lines, &line, &decimal, &word);
        if (status != SAP_OK) return status;
        if (property->axis >= 0 && !sap_sink_put(sink, &decimal, row * ply->dims + property->axis))
            return sap_beyond_float(ply->source, lines->number, word);
        if (!property->count_cell.kind) continue;
        int64_t count;
        status = sap_ply_length(ply, lines, word, &decimal, &count);
        for (; status == SAP_OK && count > 0; count--) { status = sap_ply_number(ply, lines, &line, &decimal, &word); }
        if (status != SAP_OK) return status;
    }
    return sap_ply_row_end(ply, lines, line);
}

// Walks the rows of an element, each a line; lines of other elements than the vertices are only counted.
static sap_status walk_text(const sap_ply_file* ply, const sap_ply_element* element, sap_lines* lines, sap_sink* sink) {
    sap_span line, word;
    if (element->properties == 0) return SAP_OK;
    for (int64_t row = 0; row < element->count;) {
        if (!sap_line_next(lines, &line)) return too_short(ply, element, row);
        sap_span look = line;
        if (!sap_word_next(&look, &word)) continue;
        sap_status status = sink ? take_text_row(ply, element, lines, line, sink, row) : SAP_OK;
        if (status != SAP_OK) return status;
        row++;
    }
    return SAP_OK;
}

// Walks all elements, and finds out where the vertices and the faces begin.
static sap_status walk_elements(sap_ply_file* ply, sap_sink* sink) {
    sap_lines lines = ply->lines;
    sap_status status = SAP_OK;
    ply->at_vertices = lines;
    for (size_t i = 0; i < ply->element_count && status == SAP_OK; i++) {
        const sap_ply_element* element = &ply->elements[i];
        if (element == ply->vertex) ply->at_vertices = lines;
        if (element == ply->face) ply->at_faces = lines;
        status = walk_text(ply, element, &lines, element == ply->vertex ? sink : NULL);
    }
    return status;
}

// Where the type is known beforehand, one walk does: if the bytes present may hold all vertices, of which each number
// takes two.
static bool one_walk_does(const sap_ply_file* ply) {
    const sap_ply_element* vertex = ply->vertex;
    SAP_ASSERT(vertex->properties > 0 && ply->lines.offset <= ply->source->size);
    size_t left = ply->source->size - ply->lines.offset + 1;
    return ply->source->real_bits && (uint64_t)vertex->count <= left / (2 * vertex->properties);
}

static sap_status read_text(sap_ply_file* ply, sap_point_set** made) {
    sap_sink sink = {NULL, NULL, true, ply->source->real_bits};
    const sap_ply_element* vertex = ply->vertex;
    sap_point_set* set = NULL;
    sap_status status = SAP_OK;
    if (one_walk_does(ply)) status = sap_point_set_make(ply->source, vertex->count, ply->dims, true, &set, &sink);
    if (status == SAP_OK) status = walk_elements(ply, &sink);
    if (set && status == SAP_OK) *made = set;
    if (set && status != SAP_OK) sap_point_set_free(set);
    if (set || status != SAP_OK) return status;
    // A declared float or double says more than the digits do; integers are looked at.
    bool has_double = false, has_int = false;
    for (size_t i = 0; i < vertex->properties; i++) {
        const sap_ply_property* property = &ply->all_properties[vertex->first + i];
        has_double |= property->axis >= 0 && property->cell.bytes == 8;
        has_int |= property->axis >= 0 && property->cell.kind != 'f';
    }
    bool fits = !has_double && (sink.fits_float || !has_int);
    status = sap_point_set_make(ply->source, vertex->count, ply->dims, fits, made, &sink);
    sap_lines lines = ply->at_vertices;
    return status == SAP_OK ? walk_text(ply, vertex, &lines, &sink) : status;
}

// ---- Numbers.

// A step through binary rows: where the next cell stands, and what stopped it.
typedef struct sap_ply_walk {
    const unsigned char* at;
    const unsigned char* cells[SAP_MAX_DIMS]; // the coordinates of the last row
    int64_t row;                              // rows walked
    bool negative;                            // the list at `at` has a negative length; else the file is cut
} sap_ply_walk;

// Walks one row with lists; false if it is truncated or a list's length is negative.
static bool walk_row(const sap_ply_file* ply, const sap_ply_element* element, sap_ply_walk* walk) {
    const unsigned char* end = ply->source->bytes + ply->source->size;
    for (size_t i = 0; i < element->properties; i++) {
        const sap_ply_property* property = &ply->all_properties[element->first + i];
        SAP_ASSERT(walk->at <= end);
        size_t left = (size_t)(end - walk->at), bytes = property->cell.bytes;
        if (property->count_cell.kind) {
            if (left < property->count_cell.bytes) return false;
            double length = sap_cell_double(walk->at, property->count_cell);
            walk->negative = length < 0;
            if (walk->negative) return false;
            walk->at += property->count_cell.bytes;
            left -= property->count_cell.bytes;
            if ((size_t)length > left / bytes) return false;
            bytes *= (size_t)length;
        }
        if (left < bytes) return false;
        if (property->axis >= 0) walk->cells[property->axis] = walk->at;
        walk->at += bytes;
    }
    walk->row++;
    return true;
}

// Steps over an element.
static sap_status skip_binary(const sap_ply_file* ply, const sap_ply_element* element, size_t* offset) {
    SAP_ASSERT(*offset <= ply->source->size);
    if (!element->lists) {
        size_t least = element->least_bytes, left = ply->source->size - *offset;
        if (least == 0) return SAP_OK;
        if ((uint64_t)element->count > left / least) return too_short(ply, element, (int64_t)(left / least));
        *offset += least * (size_t)element->count;
        return SAP_OK;
    }
    sap_ply_walk walk = {.at = ply->source->bytes + *offset};
    while (walk.row < element->count && walk_row(ply, element, &walk)) {}
    size_t reached = (size_t)(walk.at - ply->source->bytes);
    char shown[SAP_SHOWN_BYTES];
    if (walk.negative)
        return sap_bad_byte(ply->source, SAP_ERROR_FORMAT, (int64_t)reached,
                            "a list of %s %lld has a negative length; the file is damaged; get it again",
                            sap_span_show(element->name, shown), (long long)walk.row + 1);
    if (walk.row < element->count) return too_short(ply, element, walk.row);
    *offset = reached;
    return SAP_OK;
}

// The columns of the coordinates. Where they begin is told only if all rows are alike (and there is one).
static void vertex_columns(const sap_ply_file* ply, const unsigned char* first, sap_column columns[SAP_MAX_DIMS]) {
    const sap_ply_element* vertex = ply->vertex;
    size_t offset = 0;
    for (size_t i = 0; i < vertex->properties; i++) {
        const sap_ply_property* property = &ply->all_properties[vertex->first + i];
        if (property->axis >= 0)
            columns[property->axis] = (sap_column){first + offset, vertex->least_bytes, property->cell};
        if (!vertex->lists && vertex->count) offset += property->cell.bytes;
    }
}

// Vertices with lists: looks at all rows, and stores them if the sink leads anywhere.
static sap_status walk_list_vertices(const sap_ply_file* ply, const unsigned char* at, sap_sink* sink) {
    sap_ply_walk walk = {.at = at};
    sap_column columns[SAP_MAX_DIMS];
    vertex_columns(ply, at, columns);
    bool storing = sink->coords || sink->coords_f64;
    for (int64_t row = 0; row < ply->vertex->count; row++) {
        const bool whole = walk_row(ply, ply->vertex, &walk);
        SAP_ASSERT(whole); // skip_binary has walked it
        for (int32_t axis = 0; axis < ply->dims; axis++) {
            columns[axis].first = walk.cells[axis];
            if (!storing && sink->fits_float) sink->fits_float = sap_column_fits_float(&columns[axis], 1);
        }
        sap_status status = storing ? SAP_OK : sap_columns_check(ply->source, columns, ply->dims, 1);
        if (status != SAP_OK) return status;
        sap_sink one = {sink->coords ? sink->coords + row * ply->dims : NULL,
                        sink->coords_f64 ? sink->coords_f64 + row * ply->dims : NULL, true, sink->real_bits};
        if (storing) sap_columns_store(columns, ply->dims, 1, &one);
    }
    return SAP_OK;
}

// Vertices of which all rows are alike: looks at them.
static sap_status check_vertices(const sap_ply_file* ply, const sap_column* columns, int64_t rows, sap_sink* sink) {
    for (int32_t axis = 0; axis < ply->dims; axis++)
        sink->fits_float = sink->fits_float && sap_column_fits_float(&columns[axis], rows);
    return sap_columns_check(ply->source, columns, ply->dims, rows);
}

static sap_status read_binary(sap_ply_file* ply, sap_point_set** made) {
    const sap_ply_element* vertex = ply->vertex;
    size_t offset = ply->lines.offset;
    ply->vertices_start = offset;
    for (size_t i = 0; i < ply->element_count; i++) {
        if (&ply->elements[i] == vertex) ply->vertices_start = offset;
        if (&ply->elements[i] == ply->face) ply->faces_start = offset;
        sap_status status = skip_binary(ply, &ply->elements[i], &offset);
        if (status != SAP_OK) return status;
    }
    const unsigned char* first = ply->source->bytes + ply->vertices_start;
    sap_column columns[SAP_MAX_DIMS];
    sap_sink sink = {NULL, NULL, true, ply->source->real_bits};
    vertex_columns(ply, first, columns);
    sap_status status = vertex->lists ? sap_part_refuse(ply->source, "a PLY whose vertices have lists") : SAP_OK;
    if (status != SAP_OK) return status;
    int64_t before;
    const int64_t rows = sap_part_take(ply->source, vertex->count, &before);
    for (int32_t axis = 0; axis < ply->dims && !vertex->lists; axis++)
        columns[axis].first += (size_t)before * columns[axis].stride;
    status = vertex->lists ? walk_list_vertices(ply, first, &sink) : check_vertices(ply, columns, rows, &sink);
    if (status == SAP_OK) status = sap_point_set_make(ply->source, rows, ply->dims, sink.fits_float, made, &sink);
    if (status != SAP_OK) return status;
    if (vertex->lists) return walk_list_vertices(ply, first, &sink);
    sap_columns_store(columns, ply->dims, rows, &sink);
    return SAP_OK;
}

sap_status sap_ply_points(sap_ply_file* ply, sap_point_set** set) {
    if (!ply->vertex)
        return sap_bad_line(ply->source, SAP_ERROR_FORMAT, ply->lines.number,
                            "the header has no element 'vertex', so there are no %s",
                            ply->mesh ? "vertices" : "points");
    name_axes(ply);
    if (ply->mesh) name_mesh_axes(ply);
    sap_status status = check_axes(ply);
    if (status != SAP_OK) return status;
    if (ply->mesh && ply->dims < 3)
        return sap_bad_line(ply->source, SAP_ERROR_FORMAT, ply->vertex->line,
                            "element vertex has no 'z', which a mesh needs");
    if (ply->ascii) status = sap_part_refuse(ply->source, "a PLY of text");
    if (status != SAP_OK) return status;
    return ply->ascii ? read_text(ply, set) : read_binary(ply, set);
}

sap_status sap_read_ply(const sap_source* source, sap_point_set** set) {
    sap_ply_file ply;
    sap_point_set* made = NULL;
    sap_status status = sap_ply_open(&ply, source);
    if (status == SAP_OK) status = sap_ply_points(&ply, &made);
    if (status == SAP_OK && source->with_fields) status = sap_ply_fields(&ply, made);
    sap_ply_close(&ply);
    if (status == SAP_OK)
        *set = made;
    else
        sap_point_set_free(made);
    return status;
}
