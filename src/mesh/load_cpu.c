// The start of a build: checks the mesh and copies its triangles corner by corner.
#include "base/team.h"
#include "mesh/load.h"
#include "tree/layout.h"
#include <math.h>
#include <string.h>

enum {
    STRETCH = 4096,       // triangles that are worth a thread
    MOST_STRETCHES = 256, // joined in their order, so that the bounds' bits do not depend on threads
    NOTHING_BAD = -1
};

static bool is_good_vertex(const float* v, float most) {
    return fabsf(v[0]) <= most && fabsf(v[1]) <= most && fabsf(v[2]) <= most;
}

// Loads one triangle; false if an index or a vertex is bad.
static bool load_triangle(const sap_mesh* mesh, int64_t i, float most, float* corners, sap_mesh_part* part) {
    for (int k = 0; k < 3; k++) {
        int32_t vertex = mesh->triangles[3 * i + k];
        if (!sap_mesh_has_vertex(mesh, vertex)) return false;
        const float* v = mesh->vertices + 3 * (int64_t)vertex;
        if (!is_good_vertex(v, most)) return false;
        memcpy(corners + (int64_t)SAP_TRIANGLE_FLOATS * i + 3 * k, v, 3 * sizeof *v);
    }
    const float* c = corners + (int64_t)SAP_TRIANGLE_FLOATS * i;
    for (int k = 0; k < 3; k++) {
        float x = c[k], y = c[3 + k], z = c[6 + k], low = x < y ? x : y, high = x < y ? y : x;
        part->lower[k] = low < z ? low : z;
        part->upper[k] = high > z ? high : z;
        SAP_ASSERT(part->lower[k] <= part->upper[k]);
    }
    part->triangle = (int32_t)i;
    part->unused = 0;
    return true;
}

static void widen(sap_mesh_box* box, const float lower[3], const float upper[3]) {
    for (int k = 0; k < 3; k++) {
        if (lower[k] < box->lower[k]) box->lower[k] = lower[k];
        if (upper[k] > box->upper[k]) box->upper[k] = upper[k];
    }
}

static sap_mesh_box no_box(void) {
    return (sap_mesh_box){{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
}

// Loads the triangles from … to. Returns the first bad triangle, or NOTHING_BAD.
static int64_t load_stretch(const sap_mesh* mesh, int64_t from, int64_t to, float* corners, sap_mesh_part* parts,
                            sap_mesh_box* box) {
    const float most = (float)sap_largest_coordinate(32, 3);
    for (int64_t i = from; i < to; i++) {
        if (!load_triangle(mesh, i, most, corners, &parts[i])) return i;
        widen(box, parts[i].lower, parts[i].upper);
    }
    return NOTHING_BAD;
}

sap_status sap_mesh_refuse(const sap_device* device, const sap_mesh* mesh, const int32_t corners[3],
                           float vertices[3][3], int64_t triangle) {
    const float most = (float)sap_largest_coordinate(32, 3);
    for (int k = 0; k < 3; k++) {
        if (!sap_mesh_has_vertex(mesh, corners[k]))
            return sap_fail(device, SAP_ERROR_RANGE, "mesh: triangle %lld names vertex %d, but there are %lld",
                            (long long)triangle, (int)corners[k], (long long)mesh->vertex_count);
        const float* v = vertices[k];
        if (is_good_vertex(v, most)) continue;
        bool finite = isfinite(v[0]) && isfinite(v[1]) && isfinite(v[2]);
        return sap_fail(device, SAP_ERROR_NOT_FINITE, "mesh: vertex %d of triangle %lld is %s", (int)corners[k],
                        (long long)triangle, finite ? "too far away to square its distance" : "not finite");
    }
    return SAP_OK;
}

static sap_status refuse(const sap_device* device, const sap_mesh* mesh, int64_t triangle) {
    float vertices[3][3] = {{0}};
    const int32_t* corners = mesh->triangles + 3 * triangle;
    for (int k = 0; k < 3; k++)
        if (sap_mesh_has_vertex(mesh, corners[k]))
            memcpy(vertices[k], mesh->vertices + 3 * (int64_t)corners[k], sizeof vertices[k]);
    return sap_mesh_refuse(device, mesh, corners, vertices, triangle);
}

typedef struct loading {
    const sap_mesh* mesh;
    float* corners;
    sap_mesh_part* parts;
    int64_t stretch; // triangles of a part
    int64_t bad;     // the first bad triangle
    sap_mesh_box boxes[MOST_STRETCHES];
} loading;

static void load_part(void* context, int64_t from, int64_t to, int32_t worker) {
    loading* l = context;
    sap_mesh_box* box = &l->boxes[from / l->stretch];
    (void)worker;
    *box = no_box();
    const int64_t found = load_stretch(l->mesh, from, to, l->corners, l->parts, box);
    if (found != NOTHING_BAD) sap_team_lower(&l->bad, found);
}

sap_status sap_mesh_load(const sap_device* device, const sap_mesh* mesh, float* corners, sap_mesh_part* parts,
                         sap_mesh_box* bounds) {
    const int64_t even = (mesh->triangle_count + MOST_STRETCHES - 1) / MOST_STRETCHES;
    loading l = {
        .mesh = mesh, .corners = corners, .parts = parts, .stretch = even > STRETCH ? even : STRETCH, .bad = INT64_MAX};
    sap_team_loop(device->options.threads, mesh->triangle_count, l.stretch, load_part, &l);
    if (l.bad != INT64_MAX) return refuse(device, mesh, l.bad);
    *bounds = no_box();
    for (int64_t i = 0; i * l.stretch < mesh->triangle_count; i++) widen(bounds, l.boxes[i].lower, l.boxes[i].upper);
    return SAP_OK;
}
