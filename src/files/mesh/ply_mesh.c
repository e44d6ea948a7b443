// The faces of a PLY, and with its vertices a mesh.
#include "base/assert.h"
#include "device/device.h"
#include "files/mesh/mesh_draft.h"
#include "files/ply.h"
#include <math.h>
#include <string.h>

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
static const bool host_big_endian = true;
#else
static const bool host_big_endian = false;
#endif

typedef struct ply_mesh {
    sap_ply_file ply;
    sap_mesh_draft* draft;
    const sap_ply_property* indices; // the list of a face's vertices
    sap_array corners;               // int32_t, of the face at hand
    int64_t skipped;                 // faces of fewer than 3 corners
} ply_mesh;

// ---- Vertices.

// What stands for 1 in a colour of this type.
static float full_color(sap_cell cell) {
    if (cell.kind != 'u' || cell.bytes > 2) return 1;
    return cell.bytes == 1 ? 255 : 65535;
}

// Vertices that were read as doubles, relative to the origin; NULL: they are only measured.
static sap_status place_vertices(const ply_mesh* mesh, const sap_point_set* set, float* vertices) {
    for (int64_t i = 0; i < set->count; i++)
        for (int a = 0; a < 3; a++) {
            float value;
            if (!sap_draft_place_number(mesh->draft, a, set->coords_f64[i * set->dims + a], &value))
                return sap_bad_byte(mesh->ply.source, SAP_ERROR_RANGE, -1,
                                    "vertex %lld less the origin is beyond the range of a float", (long long)i);
            if (vertices) vertices[3 * i + a] = value;
        }
    return SAP_OK;
}

static float coordinate_of(const sap_point_set* set, int64_t i) {
    return set->coords_f64 ? (float)set->coords_f64[i] : set->coords[i];
}

// Moves points of x, y, z and perhaps red, green, blue to the draft.
static sap_status take_vertices(const ply_mesh* mesh, const sap_point_set* set) {
    sap_mesh_draft* draft = mesh->draft;
    const sap_device* device = draft->source->device;
    size_t bytes = (size_t)set->count * 3 * sizeof(float);
    float* vertices = sap_array_add(device, &draft->vertices, bytes);
    bool colored = set->dims == 6;
    float* colors = vertices && colored ? sap_array_add(device, &draft->colors, bytes) : NULL;
    if (!vertices || (colored && !colors)) return sap_draft_no_memory(draft);
    draft->vertex_count = set->count;
    if (draft->shifted) {
        const sap_status status = place_vertices(mesh, set, vertices);
        if (status != SAP_OK) return status;
    }
    if (!colored) {
        if (!draft->shifted) memcpy(vertices, set->coords, bytes);
        return SAP_OK;
    }
    float full[3] = {1, 1, 1};
    for (size_t i = 0; i < mesh->ply.vertex->properties; i++) {
        const sap_ply_property* property = &mesh->ply.all_properties[mesh->ply.vertex->first + i];
        if (property->axis >= 3) full[property->axis - 3] = full_color(property->cell);
    }
    for (int64_t i = 0; i < set->count; i++) {
        if (!draft->shifted) memcpy(vertices + 3 * i, set->coords + 6 * i, 3 * sizeof *vertices);
        for (int a = 0; a < 3; a++) colors[3 * i + a] = coordinate_of(set, 6 * i + 3 + a) / full[a];
    }
    return SAP_OK;
}

// ---- Faces.

// Room for the corners of a face, or NULL after complaining.
static int32_t* make_corners(ply_mesh* mesh, int64_t count, sap_status* status) {
    SAP_ASSERT(count >= 0);
    mesh->corners.used = 0;
    int32_t* corners = sap_array_add(mesh->ply.source->device, &mesh->corners, (size_t)count * sizeof *corners);
    if (!corners) *status = sap_draft_no_memory(mesh->draft);
    return corners;
}

// A strip's triangles share two corners each with the one before; -1 begins another strip. Those with a corner twice
// only join strips.
static sap_status add_strip(ply_mesh* mesh, const int32_t* corners, int64_t count) {
    for (int64_t i = 0, start = 0; i < count; i++) {
        if (corners[i] < 0) start = i + 1;
        if (i - start < 2) continue;
        bool odd = (i - start) % 2;
        int32_t a = corners[i - 2 + odd], b = corners[i - 1 - odd], c = corners[i];
        if (a == b || b == c || a == c) continue;
        int32_t* triangle = sap_draft_triangles(mesh->draft, 1);
        if (!triangle) return sap_draft_no_memory(mesh->draft);
        triangle[0] = a;
        triangle[1] = b;
        triangle[2] = c;
    }
    return SAP_OK;
}

static sap_status add_faces(ply_mesh* mesh, const int32_t* corners, int64_t count) {
    if (mesh->ply.strips) return add_strip(mesh, corners, count);
    if (count >= 3) return sap_draft_polygon(mesh->draft, corners, count);
    mesh->skipped++; // some programs write points and lines as faces
    return SAP_OK;
}

static sap_status read_binary_list(ply_mesh* mesh, const unsigned char* at, int64_t count) {
    const sap_source* source = mesh->ply.source;
    const sap_cell cell = mesh->indices->cell;
    bool plain = cell.bytes == 4 && cell.kind != 'f' && cell.big_endian == host_big_endian;
    int64_t vertex_count = mesh->draft->vertex_count;
    sap_status status = SAP_OK;
    int32_t* corners = make_corners(mesh, count, &status);
    if (!corners) return status;
    for (int64_t i = 0; i < count; i++, at += cell.bytes) {
        double index;
        if (plain) {
            uint32_t bits;
            memcpy(&bits, at, sizeof bits);
            corners[i] = (int32_t)bits;
            if ((int64_t)bits < vertex_count) continue;
        }
        index = sap_cell_double(at, cell);
        if (index == -1 && mesh->ply.strips) {
            corners[i] = -1;
            continue;
        }
        if (!(index >= 0 && index < (double)vertex_count))
            return sap_bad_byte(source, SAP_ERROR_RANGE, at - source->bytes,
                                "a face names vertex %.15g, but there are %lld, counted from 0", index,
                                (long long)vertex_count);
        if (index != floor(index))
            return sap_bad_byte(source, SAP_ERROR_FORMAT, at - source->bytes, "a face names vertex %.15g", index);
        corners[i] = (int32_t)index;
    }
    return add_faces(mesh, corners, count);
}

// All rows have been walked: they are there.
static sap_status read_binary_faces(ply_mesh* mesh) {
    const sap_ply_file* ply = &mesh->ply;
    const sap_ply_property* properties = &ply->all_properties[ply->face->first];
    const unsigned char* at = ply->source->bytes + ply->faces_start;
    for (int64_t row = 0; row < ply->face->count; row++) {
        for (size_t i = 0; i < ply->face->properties; i++) {
            const sap_ply_property* property = &properties[i];
            int64_t count = 1;
            if (property->count_cell.kind) {
                count = property->count_cell.bytes == 1 ? *at : (int64_t)sap_cell_double(at, property->count_cell);
                at += property->count_cell.bytes;
            }
            if (property == mesh->indices) {
                sap_status status = read_binary_list(mesh, at, count);
                if (status != SAP_OK) return status;
            }
            at += (size_t)count * property->cell.bytes;
            SAP_ASSERT(at <= ply->source->bytes + ply->source->size);
        }
    }
    return SAP_OK;
}

static sap_status read_text_list(ply_mesh* mesh, const sap_lines* lines, sap_span* line, int64_t count) {
    const sap_source* source = mesh->ply.source;
    char shown[SAP_SHOWN_BYTES];
    sap_status status = SAP_OK;
    if (count > line->last - line->first) // each takes a character, at least
        return sap_bad_line(source, SAP_ERROR_FORMAT, lines->number, "the line has too few numbers");
    int32_t* corners = make_corners(mesh, count, &status);
    for (int64_t i = 0; corners && i < count; i++) {
        sap_span word;
        int64_t index;
        bool whole = sap_word_next(line, &word) && sap_span_count(word, &index);
        if (!whole) {
            sap_decimal decimal;
            sap_span again = {word.first, line->last};
            status = sap_ply_number(&mesh->ply, lines, &again, &decimal, &word);
            if (status != SAP_OK) return status;
            if (mesh->ply.strips && sap_decimal_double(&decimal) == -1) {
                corners[i] = -1;
                continue;
            }
            if (!decimal.negative)
                return sap_bad_line(source, SAP_ERROR_FORMAT, lines->number,
                                    "a face names vertex '%s'; give whole numbers", sap_span_show(word, shown));
        }
        if (!whole || index >= mesh->draft->vertex_count)
            return sap_bad_text(source, SAP_ERROR_RANGE, word.first,
                                "a face names vertex %s, but there are %lld, counted from 0",
                                sap_span_show(word, shown), (long long)mesh->draft->vertex_count);
        corners[i] = (int32_t)index;
    }
    return corners ? add_faces(mesh, corners, count) : status;
}

static sap_status read_text_row(ply_mesh* mesh, const sap_lines* lines, sap_span line) {
    const sap_ply_file* ply = &mesh->ply;
    sap_decimal decimal;
    for (size_t i = 0; i < ply->face->properties; i++) {
        const sap_ply_property* property = &ply->all_properties[ply->face->first + i];
        sap_span word;
        int64_t count = 0;
        sap_status status = sap_ply_number(ply, lines, &line, &decimal, &word);
        if (status == SAP_OK && property->count_cell.kind) status = sap_ply_length(ply, lines, word, &decimal, &count);
        if (status == SAP_OK && property == mesh->indices) {
            status = read_text_list(mesh, lines, &line, count);
            count = 0;
        }
        for (; status == SAP_OK && count > 0; count--) status = sap_ply_number(ply, lines, &line, &decimal, &word);
        if (status != SAP_OK) return status;
    }
    return sap_ply_row_end(ply, lines, line);
}

// As many lines as there are faces have been seen.
static sap_status read_text_faces(ply_mesh* mesh) {
    sap_lines lines = mesh->ply.at_faces;
    sap_span line, word;
    for (int64_t row = 0; row < mesh->ply.face->count && sap_line_next(&lines, &line);) {
        sap_span look = line;
        if (!sap_word_next(&look, &word)) continue;
        sap_status status = read_text_row(mesh, &lines, line);
        if (status != SAP_OK) return status;
        row++;
    }
    return SAP_OK;
}

// The list of vertices that each row of an element has; NULL: none.
static const sap_ply_property* indices_of(const sap_ply_file* ply, const sap_ply_element* element) {
    for (size_t i = 0; i < element->properties; i++) {
        const sap_ply_property* property = &ply->all_properties[element->first + i];
        bool named = sap_span_equal(property->name, "vertex_indices") || sap_span_equal(property->name, "vertex_index");
        if (property->count_cell.kind && named) return property;
    }
    return NULL;
}

// Faces in elements that are not read: refused if there are no others, else told.
static sap_status look_for_others(const ply_mesh* mesh) {
    const sap_ply_file* ply = &mesh->ply;
    char shown[SAP_SHOWN_BYTES];
    bool faces = ply->face && ply->face->count;
    for (size_t i = 0; i < ply->element_count; i++) {
        const sap_ply_element* element = &ply->elements[i];
        if (element == ply->face || element == ply->vertex || !element->count || !indices_of(ply, element)) continue;
        sap_span_show(element->name, shown);
        if (!faces)
            return sap_bad_line(ply->source, SAP_ERROR_UNSUPPORTED, element->line,
                                "element '%s' names vertices, but faces are read only from the elements 'face' and "
                                "'tristrips'; save the mesh as polygons or triangles",
                                shown);
        (void)sap_bad_line(ply->source, SAP_OK, element->line,
                           "the %lld rows of element '%s' are left out: faces are read from one element alone",
                           (long long)element->count, shown);
    }
    return SAP_OK;
}

static sap_status read_faces(ply_mesh* mesh) {
    const sap_ply_file* ply = &mesh->ply;
    sap_status status = look_for_others(mesh);
    if (status != SAP_OK || !ply->face || ply->face->count == 0) return status;
    mesh->indices = indices_of(ply, ply->face);
    if (!mesh->indices)
        return sap_bad_line(ply->source, SAP_ERROR_FORMAT, ply->face->line,
                            "element %s needs a list property 'vertex_indices'", ply->strips ? "tristrips" : "face");
    // A row holds a byte at least, so that there are no more faces than bytes.
    if (!sap_array_grow(ply->source->device, &mesh->draft->triangles, (size_t)ply->face->count * 3 * sizeof(int32_t)))
        return sap_draft_no_memory(mesh->draft);
    status = ply->ascii ? read_text_faces(mesh) : read_binary_faces(mesh);
    if (status == SAP_OK && mesh->skipped)
        (void)sap_bad_byte(ply->source, SAP_OK, -1, "faces of fewer than 3 corners are left out: %lld",
                           (long long)mesh->skipped);
    return status;
}

sap_status sap_read_ply_mesh(const sap_source* source, const sap_mesh_job* job, sap_mesh_draft* draft) {
    (void)job;
    ply_mesh mesh = {.draft = draft};
    sap_point_set* set = NULL;
    sap_source exact = *source;
    if (draft->measures || draft->shifted) exact.real_bits = 64;
    sap_status status = sap_ply_open(&mesh.ply, &exact);
    mesh.ply.mesh = true;
    if (status == SAP_OK) status = sap_ply_points(&mesh.ply, &set);
    if (status == SAP_OK && draft->measures)
        status = place_vertices(&mesh, set, NULL);
    else if (status == SAP_OK)
        status = take_vertices(&mesh, set);
    sap_point_set_free(set);
    if (status == SAP_OK && !draft->measures) status = read_faces(&mesh);
    sap_array_release(source->device, &mesh.corners);
    sap_ply_close(&mesh.ply);
    return status;
}
