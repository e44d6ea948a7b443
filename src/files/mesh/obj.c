// OBJ: statements, one a line, of which those about vertices, faces and materials are taken. One pass.
#include "base/assert.h"
#include "device/device.h"
#include "files/mesh/mesh_draft.h"
#include "files/read.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

enum {
    MOST_LIBRARIES = 64, // each may be a whole file to be read
    MOST_NUMBERS = 7,    // of a vertex: its place, a weight that is not looked at, its colour
    PATH_BYTES = 4096
};

typedef struct obj_file {
    const sap_source* source;
    const sap_mesh_job* job;
    sap_mesh_draft* draft;
    const char *at, *end;
    sap_array corners;                  // int32_t, of the face at hand
    sap_span libraries[MOST_LIBRARIES]; // that were named so far
    int library_count;
} obj_file;

// ---- The text. A backslash before the end of a line makes the next line a part of it.

static bool is_line_end(char c) { return c == '\n' || c == '\r'; }

// Where the line goes on behind a backslash at `at`, or NULL if that is not one at the end of a line.
static const char* continued(const char* at, const char* end) {
    if (*at != '\\') return NULL;
    if (++at == end) return at;
    if (*at == '\r' && at + 1 < end && at[1] == '\n') return at + 2;
    return is_line_end(*at) ? at + 1 : NULL;
}

static inline const char* skip_blanks(const char* at, const char* end) {
    while (at < end) {
        const char* next = at + 1;
        if (*at != ' ' && *at != '\t' && *at != '\v' && *at != '\f') next = continued(at, end);
        if (!next) break;
        at = next;
    }
    return at;
}

// Whether a word ends here.
static inline bool ends_word(const char* at, const char* end) {
    return at == end || *at == ' ' || (*at >= '\t' && *at <= '\r') || (*at == '\\' && continued(at, end));
}

// Whether the numbers of a statement end here: with the line, or before a comment.
static inline bool ends_numbers(const char* at, const char* end) { return at == end || is_line_end(*at) || *at == '#'; }

static sap_span word_at(const obj_file* obj, const char* at) {
    sap_span word = {at, at};
    while (!ends_word(word.last, obj->end)) word.last++;
    return word;
}

// The end of the line, or of those that continue it.
static const char* line_end(const char* at, const char* end, bool continues) {
    for (; at < end && !is_line_end(*at); at++) {
        const char* next = continues ? continued(at, end) : NULL;
        if (next) at = next - 1;
    }
    return at;
}

static sap_status bad_word(const obj_file* obj, const char* at, const char* what) {
    char shown[SAP_SHOWN_BYTES];
    sap_span word = word_at(obj, at);
    return sap_bad_text(obj->source, SAP_ERROR_FORMAT, at, "'%s' is not %s%s", sap_span_show(word, shown), what,
                        sap_number_remedy(obj->source, word));
}

// ---- Vertices.

// From the first vertex with a colour on all have one; those without are white.
static sap_status add_color(sap_mesh_draft* draft, const float* color) {
    size_t bytes = (size_t)draft->vertex_count * 3 * sizeof(float), white = draft->colors.used;
    SAP_ASSERT(white < bytes && draft->vertex_count > 0);
    float* added = sap_array_add(draft->source->device, &draft->colors, bytes - white);
    if (!added) return sap_draft_no_memory(draft);
    size_t count = (bytes - white) / sizeof *added;
    for (size_t i = 0; i < count; i++) added[i] = 1;
    if (color) memcpy(added + count - 3, color, 3 * sizeof *color);
    return SAP_OK;
}

static sap_status read_vertex(obj_file* obj) {
    sap_mesh_draft* draft = obj->draft;
    float numbers[MOST_NUMBERS];
    int count = 0;
    const char *first = obj->at, *at = first;
    for (;; count++) {
        at = skip_blanks(at, obj->end);
        if (ends_numbers(at, obj->end)) break;
        if (count == MOST_NUMBERS)
            return sap_bad_text(obj->source, SAP_ERROR_FORMAT, at, "a vertex has more than 7 numbers");
        const char* after = sap_float_scan(at, obj->end, &numbers[count]);
        if (!after || !ends_word(after, obj->end)) return bad_word(obj, at, "a number");
        const bool held = count < 3 ? sap_draft_place(draft, count, at, obj->end, &numbers[count])
                                    : !sap_float_beyond(at, obj->end, numbers[count]);
        if (!held) return sap_bad_text(obj->source, SAP_ERROR_RANGE, at, "a number is beyond the range of a float");
        at = after;
    }
    obj->at = at;
    if (count < 3 || count == 5)
        return sap_bad_text(obj->source, SAP_ERROR_FORMAT, first,
                            "a vertex has %d numbers; give x, y, z, and red, green, blue if it has a colour", count);
    if (draft->measures) return SAP_OK;
    float* vertex = sap_array_add(obj->source->device, &draft->vertices, 3 * sizeof *vertex);
    if (!vertex) return sap_draft_no_memory(draft);
    memcpy(vertex, numbers, 3 * sizeof *vertex);
    draft->vertex_count++;
    return count >= 6 || draft->colors.used ? add_color(draft, count >= 6 ? numbers + count - 3 : NULL) : SAP_OK;
}

// ---- Faces.

// Steps over an index; NULL if there is none. Beyond all ranges it stops growing.
static inline const char* take_index(const char* at, const char* end, int64_t* index) {
    const int64_t most = (int64_t)1 << 40;
    bool negative = at < end && *at == '-';
    int64_t value = 0;
    const char* digit = at += negative;
    for (; digit < end && *digit >= '0' && *digit <= '9'; digit++)
        if (value < most) value = value * 10 + (*digit - '0');
    *index = negative ? -value : value;
    return digit > at ? digit : NULL;
}

// Steps over what may follow the vertex of a corner: /texture, //normal or /texture/normal, where some programs leave
// the numbers out.
static const char* skip_references(const char* at, const char* end) {
    int64_t unused;
    for (int i = 0; i < 2 && at < end && *at == '/'; i++) {
        const char* after = take_index(at + 1, end, &unused);
        at = after ? after : at + 1;
    }
    return at;
}

static sap_status no_such_vertex(const obj_file* obj, const char* at, int64_t index) {
    const char* remedy = index == 0 ? "; they are counted from 1" : index > 0 ? "; vertices stand before faces" : "";
    char shown[SAP_SHOWN_BYTES];
    return sap_bad_text(obj->source, SAP_ERROR_RANGE, at,
                        "the face's corner '%s' is none of the %lld vertices so far%s",
                        sap_span_show(word_at(obj, at), shown), (long long)obj->draft->vertex_count, remedy);
}

// The vertex of the corner at `at`.
static inline sap_status take_corner(obj_file* obj, const char** at, int32_t* vertex) {
    int64_t index, count = obj->draft->vertex_count;
    const char* after = take_index(*at, obj->end, &index);
    if (after && after < obj->end && *after == '/') after = skip_references(after, obj->end);
    if (!after || !ends_word(after, obj->end)) return bad_word(obj, *at, "a corner of a face");
    int64_t id = index > 0 ? index - 1 : count + index;
    if (index == 0 || id < 0 || id >= count || id > INT32_MAX) return no_such_vertex(obj, *at, index);
    *vertex = (int32_t)id;
    *at = after;
    return SAP_OK;
}

static sap_status read_face(obj_file* obj) {
    const char *first = obj->at, *at = first;
    obj->corners.used = 0;
    for (;;) {
        at = skip_blanks(at, obj->end);
        if (ends_numbers(at, obj->end)) break;
        int32_t* vertex = sap_array_add(obj->source->device, &obj->corners, sizeof *vertex);
        if (!vertex) return sap_draft_no_memory(obj->draft);
        sap_status status = take_corner(obj, &at, vertex);
        if (status != SAP_OK) return status;
    }
    obj->at = at;
    int64_t count = (int64_t)(obj->corners.used / sizeof(int32_t));
    const int32_t* corners = obj->corners.memory;
    if (count < 3)
        return sap_bad_text(obj->source, SAP_ERROR_FORMAT, first, "a face has %lld corners; it needs 3 or more",
                            (long long)count);
    return sap_draft_polygon(obj->draft, corners, count);
}

// ---- Materials.

// Takes the rest of the line, without blanks at its ends: a name, which a backslash may end.
static sap_span take_rest(obj_file* obj) {
    const char* first = obj->at;
    obj->at = line_end(first, obj->end, false);
    return sap_span_trim((sap_span){first, obj->at});
}

static sap_status read_usemtl(obj_file* obj) {
    sap_mesh_draft* draft = obj->draft;
    sap_span name = take_rest(obj);
    draft->material = -1;
    if (name.first == name.last) return SAP_OK;
    draft->material = sap_material_named(obj->source->device, &draft->table, name);
    if (draft->material < 0) return sap_draft_no_memory(draft);
    if (draft->has_materials) return SAP_OK;
    draft->has_materials = true;
    size_t bytes = (size_t)draft->triangle_count * sizeof(int32_t);
    int32_t* none = sap_array_add(obj->source->device, &draft->material_ids, bytes);
    if (!none) return sap_draft_no_memory(draft);
    memset(none, 0xff, bytes);
    return SAP_OK;
}

// Where a library lies: in the folder of the OBJ. Of a path that belongs to another machine only the last name counts.
static bool library_path(const obj_file* obj, sap_span name, char path[PATH_BYTES]) {
    bool foreign = *name.first == '/' || memchr(name.first, '\\', (size_t)(name.last - name.first));
    for (const char* at = name.first; at < name.last && foreign; at++)
        if (*at == '/' || *at == '\\') name.first = at + 1;
    const char* folder_end = strrchr(obj->job->path, '/');
    int folder = folder_end ? (int)(folder_end - obj->job->path) + 1 : 0;
    int length =
        snprintf(path, PATH_BYTES, "%.*s%.*s", folder, obj->job->path, (int)(name.last - name.first), name.first);
    return length > folder && length < PATH_BYTES;
}

static sap_status read_library_bytes(obj_file* obj, const char* name, const void* bytes, size_t size) {
    sap_source source = {.device = obj->source->device, .name = name, .bytes = bytes, .size = size, .real_bits = 32};
    source.again = obj->source->again;
    return sap_read_mtl(&source, &obj->draft->table);
}

// Reads a library if it is there.
static sap_status read_library(obj_file* obj, sap_span name, bool* found) {
    char path[PATH_BYTES];
    sap_file_bytes file;
    errno = ENAMETOOLONG;
    *found = name.last - name.first < PATH_BYTES && library_path(obj, name, path) && sap_file_map(path, &file);
    if (!*found) return SAP_OK;
    sap_status status = read_library_bytes(obj, path, file.memory, file.size);
    sap_file_release(obj->source->device, &file);
    return status;
}

static bool is_known(const obj_file* obj, sap_span name) {
    size_t length = (size_t)(name.last - name.first);
    for (int i = 0; i < obj->library_count; i++) {
        sap_span known = obj->libraries[i];
        if ((size_t)(known.last - known.first) == length && !memcmp(known.first, name.first, length)) return true;
    }
    return false;
}

static void miss(const obj_file* obj, sap_span name, const char* reason) {
    char shown[SAP_SHOWN_BYTES];
    if (obj->source->again) return;
    (void)sap_fail(obj->source->device, SAP_OK, "%s%sthe material library '%s' is left out: %s",
                   obj->source->name ? obj->source->name : "", obj->source->name ? ": " : "",
                   sap_span_show(name, shown), reason);
}

// A name may hold blanks, or blanks may separate names: what there is a file for decides.
static sap_status read_mtllib(obj_file* obj) {
    const char* first = obj->at;
    sap_span names = take_rest(obj), name;
    if (obj->job->options && obj->job->options->materials) return SAP_OK;
    if (names.first == names.last || is_known(obj, names)) return SAP_OK;
    if (obj->library_count == MOST_LIBRARIES)
        return sap_bad_text(obj->source, SAP_ERROR_UNSUPPORTED, first, "more than %d material libraries",
                            MOST_LIBRARIES);
    SAP_ASSERT(obj->library_count >= 0 && obj->library_count < MOST_LIBRARIES);
    obj->libraries[obj->library_count++] = names;
    if (!obj->job->path) {
        miss(obj, names, "the mesh is not from a file, so there is no folder to search");
        return SAP_OK;
    }
    bool found;
    sap_status status = read_library(obj, names, &found);
    if (found) return status;
    const char* reason = strerror(errno);
    sap_span rest = names;
    bool several = sap_word_next(&rest, &name) && name.last < names.last;
    if (!several) miss(obj, names, reason);
    rest = names;
    for (int i = 0; several && i < MOST_LIBRARIES && sap_word_next(&rest, &name); i++) {
        status = read_library(obj, name, &found);
        if (status != SAP_OK) return status;
        if (!found) miss(obj, name, strerror(errno));
    }
    return SAP_OK;
}

// ---- Statements.

static sap_status read_statement(obj_file* obj) {
    sap_span word = word_at(obj, obj->at);
    size_t length = (size_t)(word.last - word.first);
    const char* first = obj->at;
    obj->at = word.last;
    if (length == 1 && *first == 'v') return read_vertex(obj);
    if (obj->draft->measures) return SAP_OK;
    if (length == 1 && *first == 'f') return read_face(obj);
    if (sap_span_equal(word, "usemtl")) return read_usemtl(obj);
    if (sap_span_equal(word, "mtllib")) return read_mtllib(obj);
    if ((*first | 0x20) < 'a' || (*first | 0x20) > 'z') return bad_word(obj, first, "a statement of OBJ");
    return SAP_OK;
}

static sap_status read_lines(obj_file* obj) {
    while (obj->at < obj->end) {
        obj->at = skip_blanks(obj->at, obj->end);
        if (obj->at == obj->end) break;
        bool comment = *obj->at == '#';
        if (!comment && !is_line_end(*obj->at)) {
            sap_status status = read_statement(obj);
            if (status != SAP_OK) return status;
            obj->at = skip_blanks(obj->at, obj->end);
            comment = obj->at < obj->end && *obj->at == '#';
        }
        obj->at = line_end(obj->at, obj->end, !comment);
        SAP_ASSERT(obj->at <= obj->end);
        if (obj->at < obj->end) obj->at++;
    }
    return SAP_OK;
}

sap_status sap_read_obj(const sap_source* source, const sap_mesh_job* job, sap_mesh_draft* draft) {
    const char* bytes = (const char*)source->bytes;
    obj_file obj = {.source = source,
                    .job = job,
                    .draft = draft,
                    .at = bytes + sap_text_begin(source).offset,
                    .end = bytes + sap_text_size(source)};
    const sap_mesh_read_options* options = job->options;
    sap_status status = SAP_OK;
    if (options && options->materials && !draft->measures)
        status = read_library_bytes(&obj, "options.materials", options->materials, options->materials_size);
    if (status == SAP_OK) status = read_lines(&obj);
    sap_array_release(source->device, &obj.corners);
    return status;
}
