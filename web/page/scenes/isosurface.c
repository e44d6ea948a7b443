// Volumes and their surfaces: the jobs of the scene Isosurface, and what the page's thread does with the GPU instead.
#include "isosurface.h"
#include "volume_file.h"
#include "volumes.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

isosurface_volume isosurface_held;

// ---- Volumes

PAGE_EXPORT void isosurface_forget(void) {
    sap_volume_file_free(isosurface_held.file);
    free(isosurface_held.values);
    free(isosurface_held.blocks);
    memset(&isosurface_held, 0, sizeof isosurface_held);
}

size_t isosurface_bytes(const sap_volume* volume) {
    static const size_t bytes[] = {4, 1, 2, 2};
    return bytes[volume->type] * page_volume_count(volume);
}

static void tell_form(page_job* job) {
    const sap_volume* volume = &isosurface_held.volume;
    job->number[ISOSURFACE_FACTS_WIDTH] = (double)volume->size[0];
    job->number[ISOSURFACE_FACTS_HEIGHT] = (double)volume->size[1];
    job->number[ISOSURFACE_FACTS_DEPTH] = (double)volume->size[2];
    job->number[ISOSURFACE_FACTS_TYPE] = volume->type;
}

static void tell(page_job* job, const page_volume_facts* facts) {
    tell_form(job);
    job->number[ISOSURFACE_FACTS_LEAST] = facts->least;
    job->number[ISOSURFACE_FACTS_MOST] = facts->most;
    job->number[ISOSURFACE_FACTS_PARTING] = facts->parting;
}

static void hold(void* values, const int64_t size[3], sap_voxel type) {
    isosurface_forget();
    isosurface_held.values = values;
    isosurface_held.volume = (sap_volume){.values = values, .type = type, .size = {size[0], size[1], size[2]}};
}

// Job: makes a volume of a formula (volume_make; isosurface_facts).
PAGE_EXPORT sap_status job_isosurface_make(page_job* job) {
    int64_t side = (int64_t)job->number[VOLUME_MAKE_SIDE];
    float* values = malloc(sizeof *values * (size_t)(side * side * side));
    if (!values) return page_fail(SAP_ERROR_MEMORY, "There is no memory for %lld samples cubed.", (long long)side);
    page_volume_fill((enum volume_shape)job->number[VOLUME_MAKE_SHAPE], (int)side, values);
    hold(values, (int64_t[3]){side, side, side}, SAP_VOXEL_F32);
    page_volume_facts facts;
    sap_status status = page_volume_describe(&isosurface_held.volume, &facts);
    if (status == SAP_OK) tell(job, &facts);
    return status;
}

// Job: reads a volume from a file's bytes, as page_volume_parse does (volume_raw; isosurface_facts).
PAGE_EXPORT sap_status job_isosurface_read(page_job* job) {
    sap_volume_file* file = NULL;
    page_volume_facts facts;
    sap_status status = page_volume_parse(job, &file, &facts);
    if (status != SAP_OK) return status; // the volume that there was stays
    isosurface_forget();
    isosurface_held.file = file;
    isosurface_held.volume = file->volume;
    tell(job, &facts);
    return SAP_OK;
}

// Job: frees the volume.
PAGE_EXPORT sap_status job_isosurface_forget(page_job* job) {
    (void)job;
    isosurface_forget();
    return SAP_OK;
}

// Job: the samples themselves, for the instance on the page's thread. Answer: its size and type
// (isosurface_facts).
PAGE_EXPORT sap_status job_isosurface_samples(page_job* job) {
    const sap_volume* volume = &isosurface_held.volume;
    size_t bytes = isosurface_bytes(volume);
    void* to = page_answer(job, bytes);
    if (!to) return SAP_ERROR_MEMORY;
    memcpy(to, volume->values, bytes);
    tell_form(job);
    return SAP_OK;
}

// Takes over samples (malloc's) on the page's thread.
PAGE_EXPORT void isosurface_hold(void* values, int x, int y, int z, int type) {
    hold(values, (int64_t[3]){x, y, z}, (sap_voxel)type);
}

// ---- Surfaces

sap_status isosurface_extract(sap_device* device, double level, bool low_inside, sap_isosurface** surface) {
    sap_isosurface_options options = {.level = (float)level, .low_inside = low_inside};
    return sap_isosurface_extract(device, isosurface_held.volume, &options, surface);
}

// The surface that a job asks for (isosurface_ask), on the CPU.
static sap_status ask(const page_job* job, sap_isosurface** surface) {
    const bool low_inside = job->number[ISOSURFACE_ASK_LOW_INSIDE] != 0;
    isosurface_held.level = (float)job->number[ISOSURFACE_ASK_LEVEL];
    return isosurface_extract(page_cpu(), job->number[ISOSURFACE_ASK_LEVEL], low_inside, surface);
}

// Job: the surface on the CPU (isosurface_ask; buffers in the order of isosurface_buffer).
PAGE_EXPORT sap_status job_isosurface(page_job* job) {
    sap_isosurface* surface = NULL;
    sap_status status = ask(job, &surface);
    if (status != SAP_OK) return status;
    const sap_mesh* mesh = &surface->mesh;
    size_t vertices = 3 * sizeof(float) * (size_t)mesh->vertex_count;
    const void* from[3] = {mesh->vertices, surface->normals, mesh->triangles};
    const size_t bytes[3] = {vertices, vertices, 3 * sizeof(int32_t) * (size_t)mesh->triangle_count};
    for (int i = 0; i < 3 && status == SAP_OK; i++) {
        void* to = page_answer(job, bytes[i]);
        if (to && bytes[i]) memcpy(to, from[i], bytes[i]);
        if (!to) status = SAP_ERROR_MEMORY;
    }
    sap_isosurface_free(surface);
    return status;
}

// Job: the level at which the page's thread makes the surface (isosurface_ask).
PAGE_EXPORT sap_status job_isosurface_level(page_job* job) {
    isosurface_held.level = (float)job->number[ISOSURFACE_ASK_LEVEL];
    return SAP_OK;
}

// ---- The check

typedef struct edges {
    int64_t closed, open,
        outer; // that two triangles share, run both ways; that one has; of these on the volume's faces
} edges;

static bool on_outer_face(const sap_volume* volume, const float* a, const float* b) {
    for (int axis = 0; axis < 3; axis++) {
        float last = (float)(volume->size[axis] - 1);
        if ((a[axis] <= 0 && b[axis] <= 0) || (a[axis] >= last && b[axis] >= last)) return true;
    }
    return false;
}

// Sides of triangles by their smaller vertex: starts[v] … starts[v + 1] of `others`, which are the larger one, as ~ of
// it where the side runs down.
static void list_sides(const sap_mesh* mesh, int32_t* starts, int32_t* others) {
    const int64_t sides = 3 * mesh->triangle_count;
    memset(starts, 0, sizeof *starts * (size_t)(mesh->vertex_count + 2));
    for (int pass = 0; pass < 2; pass++) {
        for (int64_t i = 0; i < sides; i++) {
            int32_t a = mesh->triangles[i], b = mesh->triangles[i % 3 == 2 ? i - 2 : i + 1];
            int32_t low = a < b ? a : b;
            if (pass)
                others[starts[low + 1]++] = a < b ? b : ~a;
            else
                starts[low + 2]++;
        }
        for (int64_t v = 2; !pass && v < mesh->vertex_count + 2; v++) starts[v] += starts[v - 1];
    }
}

static sap_status count_edges(const sap_mesh* mesh, edges* found) {
    int32_t* starts = malloc(sizeof *starts * (size_t)(mesh->vertex_count + 2));
    int32_t* others = malloc(sizeof *others * (size_t)(3 * mesh->triangle_count + 1));
    bool ready = starts && others;
    if (ready) list_sides(mesh, starts, others);
    for (int64_t v = 0; ready && v < mesh->vertex_count; v++)
        for (int32_t i = starts[v]; i < starts[v + 1]; i++) {
            int32_t same = 0, back = 0;
            for (int32_t j = starts[v]; j < starts[v + 1]; j++) {
                same += others[j] == others[i];
                back += others[j] == ~others[i];
            }
            int32_t other = others[i] < 0 ? ~others[i] : others[i];
            if (same == 1 && back == 1)
                found->closed += others[i] >= 0; // once, of its two sides
            else if (same == 1 && back == 0 &&
                     on_outer_face(&isosurface_held.volume, mesh->vertices + 3 * v,
                                   mesh->vertices + 3 * (int64_t)other))
                found->outer++;
            else
                found->open++;
        }
    free(starts);
    free(others);
    return ready ? SAP_OK
                 : page_fail(SAP_ERROR_MEMORY, "There is no memory to check %lld triangles.",
                             (long long)mesh->triangle_count);
}

// Job: whether the surface is closed, and whether another mesh, if there is one, is the same (isosurface_ask,
// isosurface_other; isosurface_checked).
PAGE_EXPORT sap_status job_isosurface_check(page_job* job) {
    sap_isosurface* surface = NULL;
    edges found = {0, 0, 0};
    sap_status status = ask(job, &surface);
    if (status != SAP_OK) return status;
    const sap_mesh* mesh = &surface->mesh;
    status = count_edges(mesh, &found);
    int64_t wrong = 0;
    float apart = 0;
    const float* positions = job->in[ISOSURFACE_OTHER_POSITIONS];
    const int32_t* triangles = job->in[ISOSURFACE_OTHER_TRIANGLES];
    if (triangles) {
        bool as_many = job->in_bytes[ISOSURFACE_OTHER_POSITIONS] == 12 * mesh->vertex_count &&
                       job->in_bytes[ISOSURFACE_OTHER_TRIANGLES] == 12 * mesh->triangle_count;
        for (int64_t i = 0; as_many && i < mesh->triangle_count; i++)
            wrong += memcmp(triangles + 3 * i, mesh->triangles + 3 * i, 12) != 0;
        for (int64_t i = 0; as_many && i < 3 * mesh->vertex_count; i++)
            apart = fmaxf(apart, fabsf(positions[i] - mesh->vertices[i]));
        if (!as_many) wrong = mesh->triangle_count > 0 ? mesh->triangle_count : 1;
    }
    job->number[ISOSURFACE_CHECKED_CLOSED] = (double)found.closed;
    job->number[ISOSURFACE_CHECKED_OUTER] = (double)found.outer;
    job->number[ISOSURFACE_CHECKED_OPEN] = (double)found.open;
    job->number[ISOSURFACE_CHECKED_VERTICES] = (double)mesh->vertex_count;
    job->number[ISOSURFACE_CHECKED_TRIANGLES] = (double)mesh->triangle_count;
    job->number[ISOSURFACE_CHECKED_WRONG] = (double)wrong;
    job->number[ISOSURFACE_CHECKED_APART] = (double)apart;
    sap_isosurface_free(surface);
    return status;
}
