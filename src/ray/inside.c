// Whether points lie inside a closed mesh: the parity of the crossings of a ray with the surface.
//
// A ray that comes close to an edge, a vertex or the plane of a triangle may be told wrongly how often it crosses: an
// edge lies in two triangles. Such a ray is given up for one of another direction. All triangles see a vertex at the
// same place once it is sheared, so that crossings that keep clear of edges are counted without error.
#include "base/progress.h"
#include "ray/walks_cpu.h"

enum {
    RUN = 256,
    CROSSINGS = 32, // that are looked for at once
    DIRECTIONS = 12
};

// Directions that meshes made by people and programs rarely have edges along.
static const float directions[DIRECTIONS][3] = {
    {0.7313f, 0.4127f, 0.5431f},   {-0.3571f, 0.8219f, 0.4443f},   {0.2917f, -0.5279f, 0.7977f},
    {-0.6131f, -0.3947f, 0.6843f}, {0.8699f, -0.2713f, -0.4121f},  {0.4391f, 0.6277f, -0.6428f},
    {-0.7919f, 0.3343f, -0.5111f}, {-0.2239f, -0.9371f, -0.2677f}, {0.5857f, -0.7457f, 0.3179f},
    {-0.1733f, 0.2477f, 0.9532f},  {0.9467f, 0.1931f, 0.2579f},    {-0.4817f, 0.1291f, -0.8668f}};

typedef struct crossings {
    const sap_mesh_tree* tree;
    sap_prepared_ray ray;
    sap_hit found[CROSSINGS]; // those after `after`, ascending by (t, triangle)
    int32_t count;
    sap_hit after;
    bool strict;  // give up if the ray comes close to an edge
    bool touches; // it did
} crossings;

// -1, 1, or 0 if the sign of an edge function a*b - c*d is not beyond doubt.
static int sign_of(float value, float ab, float cd) {
    float doubt = (sap_magnitude(ab) + sap_magnitude(cd)) * 9.5367431640625e-07f; // 2^-20
    return value > doubt ? 1 : value < -doubt ? -1 : 0;
}

// Whether a triangle neither is crossed within its edges nor missed beyond doubt.
static bool is_touched(const sap_sheared* s) {
    int a = sign_of(s->of_a, s->c.x * s->b.y, s->c.y * s->b.x);
    int b = sign_of(s->of_b, s->a.x * s->c.y, s->a.y * s->c.x);
    int c = sign_of(s->of_c, s->b.x * s->a.y, s->b.y * s->a.x);
    bool missed = (a > 0 || b > 0 || c > 0) && (a < 0 || b < 0 || c < 0);
    return !missed && (a == 0 || b == 0 || c == 0);
}

static void cross_leaf(crossings* c, sap_mesh_step leaf) {
    for (int i = 0; i < leaf.count && !c->touches; i++) {
        SAP_BITS place = sap_mesh_place(c->tree, leaf, i);
        sap_sheared s = sap_triangle_shear(c->ray, sap_mesh_triangle(c->tree, place));
        if (c->strict && is_touched(&s)) c->touches = true;
        sap_crossing hit = sap_sheared_cross(c->ray, s);
        int id = sap_mesh_id(c->tree, place);
        if (!hit.is_hit || hit.t < c->after.t || (hit.t == c->after.t && id <= c->after.triangle)) continue;
        c->count = sap_hits_insert(c->found, c->count, CROSSINGS, (sap_hit){hit.t, 0, 0, id});
    }
}

// Fills c->found with the next crossings.
static void next_crossings(crossings* c) {
    sap_far_side waiting[SAP_MESH_STACK];
    int top = 0;
    waiting[top++] = (sap_far_side){0, sap_ray_clip(c->ray, sap_mesh_lower(c->tree), sap_mesh_upper(c->tree))};
    c->count = 0;
    while (top && !c->touches) {
        sap_far_side at = waiting[--top];
        if (c->count == CROSSINGS && c->found[CROSSINGS - 1].t < at.span.to) at.span.to = c->found[CROSSINGS - 1].t;
        if (!(at.span.from <= at.span.to)) continue;
        sap_mesh_step step = sap_mesh_step_at(c->tree, at.node);
        while (!step.is_leaf) {
            bool is_backward = sap_is_backward(c->ray, step.axis);
            sap_far_side near_side = at, far_side = at;
            float early = sap_plane_early(c->ray, step.axis, step.split);
            float late = sap_plane_late(c->ray, step.axis, step.split);
            near_side.node = is_backward ? step.right : at.node + 1;
            near_side.span.to = late < at.span.to ? late : at.span.to;
            far_side.node = is_backward ? at.node + 1 : step.right;
            far_side.span.from = early > at.span.from ? early : at.span.from;
            bool is_near = near_side.span.from <= near_side.span.to, is_far = far_side.span.from <= far_side.span.to;
            if (is_near && is_far) waiting[top++] = far_side;
            at = is_near ? near_side : far_side;
            step = sap_mesh_step_at(c->tree, at.node);
        }
        cross_leaf(c, step);
    }
}

// How often a ray crosses the surface; *touches: the number is in doubt.
static int64_t count_crossings(const sap_mesh_tree* tree, const sap_ray* ray, float magnitude, bool strict,
                               bool* touches) {
    crossings c = {.tree = tree, .after = {-1, 0, 0, -1}, .strict = strict};
    int64_t sum = 0;
    c.ray = sap_ray_prepare_cpu(ray, magnitude);
    do {
        next_crossings(&c);
        sum += c.count;
        if (c.count) c.after = c.found[c.count - 1];
    } while (c.count == CROSSINGS && !c.touches);
    *touches = c.touches;
    return sum;
}

static bool is_inside(const sap_mesh_tree* tree, const float* point, float magnitude) {
    const sap_mesh_tree_shape* s = &tree->shape;
    for (int k = 0; k < 3; k++)
        if (!(point[k] >= s->lower[k] && point[k] <= s->upper[k])) return false;
    int64_t sum = 0;
    for (int i = 0; i <= DIRECTIONS; i++) {
        const float* d = directions[i % DIRECTIONS];
        sap_ray ray = {{point[0], point[1], point[2]}, 0, {d[0], d[1], d[2]}, __builtin_inff()};
        bool touches;
        sum = count_crossings(tree, &ray, magnitude, i < DIRECTIONS, &touches);
        if (!touches) break;
    }
    return sum & 1;
}

sap_status sap_inside_cpu(const sap_mesh_tree* tree, const sap_inside_job* job) {
    sap_progress_state progress = sap_progress_begin(tree->device, job->count);
    int64_t runs = (job->count + RUN - 1) / RUN;
    float magnitude = sap_mesh_magnitude(tree);
#pragma omp parallel for num_threads(tree->device->options.threads) schedule(dynamic) if (runs > 1)
    for (int64_t run = 0; run < runs; run++) {
        if (!sap_progress_add(&progress, 0)) continue;
        int64_t first = run * RUN, end = first + RUN < job->count ? first + RUN : job->count;
        for (int64_t i = first; i < end; i++) job->inside[i] = is_inside(tree, job->points + 3 * i, magnitude);
        sap_progress_add(&progress, end - first);
    }
    // A few points are not worth a report.
    if (job->count > RUN && !sap_progress_finish(&progress))
        return sap_fail(tree->device, SAP_ERROR_CANCELLED, "the search was cancelled");
    return SAP_OK;
}
