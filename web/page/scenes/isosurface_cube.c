// One cube of the volume, in the worker: the first that a ray meets and the surface runs through, and what marching cubes makes of
// it: the library's own surface of its eight samples.
#include "isosurface.h"
#include "space_fields.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static float sample(int64_t x, int64_t y, int64_t z) {
    const sap_volume* v = &isosurface_held.volume;
    const int64_t i = x + v->size[0] * (y + v->size[1] * z);
    switch (v->type) {
    case SAP_VOXEL_U8: return ((const uint8_t*)v->values)[i];
    case SAP_VOXEL_U16: return ((const uint16_t*)v->values)[i];
    case SAP_VOXEL_I16: return ((const int16_t*)v->values)[i];
    default: return ((const float*)v->values)[i];
    }
}

static void read_corners(const int64_t at[3], float values[8]) {
    for (int c = 0; c < 8; c++) values[c] = sample(at[0] + (c & 1), at[1] + (c >> 1 & 1), at[2] + (c >> 2));
}

static int inside_of(const float values[8]) {
    int bits = 0;
    for (int c = 0; c < 8; c++) bits |= (values[c] >= isosurface_held.level) << c;
    return bits;
}

// Where a ray is within the volume's box; false: nowhere.
static bool clip(const double eye[3], const double direction[3], double span[2]) {
    span[0] = 0;
    span[1] = INFINITY;
    for (int i = 0; i < 3; i++) {
        const double a = -eye[i] / direction[i],
                     b = ((double)isosurface_held.volume.size[i] - 1 - eye[i]) / direction[i];
        span[0] = fmax(span[0], fmin(a, b));
        span[1] = fmin(span[1], fmax(a, b));
    }
    return span[0] <= span[1];
}

// The first cube along a ray, whose steps are a fifth of a sample, that the surface runs through.
static bool find(const double eye[3], const double direction[3], int64_t at[3]) {
    double span[2], speed = 0;
    for (int i = 0; i < 3; i++) speed += direction[i] * direction[i];
    if (!(speed > 0) || !clip(eye, direction, span)) return false;
    const double by = 0.2 / sqrt(speed);
    for (int64_t step = 0; span[0] + (double)step * by <= span[1]; step++) {
        const double t = span[0] + (double)step * by;
        float values[8];
        bool within = true;
        for (int i = 0; i < 3; i++) {
            at[i] = (int64_t)floor(eye[i] + t * direction[i]);
            within = within && at[i] >= 0 && at[i] < isosurface_held.volume.size[i] - 1;
        }
        if (!within) continue;
        read_corners(at, values);
        const int bits = inside_of(values);
        if (bits != 0 && bits != 255) return true;
    }
    return false;
}

static void count_all(double* number) {
    const int64_t* size = isosurface_held.volume.size;
    int64_t crossed = 0, inside = 0;
    for (int64_t z = 0; z < size[2]; z++)
        for (int64_t y = 0; y < size[1]; y++)
            for (int64_t x = 0; x < size[0]; x++) {
                float values[8];
                inside += sample(x, y, z) >= isosurface_held.level;
                if (x + 1 == size[0] || y + 1 == size[1] || z + 1 == size[2]) continue;
                read_corners((int64_t[3]){x, y, z}, values);
                const int bits = inside_of(values);
                crossed += bits != 0 && bits != 255;
            }
    number[ISOSURFACE_CUBE_SAMPLES] = (double)(size[0] * size[1] * size[2]);
    number[ISOSURFACE_CUBE_INSIDE] = (double)inside;
    number[ISOSURFACE_CUBE_CUBES] = (double)((size[0] - 1) * (size[1] - 1) * (size[2] - 1));
    number[ISOSURFACE_CUBE_CROSSED] = (double)crossed;
}

// How large the whole surface is, and how long it takes to make.
static sap_status measure(double* number) {
    sap_isosurface* surface = NULL;
    const double begun = emscripten_get_now();
    sap_status status = isosurface_extract(page_cpu(), (double)isosurface_held.level, false, &surface);
    if (status != SAP_OK) return status;
    number[ISOSURFACE_CUBE_MILLISECONDS] = emscripten_get_now() - begun;
    number[ISOSURFACE_CUBE_VERTICES] = (double)surface->mesh.vertex_count;
    number[ISOSURFACE_CUBE_TRIANGLES] = (double)surface->mesh.triangle_count;
    sap_isosurface_free(surface);
    return SAP_OK;
}

static sap_status answer_cube(page_job* job, const int64_t at[3]) {
    double* number = job->number;
    float values[8];
    read_corners(at, values);
    number[ISOSURFACE_CUBE_CORNERS] = inside_of(values);
    for (int i = 0; i < 3; i++) number[ISOSURFACE_CUBE_X + i] = (double)at[i];
    for (int c = 0; c < 8; c++) number[ISOSURFACE_CUBE_VALUE_0 + c] = (double)values[c];
    const sap_volume cube = {.values = values, .type = SAP_VOXEL_F32, .size = {2, 2, 2}};
    sap_isosurface* surface = NULL;
    sap_status status =
        sap_isosurface_extract(page_cpu(), cube, &(sap_isosurface_options){.level = isosurface_held.level}, &surface);
    if (status != SAP_OK) return status;
    const size_t vertices = (size_t)surface->mesh.vertex_count * 12,
                 triangles = (size_t)surface->mesh.triangle_count * 12;
    void* to = page_answer(job, vertices);
    if (to) memcpy(to, surface->mesh.vertices, vertices);
    if (to && (to = page_answer(job, triangles)) != NULL) memcpy(to, surface->mesh.triangles, triangles);
    sap_isosurface_free(surface);
    return to ? SAP_OK : SAP_ERROR_MEMORY;
}

// Job: the cube that is seen along a ray, and the surface that it is a part of (space_ray; isosurface_cube).
PAGE_EXPORT sap_status job_isosurface_cube(page_job* job) {
    double ray[SPACE_RAY_FIELDS];
    int64_t at[3];
    memcpy(ray, job->number, sizeof ray);
    memset(job->number, 0, sizeof job->number);
    for (int i = 0; i < 3; i++) job->number[ISOSURFACE_CUBE_X + i] = -1;
    if (!isosurface_held.volume.values || !page_cpu()) return page_fail(SAP_ERROR_ARGUMENT, "There is no volume yet.");
    job->number[ISOSURFACE_CUBE_LEVEL] = (double)isosurface_held.level;
    count_all(job->number);
    sap_status status = measure(job->number);
    if (status != SAP_OK) return status;
    return find(ray + SPACE_RAY_EYE, ray + SPACE_RAY_DIRECTION, at) ? answer_cube(job, at) : SAP_OK;
}
