// PLY: a text that lists elements and their properties, then the elements, as text or as numbers of either byte order.
// All elements are walked, so that a cut file is found out even if its vertices are complete.
#include "device/device.h"
#include "files/cells.h"
#include <string.h>

typedef struct ply_property {
    sap_cell cell;
    sap_cell count_cell; // of a list's length; kind 0: no list
    int32_t axis;        // which coordinate of a vertex; else -1
} ply_property;

typedef struct ply_element {
    sap_span name;
    int64_t count;
    int64_t line; // of the header
    size_t first, properties;
    size_t least_bytes; // of a row, when all of its lists are empty
    bool lists;
} ply_element;

typedef struct ply_file {
    const sap_source* source;
    bool ascii, big_endian;
    ply_element* elements;
    ply_property* all_properties;
    size_t element_count, property_count, allocated;
    const ply_element* vertex;
    int32_t dims;
    sap_lines lines; // behind the header: where the data begin
} ply_file;

static sap_status bad_header(const ply_file* ply, const char* what, sap_span word) {
    char shown[SAP_SHOWN_BYTES];
    return sap_bad_line(ply->source, SAP_ERROR_FORMAT, ply->lines.number, "%s '%s'; correct the PLY header", what,
                        sap_span_show(word, shown));
}

// ---- The header.

static bool type_of(sap_span word, bool big_endian, sap_cell* cell) {
    static const struct {
        const char* name;
        const char* other;
        char kind;
        uint8_t bytes;
    } types[] = {{"char", "int8", 'i', 1},     {"uchar", "uint8", 'u', 1},   {"short", "int16", 'i', 2},
                 {"ushort", "uint16", 'u', 2}, {"int", "int32", 'i', 4},     {"uint", "uint32", 'u', 4},
                 {"float", "float32", 'f', 4}, {"double", "float64", 'f', 8}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (!sap_span_equal(word, types[i].name) && !sap_span_equal(word, types[i].other)) continue;
        *cell = (sap_cell){types[i].kind, types[i].bytes, big_endian};
        return true;
    }
    return false;
}

static sap_status read_format(ply_file* ply, sap_span rest) {
    sap_span word = rest;
    sap_word_next(&rest, &word);
    ply->ascii = sap_span_equal(word, "ascii");
    ply->big_endian = sap_span_equal(word, "binary_big_endian");
    if (!ply->ascii && !ply->big_endian && !sap_span_equal(word, "binary_little_endian"))
        return bad_header(ply, "unknown format", word);
    return SAP_OK;
}

static sap_status read_element(ply_file* ply, sap_span rest) {
    ply_element* element = &ply->elements[ply->element_count];
    *element = (ply_element){.line = ply->lines.number, .first = ply->property_count};
    sap_span count = {rest.last, rest.last};
    if (!sap_word_next(&rest, &element->name)) return bad_header(ply, "an element without a name", rest);
    if (!sap_word_next(&rest, &count) || !sap_span_count(count, &element->count))
        return bad_header(ply, "an element with a broken count", count);
    if (!ply->vertex && sap_span_equal(element->name, "vertex")) ply->vertex = element;
    ply->element_count++;
    return SAP_OK;
}

static sap_status read_property(ply_file* ply, sap_span rest) {
    if (!ply->element_count) return bad_header(ply, "a property before any element:", rest);
    ply_element* element = &ply->elements[ply->element_count - 1];
    ply_property* property = &ply->all_properties[ply->property_count];
    *property = (ply_property){.axis = -1};
    sap_span word = {rest.last, rest.last};
    sap_word_next(&rest, &word);
    bool list = sap_span_equal(word, "list");
    if (list) {
        sap_word_next(&rest, &word);
        if (!type_of(word, ply->big_endian, &property->count_cell) || property->count_cell.kind == 'f')
            return bad_header(ply, "a list length of unknown type", word);
        sap_word_next(&rest, &word);
    }
    if (!type_of(word, ply->big_endian, &property->cell)) return bad_header(ply, "a property of unknown type", word);
    if (!sap_word_next(&rest, &word)) return bad_header(ply, "a property without a name", word);
    if (element == ply->vertex && !list) property->axis = sap_axis_named(word, false);
    element->lists |= list;
    element->least_bytes += list ? property->count_cell.bytes : property->cell.bytes;
    element->properties++;
    ply->property_count++;
    return SAP_OK;
}

// Runs over the header; first only to count its elements and properties, then to read them.
static sap_status read_header(ply_file* ply, bool counting) {
    sap_span line, word;
    ply->lines = (sap_lines){.source = ply->source};
    ply->element_count = ply->property_count = 0;
    if (!sap_line_next(&ply->lines, &line) || !sap_word_next(&line, &word) || !sap_span_equal(word, "ply"))
        return sap_bad_line(ply->source, SAP_ERROR_FORMAT, 1, "this is no PLY file: it does not begin with 'ply'");
    bool format = false, returns = ply->lines.line_end == SAP_LINE_END_RETURN;
    while (sap_line_next(&ply->lines, &line)) {
        sap_status status = SAP_OK;
        if (!sap_word_next(&line, &word) || sap_span_equal(word, "comment") || sap_span_equal(word, "obj_info"))
            continue;
        if (sap_span_equal(word, "end_header")) {
            if (returns && !ply->ascii) sap_lines_end_at_return(&ply->lines);
            if (format || counting) return SAP_OK;
            return sap_bad_line(ply->source, SAP_ERROR_FORMAT, ply->lines.number,
                                "the header lacks its format line; correct the PLY header");
        }
        bool element = sap_span_equal(word, "element"), property = sap_span_equal(word, "property");
        if (counting) {
            ply->element_count += element;
            ply->property_count += property;
        } else if (sap_span_equal(word, "format")) {
            if (ply->element_count) return bad_header(ply, "an element before the", word);
            format = true;
            status = read_format(ply, line);
        } else if (element) {
            status = read_element(ply, line);
        } else if (property) {
            status = read_property(ply, line);
        } else {
            status = bad_header(ply, "unknown word", word);
        }
        if (status != SAP_OK) return status;
    }
    return sap_bad_byte(ply->source, SAP_ERROR_FORMAT, (int64_t)ply->source->size,
                        "the file ends within its header; it is cut, get it again");
}

// Finds out dims; x, y and z must be there from the first on, each once, and c3, c4, … follow without a gap.
static sap_status check_axes(ply_file* ply) {
    const ply_element* vertex = ply->vertex;
    int found[SAP_MAX_DIMS + 1] = {0};
    for (size_t i = 0; i < vertex->properties; i++) {
        int32_t axis = ply->all_properties[vertex->first + i].axis;
        if (axis >= 0) found[axis]++;
    }
    ply->dims = found[2] ? 3 : found[1] ? 2 : 1;
    while (ply->dims >= 3 && ply->dims <= SAP_MAX_DIMS && found[ply->dims]) ply->dims++;
    if (ply->dims > SAP_MAX_DIMS)
        return sap_bad_line(ply->source, SAP_ERROR_UNSUPPORTED, vertex->line,
                            "element vertex has coordinates up to c%d, but points have at most %d; leave some out",
                            SAP_MAX_DIMS, SAP_MAX_DIMS);
    for (int32_t axis = 0; axis < ply->dims; axis++) {
        char name[SAP_AXIS_BYTES];
        if (found[axis] != 1)
            return sap_bad_line(ply->source, SAP_ERROR_FORMAT, vertex->line,
                                "element vertex needs one number property '%s'; it has %d", sap_axis_name(axis, name),
                                found[axis]);
    }
    for (size_t i = 0; i < vertex->properties; i++) {
        ply_property* property = &ply->all_properties[vertex->first + i];
        if (property->axis >= ply->dims) property->axis = -1; // behind a gap
    }
    return SAP_OK;
}

// `row` is the first of the element that is not there, from 0.
static sap_status too_short(const ply_file* ply, const ply_element* element, int64_t row) {
    char shown[SAP_SHOWN_BYTES];
    return sap_bad_byte(ply->source, SAP_ERROR_FORMAT, (int64_t)ply->source->size,
                        "the file ends before %s %lld of %lld; it is cut, get it again",
                        sap_span_show(element->name, shown), (long long)row + 1, (long long)element->count);
}

// ---- Text.

// Takes one number from the line of a row.
static sap_status take_number(const ply_file* ply, const sap_lines* lines, sap_span* line, sap_decimal* decimal,
                              sap_span* word) {
    char shown[SAP_SHOWN_BYTES];
    if (!sap_word_next(line, word))
        return sap_bad_line(ply->source, SAP_ERROR_FORMAT, lines->number, "the line has too few numbers");
    if (!sap_span_number(*word, decimal))
        return sap_bad_line(ply->source, SAP_ERROR_FORMAT, lines->number, "'%s' is not a number%s",
                            sap_span_show(*word, shown), sap_number_remedy(ply->source, *word));
    return SAP_OK;
}

static sap_status take_text_row(const ply_file* ply, const ply_element* element, const sap_lines* lines, sap_span line,
                                sap_sink* sink, int64_t row) {
    sap_span word;
    sap_decimal decimal;
    char shown[SAP_SHOWN_BYTES];
    for (size_t i = 0; i < element->properties; i++) {
        const ply_property* property = &ply->all_properties[element->first + i];
        sap_status status = take_number(ply, lines, &line, &decimal, &word);
        if (status != SAP_OK) return status;
        if (property->axis >= 0 && !sap_sink_put(sink, &decimal, row * ply->dims + property->axis))
            return sap_beyond_float(ply->source, lines->number, word);
        if (!property->count_cell.kind) continue;
        int64_t count;
        if (!sap_span_count(word, &count))
            return sap_bad_line(ply->source, SAP_ERROR_FORMAT, lines->number,
                                decimal.negative ? "a list has the negative length %s; correct the line"
                                                 : "a list has the broken length '%s'; give a whole number",
                                sap_span_show(word, shown));
        for (; count > 0; count--) {
            status = take_number(ply, lines, &line, &decimal, &word);
            if (status != SAP_OK) return status;
        }
    }
    if (sap_word_next(&line, &word))
        return sap_bad_line(ply->source, SAP_ERROR_FORMAT, lines->number, "the line has too many numbers");
    return SAP_OK;
}

// Walks the rows of an element, each a line; lines of other elements than the vertices are not looked into.
static sap_status walk_text(const ply_file* ply, const ply_element* element, sap_lines* lines, sap_sink* sink) {
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

static sap_status read_text(const ply_file* ply, sap_point_set** made) {
    sap_sink sink = {NULL, NULL, true, ply->source->real_bits};
    const ply_element* vertex = ply->vertex;
    sap_lines lines = ply->lines, at_vertices = lines;
    // A declared float or double says more than the digits do; integers are looked at.
    bool has_double = false, has_int = false;
    for (size_t i = 0; i < vertex->properties; i++) {
        const ply_property* property = &ply->all_properties[vertex->first + i];
        has_double |= property->axis >= 0 && property->cell.bytes == 8;
        has_int |= property->axis >= 0 && property->cell.kind != 'f';
    }
    sap_status status = SAP_OK;
    for (size_t i = 0; i < ply->element_count && status == SAP_OK; i++) {
        const ply_element* element = &ply->elements[i];
        if (element == vertex) at_vertices = lines;
        status = walk_text(ply, element, &lines, element == vertex ? &sink : NULL);
    }
    if (status != SAP_OK) return status;
    bool fits = !has_double && (sink.fits_float || !has_int);
    status = sap_point_set_make(ply->source, vertex->count, ply->dims, fits, made, &sink);
    return status == SAP_OK ? walk_text(ply, vertex, &at_vertices, &sink) : status;
}

// ---- Numbers.

// A step through binary rows: where the next cell stands, and what stopped it.
typedef struct ply_walk {
    const unsigned char* at;
    const unsigned char* cells[SAP_MAX_DIMS]; // the coordinates of the last row
    int64_t row;                              // rows walked
    bool negative;                            // the list at `at` has a negative length; else the file is cut
} ply_walk;

// Walks one row with lists; false if it is cut or a list's length is negative.
static bool walk_row(const ply_file* ply, const ply_element* element, ply_walk* walk) {
    const unsigned char* end = ply->source->bytes + ply->source->size;
    for (size_t i = 0; i < element->properties; i++) {
        const ply_property* property = &ply->all_properties[element->first + i];
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
static sap_status skip_binary(const ply_file* ply, const ply_element* element, size_t* offset) {
    if (!element->lists) {
        size_t least = element->least_bytes, left = ply->source->size - *offset;
        if (least == 0) return SAP_OK;
        if ((uint64_t)element->count > left / least) return too_short(ply, element, (int64_t)(left / least));
        *offset += least * (size_t)element->count;
        return SAP_OK;
    }
    ply_walk walk = {.at = ply->source->bytes + *offset};
    while (walk.row < element->count && walk_row(ply, element, &walk)) {}
    size_t reached = (size_t)(walk.at - ply->source->bytes);
    char shown[SAP_SHOWN_BYTES];
    if (walk.negative)
        return sap_bad_byte(ply->source, SAP_ERROR_FORMAT, (int64_t)reached,
                            "a list of %s %lld has a negative length; the file is broken, get it again",
                            sap_span_show(element->name, shown), (long long)walk.row + 1);
    if (walk.row < element->count) return too_short(ply, element, walk.row);
    *offset = reached;
    return SAP_OK;
}

// The columns of the coordinates. Where they begin is told only if all rows are alike (and there is one).
static void vertex_columns(const ply_file* ply, const unsigned char* first, sap_column columns[SAP_MAX_DIMS]) {
    const ply_element* vertex = ply->vertex;
    size_t offset = 0;
    for (size_t i = 0; i < vertex->properties; i++) {
        const ply_property* property = &ply->all_properties[vertex->first + i];
        if (property->axis >= 0)
            columns[property->axis] = (sap_column){first + offset, vertex->least_bytes, property->cell};
        if (!vertex->lists && vertex->count) offset += property->cell.bytes;
    }
}

// Vertices with lists: looks at all rows, and stores them if the sink leads anywhere.
static sap_status walk_list_vertices(const ply_file* ply, const unsigned char* at, sap_sink* sink) {
    ply_walk walk = {.at = at};
    sap_column columns[SAP_MAX_DIMS];
    vertex_columns(ply, at, columns);
    bool storing = sink->coords || sink->coords_f64;
    for (int64_t row = 0; row < ply->vertex->count; row++) {
        walk_row(ply, ply->vertex, &walk);
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
static sap_status check_vertices(const ply_file* ply, const sap_column* columns, sap_sink* sink) {
    for (int32_t axis = 0; axis < ply->dims; axis++)
        sink->fits_float = sink->fits_float && sap_column_fits_float(&columns[axis], ply->vertex->count);
    return sap_columns_check(ply->source, columns, ply->dims, ply->vertex->count);
}

static sap_status read_binary(const ply_file* ply, sap_point_set** made) {
    const ply_element* vertex = ply->vertex;
    size_t offset = ply->lines.offset, at_vertices = offset;
    for (size_t i = 0; i < ply->element_count; i++) {
        if (&ply->elements[i] == vertex) at_vertices = offset;
        sap_status status = skip_binary(ply, &ply->elements[i], &offset);
        if (status != SAP_OK) return status;
    }
    const unsigned char* first = ply->source->bytes + at_vertices;
    sap_column columns[SAP_MAX_DIMS];
    sap_sink sink = {NULL, NULL, true, ply->source->real_bits};
    vertex_columns(ply, first, columns);
    sap_status status = vertex->lists ? walk_list_vertices(ply, first, &sink) : check_vertices(ply, columns, &sink);
    if (status == SAP_OK)
        status = sap_point_set_make(ply->source, vertex->count, ply->dims, sink.fits_float, made, &sink);
    if (status != SAP_OK) return status;
    if (vertex->lists) return walk_list_vertices(ply, first, &sink);
    sap_columns_store(columns, ply->dims, vertex->count, &sink);
    return SAP_OK;
}

static sap_status read_points(ply_file* ply, sap_point_set** made) {
    if (!ply->vertex)
        return sap_bad_line(ply->source, SAP_ERROR_FORMAT, ply->lines.number,
                            "the header has no element 'vertex', so there are no points");
    sap_status status = check_axes(ply);
    if (status != SAP_OK) return status;
    return ply->ascii ? read_text(ply, made) : read_binary(ply, made);
}

// Allocates the lists of elements and properties, of which the header has counted out the lengths.
static bool allocate_lists(ply_file* ply) {
    size_t element_bytes = ply->element_count * sizeof(ply_element);
    ply->allocated = element_bytes + ply->property_count * sizeof(ply_property);
    ply->elements = sap_memory_allocate(ply->source->device, ply->allocated);
    if (!ply->elements) return false;
    ply->all_properties = (ply_property*)((unsigned char*)ply->elements + element_bytes);
    return true;
}

sap_status sap_read_ply(const sap_source* source, sap_point_set** set) {
    ply_file ply = {.source = source};
    sap_point_set* made = NULL;
    sap_status status = read_header(&ply, true);
    if (status != SAP_OK) return status;
    if (!allocate_lists(&ply)) return sap_bad_byte(source, SAP_ERROR_MEMORY, -1, "no memory for the PLY header");
    status = read_header(&ply, false);
    if (status == SAP_OK) status = read_points(&ply, &made);
    sap_memory_release(source->device, ply.elements, ply.allocated);
    if (status == SAP_OK) *set = made;
    return status;
}
