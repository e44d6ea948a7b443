// STL: triangles without shared vertices, as text or as 50 bytes each. Corners that are equal become one vertex.
#include "base/assert.h"
#include "device/device.h"
#include "files/mesh/mesh_draft.h"
#include <string.h>

enum {
    HEADER_BYTES = 80,
    START_BYTES = HEADER_BYTES + 4, // the header and the number of triangles
    NORMAL_BYTES = 12,
    CORNER_BYTES = 12,
    TRIANGLE_BYTES = 50
};

typedef struct stl_file {
    const sap_source* source;
    sap_mesh_draft* draft;
    bool keep_apart;
    int32_t* slots; // hash table of vertices, -1: free
    int64_t slot_count;
} stl_file;

// ---- Corners.

// The bits of a coordinate, one and the same for 0 and -0.
static uint32_t coordinate_bits(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits == UINT32_C(0x80000000) ? 0 : bits;
}

static uint64_t hash_of(const float* vertex) {
    const uint64_t odd = UINT64_C(0x9e3779b97f4a7c15); // 2^64 over the golden ratio
    uint64_t hash = (uint64_t)coordinate_bits(vertex[0]) << 32 | coordinate_bits(vertex[1]);
    hash = (hash ^ hash >> 32) * odd;
    hash = (hash ^ hash >> 29 ^ coordinate_bits(vertex[2])) * odd;
    return hash ^ hash >> 32;
}

static bool same_vertex(const float* a, const float* b) {
    return coordinate_bits(a[0]) == coordinate_bits(b[0]) && coordinate_bits(a[1]) == coordinate_bits(b[1]) &&
           coordinate_bits(a[2]) == coordinate_bits(b[2]);
}

// Makes so many slots, a power of two, and fills them anew.
static bool make_slots(stl_file* stl, int64_t count) {
    const float* vertices = stl->draft->vertices.memory;
    int32_t* slots = sap_memory_allocate(stl->source->device, (size_t)count * sizeof *slots);
    if (!slots) return false;
    memset(slots, 0xff, (size_t)count * sizeof *slots);
    for (int64_t i = 0; i < stl->draft->vertex_count; i++) {
        int64_t slot = (int64_t)(hash_of(vertices + 3 * i) & (uint64_t)(count - 1));
        while (slots[slot] >= 0) slot = (slot + 1) & (count - 1);
        slots[slot] = (int32_t)i;
    }
    sap_memory_release(stl->source->device, stl->slots, (size_t)stl->slot_count * sizeof *slots);
    stl->slots = slots;
    stl->slot_count = count;
    return true;
}

static sap_status add_vertex(stl_file* stl, const float* corner, int32_t* vertex) {
    sap_mesh_draft* draft = stl->draft;
    float* added = sap_array_add(stl->source->device, &draft->vertices, 3 * sizeof *added);
    if (!added) return sap_draft_no_memory(draft);
    memcpy(added, corner, 3 * sizeof *added);
    *vertex = (int32_t)draft->vertex_count++; // one too many is refused in the end
    return SAP_OK;
}

// The vertex at a corner: one that is there already, or a new one.
static sap_status vertex_at(stl_file* stl, const float* corner, int32_t* vertex) {
    enum { FIRST_SLOTS = 64 };
    if (stl->keep_apart) return add_vertex(stl, corner, vertex);
    if ((!stl->slots || 2 * stl->draft->vertex_count >= stl->slot_count) &&
        !make_slots(stl, stl->slot_count ? 2 * stl->slot_count : FIRST_SLOTS))
        return sap_draft_no_memory(stl->draft);
    const float* vertices = stl->draft->vertices.memory;
    SAP_ASSERT(stl->draft->vertex_count < stl->slot_count && !(stl->slot_count & (stl->slot_count - 1)));
    int64_t mask = stl->slot_count - 1, slot = (int64_t)(hash_of(corner) & (uint64_t)mask);
    for (; stl->slots[slot] >= 0; slot = (slot + 1) & mask) {
        *vertex = stl->slots[slot];
        if (same_vertex(vertices + 3 * (int64_t)*vertex, corner)) return SAP_OK;
    }
    sap_status status = add_vertex(stl, corner, vertex);
    if (status == SAP_OK) stl->slots[slot] = *vertex;
    return status;
}

static sap_status add_triangle(stl_file* stl, const float corners[9]) {
    int32_t vertices[3];
    if (stl->draft->measures) return SAP_OK;
    for (int i = 0; i < 3; i++) {
        sap_status status = vertex_at(stl, corners + 3 * (size_t)i, &vertices[i]);
        if (status != SAP_OK) return status;
    }
    int32_t* triangle = sap_draft_triangles(stl->draft, 1);
    if (!triangle) return sap_draft_no_memory(stl->draft);
    memcpy(triangle, vertices, sizeof vertices);
    return SAP_OK;
}

// ---- Binary.

static uint32_t load_32(const unsigned char* at) {
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static sap_status read_binary(stl_file* stl) {
    const sap_source* source = stl->source;
    if (source->size < START_BYTES)
        return sap_bad_byte(source, SAP_ERROR_FORMAT, (int64_t)source->size,
                            "the file ends within its first 84 bytes; it is truncated, or not an STL file");
    if (stl->draft->measures) return SAP_OK; // floats, as they are
    int64_t count = load_32(source->bytes + HEADER_BYTES);
    int64_t present = (int64_t)((source->size - START_BYTES) / TRIANGLE_BYTES);
    if (count > present)
        return sap_bad_byte(source, SAP_ERROR_FORMAT, (int64_t)source->size,
                            "the file ends before triangle %lld of %lld; it is truncated; get it again",
                            (long long)present + 1, (long long)count);
    for (int64_t i = 0; i < count; i++) {
        const unsigned char* at = source->bytes + START_BYTES + i * TRIANGLE_BYTES + NORMAL_BYTES;
        float corners[9];
        for (int j = 0; j < 9; j++) {
            uint32_t bits = load_32(at + sizeof bits * (size_t)j);
            memcpy(&corners[j], &bits, sizeof bits);
            if (stl->draft->shifted && !sap_draft_place_number(stl->draft, j % 3, (double)corners[j], &corners[j]))
                return sap_bad_byte(source, SAP_ERROR_RANGE, at - source->bytes,
                                    "a coordinate less the origin is beyond the range of a float");
        }
        sap_status status = add_triangle(stl, corners);
        if (status != SAP_OK) return status;
    }
    return SAP_OK;
}

// ---- Text.

// Takes the next word, on whatever line, and wants this one.
static sap_status expect(const stl_file* stl, sap_span* text, const char* wanted) {
    sap_span word;
    char shown[SAP_SHOWN_BYTES];
    if (!sap_word_next(text, &word))
        return sap_bad_text(stl->source, SAP_ERROR_FORMAT, text->last,
                            "the file ends where '%s' is expected; it is truncated", wanted);
    if (sap_span_equal_any_case(word, wanted)) return SAP_OK;
    return sap_bad_text(stl->source, SAP_ERROR_FORMAT, word.first, "found '%s' where '%s' is expected",
                        sap_span_show(word, shown), wanted);
}

// Corners are made relative to the origin.
static sap_status take_numbers(const stl_file* stl, sap_span* text, bool corner, float* numbers) {
    sap_span word;
    char shown[SAP_SHOWN_BYTES];
    for (int i = 0; i < 3; i++) {
        if (!sap_word_next(text, &word))
            return sap_bad_text(stl->source, SAP_ERROR_FORMAT, text->last,
                                "the file ends where a number is expected; it is truncated");
        if (sap_float_scan(word.first, word.last, &numbers[i]) != word.last)
            return sap_bad_text(stl->source, SAP_ERROR_FORMAT, word.first, "'%s' is not a number%s",
                                sap_span_show(word, shown), sap_number_remedy(stl->source, word));
        const bool held = corner ? sap_draft_place(stl->draft, i, word.first, word.last, &numbers[i])
                                 : !sap_float_beyond(word.first, word.last, numbers[i]);
        if (!held)
            return sap_bad_text(stl->source, SAP_ERROR_RANGE, word.first, "'%s' is beyond the range of a float",
                                sap_span_show(word, shown));
    }
    return SAP_OK;
}

// What follows the word "facet". Nothing is done with the normal, so it may be anything that is a number.
static sap_status read_facet(stl_file* stl, sap_span* text) {
    float corners[9], normal[3];
    sap_status status = expect(stl, text, "normal");
    if (status == SAP_OK) status = take_numbers(stl, text, false, normal);
    if (status == SAP_OK) status = expect(stl, text, "outer");
    if (status == SAP_OK) status = expect(stl, text, "loop");
    for (size_t i = 0; i < 3 && status == SAP_OK; i++) {
        status = expect(stl, text, "vertex");
        if (status == SAP_OK) status = take_numbers(stl, text, true, corners + 3 * i);
    }
    if (status == SAP_OK) status = expect(stl, text, "endloop");
    if (status == SAP_OK) status = expect(stl, text, "endfacet");
    return status == SAP_OK ? add_triangle(stl, corners) : status;
}

// Solids may follow one another; what stands behind "solid" and "endsolid" on their lines is a name.
static sap_status read_text(stl_file* stl) {
    sap_lines lines = sap_text_begin(stl->source);
    const char* bytes = (const char*)stl->source->bytes;
    sap_span text = {bytes + lines.offset, bytes + sap_text_size(stl->source)}, word, line;
    bool inside = false;
    char shown[SAP_SHOWN_BYTES];
    while (sap_word_next(&text, &word)) {
        bool begins = !inside && sap_span_equal_any_case(word, "solid");
        bool ends = inside && sap_span_equal_any_case(word, "endsolid");
        if (begins || ends) {
            inside = begins;
            lines = (sap_lines){.source = stl->source, .offset = (size_t)(text.first - bytes)};
            if (sap_line_next(&lines, &line)) text.first = line.last;
        } else if (inside && sap_span_equal_any_case(word, "facet")) {
            sap_status status = read_facet(stl, &text);
            if (status != SAP_OK) return status;
        } else {
            return sap_bad_text(stl->source, SAP_ERROR_FORMAT, word.first, "found '%s' where '%s' is expected",
                                sap_span_show(word, shown), inside ? "facet' or 'endsolid" : "solid");
        }
    }
    if (inside)
        return sap_bad_text(stl->source, SAP_ERROR_FORMAT, text.last,
                            "the file ends before 'endsolid'; it is truncated");
    return SAP_OK;
}

// ---- Which of the two.

// Whether the bytes begin as text does: "solid" and, on the next lines, "facet" or "endsolid".
static bool is_text(const sap_source* source) {
    sap_lines lines = sap_text_begin(source);
    sap_span line, word;
    if (!sap_line_next(&lines, &line) || !sap_word_next(&line, &word) || !sap_span_equal_any_case(word, "solid"))
        return false;
    if (memchr(line.first, 0, (size_t)(line.last - line.first))) return false;
    while (sap_line_next(&lines, &line))
        if (sap_word_next(&line, &word))
            return sap_span_equal_any_case(word, "facet") || sap_span_equal_any_case(word, "endsolid");
    return true; // cut within its first line
}

// Whether the size is exactly what a binary file with so many triangles has. No text has that by chance: four letters
// in the place of the number make it a file of gigabytes.
static bool is_binary(const sap_source* source) {
    if (source->size < START_BYTES) return false;
    uint64_t count = load_32(source->bytes + HEADER_BYTES);
    return source->size - START_BYTES == count * TRIANGLE_BYTES;
}

bool sap_stl_begins(const sap_source* source) { return is_binary(source) || is_text(source); }

sap_status sap_read_stl(const sap_source* source, const sap_mesh_job* job, sap_mesh_draft* draft) {
    stl_file stl = {.source = source, .draft = draft, .keep_apart = job->options && job->options->keep_apart};
    sap_status status = !is_binary(source) && is_text(source) ? read_text(&stl) : read_binary(&stl);
    sap_memory_release(source->device, stl.slots, (size_t)stl.slot_count * sizeof *stl.slots);
    return status;
}
