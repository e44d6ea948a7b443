// The room of the scene Photons: six walls, a thing on the floor, which is built in or read from a file, and a lamp.
#include "meshes.h"
#include "photons.h"
#include "rays.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

photons_room photons_here;
const float photons_room_upper[3] = {2, 2, 3};

void photons_frame_room(page_space* space) {
    for (int a = 0; a < 3; a++) {
        const float upper = photons_room_upper[a], lower = a < 2 ? -upper : 0;
        space->from[a] = lower - 0.17f * upper;
        space->to[a] = upper + 0.17f * upper;
    }
}

static const double full_turn = 6.283185307179586;

sap_status photons_there_is_none(void) { return page_fail(SAP_ERROR_ARGUMENT, "There is no scene yet."); }

// ---- Surfaces, of u and v in 0 … 1, both of which are closed but for the ball's v.

static void ring_at(double u, double v, double to[3]) {
    const double c = cos(full_turn * v), s = sin(full_turn * v); // nearly a rectangle
    const double across = 0.86 + 0.035 * copysign(sqrt(sqrt(fabs(c))), c);
    to[0] = across * cos(full_turn * u);
    to[1] = across * sin(full_turn * u);
    to[2] = 0.255 + 0.25 * copysign(sqrt(sqrt(fabs(s))), s);
}

static void ball_at(double u, double v, double to[3]) {
    const double tilt = 0.5 * full_turn * (1 - v);
    to[0] = 0.62 * sin(tilt) * cos(full_turn * u);
    to[1] = 0.62 * sin(tilt) * sin(full_turn * u);
    to[2] = 0.7 + 0.62 * cos(tilt);
}

static void knot_at(double u, double v, double to[3]) {
    double at[3];
    rays_knot(u, 1 - v, at);
    to[0] = 0.62 * at[0];
    to[1] = 0.62 * -at[2];
    to[2] = 0.62 * at[1];
}

typedef struct surface {
    void (*at)(double u, double v, double to[3]);
    int32_t columns, rows;
    bool closed;
} surface;
static const surface surfaces[3] = {{ring_at, 256, 40, true}, {ball_at, 128, 64, false}, {knot_at, 480, 40, true}};

// ---- Triangles

static void put_triangle(photons_room* r, int64_t a, int64_t b, int64_t c, int32_t material) {
    page_put_triangle(r->triangles, r->material_ids, r->triangle_count++, (int64_t[3]){a, b, c}, material);
}

enum { FLOOR, WHITE, WARM, COOL, THING };

// Walls are seen from within.
static void put_walls(photons_room* r) {
    static const uint8_t corners[6][4] = {{0, 1, 3, 2}, {4, 6, 7, 5}, {0, 2, 6, 4},
                                          {1, 5, 7, 3}, {0, 4, 5, 1}, {2, 3, 7, 6}};
    static const uint8_t made_of[6] = {FLOOR, WHITE, WARM, WHITE, COOL, WHITE};
    for (int wall = 0; wall < 6; wall++) {
        const int64_t first = r->vertex_count;
        for (int i = 0; i < 4; i++) {
            const int corner = corners[wall][i];
            float* to = r->vertices + 3 * r->vertex_count++;
            to[0] = corner & 1 ? photons_room_upper[0] : -photons_room_upper[0];
            to[1] = corner & 2 ? photons_room_upper[1] : -photons_room_upper[1];
            to[2] = corner & 4 ? photons_room_upper[2] : 0;
        }
        put_triangle(r, first, first + 1, first + 2, made_of[wall]);
        put_triangle(r, first, first + 2, first + 3, made_of[wall]);
    }
}

static void put_surface(photons_room* r, const surface* s) {
    const int64_t first = r->vertex_count;
    const int32_t rings = s->closed ? s->rows : s->rows + 1;
    for (int32_t row = 0; row < rings; row++)
        for (int32_t c = 0; c < s->columns; c++) {
            double at[3];
            s->at((double)c / s->columns, (double)row / s->rows, at);
            for (int a = 0; a < 3; a++) r->vertices[3 * r->vertex_count + a] = (float)at[a];
            r->vertex_count++;
        }
    for (int32_t row = 0; row < s->rows; row++)
        for (int32_t c = 0; c < s->columns; c++) {
            const int64_t at = first + (int64_t)row * s->columns,
                          above = first + (int64_t)((row + 1) % rings) * s->columns;
            const int32_t next = (c + 1) % s->columns;
            put_triangle(r, at + c, at + next, above + next, THING);
            put_triangle(r, at + c, above + next, above + c, THING);
        }
}

// Lets vertices from `first` on stand on the middle of the floor, as large as there is room for.
static void stand(photons_room* r, int64_t first) {
    float lower[3] = {INFINITY, INFINITY, INFINITY}, upper[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int64_t i = 3 * first; i < 3 * r->vertex_count; i++) {
        lower[i % 3] = fminf(lower[i % 3], r->vertices[i]);
        upper[i % 3] = fmaxf(upper[i % 3], r->vertices[i]);
    }
    const float wide = fmaxf(upper[0] - lower[0], upper[1] - lower[1]), high = upper[2] - lower[2];
    const float size = fmaxf(wide / 2.0f, high / 1.7f), scale = size > 0 ? 1 / size : 1;
    const float middle[3] = {0.5f * (lower[0] + upper[0]), 0.5f * (lower[1] + upper[1]), lower[2]};
    for (int64_t i = 3 * first; i < 3 * r->vertex_count; i++)
        r->vertices[i] = (r->vertices[i] - middle[i % 3]) * scale + (i % 3 == 2 ? 0.004f : 0);
}

// The normals of vertices, each triangle weighted by its area.
static void find_normals(photons_room* r) {
    memset(r->normals, 0, (size_t)r->vertex_count * 12);
    for (int64_t i = 0; i < r->triangle_count; i++) {
        const int32_t* t = r->triangles + 3 * i;
        const float *a = r->vertices + 3 * (int64_t)t[0], *b = r->vertices + 3 * (int64_t)t[1],
                    *c = r->vertices + 3 * (int64_t)t[2];
        for (int axis = 0; axis < 3; axis++) {
            const int y = (axis + 1) % 3, z = (axis + 2) % 3;
            const float area = (b[y] - a[y]) * (c[z] - a[z]) - (b[z] - a[z]) * (c[y] - a[y]);
            for (int k = 0; k < 3; k++) r->normals[3 * (int64_t)t[k] + axis] += area;
        }
    }
}

// ---- Materials and the lamp

static sap_material matter(int32_t kind) {
    sap_material m = {.opacity = 1, .refraction = 1, .shininess = 1, .illum = 2};
    if (kind == PHOTONS_MATTER_METAL) {
        m.illum = 3;
        memcpy(m.specular, (float[3]){0.95f, 0.76f, 0.42f}, 12);
    } else if (kind == PHOTONS_MATTER_CHALK) {
        memcpy(m.diffuse, (float[3]){0.8f, 0.8f, 0.78f}, 12);
    } else {
        m.opacity = 0;
        m.refraction = 1.5f;
        if (kind == PHOTONS_MATTER_TINTED) memcpy(m.absorption, (float[3]){1.6f, 0.15f, 0.7f}, 12);
    }
    return m;
}

static void furnish(photons_room* r, const double* asked) {
    static const float colors[THING][3] = {
        {0.74f, 0.72f, 0.68f}, {0.74f, 0.72f, 0.68f}, {0.72f, 0.30f, 0.16f}, {0.17f, 0.42f, 0.54f}};
    for (int i = 0; i < THING; i++) {
        r->materials[i] = matter(PHOTONS_MATTER_CHALK);
        memcpy(r->materials[i].diffuse, colors[i], sizeof colors[i]);
    }
    r->materials[THING] = matter((int32_t)asked[PHOTONS_MAKE_MATTER]);
    const double turn = asked[PHOTONS_MAKE_LAMP_TURN] * full_turn / 360, away = 1.5;
    const double high = fmax(0.1, fmin(0.98, asked[PHOTONS_MAKE_LAMP_HEIGHT]));
    const float size = (float)fmax(0, fmin(0.8, asked[PHOTONS_MAKE_LAMP_SIZE]));
    r->lamp = (sap_light){
        .position = {(float)(away * cos(turn)), (float)(away * sin(turn)), (float)high * photons_room_upper[2]},
        .color = {1.6f, 1.5f, 1.35f},
        .side = {{size, 0, 0}, {0, size, 0}}};
    r->lamp_size = size;
}

// ---- The room

static void empty(photons_room* r) {
    sap_mesh_tree_free(r->tree);
    free(r->vertices);
    free(r->normals);
    free(r->triangles);
    free(r->material_ids);
    memset(r, 0, sizeof *r);
}

static bool make_space(photons_room* r, int64_t vertices, int64_t triangles) {
    vertices += 24;
    triangles += PHOTONS_ROOM;
    r->vertices = malloc((size_t)vertices * 12);
    r->normals = malloc((size_t)vertices * 12);
    r->triangles = malloc((size_t)triangles * 12);
    r->material_ids = malloc((size_t)triangles * 4);
    return r->vertices && r->normals && r->triangles && r->material_ids;
}

static sap_status answer(page_job* job) {
    const photons_room* r = &photons_here;
    const size_t vertices = (size_t)r->vertex_count * 12, triangles = (size_t)r->triangle_count * 12;
    void* const to = page_answer(job, vertices);
    if (!to) return SAP_ERROR_MEMORY;
    memcpy(to, r->vertices, vertices);
    void* const then = page_answer(job, triangles);
    if (!then) return SAP_ERROR_MEMORY;
    memcpy(then, r->triangles, triangles);
    job->number[PHOTONS_MADE_TRIANGLES] = (double)(r->triangle_count - PHOTONS_ROOM);
    for (int a = 0; a < 3; a++) job->number[PHOTONS_MADE_LAMP_X + a] = (double)r->lamp.position[a];
    job->number[PHOTONS_MADE_LAMP_SIZE] = (double)r->lamp_size;
    return SAP_OK;
}

// The room becomes the one that there is, without photons.
static sap_status begin(page_job* job, photons_room* r) {
    const sap_mesh mesh = {r->vertices, r->vertex_count, r->triangles, r->triangle_count};
    find_normals(r);
    furnish(r, job->number);
    const sap_status status = page_cpu() ? sap_mesh_tree_build(page_cpu(), mesh, NULL, &r->tree) : SAP_ERROR_MEMORY;
    if (status != SAP_OK) return status;
    photons_forget(&photons_kept);
    photons_forget(&photons_renewed);
    empty(&photons_here);
    photons_here = *r;
    memset(r, 0, sizeof *r);
    return answer(job);
}

// What was read last.
static struct {
    float* vertices;
    int32_t* triangles;
    int64_t vertex_count, triangle_count;
} opened;

static sap_status make_opened(page_job* job, const float* vertices, int64_t vertex_count, const int32_t* triangles,
                              int64_t triangle_count) {
    const bool y_up = job->number[PHOTONS_MAKE_Y_UP] != 0;
    photons_room r = {0};
    sap_status status = photons_no_memory();
    if (make_space(&r, vertex_count, triangle_count)) {
        put_walls(&r);
        const int64_t first = r.vertex_count;
        for (int64_t i = 0; i < vertex_count; i++, r.vertex_count++) {
            const float* from = vertices + 3 * i;
            float* to = r.vertices + 3 * r.vertex_count;
            to[0] = from[0];
            to[1] = y_up ? -from[2] : from[1];
            to[2] = y_up ? from[1] : from[2];
        }
        for (const int32_t* t = triangles; t < triangles + 3 * triangle_count; t += 3)
            put_triangle(&r, first + t[0], first + t[1], first + t[2], THING);
        stand(&r, first);
        status = begin(job, &r);
    }
    empty(&r);
    return status;
}

// A built-in thing, or what was read last (photons_make; photons_made).
PAGE_EXPORT sap_status job_photons_make(page_job* job) {
    const int32_t thing = (int32_t)job->number[PHOTONS_MAKE_THING];
    if (thing == PHOTONS_THING_FILE && opened.triangles)
        return make_opened(job, opened.vertices, opened.vertex_count, opened.triangles, opened.triangle_count);
    const surface* s = &surfaces[thing >= 0 && thing < PHOTONS_THING_FILE ? thing : 0];
    photons_room r = {0};
    sap_status status = photons_no_memory();
    if (make_space(&r, (int64_t)(s->rows + 1) * s->columns, 2 * (int64_t)s->rows * s->columns)) {
        put_walls(&r);
        const int64_t first = r.vertex_count;
        put_surface(&r, s);
        if (s->at == knot_at) stand(&r, first);
        status = begin(job, &r);
    }
    empty(&r);
    return status;
}

// The arrays of a file, which are kept if a room could be made with them.
static sap_status open_mesh(page_job* job, const sap_mesh* mesh) {
    const size_t vertices = (size_t)mesh->vertex_count * 12, triangles = (size_t)mesh->triangle_count * 12;
    float* places = malloc(vertices);
    int32_t* corners = malloc(triangles);
    sap_status status = photons_no_memory();
    if (places && corners) {
        memcpy(places, mesh->vertices, vertices);
        memcpy(corners, mesh->triangles, triangles);
        status = make_opened(job, places, mesh->vertex_count, corners, mesh->triangle_count);
    }
    float* const unused = status == SAP_OK ? opened.vertices : places;
    int32_t* const unused_corners = status == SAP_OK ? opened.triangles : corners;
    if (status == SAP_OK) {
        opened.vertices = places;
        opened.triangles = corners;
        opened.vertex_count = mesh->vertex_count;
        opened.triangle_count = mesh->triangle_count;
    }
    free(unused);
    free(unused_corners);
    return status;
}

// Whether the coordinates of a file can be a thing: numbers of vertices and triangles are then the file's own.
static sap_status check(const sap_mesh* mesh) {
    for (int64_t i = 0; i < 3 * mesh->triangle_count; i++)
        for (int a = 0; a < 3; a++)
            if (!isfinite(mesh->vertices[3 * (int64_t)mesh->triangles[i] + a]))
                return page_fail(SAP_ERROR_NOT_FINITE, "Vertex %d of triangle %lld is not finite.",
                                 (int)mesh->triangles[i], (long long)(i / 3));
    return SAP_OK;
}

// Reads a mesh that becomes the thing (page_file, photons_make; photons_made).
PAGE_EXPORT sap_status job_photons_read(page_job* job) {
    sap_mesh_file* file = NULL;
    if (!page_cpu()) return photons_no_memory();
    sap_status status = sap_mesh_parse(page_cpu(), job->in[PAGE_FILE_BYTES], job->in_bytes[PAGE_FILE_BYTES],
                                       page_mesh_format(job->in[PAGE_FILE_NAME]), NULL, &file);
    if (status != SAP_OK) return status;
    const long long triangles = file->mesh.triangle_count;
    if (triangles == 0)
        status = page_fail(SAP_ERROR_FORMAT, "It holds no triangles.");
    else if (triangles > PHOTONS_MOST)
        status =
            page_fail(SAP_ERROR_RANGE, "It holds %lld triangles; the page takes up to %d.", triangles, PHOTONS_MOST);
    else if ((status = check(&file->mesh)) == SAP_OK)
        status = open_mesh(job, &file->mesh);
    sap_mesh_file_free(file);
    return status;
}
