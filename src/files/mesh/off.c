// OFF: counts, then a vertex a line, then a face a line. One pass.
#include "base/assert.h"
#include "device/device.h"
#include "files/mesh/mesh_draft.h"
#include <string.h>

enum { MOST_NUMBERS = 12 }; // of a vertex: x, y, z, w, a normal, a colour of 4 and the first of 2 texture coordinates

typedef struct off_file {
    const sap_source* source;
    sap_mesh_draft* draft;
    sap_lines lines;
    bool colors, normals, weight; // each vertex has
    bool textures;                // each vertex has
    bool fractions, has_alpha;    // parts of colours are not all whole numbers; some have alpha
    float largest, alpha;         // part of a colour; the lowest alpha
    sap_array corners;            // int32_t, of the face at hand
    int64_t skipped;              // faces of fewer than 3 corners
} off_file;

// Takes the first word, [ST][C][N][4]OFF, off the text; false if it is another one. Some files have no blank behind it.
static bool take_keyword(sap_span* text, off_file* off) {
    const char *at = text->first, *last = text->last;
    const bool textures = last - at >= 2 && at[0] == 'S' && at[1] == 'T';
    if (textures) at += 2;
    bool colors = at < last && *at == 'C';
    at += colors;
    bool normals = at < last && *at == 'N';
    at += normals;
    bool weight = at < last && *at == '4';
    at += weight;
    if (last - at < 3 || memcmp(at, "OFF", 3) != 0) return false;
    if (off) {
        off->colors = colors;
        off->normals = normals;
        off->weight = weight;
        off->textures = textures;
    }
    text->first = at + 3;
    return true;
}

bool sap_off_begins(const sap_source* source) {
    sap_lines lines = sap_text_begin(source);
    sap_span line = {NULL, NULL};
    while ((line.first == line.last || *line.first == '#') && sap_line_next(&lines, &line)) line = sap_span_trim(line);
    if (line.first == line.last) return false;
    if (!take_keyword(&line, NULL)) return false;
    if (line.first == line.last) return true;
    const char next = *line.first; // a word that only begins like the keyword is none
    return next == ' ' || next == '\t' || next == '#' || (next >= '0' && next <= '9');
}

// The next line that holds something besides a comment.
static bool next_row(off_file* off, sap_span* line) {
    while (sap_line_next(&off->lines, line)) {
        const char* comment = memchr(line->first, '#', (size_t)(line->last - line->first));
        if (comment) line->last = comment;
        *line = sap_span_trim(*line);
        if (line->first < line->last) return true;
    }
    return false;
}

static sap_status too_short(const off_file* off, const char* what, int64_t row, int64_t count) {
    return sap_bad_byte(off->source, SAP_ERROR_FORMAT, (int64_t)off->source->size,
                        "the file ends before %s %lld of %lld; it is truncated; get it again", what, (long long)row + 1,
                        (long long)count);
}

static sap_status bad_word(const off_file* off, sap_span word, const char* what) {
    char shown[SAP_SHOWN_BYTES];
    return sap_bad_line(off->source, SAP_ERROR_FORMAT, off->lines.number, "'%s' is not %s%s",
                        sap_span_show(word, shown), what, sap_number_remedy(off->source, word));
}

// The numbers of vertices and faces; that of edges may be left out.
static sap_status read_counts(off_file* off, int64_t* vertices, int64_t* faces) {
    sap_span line, word;
    if (!next_row(off, &line)) return sap_bad_byte(off->source, SAP_ERROR_FORMAT, 0, "this is not an OFF file");
    if (take_keyword(&line, off)) {
        sap_span look = line;
        if (sap_word_next(&look, &word) && sap_span_equal(word, "BINARY"))
            return sap_bad_line(off->source, SAP_ERROR_UNSUPPORTED, off->lines.number,
                                "Sapwood cannot read binary OFF; save it as text");
        line = sap_span_trim(line);
        if (line.first == line.last && !next_row(off, &line))
            return sap_bad_byte(
                off->source, SAP_ERROR_FORMAT, (int64_t)off->source->size,
                "the file ends before its numbers of vertices and faces; it is truncated; get it again");
    }
    int64_t* const counts[] = {vertices, faces};
    for (int i = 0; i < 2; i++) {
        word = (sap_span){line.last, line.last};
        if (!sap_word_next(&line, &word) || !sap_span_count(word, counts[i]))
            return bad_word(off, word, "a number of vertices or faces; an OFF begins with both");
    }
    return SAP_OK;
}

// Notes a part of a colour, so that it is known in the end what its numbers stand for.
static void note_part(off_file* off, sap_span word, float value) {
    int64_t whole;
    off->fractions |= !sap_span_count(word, &whole);
    off->largest = value > off->largest ? value : off->largest;
}

// What stands behind a colour is its alpha, unless texture coordinates follow.
static void note_alpha(off_file* off, sap_span rest) {
    float alpha;
    sap_span word;
    if (off->textures || !off->colors || !sap_word_next(&rest, &word)) return;
    if (sap_float_scan(word.first, word.last, &alpha) != word.last) return;
    note_part(off, word, 0);
    off->alpha = !off->has_alpha || alpha < off->alpha ? alpha : off->alpha;
    off->has_alpha = true;
}

// Whole numbers are 255ths; but not where some are not whole, nor where opaque is 1.
static void finish_colors(const off_file* off) {
    const bool fractions = off->fractions || (off->has_alpha && off->alpha == 1 && off->largest <= 1);
    float* colors = off->draft->colors.memory;
    for (int64_t i = 0; !fractions && off->colors && i < 3 * off->draft->vertex_count; i++) colors[i] /= 255;
    if (off->has_alpha && off->alpha < (fractions ? 1.0f : 255.0f))
        (void)sap_bad_byte(off->source, SAP_OK, -1, "colours of vertices have alpha, which is left out");
}

static sap_status read_vertex(off_file* off, sap_span line) {
    sap_mesh_draft* draft = off->draft;
    const sap_device* device = off->source->device;
    const int first_color = 3 + off->weight + (off->normals ? 3 : 0);
    const int needed = off->colors ? first_color + 3 : 3 + off->weight;
    float numbers[MOST_NUMBERS] = {0};
    SAP_ASSERT(needed <= MOST_NUMBERS);
    for (int i = 0; i < needed; i++) {
        sap_span word = {line.last, line.last};
        if (!sap_word_next(&line, &word))
            return sap_bad_line(off->source, SAP_ERROR_FORMAT, off->lines.number,
                                "a vertex has %d numbers; it needs %d or more", i, needed);
        if (sap_float_scan(word.first, word.last, &numbers[i]) != word.last) return bad_word(off, word, "a number");
        const bool held = i < 3 ? sap_draft_place(draft, i, word.first, word.last, &numbers[i])
                                : !sap_float_beyond(word.first, word.last, numbers[i]);
        if (!held)
            return sap_bad_line(off->source, SAP_ERROR_RANGE, off->lines.number,
                                "a number is beyond the range of a float");
        if (i >= first_color) note_part(off, word, numbers[i]);
    }
    note_alpha(off, line);
    if (off->weight && numbers[3] != 1)
        return sap_bad_line(off->source, SAP_ERROR_UNSUPPORTED, off->lines.number,
                            "the weight of a vertex of a 4OFF is not 1; save it as OFF");
    if (draft->measures) return SAP_OK;
    float* vertex = sap_array_add(device, &draft->vertices, 3 * sizeof *vertex);
    float* color = off->colors && vertex ? sap_array_add(device, &draft->colors, 3 * sizeof *color) : NULL;
    if (!vertex || (off->colors && !color)) return sap_draft_no_memory(draft);
    memcpy(vertex, numbers, 3 * sizeof *vertex);
    if (color) memcpy(color, numbers + first_color, 3 * sizeof *color);
    draft->vertex_count++;
    return SAP_OK;
}

// What stands behind the corners is a colour, which is not looked at.
static sap_status read_face(off_file* off, sap_span line) {
    char shown[SAP_SHOWN_BYTES];
    sap_span word = {line.first, line.first};
    int64_t count, index;
    if (!sap_word_next(&line, &word) || !sap_span_count(word, &count))
        return bad_word(off, word, "a number of corners");
    off->corners.used = 0;
    for (int64_t i = 0; i < count; i++) {
        if (!sap_word_next(&line, &word))
            return sap_bad_line(off->source, SAP_ERROR_FORMAT, off->lines.number,
                                "the line has %lld corners, but says %lld", (long long)i, (long long)count);
        if (!sap_span_count(word, &index)) return bad_word(off, word, "a vertex; they are counted from 0");
        if (index >= off->draft->vertex_count)
            return sap_bad_line(off->source, SAP_ERROR_RANGE, off->lines.number,
                                "a face names vertex %s, but there are %lld, counted from 0",
                                sap_span_show(word, shown), (long long)off->draft->vertex_count);
        int32_t* corner = sap_array_add(off->source->device, &off->corners, sizeof *corner);
        if (!corner) return sap_draft_no_memory(off->draft);
        *corner = (int32_t)index;
    }
    off->skipped += count < 3;
    return count < 3 ? SAP_OK : sap_draft_polygon(off->draft, off->corners.memory, count);
}

static sap_status read_rows(off_file* off) {
    int64_t vertices, faces;
    sap_span line;
    sap_status status = read_counts(off, &vertices, &faces);
    for (int64_t row = 0; status == SAP_OK && row < vertices; row++)
        status = next_row(off, &line) ? read_vertex(off, line) : too_short(off, "vertex", row, vertices);
    if (off->draft->measures) return status;
    if (status == SAP_OK) status = sap_draft_check_counts(off->draft);
    for (int64_t row = 0; status == SAP_OK && row < faces; row++)
        status = next_row(off, &line) ? read_face(off, line) : too_short(off, "face", row, faces);
    if (status == SAP_OK) finish_colors(off);
    if (status == SAP_OK && off->skipped)
        (void)sap_bad_byte(off->source, SAP_OK, -1, "faces of fewer than 3 corners are left out: %lld",
                           (long long)off->skipped);
    return status;
}

sap_status sap_read_off(const sap_source* source, sap_mesh_draft* draft) {
    off_file off = {.source = source, .draft = draft, .lines = sap_text_begin(source)};
    sap_status status = read_rows(&off);
    sap_array_release(source->device, &off.corners);
    return status;
}
