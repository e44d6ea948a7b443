// Sums over all points within a radius, made as leaves are found: lanes are the points of a leaf, and no row is written.
#include "cloud/project.h"
#include "tree/balanced/view_simd.h"

#if SAP_REAL_BITS == 32

enum {
    DIMS = 3,
    PLACES = 16, // of a leaf that are added to lanes of their own
    PARTS = PLACES / LANES,
    HALF = PLACES / 2,
    WEIGHT = DIMS, // the sum after those of offsets
    SUMS
};

// What points count: t, as cloud.h has it, without offsets; t; t / sqrt(q); t / q.
typedef enum kind { DENSITY, MEAN, MEDIAN, PUSH } kind;

INLINE vreal v_root(vreal x) {
#if SAP_SIMD == 3
    return _mm512_sqrt_ps(x);
#elif SAP_SIMD == 2
    return _mm256_sqrt_ps(x);
#elif defined(__SSE2__)
    return _mm_sqrt_ps(x);
#elif defined(__wasm_simd128__)
    return (vreal)wasm_f32x4_sqrt((v128_t)x);
#else
    for (int i = 0; i < LANES; i++) x[i] = sqrtf(x[i]);
    return x;
#endif
}

typedef real half __attribute__((vector_size(HALF * sizeof(real))));
typedef double wide_half __attribute__((vector_size(HALF * sizeof(double))));

// What is added up around a point.
typedef struct around {
    vreal at[QUERY_VECTORS];
    vreal limit, inverse; // of the squared radius
    vreal least;          // squared distance of places that are not one
    vreal part[SUMS][PARTS];
    wide_half sum[SUMS];
} around;

INLINE void look_around(around* a, const real* coords, int64_t stride, int32_t slot, real limit) {
    for (int d = 0; d < DIMS; d++) a->at[d] = v_set(coords[d * stride + slot]);
    a->limit = v_set(limit);
    a->inverse = v_set(1 / limit);
    a->least = v_set(limit * (real)0x1p-80 > FLT_TRUE_MIN ? limit * (real)0x1p-80 : FLT_TRUE_MIN);
    memset(a->sum, 0, sizeof a->sum);
}

INLINE void clear_parts(around* a, const int first) {
    for (int s = first; s < SUMS; s++)
        for (int p = 0; p < PARTS; p++) a->part[s][p] = v_set(0);
}

// Adds the lanes of a group of leaves to the sums.
INLINE void add_parts(around* a, const int first) {
    for (int s = first; s < SUMS; s++) {
        half parts[2];
        memcpy(parts, a->part[s], sizeof parts);
        a->sum[s] += __builtin_convertvector(parts[0] + parts[1], wide_half);
    }
}

INLINE vreal weight_of(vreal q, const kind what) {
    const vreal part = v_sub(v_set(1), q), square = v_mul(part, part), t = v_mul(square, square);
    if (what == PUSH) return t / q;
    if (what == MEDIAN) return t / v_root(q);
    return t;
}

// Adds places v * LANES and on of a leaf to a part of the lanes.
INLINE void add_places(const tree_view* t, const real* block, const real* weights, const kind what, int v,
                       const int part, around* a) {
    const vreal zero = v_set(0);
    vreal d[DIMS], w;
    for (int axis = 0; axis < DIMS; axis++)
        d[axis] = v_sub(v_load(block + (int64_t)axis * t->stride + v * LANES), a->at[axis]);
    const vreal distance2 = v_add(v_add(v_mul(d[0], d[0]), v_mul(d[1], d[1])), v_mul(d[2], d[2]));
    uint32_t in = what >= MEDIAN ? v_both_less_equal(a->least, distance2, distance2, a->limit)
                                 : v_less_equal(distance2, a->limit);
    if (v == t->vectors - 1) in &= t->last_lanes;
    w = weight_of(v_mul(distance2, a->inverse), what);
    if (weights) w = v_mul(w, v_load(weights + v * LANES));
    // Offsets of places without a point are infinite.
    for (int axis = 0; what != DENSITY && axis < DIMS; axis++)
        a->part[axis][part] = v_add(a->part[axis][part], v_select(in, v_mul(w, d[axis]), zero));
    a->part[WEIGHT][part] = v_add(a->part[WEIGHT][part], v_select(in, w, zero));
}

INLINE void add_leaf(const tree_view* t, const real* block, const real* weights, const kind what, around* a) {
    for (int first = 0; first < t->vectors; first += PARTS)
#pragma GCC unroll 4
        for (int part = 0; part < PARTS; part++)
            if (part == 0 || first + part < t->vectors) add_places(t, block, weights, what, first + part, part, a);
}

// Adds up those of 16 sibling leaves that are in `todo`.
INLINE void add_group(const tree_view* t, int64_t group, uint32_t todo, const real* weights, const kind what,
                      around* a) {
    const int first = what == DENSITY ? WEIGHT : 0;
    if (!todo) return;
    clear_parts(a, first);
    for (; todo; todo &= todo - 1) {
        const int64_t leaf = group * SAP_GROUP + __builtin_ctz(todo);
        add_leaf(t, leaf_block(t, leaf), weights ? weights + leaf * t->stride : NULL, what, a);
    }
    add_parts(a, first);
}

// Adds up all points within the radius: offsets times weights, and weights. weights: by slot, or NULL.
INLINE void add_around(const tree_view* t, const real* weights, const kind what, around* a) {
    uint32_t pending[SAP_MAX_LEVELS] = {0};
    int64_t groups[SAP_MAX_LEVELS], group = 0;
    int level = 0, last = t->levels - 1;
    for (;;) {
        const real* boxes = group_boxes(t, DIMS, level, group);
        uint32_t todo = 0;
#pragma GCC unroll 4
        for (int v = 0; v < SAP_GROUP; v += LANES)
            todo |= v_less_equal(box_bounds(boxes, DIMS, a->at, v), a->limit) << v;
        SAP_ASSERT(level >= 0 && level <= last && last < SAP_MAX_LEVELS);
        if (level < last) {
            groups[level] = group;
            pending[level] = todo;
        } else {
            add_group(t, group, todo, weights, what, a);
            level--;
        }
        while (level >= 0 && !pending[level]) level--;
        if (level < 0) return;
        group = groups[level] * SAP_GROUP + __builtin_ctz(pending[level]);
        pending[level] &= pending[level] - 1;
        level++;
    }
}

INLINE double sum_of(const around* a, int s) {
    double sum = 0;
    for (int i = 0; i < HALF; i++) sum += a->sum[s][i];
    return sum;
}

INLINE int32_t points_of(const sap_tree* tree, int64_t leaf) {
    return (int32_t)(sap_leaf_rank(&tree->shape, leaf + 1) - sap_leaf_rank(&tree->shape, leaf));
}

static void densities(const sap_tree* tree, double limit2, bool inverse, int64_t from, int64_t to, float* weights) {
    const tree_view t = view_tree(tree);
    around a;
    for (int64_t leaf = from; leaf < to; leaf++) {
        const real* block = leaf_block(&t, leaf);
        const int32_t count = points_of(tree, leaf);
        for (int32_t i = 0; i < count; i++) {
            look_around(&a, block, t.stride, i, (real)limit2);
            add_around(&t, NULL, DENSITY, &a);
            const double sum = sum_of(&a, WEIGHT);
            weights[leaf * t.stride + i] = (float)(inverse ? 1 / sum : sum);
        }
    }
}

// The weighted mean of the offsets, 0 where nothing weighs.
INLINE void mean_of(const around* a, double mean[DIMS]) {
    const double weight = sum_of(a, WEIGHT);
    for (int axis = 0; axis < DIMS; axis++) mean[axis] = weight > 0 ? sum_of(a, axis) / weight : 0;
}

INLINE void draw(const tree_view* t, const real* weights, bool to_median, around* a) {
    if (to_median && weights)
        add_around(t, weights, MEDIAN, a);
    else if (to_median)
        add_around(t, NULL, MEDIAN, a);
    else if (weights)
        add_around(t, weights, MEAN, a);
    else
        add_around(t, NULL, MEAN, a);
}

static void move(const sap_project_step* step, int64_t from, int64_t to) {
    const tree_view given = view_tree(step->given), t = view_tree(step->moving);
    around a;
    for (int64_t leaf = from; leaf < to; leaf++) {
        const real* block = leaf_block(&t, leaf);
        const int32_t* ids = block_ids(&t, DIMS, block);
        const int32_t count = points_of(step->moving, leaf);
        for (int32_t i = 0; i < count; i++) {
            double drawn[DIMS] = {0, 0, 0}, pushed[DIMS];
            if (step->given->shape.count) {
                look_around(&a, block, t.stride, i, (real)step->limit2);
                draw(&given, step->given_weights, step->to_median, &a);
                mean_of(&a, drawn);
            }
            look_around(&a, block, t.stride, i, (real)step->limit2);
            add_around(&t, step->moving_weights, PUSH, &a);
            mean_of(&a, pushed);
            for (int axis = 0; axis < DIMS; axis++) {
                const double x = (double)block[(int64_t)axis * t.stride + i];
                step->moved[3 * (int64_t)ids[i] + axis] = (float)((x + drawn[axis]) - step->push * pushed[axis]);
            }
        }
    }
}

const sap_project_kernels SAP_KERNEL_OF_FLOAT(project_kernels) = {densities, move};
#endif
