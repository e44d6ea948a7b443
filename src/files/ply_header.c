// The header of a PLY: a text that lists elements and their properties.
#include "base/assert.h"
#include "device/device.h"
#include "files/ply.h"

static sap_status bad_header(const sap_ply_file* ply, const char* what, sap_span word) {
    char shown[SAP_SHOWN_BYTES];
    return sap_bad_line(ply->source, SAP_ERROR_FORMAT, ply->lines.number, "%s '%s'; correct the PLY header", what,
                        sap_span_show(word, shown));
}

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

static sap_status read_format(sap_ply_file* ply, sap_span rest) {
    sap_span word = rest;
    sap_word_next(&rest, &word);
    ply->ascii = sap_span_equal(word, "ascii");
    ply->big_endian = sap_span_equal(word, "binary_big_endian");
    if (!ply->ascii && !ply->big_endian && !sap_span_equal(word, "binary_little_endian"))
        return bad_header(ply, "unknown format", word);
    return SAP_OK;
}

static sap_status read_element(sap_ply_file* ply, sap_span rest) {
    sap_ply_element* element = &ply->elements[ply->element_count];
    *element = (sap_ply_element){.line = ply->lines.number, .first = ply->property_count};
    sap_span count = {rest.last, rest.last};
    if (!sap_word_next(&rest, &element->name)) return bad_header(ply, "an element without a name", rest);
    if (!sap_word_next(&rest, &count) || !sap_span_count(count, &element->count))
        return bad_header(ply, "an element with a broken count", count);
    if (!ply->vertex && sap_span_equal(element->name, "vertex")) ply->vertex = element;
    bool face = sap_span_equal(element->name, "face"), strip = sap_span_equal(element->name, "tristrips");
    if ((face || strip) && (!ply->face || (!ply->face->count && element->count))) {
        ply->face = element;
        ply->strips = strip;
    }
    ply->element_count++;
    SAP_ASSERT(ply->element_count * sizeof *element <= ply->allocated);
    return SAP_OK;
}

static sap_status read_property(sap_ply_file* ply, sap_span rest) {
    if (!ply->element_count) return bad_header(ply, "a property before any element:", rest);
    sap_ply_element* element = &ply->elements[ply->element_count - 1];
    sap_ply_property* property = &ply->all_properties[ply->property_count];
    *property = (sap_ply_property){.axis = -1};
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
    property->name = word;
    if (element == ply->vertex && !list) property->axis = sap_axis_named(word, false);
    element->lists |= list;
    element->least_bytes += list ? property->count_cell.bytes : property->cell.bytes;
    element->properties++;
    ply->property_count++;
    SAP_ASSERT((const unsigned char*)(property + 1) <= (const unsigned char*)ply->elements + ply->allocated);
    return SAP_OK;
}

// Runs over the header; first only to count its elements and properties, then to read them.
static sap_status read_header(sap_ply_file* ply, bool counting) {
    sap_span line, word;
    ply->lines = (sap_lines){.source = ply->source};
    ply->element_count = ply->property_count = 0;
    if (!sap_line_next(&ply->lines, &line) || !sap_word_next(&line, &word) || !sap_span_equal(word, "ply"))
        return sap_bad_line(ply->source, SAP_ERROR_FORMAT, 1, "this is not a PLY file: it does not begin with 'ply'");
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
                        "the file ends within its header; it is truncated; get it again");
}

// Allocates the lists of elements and properties, of which the header has counted out the lengths.
static bool allocate_lists(sap_ply_file* ply) {
    size_t element_bytes = ply->element_count * sizeof(sap_ply_element);
    ply->allocated = element_bytes + ply->property_count * sizeof(sap_ply_property);
    ply->elements = sap_memory_allocate(ply->source->device, ply->allocated);
    if (!ply->elements) return false;
    ply->all_properties = (sap_ply_property*)((unsigned char*)ply->elements + element_bytes);
    return true;
}

sap_status sap_ply_open(sap_ply_file* ply, const sap_source* source) {
    *ply = (sap_ply_file){.source = source};
    sap_status status = read_header(ply, true);
    if (status != SAP_OK) return status;
    if (!allocate_lists(ply)) return sap_bad_byte(source, SAP_ERROR_MEMORY, -1, "no memory for the PLY header");
    return read_header(ply, false);
}

void sap_ply_close(sap_ply_file* ply) { sap_memory_release(ply->source->device, ply->elements, ply->allocated); }
