// Sample files, made when they are asked for, so that nobody has to fetch them. They are what a reader's own file would be:
// the scenes read them as such.
#include "page.h"
#include "sample_fields.h"
#include "scenes/volumes.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double full_turn = 6.283185307179586, golden = 0.6180339887498949;

// ---- Files that grow while they are written. Where memory ends nothing more is written, and finish() says so.

typedef struct writer {
    char* bytes;
    size_t used, room;
    bool failed;
} writer;

static void put(writer* w, const void* from, size_t size) {
    if (w->used + size > w->room && !w->failed) {
        const size_t room = 2 * (w->used + size) + 4096;
        char* bytes = realloc(w->bytes, room);
        w->failed = !bytes;
        if (bytes) {
            w->bytes = bytes;
            w->room = room;
        }
    }
    if (w->failed) return;
    memcpy(w->bytes + w->used, from, size);
    w->used += size;
}

__attribute__((format(printf, 2, 3))) static void print(writer* w, const char* format, ...) {
    char line[256];
    va_list values;
    va_start(values, format);
    const int length = vsnprintf(line, sizeof line, format, values);
    va_end(values);
    put(w, line, (size_t)length);
}

static sap_status finish(writer* w, page_job* job) {
    void* to = w->failed ? NULL : page_answer(job, w->used);
    if (to) memcpy(to, w->bytes, w->used);
    free(w->bytes);
    return to ? SAP_OK : page_fail(SAP_ERROR_MEMORY, "There is no memory here for this sample.");
}

static void print_npy(writer* w, const char* type, const char* shape) {
    char dictionary[119]; // with what stands ahead of it 128 bytes
    const int length = snprintf(dictionary, sizeof dictionary,
                                "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", type, shape);
    memset(dictionary + length, ' ', sizeof dictionary - 1 - (size_t)length);
    dictionary[117] = '\n';
    put(w, "\x93NUMPY\1\0\x76\0", 10);
    put(w, dictionary, 118);
}

static void print_ply(writer* w, int64_t vertices, int64_t triangles) {
    print(w, "ply\nformat binary_little_endian 1.0\nelement vertex %lld\n", (long long)vertices);
    print(w, "property float x\nproperty float y\nproperty float z\n");
    if (triangles) print(w, "element face %lld\nproperty list uchar int vertex_indices\n", (long long)triangles);
    print(w, "end_header\n");
}

// ---- Places in the plane

// As the seeds of a sunflower lie: each is turned on by the golden angle.
static void sunflower(writer* w) {
    print(w, "x,y\n");
    for (int i = 0; i < 2500; i++) {
        const double radius = sqrt(i + 0.5), angle = full_turn * golden * i;
        print(w, "%g,%g\n", 1.5 * radius * cos(angle), radius * sin(angle));
    }
}

static double part(double value) { return value - floor(value); }

// Two arms that wind about a middle. Multiples of roots that are no fractions take the place of chance.
static void galaxy(writer* w) {
    enum { STARS = 20000 };
    print_npy(w, "<f4", "20000, 2");
    for (int i = 0; i < STARS; i++) {
        const double radius = 0.02 + pow((double)i / STARS, 0.7);
        const double off = part(1.4142135 * i) + part(1.7320508 * i) + part(2.2360679 * i) - 1.5;
        const double angle = 2.6 * log(radius + 0.08) + 0.5 * full_turn * (i % 2) + 0.55 * off / (0.35 + radius);
        const float at[2] = {(float)(1.6 * radius * cos(angle)), (float)(radius * sin(angle))};
        put(w, at, sizeof at);
    }
}

// ---- Volumes

static double place(int i, int side) { return -1 + 2.0 * i / (side - 1); }

// A log with growth rings, of which a branch leaves.
static void rings(writer* w) {
    enum { SIDE = 96 };
    print_npy(w, "|u1", "96, 96, 96");
    for (int i = 0; i < SIDE * SIDE * SIDE; i++) {
        const double x = place(i % SIDE, SIDE), y = place(i / SIDE % SIDE, SIDE), z = place(i / SIDE / SIDE, SIDE);
        const double a = x - 0.05 * sin(2 * z), b = y + 0.04 * cos(3 * z);
        const double stem = hypot(a, b) * (1 + 0.05 * sin(3 * atan2(b, a))) / 0.62;
        const double branch = x > 0 ? hypot(y, z - 0.5 * x) / (0.26 - 0.1 * x) : 9;
        const double depth = fmin(stem, branch);
        const double end = fmax(fabs(z) - 0.82, branch < stem ? x - 0.86 : -1);
        const bool inside = depth < 1 && end < 0;
        const uint8_t value = (uint8_t)(inside ? 150 + 90 * sin(full_turn * (depth < stem ? 2 : 5) * depth) : 20);
        put(w, &value, 1);
    }
}

// The density of an electron in an orbital of the form 4f.
static void orbital(writer* w) {
    enum { SIDE = 64 };
    print_npy(w, "<f4", "64, 64, 64");
    for (int i = 0; i < SIDE * SIDE * SIDE; i++) {
        const double x = place(i % SIDE, SIDE), y = place(i / SIDE % SIDE, SIDE), z = place(i / SIDE / SIDE, SIDE);
        const double r2 = x * x + y * y + z * z;
        const double wave = z * (5 * z * z - 3 * r2) * exp(-5.5 * sqrt(r2));
        const float density = (float)(4000 * wave * wave);
        put(w, &density, sizeof density);
    }
}

// ---- Meshes

static sap_status surface_of(enum volume_shape shape, int side, sap_isosurface** surface) {
    float* values = malloc(sizeof *values * (size_t)side * (size_t)side * (size_t)side);
    if (!values || !page_cpu()) {
        free(values);
        page_fail(SAP_ERROR_MEMORY, "There is no memory here for this sample.");
        return SAP_ERROR_MEMORY;
    }
    page_volume_fill(shape, side, values);
    const sap_volume volume = {.values = values, .type = SAP_VOXEL_F32, .size = {side, side, side}};
    const sap_status status =
        sap_isosurface_extract(page_cpu(), volume, &(sap_isosurface_options){.level = 0}, surface);
    free(values);
    return status;
}

static sap_status gyroid(writer* w) {
    sap_isosurface* surface = NULL;
    const sap_status status = surface_of(VOLUME_SHAPE_GYROID, 56, &surface);
    if (status != SAP_OK) return status;
    const sap_mesh* mesh = &surface->mesh;
    print_ply(w, mesh->vertex_count, mesh->triangle_count);
    put(w, mesh->vertices, (size_t)mesh->vertex_count * 12);
    for (int64_t i = 0; i < mesh->triangle_count; i++) {
        put(w, &(uint8_t){3}, 1);
        put(w, mesh->triangles + 3 * i, 12);
    }
    sap_isosurface_free(surface);
    return SAP_OK;
}

// Two rings, each through the other.
static void rings_of_link(writer* w) {
    enum { ALONG = 96, AROUND = 32 };
    for (int ring = 0; ring < 2; ring++)
        for (int i = 0; i < ALONG * AROUND; i++) {
            const double along = full_turn * (i / AROUND) / ALONG, around = full_turn * (i % AROUND) / AROUND;
            const double far = 1 + 0.3 * cos(around), over = 0.3 * sin(around);
            const double at[2] = {far * cos(along) + (ring ? 0.5 : -0.5), far * sin(along)};
            print(w, "v %g %g %g\n", at[0], 1.3 + (ring ? at[1] : over), ring ? over : at[1]);
        }
    for (int i = 0; i < 2 * ALONG * AROUND; i++) {
        const int ring = i / (ALONG * AROUND) * ALONG * AROUND + 1, along = i / AROUND % ALONG, around = i % AROUND;
        const int low = ring + along * AROUND, high = ring + (along + 1) % ALONG * AROUND, next = (around + 1) % AROUND;
        print(w, "f %d %d %d %d\n", low + around, high + around, high + next, low + next);
    }
}

// ---- Scans

static sap_status asteroid(writer* w) {
    sap_isosurface* surface = NULL;
    const sap_status status = surface_of(VOLUME_SHAPE_ASTEROID, 72, &surface);
    if (status != SAP_OK) return status;
    for (int64_t i = 0; i < surface->mesh.vertex_count; i++) {
        const float* at = surface->mesh.vertices + 3 * i;
        const double wave = 0.5 + 0.5 * sin(0.35 * (double)at[0] + 0.2 * (double)at[2]);
        if (part(golden * (double)i) < 0.1 + 0.9 * wave * wave)
            print(w, "%g %g %g\n", (double)at[0], (double)at[1], (double)at[2]);
    }
    sap_isosurface_free(surface);
    return SAP_OK;
}

// The part of a body that one of two scanners sees; they have its middle in common, but no point. The second one's is turned.
static void scan(writer* w, const sap_mesh* body, bool second, int64_t* count) {
    const double turn = second ? 0.45 : 0;
    *count = 0;
    for (int64_t i = second; i < body->vertex_count; i += 2) {
        const float* at = body->vertices + 3 * i;
        if (second ? at[0] < 22 : at[0] > 42) continue;
        const float moved[3] = {(float)(cos(turn) * (double)at[0] - sin(turn) * (double)at[1]) + (second ? 9.0F : 0),
                                (float)(sin(turn) * (double)at[0] + cos(turn) * (double)at[1]) - (second ? 6.0F : 0),
                                at[2]};
        put(w, moved, sizeof moved);
        ++*count;
    }
}

static sap_status scans(page_job* job) {
    sap_isosurface* surface = NULL;
    sap_status status = surface_of(VOLUME_SHAPE_ASTEROID, 64, &surface);
    for (int second = 0; second < 2 && status == SAP_OK; second++) {
        writer points = {0}, file = {0};
        int64_t count;
        scan(&points, &surface->mesh, second, &count);
        print_ply(&file, count, 0);
        if (points.used) put(&file, points.bytes, points.used);
        file.failed = file.failed || points.failed;
        free(points.bytes);
        status = finish(&file, job);
    }
    sap_isosurface_free(surface);
    return status;
}

// Job: the files of a sample (sample_make), one after the other.
PAGE_EXPORT sap_status job_sample(page_job* job) {
    const enum sample_kind kind = (enum sample_kind)job->number[SAMPLE_MAKE_KIND];
    if (kind == SAMPLE_KIND_SCANS) return scans(job);
    writer w = {0};
    sap_status status = SAP_OK;
    if (kind == SAMPLE_KIND_SUNFLOWER) sunflower(&w);
    if (kind == SAMPLE_KIND_GALAXY) galaxy(&w);
    if (kind == SAMPLE_KIND_RINGS) rings(&w);
    if (kind == SAMPLE_KIND_ORBITAL) orbital(&w);
    if (kind == SAMPLE_KIND_LINK) rings_of_link(&w);
    if (kind == SAMPLE_KIND_GYROID) status = gyroid(&w);
    if (kind == SAMPLE_KIND_ASTEROID) status = asteroid(&w);
    if (status != SAP_OK) {
        free(w.bytes);
        return status;
    }
    return finish(&w, job);
}
