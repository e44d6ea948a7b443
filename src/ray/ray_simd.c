// The fast walks: packets of rays side by side, leaves in which few of them look at many triangles at once. A sibling
// of ray/walk.h, because registers, not single values, are what CPUs are fast at.
#include "device/cpu_kernels.h"

#if SAP_REAL_BITS == 32
#include "ray/leaf_simd.h"

typedef struct mesh_view {
    const sap_mesh_node* nodes;
    const int32_t *references, *ids;
    const real* corners;
    const real *lower, *upper;
} mesh_view;

INLINE mesh_view view_mesh(const sap_mesh_tree* t) {
    return (mesh_view){sap_mesh_nodes(t),   sap_mesh_references(t), sap_mesh_ids(t),
                       sap_mesh_corners(t), t->shape.lower,         t->shape.upper};
}

INLINE real plane_of(const sap_mesh_node* node) {
    real plane;
    memcpy(&plane, &node->bits, sizeof plane);
    return plane;
}

// A single reference stands in the leaf itself.
INLINE const int32_t* places_of(const mesh_view* mesh, const sap_mesh_node* leaf, int count) {
    return count == 1 ? (const int32_t*)&leaf->bits : mesh->references + leaf->bits;
}

// ---- Leaves

// FIND_ANY: lanes that have found something take no further part.
INLINE void leave(found* f, uint32_t* lanes, uint32_t found_now) {
    *lanes &= ~found_now;
    for (; found_now; found_now &= found_now - 1) f->t[__builtin_ctz(found_now)] = -INFINITY;
}

// The leaf's triangles against the rays `active` of those in `lanes`, which still look for something.
INLINE void visit_leaf(const mesh_view* mesh, const sap_mesh_node* leaf, const packet* p, const int* axes,
                       uint32_t active, uint32_t* lanes, found* f, const int mode) {
    int count = (int)(leaf->link >> 2);
    const int32_t* places = places_of(mesh, leaf, count);
    // With few rays and many triangles, registers are fuller with triangles.
    if (p->mixed || count_bits(active) * 2 <= count + 1) {
        for (int first = 0; first < count && active; first += LANES) {
            rows r;
            int n = count - first < LANES ? count - first : LANES;
            load_rows(&r, mesh->corners, places + first, n);
            for (uint32_t todo = active; todo; todo &= todo - 1) {
                int lane = __builtin_ctz(todo);
                if (!ray_against(p, lane, &r, places + first, n, mesh->ids, f, mode) || mode != FIND_ANY) continue;
                leave(f, lanes, 1u << lane);
                active &= ~(1u << lane);
            }
        }
        return;
    }
    for (int i = 0; i < count && active; i++) {
        const real* corners = mesh->corners + (size_t)places[i] * SAP_TRIANGLE_FLOATS;
        uint32_t changed = triangle_against(p, corners, mesh->ids, axes, places[i], active, f, mode);
        if (mode == FIND_ANY && changed) {
            leave(f, lanes, changed);
            active &= ~changed;
        }
    }
}

// ---- The walk of a packet

typedef struct pending {
    vreal from, to;
    const sap_mesh_node* node;
} pending;

// The part of each ray within the tree's box.
INLINE void clip(const mesh_view* mesh, const packet* p, vreal* from, vreal* to) {
    *from = v_load(p->t_min);
    *to = v_load(p->t_max);
    for (int k = 0; k < 3; k++) {
        bool backward = p->backward >> k & 1;
        vreal in = v_set(backward ? mesh->upper[k] : mesh->lower[k]), inverse = v_load(p->inverse[k]);
        vreal out = v_set(backward ? mesh->lower[k] : mesh->upper[k]);
        *from = v_max(v_mul(v_sub(in, v_load(p->early[k])), inverse), *from);
        *to = v_min(v_mul(v_sub(out, v_load(p->late[k])), inverse), *to);
    }
    *from = v_select(p->rays, *from, v_set(INFINITY));
    *to = v_select(p->rays, *to, v_set(-INFINITY));
}

// coherent: the rays mostly go the same way, and a branch is foretold; else the way is a coin toss and taken without.
INLINE void walk(const mesh_view* mesh, const packet* p, found* f, const int mode, const bool coherent) {
    pending stack[SAP_MESH_DEPTH_MAX];
    int top = 0, axes[3];
    uint32_t lanes = p->rays;
    vreal from, to;
    clip(mesh, p, &from, &to);
    if (!v_less_equal(from, to)) return;
    lane_axes(p, __builtin_ctz(lanes), axes);
    const sap_mesh_node* node = mesh->nodes;
    for (;;) {
        for (uint32_t axis; (axis = node->link & 3) != SAP_MESH_LEAF;) {
            vreal plane = v_set(plane_of(node)), inverse = v_load(p->inverse[axis]);
            vreal early = v_mul(v_sub(plane, v_load(p->early[axis])), inverse);
            vreal late = v_mul(v_sub(plane, v_load(p->late[axis])), inverse);
            const sap_mesh_node *left = node + 1, *right = mesh->nodes + (node->link >> 2);
            bool backward = p->backward >> axis & 1;
            const sap_mesh_node *near = backward ? right : left, *far = backward ? left : right;
            // NaN leaves the part as it is, and both sides are visited.
            vreal near_to = v_min(late, to), far_from = v_max(early, from);
            bool go_near = v_less_equal(from, near_to) != 0, go_far = v_less_equal(far_from, to) != 0;
            if (!coherent || (go_near && go_far)) {
                stack[top] = (pending){far_from, to, far};
                top += go_near && go_far;
            }
            if (coherent && go_near) {
                node = near;
                to = near_to;
            } else if (coherent) {
                node = far;
                from = far_from;
            } else {
                uint32_t skip = go_near ? 0 : ALL_LANES;
                node = go_near ? near : far;
                from = v_select(skip, far_from, from);
                to = v_select(skip, to, near_to);
            }
        }
        uint32_t active = v_less_equal(from, to);
        if (mode == FIND_ANY) active &= lanes;
        if (node->link >> 2 && active) visit_leaf(mesh, node, p, axes, active, &lanes, f, mode);
        if (mode == FIND_ANY && !lanes) return;
        do {
            if (!top) return;
            top--;
            node = stack[top].node;
            from = stack[top].from;
            to = v_min(stack[top].to, v_load(f->t));
        } while (!v_less_equal(from, to));
    }
}

// ---- Answers

INLINE sap_hit lane_hit(const found* f, int lane, const int32_t* ids) {
    if (f->place[lane] < 0) return (sap_hit){INFINITY, 0, 0, -1};
    return (sap_hit){f->t[lane], f->u[lane] / f->sum[lane], f->v[lane] / f->sum[lane], ids[f->place[lane]]};
}

INLINE void begin(const sap_ray_run* run, const packet* p, const uint32_t* numbers, int n, found* f) {
    v_store(f->t, v_load(p->t_max));
    id_store(f->place, id_set(-1));
    f->limit = run->job.limit;
    for (int i = 0; i < n && f->limit; i++) {
        f->row[i] = run->job.hits + (int64_t)numbers[i] * f->limit;
        f->count[i] = 0;
    }
    v_store(f->u, v_set(0));
    v_store(f->v, v_set(0));
    v_store(f->sum, v_set(1));
}

INLINE void answer(const sap_ray_run* run, const uint32_t* numbers, int n, const found* f, const int32_t* ids) {
    const sap_ray_job* job = &run->job;
    for (int i = 0; i < n; i++) {
        if (job->occluded)
            job->occluded[numbers[i]] = f->place[i] >= 0;
        else if (!job->limit)
            job->hits[numbers[i]] = lane_hit(f, i, ids);
        else {
            if (job->counts) job->counts[numbers[i]] = f->count[i];
            for (int32_t j = f->count[i]; j < job->limit; j++) f->row[i][j] = (sap_hit){INFINITY, 0, 0, -1};
        }
    }
}

// Traces up to LANES rays of one octant.
INLINE void trace(const sap_ray_run* run, const uint32_t* numbers, int n, uint32_t octant, const bool coherent) {
    mesh_view mesh = view_mesh(run->tree);
    packet p;
    found f;
    vreal direction[3];
    packet_gather(&p, direction, run->job.rays, numbers, n);
    packet_prepare(&p, direction, n, octant, run->magnitude);
    begin(run, &p, numbers, n, &f);
    if (run->job.occluded)
        walk(&mesh, &p, &f, FIND_ANY, coherent);
    else if (run->job.limit)
        walk(&mesh, &p, &f, FIND_ALL, coherent);
    else
        walk(&mesh, &p, &f, FIND_FIRST, coherent);
    answer(run, numbers, n, &f, mesh.ids);
}

static void trace_alike(const sap_ray_run* run, const uint32_t* numbers, int n, uint32_t octant) {
    trace(run, numbers, n, octant, true);
}

static void trace_ordered(const sap_ray_run* run, const sap_ray_key* keys, int64_t count) {
    for (int64_t i = 0, n; i < count; i += n) {
        uint32_t numbers[LANES], cell = keys[i].order >> SAP_RAY_BELOW_OCTANT;
        for (n = 0; n < LANES && i + n < count && keys[i + n].order >> SAP_RAY_BELOW_OCTANT == cell; n++)
            numbers[n] = keys[i + n].ray;
        for (int64_t j = i + n; j < count && j < i + n + LANES; j++) __builtin_prefetch(run->job.rays + keys[j].ray);
        trace(run, numbers, (int)n, cell & 7, false);
    }
}

// ---- Blocks

enum { CLASSES = 24 };

// Whether rays start near each other and go much the same way.
INLINE bool are_near(const sap_ray_run* run, const sap_ray* rays, int count) {
    real low[8], high[8], reach = 0;
    memcpy(low, rays, sizeof low);
    memcpy(high, rays, sizeof high);
    for (int i = 1; i < count; i++) {
        real ray[8]; // origin, t_min, direction, t_max
        memcpy(ray, rays + i, sizeof ray);
        for (int k = 0; k < 8; k++) {
            low[k] = ray[k] < low[k] ? ray[k] : low[k];
            high[k] = ray[k] > high[k] ? ray[k] : high[k];
        }
    }
    for (int k = 0; k < 3; k++) {
        real side = run->tree->shape.upper[k] - run->tree->shape.lower[k];
        reach = side > reach ? side : reach;
    }
    bool near = true;
    for (int k = 0; k < 3; k++) near = near && high[k] - low[k] <= reach * 0.25f && high[4 + k] - low[4 + k] <= 0.5f;
    return near;
}

static bool trace_block(const sap_ray_run* run, int64_t first, int count) {
    const sap_ray* rays = run->job.rays + first;
    uint8_t class_of[SAP_RAY_BLOCK];
    uint32_t numbers[SAP_RAY_BLOCK];
    int ends[CLASSES + 1] = {0}, at[CLASSES], packets = 0;
    for (int i = 0; i < count; i++) {
        class_of[i] = (uint8_t)sap_ray_class(rays + i);
        ends[class_of[i] + 1]++;
    }
    for (int c = 0; c < CLASSES; c++) packets += (ends[c + 1] + LANES - 1) / LANES;
    if (packets * LANES > 2 * count + LANES || !are_near(run, rays, count)) return false;
    for (int c = 0; c < CLASSES; c++) {
        at[c] = ends[c];
        ends[c + 1] += ends[c];
    }
    for (int i = 0; i < count; i++) numbers[at[class_of[i]]++] = (uint32_t)(first + i);
    for (int c = 0; c < CLASSES; c++)
        for (int i = ends[c]; i < ends[c + 1]; i += LANES)
            trace_alike(run, numbers + i, ends[c + 1] - i < LANES ? ends[c + 1] - i : LANES, (uint32_t)c & 7);
    return true;
}

// ---- One ray

typedef struct pending_one {
    const sap_mesh_node* node;
    real from, to;
} pending_one;

INLINE real plane_time(const packet* p, const real (*origin)[LANES], int axis, real plane) {
    return (plane - origin[axis][0]) * p->inverse[axis][0];
}

// Lane 0 of a packet.
INLINE void walk_one(const mesh_view* mesh, const packet* p, found* f, const int mode) {
    pending_one stack[SAP_MESH_DEPTH_MAX];
    real from = p->t_min[0], to = p->t_max[0];
    int top = 0, axes[3] = {0, 1, 2};
    uint32_t lanes = 1;
    if (!p->rays) return;
    for (int k = 0; k < 3; k++) {
        bool backward = p->backward >> k & 1;
        real in = plane_time(p, p->early, k, backward ? mesh->upper[k] : mesh->lower[k]);
        real out = plane_time(p, p->late, k, backward ? mesh->lower[k] : mesh->upper[k]);
        from = in > from ? in : from;
        to = out < to ? out : to;
    }
    const sap_mesh_node* node = mesh->nodes;
    while (from <= to) {
        for (int axis; (axis = (int)(node->link & 3)) != SAP_MESH_LEAF;) {
            const sap_mesh_node *left = node + 1, *right = mesh->nodes + (node->link >> 2);
            bool backward = p->backward >> axis & 1;
            real early = plane_time(p, p->early, axis, plane_of(node));
            real late = plane_time(p, p->late, axis, plane_of(node));
            real near_to = late < to ? late : to, far_from = early > from ? early : from;
            bool go_near = from <= near_to, go_far = far_from <= to;
            stack[top] = (pending_one){backward ? left : right, far_from, to};
            top += go_near & go_far;
            node = go_near == backward ? right : left;
            from = go_near ? from : far_from;
            to = go_near ? near_to : to;
        }
        if (node->link >> 2) visit_leaf(mesh, node, p, axes, 1, &lanes, f, mode);
        do {
            if (!top || !lanes) return;
            top--;
            node = stack[top].node;
            from = stack[top].from;
            to = f->t[0] < stack[top].to ? f->t[0] : stack[top].to;
        } while (!(from <= to));
    }
}

static void trace_few(const sap_ray_run* run) {
    mesh_view mesh = view_mesh(run->tree);
    for (uint32_t i = 0; i < run->job.count; i++) {
        packet p;
        found f;
        vreal direction[3];
        packet_repeat(&p, direction, run->job.rays + i);
        packet_prepare(&p, direction, 1, sap_ray_class(run->job.rays + i) & 7, run->magnitude);
        p.mixed = true; // a leaf's triangles side by side, always
        begin(run, &p, &i, 1, &f);
        if (run->job.occluded)
            walk_one(&mesh, &p, &f, FIND_ANY);
        else if (run->job.limit)
            walk_one(&mesh, &p, &f, FIND_ALL);
        else
            walk_one(&mesh, &p, &f, FIND_FIRST);
        answer(run, &i, 1, &f, mesh.ids);
    }
}

const sap_ray_kernels SAP_KERNEL(ray_kernels) = {trace_few, trace_block, trace_ordered};
#else
#include "math/simd.h"
const sap_ray_kernels SAP_KERNEL(ray_kernels) = {NULL, NULL, NULL};
#endif
