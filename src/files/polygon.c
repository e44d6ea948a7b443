// Polygons to triangles: fans where they are convex, else ears are clipped (Meisters 1975; with a list of the corners
// that can be in an ear's way, as in Eberly 2002).
#include "device/device.h"
#include "files/mesh_draft.h"
#include <math.h>

typedef struct corner {
    double at[2];           // in the plane
    int32_t previous, next; // of those that are left
    bool left;
    bool blocks; // turns inward, or not at all: may lie in an ear
} corner;

typedef struct polygon {
    corner* corners;
    int32_t* blocking; // corners that block, and some that no longer do
    int32_t blocking_count;
    int64_t allowance; // steps that may still be taken to find ears
    const int32_t* vertices;
    int32_t* triangle; // where the next one goes
} polygon;

// Twice the signed area of a triangle: positive if a, b, c run counter-clockwise.
static double turn(const double* a, const double* b, const double* c) {
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

// Lays the corners into the plane of the two axes that shows most of their area, so that they run counter-clockwise
// there. False if there is no area to be seen.
static bool lay_flat(const sap_mesh_draft* draft, const int32_t* vertices, int32_t n, corner* corners) {
    const float* all = draft->vertices.memory;
    const float* origin = all + (int64_t)3 * vertices[0];
    double normal[3] = {0, 0, 0}, before[3] = {0, 0, 0}, here[3];
    for (int32_t i = 1; i < n; i++) { // Newell's sum, about the first corner
        const float* p = all + (int64_t)3 * vertices[i];
        for (int a = 0; a < 3; a++) here[a] = (double)p[a] - (double)origin[a];
        for (int a = 0; a < 3; a++) {
            int u = (a + 1) % 3, v = (a + 2) % 3;
            normal[a] += before[u] * here[v] - before[v] * here[u];
        }
        for (int a = 0; a < 3; a++) before[a] = here[a];
    }
    int axis = 0;
    for (int a = 1; a < 3; a++)
        if (fabs(normal[a]) > fabs(normal[axis])) axis = a;
    if (!isfinite(normal[0] + normal[1] + normal[2]) || normal[axis] == 0) return false;
    int u = (axis + (normal[axis] > 0 ? 1 : 2)) % 3, v = 3 - axis - u;
    for (int32_t i = 0; i < n; i++) {
        const float* p = all + (int64_t)3 * vertices[i];
        corners[i] = (corner){.at = {(double)p[u] - (double)origin[u], (double)p[v] - (double)origin[v]},
                              .previous = i ? i - 1 : n - 1,
                              .next = i + 1 < n ? i + 1 : 0,
                              .left = true};
    }
    return true;
}

static bool turns_outward(const polygon* p, int32_t i) {
    const corner* c = &p->corners[i];
    return turn(p->corners[c->previous].at, c->at, p->corners[c->next].at) > 0;
}

// Lists the corners that block; false if none turns inward, so that a fan will do.
static bool list_blocking(polygon* p, int32_t n) {
    bool inward = false;
    for (int32_t i = 0; i < n; i++) {
        corner* c = &p->corners[i];
        double sense = turn(p->corners[c->previous].at, c->at, p->corners[c->next].at);
        inward |= sense < 0;
        c->blocks = sense <= 0;
        if (c->blocks) p->blocking[p->blocking_count++] = i;
    }
    return inward;
}

static bool same_place(const double* a, const double* b) { return a[0] == b[0] && a[1] == b[1]; }

// Whether cutting the corner off leaves every other one outside. A corner that only touches a corner of the ear is
// where the polygon meets itself, as along a bridge to a hole, and does no harm.
static bool is_ear(polygon* p, int32_t i) {
    if (!turns_outward(p, i)) return false;
    const double *b = p->corners[i].at, *a = p->corners[p->corners[i].previous].at,
                 *c = p->corners[p->corners[i].next].at;
    for (int32_t j = 0; j < p->blocking_count; j++) {
        const corner* other = &p->corners[p->blocking[j]];
        if (!other->left || !other->blocks) {
            p->blocking[j--] = p->blocking[--p->blocking_count];
            continue;
        }
        p->allowance--;
        const double* at = other->at;
        if (turn(a, b, at) < 0 || turn(b, c, at) < 0 || turn(c, a, at) < 0) continue;
        if (!same_place(at, a) && !same_place(at, b) && !same_place(at, c)) return false;
    }
    return true;
}

static void put_triangle(polygon* p, int32_t a, int32_t b, int32_t c) {
    *p->triangle++ = p->vertices[a];
    *p->triangle++ = p->vertices[b];
    *p->triangle++ = p->vertices[c];
}

static void cut(polygon* p, int32_t i) {
    corner* c = &p->corners[i];
    put_triangle(p, c->previous, i, c->next);
    p->corners[c->previous].next = c->next;
    p->corners[c->next].previous = c->previous;
    c->left = false;
    // Corners only ever stop blocking: cutting makes them turn less inward.
    if (p->corners[c->previous].blocks) p->corners[c->previous].blocks = !turns_outward(p, c->previous);
    if (p->corners[c->next].blocks) p->corners[c->next].blocks = !turns_outward(p, c->next);
}

// Goes round and round, cutting ears; what has none, or takes too long, is cut as it comes.
static void clip_ears(polygon* p, int32_t n) {
    int32_t at = 0, tried = 0, left = n;
    while (left > 3) {
        int32_t next = p->corners[at].next;
        p->allowance--;
        if (p->allowance > 0 && tried < left && !is_ear(p, at)) {
            tried++;
            at = next;
            continue;
        }
        cut(p, at);
        left--;
        tried = 0;
        at = p->corners[next].next; // leaving one out makes fewer needles
    }
    put_triangle(p, p->corners[at].previous, at, p->corners[at].next);
}

sap_status sap_draft_polygon(sap_mesh_draft* draft, const int32_t* vertices, int64_t n) {
    // Enough for any polygon of some thousand corners; then linear, so that no file takes long for its size.
    const int64_t free_steps = (int64_t)1 << 22, steps_each = 1 << 10;
    if (n > INT32_MAX)
        return sap_bad_byte(draft->source, SAP_ERROR_RANGE, -1, "a face has %lld corners, more than 2147483647",
                            (long long)n);
    polygon p = {.vertices = vertices, .allowance = free_steps + steps_each * n};
    p.triangle = sap_draft_triangles(draft, n - 2);
    if (!p.triangle) return sap_draft_no_memory(draft);
    bool concave = false;
    if (n > 3) {
        draft->polygon.used = 0;
        p.corners =
            sap_array_add(draft->source->device, &draft->polygon, (size_t)n * (sizeof(corner) + sizeof(int32_t)));
        if (!p.corners) return sap_draft_no_memory(draft);
        p.blocking = (int32_t*)(p.corners + n);
        concave = lay_flat(draft, vertices, (int32_t)n, p.corners) && list_blocking(&p, (int32_t)n);
    }
    if (concave)
        clip_ears(&p, (int32_t)n);
    else
        for (int32_t i = 2; i < n; i++) put_triangle(&p, 0, i - 1, i);
    return SAP_OK;
}
