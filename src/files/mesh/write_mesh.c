// Meshes as PLY, OFF and STL, and what is checked before any mesh is written.
#include "base/assert.h"
#include "device/reserved.h"
#include "files/mesh/mesh_write.h"
#include "files/source.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

// ---- PLY.

static void put_double(unsigned char* at, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    for (int i = 0; i < 8; i++) at[i] = (unsigned char)(bits >> 8 * i);
}

static void put_word(unsigned char* at, const void* value) {
    uint32_t bits;
    memcpy(&bits, value, sizeof bits);
    for (int i = 0; i < 4; i++) at[i] = (unsigned char)(bits >> 8 * i);
}

// A colour in whole 255ths; NaN is black.
static unsigned char color_byte(float color) {
    if (!(color > 0)) return 0;
    return color < 1 ? (unsigned char)lroundf(color * 255) : 255;
}

static void put_ply_header(sap_output* output, const sap_mesh_file* file, bool text) {
    char line[96];
    snprintf(line, sizeof line, "ply\nformat %s 1.0\nelement vertex %lld\n", text ? "ascii" : "binary_little_endian",
             (long long)file->mesh.vertex_count);
    sap_output_text(output, line);
    sap_output_text(output, sap_has_origin(file) ? "property double x\nproperty double y\nproperty double z\n"
                                                 : "property float x\nproperty float y\nproperty float z\n");
    if (file->normals) sap_output_text(output, "property float nx\nproperty float ny\nproperty float nz\n");
    if (file->colors) sap_output_text(output, "property uchar red\nproperty uchar green\nproperty uchar blue\n");
    snprintf(line, sizeof line, "element face %lld\nproperty list uchar int vertex_indices\nend_header\n",
             (long long)file->mesh.triangle_count);
    sap_output_text(output, line);
}

// The vertices, then the faces.
static void put_rows(sap_output* output, const sap_mesh_file* file) {
    const sap_mesh* mesh = &file->mesh;
    for (int64_t i = 0; i < mesh->vertex_count && !output->error; i++) {
        sap_put_place(output, file, i, "");
        if (file->normals) sap_put_floats(output, file->normals + 3 * i, 3);
        for (int a = 0; a < 3 && file->colors; a++) sap_put_int(output, color_byte(file->colors[3 * i + a]));
        sap_output_text(output, "\n");
    }
    for (int64_t i = 0; i < mesh->triangle_count && !output->error; i++) {
        sap_output_text(output, "3");
        for (int corner = 0; corner < 3; corner++) sap_put_int(output, mesh->triangles[3 * i + corner]);
        sap_output_text(output, "\n");
    }
}

// The place of a vertex: floats, or doubles if there is an origin. Returns how many bytes it takes.
static size_t put_place(const sap_mesh_file* file, int64_t vertex, unsigned char* row) {
    const size_t each = sap_has_origin(file) ? sizeof(double) : sizeof(float);
    double place[3];
    sap_mesh_file_place(file, vertex, place);
    for (size_t a = 0; a < 3; a++)
        if (sap_has_origin(file))
            put_double(row + a * each, place[a]);
        else
            put_word(row + a * each, &file->mesh.vertices[3 * vertex + (int64_t)a]);
    return 3 * each;
}

static void put_ply_binary(sap_output* output, const sap_mesh_file* file) {
    const sap_mesh* mesh = &file->mesh;
    const size_t face = 13;
    unsigned char row[39];
    for (int64_t i = 0; i < mesh->vertex_count; i++) {
        size_t bytes = put_place(file, i, row);
        for (int a = 0; a < 3 && file->normals; a++, bytes += 4) put_word(row + bytes, &file->normals[3 * i + a]);
        for (int a = 0; a < 3 && file->colors; a++) row[bytes++] = color_byte(file->colors[3 * i + a]);
        SAP_ASSERT(bytes <= sizeof row);
        sap_output_put(output, row, bytes);
    }
    row[0] = 3;
    for (int64_t i = 0; i < mesh->triangle_count; i++) {
        for (int corner = 0; corner < 3; corner++)
            put_word(row + 1 + 4 * (size_t)corner, &mesh->triangles[3 * i + corner]);
        sap_output_put(output, row, face);
    }
}

// ---- OFF.

static void put_off(sap_output* output, const sap_mesh_file* file) {
    char line[64];
    sap_mesh_file held = *file;
    held.normals = NULL;
    snprintf(line, sizeof line, "%s\n%lld %lld 0\n", file->colors ? "COFF" : "OFF", (long long)file->mesh.vertex_count,
             (long long)file->mesh.triangle_count);
    sap_output_text(output, line);
    put_rows(output, &held);
}

// ---- STL.

// The corners of a triangle, relative to the origin.
static void take_triangle(const sap_mesh* mesh, int64_t triangle, float corners[9]) {
    for (size_t corner = 0; corner < 3; corner++) {
        int64_t vertex = mesh->triangles[3 * triangle + (int64_t)corner];
        memcpy(corners + 3 * corner, mesh->vertices + 3 * vertex, 3 * sizeof *corners);
    }
}

// The unit normal, or zeros where the triangle has no area.
static void take_normal(const float corners[9], float normal[3]) {
    double first[3], second[3], cross[3], length2 = 0;
    for (int a = 0; a < 3; a++) {
        first[a] = (double)corners[3 + a] - (double)corners[a];
        second[a] = (double)corners[6 + a] - (double)corners[a];
    }
    for (int a = 0; a < 3; a++) {
        int u = (a + 1) % 3, v = (a + 2) % 3;
        cross[a] = first[u] * second[v] - first[v] * second[u];
        length2 += cross[a] * cross[a];
    }
    double length = sqrt(length2);
    bool any = isfinite(length) && length > 0;
    for (int a = 0; a < 3; a++) normal[a] = any ? (float)(cross[a] / length) : 0;
}

static void put_stl_text(sap_output* output, const sap_mesh_file* file) {
    const sap_mesh* mesh = &file->mesh;
    sap_output_text(output, "solid mesh\n");
    for (int64_t i = 0; i < mesh->triangle_count && !output->error; i++) {
        float corners[9], normal[3];
        take_triangle(mesh, i, corners);
        take_normal(corners, normal);
        for (int a = 0; a < 3; a++) normal[a] += 0.0f; // makes 0 of -0
        sap_output_text(output, "facet normal");
        sap_put_floats(output, normal, 3);
        sap_output_text(output, "\nouter loop\n");
        for (size_t corner = 0; corner < 3; corner++) {
            sap_output_text(output, "vertex");
            sap_put_place(output, file, mesh->triangles[3 * i + (int64_t)corner], " ");
            sap_output_text(output, "\n");
        }
        sap_output_text(output, "endloop\nendfacet\n");
    }
    sap_output_text(output, "endsolid mesh\n");
}

static void put_stl_binary(sap_output* output, const sap_mesh_file* file) {
    const sap_mesh* mesh = &file->mesh;
    // Readers that look only at the first word must not take this for text.
    unsigned char start[84] = "binary STL", record[50] = {0};
    uint32_t count = (uint32_t)mesh->triangle_count;
    put_word(start + 80, &count);
    sap_output_put(output, start, sizeof start);
    for (int64_t i = 0; i < mesh->triangle_count; i++) {
        float numbers[12]; // the normal, then the corners
        take_triangle(mesh, i, numbers + 3);
        take_normal(numbers + 3, numbers);
        for (size_t j = 3; j < 12 && sap_has_origin(file); j++)
            numbers[j] = (float)(file->origin[j % 3] + (double)numbers[j]);
        for (size_t j = 0; j < 12; j++) put_word(record + 4 * j, &numbers[j]);
        sap_output_put(output, record, sizeof record);
    }
}

// ---- Checks.

static sap_status check_names(sap_device* device, const sap_mesh_file* file) {
    for (int32_t i = 0; i < file->material_count; i++) {
        const char* name = file->materials[i].name;
        size_t length = name ? strlen(name) : 0;
        sap_span span = {name, name ? name + length : name}, trimmed = length ? sap_span_trim(span) : span;
        bool whole = length && trimmed.first == span.first && trimmed.last == span.last;
        if (!whole || strpbrk(name, "\r\n"))
            return sap_fail(device, SAP_ERROR_ARGUMENT,
                            "file.materials: the name of material %d is empty, has a blank at an end or more than one "
                            "line",
                            (int)i);
    }
    return SAP_OK;
}

static sap_status check_indices(sap_device* device, const sap_mesh_file* file) {
    const sap_mesh* mesh = &file->mesh;
    for (int64_t i = 0; i < mesh->triangle_count; i++) {
        for (int corner = 0; corner < 3; corner++) {
            int32_t vertex = mesh->triangles[3 * i + corner];
            if (vertex < 0 || vertex >= mesh->vertex_count)
                return sap_fail(device, SAP_ERROR_RANGE, "triangle %lld names vertex %d, but there are %lld",
                                (long long)i, (int)vertex, (long long)mesh->vertex_count);
        }
        int32_t material = file->material_ids ? file->material_ids[i] : -1;
        if (material < -1 || material >= file->material_count)
            return sap_fail(device, SAP_ERROR_RANGE, "triangle %lld has material %d, but there are %d", (long long)i,
                            (int)material, (int)file->material_count);
    }
    return SAP_OK;
}

static sap_status check_origin(sap_device* device, const sap_mesh_file* file) {
    for (int a = 0; a < 3; a++)
        if (!isfinite(file->origin[a]))
            return sap_fail(device, SAP_ERROR_ARGUMENT, "file.origin[%d]: is not finite", a);
    return SAP_OK;
}

static sap_status check_mesh(sap_device* device, const sap_mesh_file* file) {
    if (!file) return sap_fail(device, SAP_ERROR_ARGUMENT, "file: is NULL");
    const sap_mesh* mesh = &file->mesh;
    if (mesh->vertex_count < 0 || mesh->triangle_count < 0 || file->material_count < 0)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "file: a count is negative");
    if (mesh->vertex_count > INT32_MAX || mesh->triangle_count > INT32_MAX)
        return sap_fail(device, SAP_ERROR_RANGE, "file: more vertices or triangles than ids can number");
    if (!mesh->vertices && mesh->vertex_count)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "file.mesh.vertices: is NULL");
    if (!mesh->triangles && mesh->triangle_count)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "file.mesh.triangles: is NULL");
    if (!file->materials && file->material_count)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "file.materials: is NULL");
    sap_status status = sap_reserved_check(device, file->reserved, "file");
    if (status == SAP_OK) status = check_origin(device, file);
    if (status == SAP_OK) status = check_names(device, file);
    return status == SAP_OK ? check_indices(device, file) : status;
}

static sap_status check_format(sap_device* device, const char* path, sap_format* format) {
    sap_status status = sap_format_check(device, *format);
    if (status == SAP_OK) status = sap_path_check(device, path);
    if (status != SAP_OK) return status;
    if (*format == SAP_FORMAT_AUTO) *format = sap_format_of(path);
    if (*format == SAP_FORMAT_PLY || (*format >= SAP_FORMAT_OBJ && *format <= SAP_FORMAT_OFF)) return SAP_OK;
    if (*format == SAP_FORMAT_AUTO)
        return sap_fail(device, SAP_ERROR_UNSUPPORTED,
                        "'%s' names no known format; give one, or end the name in .ply, .obj, .stl or .off", path);
    return sap_fail(device, SAP_ERROR_UNSUPPORTED, "%s %s; choose .ply, .obj, .stl or .off", sap_format_name(*format),
                    *format == SAP_FORMAT_GLTF ? "is read, but not written" : "holds no meshes");
}

sap_status sap_mesh_write(sap_device* device, const char* path, sap_format format, const sap_mesh_file* file,
                          const sap_mesh_write_options* options) {
    if (!device) return SAP_ERROR_ARGUMENT;
    if (!path) return sap_fail(device, SAP_ERROR_ARGUMENT, "path: is NULL");
    sap_status status = options ? sap_reserved_check(device, options->reserved, "options") : SAP_OK;
    if (status == SAP_OK) status = check_mesh(device, file);
    if (status == SAP_OK) status = check_format(device, path, &format);
    if (status != SAP_OK) return status;
    if (format == SAP_FORMAT_OBJ) return sap_write_obj(device, path, file);
    bool text = options && options->text;
    sap_output output;
    status = sap_output_open(&output, device, path);
    if (status != SAP_OK) return status;
    if (format == SAP_FORMAT_PLY) {
        put_ply_header(&output, file, text);
        if (text)
            put_rows(&output, file);
        else
            put_ply_binary(&output, file);
    } else if (format == SAP_FORMAT_OFF) {
        put_off(&output, file);
    } else if (text) {
        put_stl_text(&output, file);
    } else {
        put_stl_binary(&output, file);
        if (sap_has_origin(file))
            (void)sap_fail(device, SAP_OK,
                           "binary STL has floats, to which coordinates are rounded; PLY, OBJ and OFF "
                           "keep them");
    }
    return sap_output_close(&output);
}
