// Polygons to triangles: fans where they are convex, else ears are clipped (Meisters 1975; with a list of the corners
// that can be in an ear's way, as in Eberly 2002).
#include "base/assert.h"
#include "device/device.h"
#include "files/mesh/mesh_draft.h"
#include <math.h>

typedef struct corner {
    double at[2];           // in the plane
    int32_t previous, next; // of those that are left
    bool left;
    bool blocks; // turns inward, or not at all: may lie in an ear
    bool ear;
    bool queued;
    bool touched; // a neighbour was cut off since it was queued
} corner;

// A grid of side*side cells over the corners that block at first, each listed in its cell.
typedef struct grid {
    double lower[2], scale[2];
    int32_t side;   // 0: there is none, for so few corners
    int32_t* start; // of each cell's list, row after row, and the end of the last one
    int32_t* listed;
} grid;

typedef struct polygon {
    corner* corners;
    int32_t count;
    int32_t* blocking; // corners that block, and some that no longer do
    int32_t blocking_count;
    grid cells;
    int32_t* queue; // a ring of corners to be cut off
    int32_t queue_first, queue_count;
    int64_t allowance; // comparisons that may still be made to find ears
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
static bool list_blocking(polygon* p) {
    bool inward = false;
    for (int32_t i = 0; i < p->count; i++) {
        corner* c = &p->corners[i];
        double sense = turn(p->corners[c->previous].at, c->at, p->corners[c->next].at);
        inward |= sense < 0;
        c->blocks = sense <= 0;
        if (c->blocks) p->blocking[p->blocking_count++] = i;
    }
    return inward;
}

// ---- The grid.

static int32_t cell_along(const grid* cells, int axis, double value) {
    double cell = (value - cells->lower[axis]) * cells->scale[axis];
    if (!(cell > 0)) return 0;
    return cell < cells->side ? (int32_t)cell : cells->side - 1;
}

static int64_t cell_of(const polygon* p, int32_t i) {
    const double* at = p->corners[i].at;
    return (int64_t)cell_along(&p->cells, 1, at[1]) * p->cells.side + cell_along(&p->cells, 0, at[0]);
}

// About one corner a cell.
static void make_grid(polygon* p) {
    enum { FEWEST = 16 };
    grid* cells = &p->cells;
    if (p->blocking_count < FEWEST) return;
    cells->side = (int32_t)sqrt(p->blocking_count);
    for (int axis = 0; axis < 2; axis++) {
        double lower = p->corners[p->blocking[0]].at[axis], upper = lower;
        for (int32_t j = 1; j < p->blocking_count; j++) {
            lower = fmin(lower, p->corners[p->blocking[j]].at[axis]);
            upper = fmax(upper, p->corners[p->blocking[j]].at[axis]);
        }
        cells->lower[axis] = lower;
        cells->scale[axis] = upper > lower ? cells->side / (upper - lower) : 0;
    }
    // Counted, summed up to where each list ends, and filled from there.
    int64_t count = (int64_t)cells->side * cells->side;
    SAP_ASSERT(count <= p->count); // as many starts as there is memory for, but for the end of the last
    for (int64_t cell = 0; cell <= count; cell++) cells->start[cell] = 0;
    for (int32_t j = 0; j < p->blocking_count; j++) cells->start[cell_of(p, p->blocking[j])]++;
    for (int64_t cell = 1; cell <= count; cell++) cells->start[cell] += cells->start[cell - 1];
    for (int32_t j = p->blocking_count; j-- > 0;)
        cells->listed[--cells->start[cell_of(p, p->blocking[j])]] = p->blocking[j];
}

// ---- Ears.

// An ear that is looked at, and its box.
typedef struct ear {
    const double *a, *b, *c;
    double lower[2], upper[2];
} ear;

static bool same_place(const double* a, const double* b) { return a[0] == b[0] && a[1] == b[1]; }

// Whether a corner lies in the ear. One that only touches a corner of it is where the polygon meets itself, as along a
// bridge to a hole, and does no harm.
static bool lies_in(const ear* e, const double* at) {
    if (at[0] < e->lower[0] || at[0] > e->upper[0] || at[1] < e->lower[1] || at[1] > e->upper[1]) return false;
    if (turn(e->a, e->b, at) < 0 || turn(e->b, e->c, at) < 0 || turn(e->c, e->a, at) < 0) return false;
    return !same_place(at, e->a) && !same_place(at, e->b) && !same_place(at, e->c);
}

// Whether a corner that blocks lies in the ear: of those in the cells under it, a row of which are one list.
static bool any_in_cells(polygon* p, const ear* e, int32_t first_row, int32_t last_row) {
    const grid* cells = &p->cells;
    int32_t from = cell_along(cells, 0, e->lower[0]), to = cell_along(cells, 0, e->upper[0]);
    for (int64_t row = first_row; row <= last_row; row++) {
        int32_t first = cells->start[row * cells->side + from], last = cells->start[row * cells->side + to + 1];
        p->allowance -= last - first + 1;
        for (int32_t j = first; j < last; j++) {
            const corner* other = &p->corners[cells->listed[j]];
            if (other->blocks && lies_in(e, other->at)) return true;
        }
    }
    return false;
}

// The same, of all corners.
static bool any_in_list(polygon* p, const ear* e) {
    for (int32_t j = 0; j < p->blocking_count; j++) {
        const corner* other = &p->corners[p->blocking[j]];
        p->allowance--;
        if (!other->blocks)
            p->blocking[j--] = p->blocking[--p->blocking_count];
        else if (lies_in(e, other->at))
            return true;
    }
    return false;
}

// Whether cutting the corner off leaves every other one outside.
static bool is_ear(polygon* p, int32_t i) {
    p->allowance--;
    if (!turns_outward(p, i)) return false;
    if (p->allowance <= 0) return true;
    const corner* c = &p->corners[i];
    ear e = {.a = p->corners[c->previous].at, .b = c->at, .c = p->corners[c->next].at};
    for (int axis = 0; axis < 2; axis++) {
        e.lower[axis] = fmin(e.a[axis], fmin(e.b[axis], e.c[axis]));
        e.upper[axis] = fmax(e.a[axis], fmax(e.b[axis], e.c[axis]));
    }
    if (!p->cells.side) return !any_in_list(p, &e);
    int32_t first_row = cell_along(&p->cells, 1, e.lower[1]), last_row = cell_along(&p->cells, 1, e.upper[1]);
    return last_row - first_row < p->blocking_count ? !any_in_cells(p, &e, first_row, last_row) : !any_in_list(p, &e);
}

static void enqueue(polygon* p, int32_t i) {
    SAP_ASSERT(p->queue_count >= 0 && p->queue_count < p->count && !p->corners[i].queued);
    int64_t end = (int64_t)p->queue_first + p->queue_count++;
    p->queue[end < p->count ? end : end - p->count] = i;
    p->corners[i].queued = true;
}

static int32_t dequeue(polygon* p) {
    int32_t i = p->queue[p->queue_first];
    SAP_ASSERT(p->queue_count > 0 && p->corners[i].queued);
    p->queue_first = p->queue_first + 1 < p->count ? p->queue_first + 1 : 0;
    p->queue_count--;
    p->corners[i].queued = false;
    return i;
}

// Looks at a corner that is new or has a new neighbour.
static void judge(polygon* p, int32_t i) {
    corner* c = &p->corners[i];
    // Cutting an ear off makes its neighbours turn less inward: corners only ever stop blocking.
    if (c->blocks) c->blocks = !turns_outward(p, i);
    c->ear = is_ear(p, i);
    if (c->ear && !c->queued) enqueue(p, i);
}

static void put_triangle(polygon* p, int32_t a, int32_t b, int32_t c) {
    *p->triangle++ = p->vertices[a];
    *p->triangle++ = p->vertices[b];
    *p->triangle++ = p->vertices[c];
}

static void cut(polygon* p, int32_t i) {
    corner* c = &p->corners[i];
    SAP_ASSERT(c->left && p->corners[c->previous].next == i && p->corners[c->next].previous == i);
    put_triangle(p, c->previous, i, c->next);
    p->corners[c->previous].next = c->next;
    p->corners[c->next].previous = c->previous;
    c->left = c->blocks = false;
    p->corners[c->previous].touched = p->corners[c->next].touched = true;
    judge(p, c->previous);
    judge(p, c->next);
}

static void judge_all(polygon* p) {
    for (int32_t i = 0; i < p->count && p->allowance > 0; i++)
        if (p->corners[i].left) judge(p, i);
}

// Cuts ears off, first come, first served, but for those beside the last ones: that makes fewer needles. Cutting one
// off changes only its neighbours (O'Rourke 1998), unless the polygon meets itself: so all are looked at again before
// it is said to have no ear. Then it cuts itself, and any corner goes.
static void clip_ears(polygon* p) {
    int32_t at = 0, left = p->count;
    make_grid(p);
    judge_all(p);
    while (left > 3) {
        if (!p->queue_count) judge_all(p);
        if (p->queue_count) {
            at = dequeue(p);
            corner* c = &p->corners[at];
            if (!c->left || !c->ear) continue;
            if (c->touched) {
                c->touched = false;
                enqueue(p, at);
                continue;
            }
        }
        while (!p->corners[at].left) at = p->corners[at].next;
        cut(p, at);
        left--;
    }
    while (!p->corners[at].left) at = p->corners[at].next;
    put_triangle(p, p->corners[at].previous, at, p->corners[at].next);
}

sap_status sap_draft_polygon(sap_mesh_draft* draft, const int32_t* vertices, int64_t n) {
    // Far more than shapes need that do not cut themselves; linear, so that no file takes long for its size.
    const int64_t free_steps = (int64_t)1 << 22, steps_each = 1 << 10;
    if (n > INT32_MAX)
        return sap_bad_byte(draft->source, SAP_ERROR_RANGE, -1, "a face has %lld corners, more than 2147483647",
                            (long long)n);
    polygon p = {.count = (int32_t)n, .vertices = vertices, .allowance = free_steps + steps_each * n};
    SAP_ASSERT(n >= 3);
    p.triangle = sap_draft_triangles(draft, n - 2);
    if (!p.triangle) return sap_draft_no_memory(draft);
    bool concave = false;
    if (n > 3) {
        draft->polygon.used = 0;
        p.corners = sap_array_add(draft->source->device, &draft->polygon,
                                  (size_t)n * (sizeof(corner) + 4 * sizeof(int32_t)) + sizeof(int32_t));
        if (!p.corners) return sap_draft_no_memory(draft);
        p.blocking = (int32_t*)(p.corners + n);
        p.queue = p.blocking + n;
        p.cells.listed = p.queue + n;
        p.cells.start = p.cells.listed + n;
        concave = lay_flat(draft, vertices, p.count, p.corners) && list_blocking(&p);
    }
    if (concave)
        clip_ears(&p);
    else
        for (int32_t i = 2; i < n; i++) put_triangle(&p, 0, i - 1, i);
    SAP_ASSERT((void*)p.triangle == (void*)((unsigned char*)draft->triangles.memory + draft->triangles.used));
    return SAP_OK;
}
