// One ray a call: the walk of ray/walk.h, its planes met by scalars and its leaves tested several triangles at once. A
// packet's walk (ray/walk_simd.h) would be prepared for rays that are not there.
#include "ray/query.h"

#if SAP_REAL_BITS == 32
#include "ray/corners_simd.h"

// A ray as sap_ray_prepare makes it, and its part within the tree's box.
typedef struct lone_ray {
    real early[3], late[3], inverse[3];
    real from, to;
    vreal origin[3], shear[3], t_min; // in every lane the same; the origin by the ray's own axes
    lane_order axes;                  // those that are x, y and z of the sheared triangles
    uint32_t backward;                // bit k: a negative component along axis k
} lone_ray;

// What it has found. u and v are weights, still to be divided by `sum`.
typedef struct lone_hit {
    real t, u, v, sum;
    int32_t place; // of the triangle, or -1
} lone_hit;

INLINE real magnitude_of(real x) { return __builtin_fabsf(x); }

// Whether the ray may hit anything: it is finite, has a direction and is not empty.
INLINE bool is_ray(const sap_ray* ray) {
    const float *o = ray->origin, *d = ray->direction;
    const real nothing = ((o[0] - o[0]) + (o[1] - o[1]) + (o[2] - o[2])) +
                         ((d[0] - d[0]) + (d[1] - d[1]) + (d[2] - d[2])) + (ray->t_min - ray->t_min);
    return (nothing == 0) & (ray->t_min <= ray->t_max) & ((d[0] != 0) | (d[1] != 0) | (d[2] != 0));
}

INLINE void choose_axes(lone_ray* r, uint32_t octant_and_axis) {
    static const uint8_t next[3] = {1, 2, 0};
    const int z = (int)(octant_and_axis >> 3), x = next[z], y = next[x];
    const bool swapped = octant_and_axis >> z & 1;
    r->backward = octant_and_axis & 7;
    r->axes = order_lanes(swapped ? y : x, swapped ? x : y, z);
}

INLINE void clip_lone(lone_ray* r, const sap_mesh_tree* tree, const sap_ray* ray) {
    r->from = ray->t_min;
    r->to = ray->t_max < FLT_MAX ? ray->t_max : FLT_MAX;
    for (int k = 0; k < 3; k++) {
        const bool backward = r->backward >> k & 1;
        const real in = ((backward ? tree->shape.upper : tree->shape.lower)[k] - r->early[k]) * r->inverse[k];
        const real out = ((backward ? tree->shape.lower : tree->shape.upper)[k] - r->late[k]) * r->inverse[k];
        r->from = in > r->from ? in : r->from;
        r->to = out < r->to ? out : r->to;
    }
}

INLINE void prepare_lone(lone_ray* r, const sap_mesh_tree* tree, const sap_ray* ray) {
    real largest = 0, d[3];
    choose_axes(r, sap_ray_class(ray));
    for (int k = 0; k < 3; k++) {
        d[k] = ray->direction[k] + 0.0f; // -0 becomes 0
        r->inverse[k] = 1 / d[k];
        largest = magnitude_of(ray->origin[k]) > largest ? magnitude_of(ray->origin[k]) : largest;
    }
    const real margin = (sap_mesh_magnitude(tree) + largest) * 0x1p-20f;
    for (int k = 0; k < 3; k++) {
        const real toward = r->backward >> k & 1 ? -margin : margin;
        r->early[k] = ray->origin[k] + toward;
        r->late[k] = ray->origin[k] - toward;
        r->origin[k] = v_set(ray->origin[r->axes.axis[k]]);
    }
    const real along = d[r->axes.axis[2]];
    r->shear[0] = v_set(d[r->axes.axis[0]] / along);
    r->shear[1] = v_set(d[r->axes.axis[1]] / along);
    r->shear[2] = v_set(1 / along);
    r->t_min = v_set(ray->t_min);
    clip_lone(r, tree, ray);
}

// Of the triangles that the ray hits no later than the best so far, the first by (t, number) becomes the best if it
// comes before it.
INLINE void keep_first(lone_hit* best, const intersections* m, const int32_t* places, const int32_t* ids) {
    real t[LANES], of[3][LANES];
    v_store(t, m->t);
    int first = -1;
    for (uint32_t hits = m->hits; hits; hits &= hits - 1) {
        const int i = __builtin_ctz(hits);
        if (t[i] < best->t || (t[i] == best->t && (best->place < 0 || ids[places[i]] < ids[best->place]))) {
            first = i;
            best->t = t[i];
            best->place = places[i];
        }
    }
    if (first < 0) return;
    v_store(of[0], m->u);
    v_store(of[1], m->v);
    v_store(of[2], m->sum);
    best->u = of[0][first];
    best->v = of[1][first];
    best->sum = of[2][first];
}

// Tests a leaf's triangles. Whether the search has ended: FIND_ANY has found one.
INLINE bool test_leaf(const mesh_view* mesh, const sap_mesh_node* leaf, const lone_ray* r, lone_hit* best,
                      const int mode) {
    const int count = (int)(leaf->link >> 2);
    const int32_t* places = places_of(mesh, leaf, count);
    for (int first = 0; first < count; first += LANES, places += LANES) {
        const int n = count - first < LANES ? count - first : LANES;
        vreal corner[9];
        load_corners(corner, mesh->corners, places, n, &r->axes);
        const intersections m = intersect(corner, r->origin, r->shear, r->t_min, v_set(best->t), lanes_below(n));
        if (!m.hits) continue;
        if (mode == FIND_ANY) return true;
        keep_first(best, &m, places, mesh->ids);
    }
    return false;
}

// FIND_ANY: whether anything is hit. FIND_FIRST: fills in *best and returns false.
INLINE bool walk_lone(const sap_mesh_tree* tree, const lone_ray* r, lone_hit* best, const int mode) {
    const mesh_view mesh = view_mesh(tree);
    pending_one stack[SAP_MESH_DEPTH_MAX];
    real from = r->from, to = r->to;
    int top = 0;
    const sap_mesh_node* node = mesh.nodes;
    while (from <= to) {
        for (uint32_t axis; (axis = node->link & 3) != SAP_MESH_LEAF;) {
            const sap_mesh_node *left = node + 1, *right = mesh.nodes + (node->link >> 2);
            const bool backward = r->backward >> axis & 1;
            __builtin_prefetch(right);
            const real plane = plane_of(node);
            const real early = (plane - r->early[axis]) * r->inverse[axis];
            const real late = (plane - r->late[axis]) * r->inverse[axis];
            const sap_mesh_node *near = backward ? right : left, *far = backward ? left : right;
            // NaN leaves the interval as it is, and both sides are visited.
            const real near_to = late < to ? late : to, far_from = early > from ? early : from;
            // A branch, not a choice: the next node is fetched while the plane is still being met. Whether the far side
            // waits is none: it would be foretold badly.
            SAP_ASSERT(top < SAP_MESH_DEPTH_MAX);
            stack[top] = (pending_one){far, far_from, to};
            if (from <= near_to) {
                top += far_from <= to;
                node = near;
                to = near_to;
            } else {
                node = far;
                from = far_from;
            }
        }
        if (node->link >> 2 && test_leaf(&mesh, node, r, best, mode)) return true;
        do {
            if (!top) return false;
            top--;
            node = stack[top].node;
            from = stack[top].from;
            to = best->t < stack[top].to ? best->t : stack[top].to;
        } while (!(from <= to));
    }
    return false;
}

static bool trace_lone(const sap_mesh_tree* tree, const sap_ray* ray, sap_hit* hit) {
    lone_ray r;
    lone_hit best = {.t = ray->t_max < FLT_MAX ? ray->t_max : FLT_MAX, .place = -1};
    if (is_ray(ray)) {
        prepare_lone(&r, tree, ray);
        walk_lone(tree, &r, &best, FIND_FIRST);
    }
    const bool is_hit = best.place >= 0;
    *hit = is_hit ? (sap_hit){best.t, best.u / best.sum, best.v / best.sum, sap_mesh_ids(tree)[best.place]}
                  : (sap_hit){INFINITY, 0, 0, -1};
    return is_hit;
}

static bool occluded_lone(const sap_mesh_tree* tree, const sap_ray* ray) {
    lone_ray r;
    lone_hit best = {.t = ray->t_max < FLT_MAX ? ray->t_max : FLT_MAX, .place = -1};
    if (!is_ray(ray)) return false;
    prepare_lone(&r, tree, ray);
    return walk_lone(tree, &r, &best, FIND_ANY);
}

const sap_mesh_query_kernels SAP_KERNEL_OF_FLOAT(mesh_query_kernels) = {trace_lone, occluded_lone};

#endif
