// One cube of the volume, in the worker: the first that a ray meets and the surface runs through, and what marching cubes makes of
// it: the library's own surface of its eight samples.
#include "isosurface.h"
#include "space_fields.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(ISOSURFACE_LOOK_WHOLE == SPACE_RAY_FIELDS, "what is asked besides stands behind the ray");

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

// ---- The pyramid of triangles

enum { BLOCK = 64 }; // cells, so those of a node of level 3

// How many triangles each of the 256 cases has: the library's own surface of each.
static sap_status list_cases(uint8_t triangles[256]) {
    static bool listed; // all of them: there may have been no memory midway
    for (int bits = 0; bits < 256 && !listed; bits++) {
        float values[8];
        sap_isosurface* surface = NULL;
        for (int c = 0; c < 8; c++) values[c] = (float)(bits >> c & 1);
        const sap_volume cube = {.values = values, .type = SAP_VOXEL_F32, .size = {2, 2, 2}};
        const sap_status status =
            sap_isosurface_extract(page_cpu(), cube, &(sap_isosurface_options){.level = 1}, &surface);
        if (status != SAP_OK) return status;
        triangles[bits] = (uint8_t)surface->mesh.triangle_count;
        sap_isosurface_free(surface);
    }
    listed = true;
    return SAP_OK;
}

// The case of a cell; 0, which has no triangles, at the volume's upper faces.
static int case_of(int64_t cell) {
    const int64_t* size = isosurface_held.volume.size;
    const int64_t at[3] = {cell % size[0], cell / size[0] % size[1], cell / (size[0] * size[1])};
    float values[8];
    for (int i = 0; i < 3; i++)
        if (at[i] + 1 == size[i]) return 0;
    read_corners(at, values);
    return inside_of(values);
}

static sap_status count_all(const uint8_t triangles[256]) {
    isosurface_volume* held = &isosurface_held;
    const int64_t* size = held->volume.size;
    const int64_t samples = size[0] * size[1] * size[2];
    if (held->blocks && held->counted == held->level) return SAP_OK;
    if (!held->blocks) held->blocks = malloc((size_t)(samples / BLOCK + 1) * sizeof *held->blocks);
    if (!held->blocks) return page_fail(SAP_ERROR_MEMORY, "There is no memory here to count triangles.");
    memset(held->blocks, 0, (size_t)(samples / BLOCK + 1) * sizeof *held->blocks);
    held->counted = held->level;
    held->inside = held->crossed = 0;
    for (int64_t i = 0, z = 0; z < size[2]; z++)
        for (int64_t y = 0; y < size[1]; y++) {
            const bool has_cells = y + 1 < size[1] && z + 1 < size[2];
            int behind = 0; // the corners that a cell shares with the one ahead of it
            for (int64_t x = 0; x < size[0]; x++, i++) {
                int bits = sample(x, y, z) >= held->level;
                held->inside += bits;
                for (int c = 1; has_cells && c < 4; c++)
                    bits |= (sample(x, y + (c & 1), z + (c >> 1)) >= held->level) << 2 * c;
                const int inside = behind | bits << 1;
                if (has_cells && x && inside != 0 && inside != 255) {
                    held->crossed++;
                    held->blocks[(i - 1) / BLOCK] += triangles[inside];
                }
                behind = bits;
            }
        }
    return SAP_OK;
}

// The triangles of so many cells in a row, a power of four.
static double sum_of(int64_t first, int64_t many, const uint8_t triangles[256]) {
    const int64_t* size = isosurface_held.volume.size;
    const int64_t samples = size[0] * size[1] * size[2];
    double sum = 0;
    for (int64_t i = first; i < first + many && i < samples; i += many < BLOCK ? 1 : BLOCK)
        sum += many < BLOCK ? triangles[case_of(i)] : isosurface_held.blocks[i / BLOCK];
    return sum;
}

// A cell's way from the top of the pyramid (isosurface_sums).
static sap_status answer_sums(page_job* job, int64_t cell, const uint8_t triangles[256]) {
    const int64_t* size = isosurface_held.volume.size;
    const int64_t samples = size[0] * size[1] * size[2];
    int levels = 1;
    while (INT64_C(1) << 2 * levels < samples) levels++;
    double* row = page_answer(job, (size_t)levels * ISOSURFACE_SUMS_FIELDS * sizeof *row);
    if (!row) return SAP_ERROR_MEMORY;
    for (; levels > 0; levels--, row += ISOSURFACE_SUMS_FIELDS) {
        const int64_t many = INT64_C(1) << 2 * (levels - 1), first = cell / (4 * many) * (4 * many);
        for (int child = 0; child < 4; child++)
            row[ISOSURFACE_SUMS_CHILD_0 + child] = sum_of(first + child * many, many, triangles);
    }
    return SAP_OK;
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

static sap_status answer_cube(page_job* job, const int64_t at[3], const uint8_t triangles_of[256]) {
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
    if (!to) return SAP_ERROR_MEMORY;
    const int64_t* size = isosurface_held.volume.size;
    const int64_t cell = at[0] + size[0] * (at[1] + size[1] * at[2]);
    job->number[ISOSURFACE_CUBE_CELL] = (double)cell;
    return answer_sums(job, cell, triangles_of);
}

// Job: the cube that is seen along a ray, and the surface that it is a part of (space_ray, isosurface_look;
// isosurface_cube, isosurface_cube_buffer).
PAGE_EXPORT sap_status job_isosurface_cube(page_job* job) {
    static uint8_t triangles[256];
    const isosurface_volume* held = &isosurface_held;
    const int64_t* size = held->volume.size;
    const bool whole = job->number[ISOSURFACE_LOOK_WHOLE] != 0;
    double ray[SPACE_RAY_FIELDS];
    int64_t at[3];
    memcpy(ray, job->number, sizeof ray);
    memset(job->number, 0, sizeof job->number);
    for (int i = 0; i < 3; i++) job->number[ISOSURFACE_CUBE_X + i] = -1;
    if (!held->volume.values || !page_cpu()) return page_fail(SAP_ERROR_ARGUMENT, "There is no volume yet.");
    sap_status status = list_cases(triangles);
    if (status == SAP_OK) status = count_all(triangles);
    job->number[ISOSURFACE_CUBE_LEVEL] = (double)held->level;
    job->number[ISOSURFACE_CUBE_SAMPLES] = (double)(size[0] * size[1] * size[2]);
    job->number[ISOSURFACE_CUBE_INSIDE] = (double)held->inside;
    job->number[ISOSURFACE_CUBE_CUBES] = (double)((size[0] - 1) * (size[1] - 1) * (size[2] - 1));
    job->number[ISOSURFACE_CUBE_CROSSED] = (double)held->crossed;
    if (status == SAP_OK && whole) status = measure(job->number);
    if (status != SAP_OK) return status;
    return find(ray + SPACE_RAY_EYE, ray + SPACE_RAY_DIRECTION, at) ? answer_cube(job, at, triangles) : SAP_OK;
}
