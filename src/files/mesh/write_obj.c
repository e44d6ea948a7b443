// Meshes as OBJ, and their materials as MTL.
#include "device/device.h"
#include "files/mesh/mesh_write.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static void put_value(sap_output* output, const char* what, const float* values, int count) {
    sap_output_text(output, what);
    sap_put_floats(output, values, count);
    sap_output_text(output, "\n");
}

// Absorption as what a unit of length leaves.
static void put_filter(sap_output* output, const float absorption[3]) {
    float left[3];
    for (int a = 0; a < 3; a++) left[a] = (float)exp(-(double)absorption[a]);
    if (absorption[0] > 0 || absorption[1] > 0 || absorption[2] > 0) put_value(output, "Tf", left, 3);
}

static void put_materials(sap_output* output, const sap_mesh_file* file) {
    for (int32_t i = 0; i < file->material_count; i++) {
        const sap_material* m = &file->materials[i];
        sap_output_text(output, i ? "\nnewmtl " : "newmtl ");
        sap_output_text(output, m->name);
        sap_output_text(output, "\n");
        put_value(output, "Kd", m->diffuse, 3);
        put_value(output, "Ks", m->specular, 3);
        put_value(output, "Ke", m->emission, 3);
        put_value(output, "Ns", &m->shininess, 1);
        put_value(output, "d", &m->opacity, 1);
        put_value(output, "Ni", &m->refraction, 1);
        put_filter(output, m->absorption);
        sap_output_text(output, "illum");
        sap_put_int(output, m->illum);
        sap_output_text(output, "\n");
    }
}

// `library`: the name of the MTL, or NULL.
static void put_mesh(sap_output* output, const sap_mesh_file* file, const char* library) {
    sap_output_text(output, "# vertices");
    sap_put_int(output, file->mesh.vertex_count);
    sap_output_text(output, ", triangles");
    sap_put_int(output, file->mesh.triangle_count);
    sap_output_text(output, "\n");
    if (library) {
        sap_output_text(output, "mtllib ");
        sap_output_text(output, library);
        sap_output_text(output, "\n");
    }
    for (int64_t i = 0; i < file->mesh.vertex_count && !output->error; i++) {
        sap_output_text(output, "v");
        sap_put_place(output, file, i, " ");
        if (file->colors) sap_put_floats(output, file->colors + 3 * i, 3);
        sap_output_text(output, "\n");
    }
    int32_t material = -1;
    for (int64_t i = 0; i < file->mesh.triangle_count && !output->error; i++) {
        int32_t wanted = file->material_ids ? file->material_ids[i] : -1;
        if (wanted != material) {
            sap_output_text(output, "usemtl ");
            if (wanted >= 0) sap_output_text(output, file->materials[wanted].name);
            sap_output_text(output, "\n");
            material = wanted;
        }
        sap_output_text(output, "f");
        for (int corner = 0; corner < 3; corner++)
            sap_put_int(output, (int64_t)file->mesh.triangles[3 * i + corner] + 1);
        sap_output_text(output, "\n");
    }
}

// NAME.mtl for NAME.obj, and for any other NAME; false if that is too long.
static bool library_path(const char* path, char library[SAP_PATH_BYTES]) {
    size_t length = strlen(path);
    const char* dot = strrchr(path, '.');
    if (dot && sap_format_of(path) == SAP_FORMAT_OBJ) length = (size_t)(dot - path);
    if (length >= SAP_PATH_BYTES) return false;
    return snprintf(library, SAP_PATH_BYTES, "%.*s.mtl", (int)length, path) < SAP_PATH_BYTES;
}

// Both files come into their places only when both are written; the MTL first, since the OBJ names it.
static sap_status write_both(sap_output* mesh, const char* library, const sap_mesh_file* file) {
    sap_output materials;
    sap_status status = sap_output_open(&materials, mesh->device, library);
    if (status != SAP_OK) {
        sap_output_discard(mesh);
        return status;
    }
    const char* folder_end = strrchr(library, '/');
    put_materials(&materials, file);
    put_mesh(mesh, file, folder_end ? folder_end + 1 : library);
    if (mesh->error) {
        sap_output_discard(&materials);
        return sap_output_close(mesh);
    }
    status = sap_output_close(&materials);
    if (status == SAP_OK) return sap_output_close(mesh);
    sap_output_discard(mesh);
    return status;
}

sap_status sap_write_obj(sap_device* device, const char* path, const sap_mesh_file* file) {
    char library[SAP_PATH_BYTES];
    sap_output output;
    if (!library_path(path, library))
        return sap_fail(device, SAP_ERROR_IO, "cannot write '%s': its name is too long", path);
    sap_status status = sap_output_open(&output, device, path);
    if (status != SAP_OK) return status;
    // Beside a pipe or a terminal there is no place for another file.
    if (file->material_count && output.target[0]) return write_both(&output, library, file);
    put_mesh(&output, file, NULL);
    return sap_output_close(&output);
}
