// The loops of alignment over the points of a source. Eight sums run side by side, whatever a register holds, so that
// they are the same bits on every machine; compilers make vectors of the loops over them.
#include "cloud/align.h"
#include "math/simd.h"

#define SLACK 0x1p-20 // of a distance: above what rounding of either precision does to it
// Squares that are less have lost digits.
#define SMALLEST (SAP_REAL_BITS == 32 ? (real)1e-30 : (real)1e-280)

typedef double eight __attribute__((vector_size(64)));
typedef int64_t eight_words __attribute__((vector_size(64)));
typedef float eight_floats __attribute__((vector_size(32)));
typedef real eight_reals __attribute__((vector_size(8 * sizeof(real))));
typedef int32_t eight_ids __attribute__((vector_size(32)));

INLINE void load_reals(const void* from, int64_t i, eight* to) {
    eight_reals r;
    memcpy(&r, (const real*)from + i, sizeof r);
    *to = __builtin_convertvector(r, eight);
}

INLINE void load_floats(const float* from, int64_t i, eight* to) {
    eight_floats r;
    memcpy(&r, from + i, sizeof r);
    *to = __builtin_convertvector(r, eight);
}

// yes where the mask is set, else no.
INLINE void choose(const eight_words* mask, const eight* yes, const eight* no, eight* to) {
    *to = (eight)(((eight_words)*yes & *mask) | ((eight_words)*no & ~*mask));
}

// The source's points turned, from the middle.
INLINE void turn(const sap_align_points* points, const sap_pose* pose, int64_t i, eight u[3]) {
    eight s[3];
    for (int a = 0; a < 3; a++) memcpy(&s[a], points->own[a] + i, sizeof s[a]);
    for (int a = 0; a < 3; a++)
        u[a] = pose->turn[3 * a] * s[0] + pose->turn[3 * a + 1] * s[1] + pose->turn[3 * a + 2] * s[2];
}

// The squared distance as searches find it.
INLINE real distance2_of(const real a[3], const real b[3]) {
    const real x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
    return x * x + y * y + z * z;
}

// Whether the nearest point of a place is known to be one of those near it, which is then its pair.
static bool look_near(sap_aligning* a, int64_t place, const real at[3]) {
    sap_align_points* points = &a->points;
    const real *target = a->target_points, *asked = (const real*)points->near_asked + 3 * place;
    const int32_t* near = points->near + place * SAP_ALIGN_NEAR;
    const double known = (double)((const real*)points->near_reach)[place];
    real least = (real)INFINITY, second = (real)INFINITY;
    int32_t id = -1;
    double moved = 0;
    if (!(known > 0)) return false;
    for (int c = 0; c < 3; c++) moved += ((double)at[c] - (double)asked[c]) * ((double)at[c] - (double)asked[c]);
    moved = sqrt(moved);
    for (int i = 0; i < SAP_ALIGN_NEAR && near[i] >= 0; i++) {
        const real distance2 = distance2_of(at, target + 4 * (int64_t)near[i]);
        const bool is_less = distance2 < least || (distance2 == least && near[i] < id);
        second = is_less ? least : distance2 < second ? distance2 : second;
        least = is_less ? distance2 : least;
        id = is_less ? near[i] : id;
    }
    const double own = id >= 0 ? sqrt((double)least) : a->job->options.max_distance;
    if (!((own + moved) * (1 + SLACK) < known) || (id >= 0 && !(least > SMALLEST))) return false;
    const double others = known - moved * (1 + SLACK), other = sqrt((double)second);
    if (id != points->pairs[place]) sap_align_pair(a, place, id, target + 4 * (int64_t)id);
    ((real*)points->reach)[place] = (real)((other < others ? other : others) * (1 - SLACK));
    for (int c = 0; c < 3; c++) ((real*)points->asked[c])[place] = at[c];
    return true;
}

static int64_t look(sap_aligning* a, int64_t from, int64_t to, void* queries, int32_t* places) {
    const sap_align_points* points = &a->points;
    const double limit = a->job->options.max_distance;
    real* query = queries;
    int64_t count = 0;
    for (int64_t i = from; i < to; i += SAP_ALIGN_LANES) {
        eight u[3], to_pair = {0}, moved = {0}, reach;
        eight_reals at[3];
        eight_ids pairs;
        eight_words same = {-1, -1, -1, -1, -1, -1, -1, -1};
        int64_t still[SAP_ALIGN_LANES];
        double near[SAP_ALIGN_LANES], far[SAP_ALIGN_LANES], most[SAP_ALIGN_LANES];
        turn(points, &a->pose, i, u);
        for (int c = 0; c < 3; c++) {
            eight other, asked, q;
            at[c] = __builtin_convertvector(u[c] + a->pose.middle[c], eight_reals);
            q = __builtin_convertvector(at[c], eight);
            load_reals(points->other[c], i, &other);
            load_reals(points->asked[c], i, &asked);
            to_pair += (q - other) * (q - other);
            moved += (q - asked) * (q - asked);
            same &= q == asked;
        }
        load_reals(points->reach, i, &reach);
        memcpy(&pairs, points->pairs + i, sizeof pairs);
        memcpy(near, &to_pair, sizeof near);
        memcpy(still, &same, sizeof still);
        memcpy(far, &moved, sizeof far);
        memcpy(most, &reach, sizeof most);
        for (int l = 0; l < SAP_ALIGN_LANES; l++) near[l] = sqrt(near[l]);
        for (int l = 0; l < SAP_ALIGN_LANES; l++) far[l] = sqrt(far[l]);
        for (int l = 0; l < SAP_ALIGN_LANES; l++) {
            const double own = pairs[l] >= 0 ? near[l] : limit;
            if (still[l] && most[l] > 0) continue; // the same place has the same answer
            if ((own + far[l]) * (1 + SLACK) < most[l] && most[l] * most[l] > SMALLEST) continue;
            if (i + l >= to) break;
            const real place[3] = {at[0][l], at[1][l], at[2][l]};
            if (a->target_points && look_near(a, i + l, place)) continue;
            memcpy(query + 3 * count, place, sizeof place);
            places[count++] = (int32_t)(i + l);
        }
    }
    return count;
}

// What a pair looks like.
typedef struct pair_vectors {
    eight u[3], r[3], n[3], m[3]; // own point, offset to the other, normals of the other and, turned, the own one
    eight distance2, residual2;
    eight k11, k12, k22; // GENERALISED: of weigh_disks
} pair_vectors;

// M of two disks with normals n and m: with C = 1 - (1 - f) n n^T of either,
//   (C + C')^-1 = 1/2 + 1/2 [n m] K [n m]^T,  K = (s - [0 c; c 0])^-1 where n and m have length 1, s = (1 + f) / (1 - f),
// by Woodbury's identity; times 2 f that is f (1 + [n m] K [n m]^T). A normal of 0 stands for a ball.
INLINE void weigh_disks(const sap_align_rule* rule, pair_vectors* p) {
    const double twice = rule->stiff + 1; // 2 / (1 - f)
    const eight nn = p->n[0] * p->n[0] + p->n[1] * p->n[1] + p->n[2] * p->n[2];
    const eight mm = p->m[0] * p->m[0] + p->m[1] * p->m[1] + p->m[2] * p->m[2];
    const eight nm = p->n[0] * p->m[0] + p->n[1] * p->m[1] + p->n[2] * p->m[2];
    const eight a = twice - nn, b = twice - mm, det = a * b - nm * nm;
    p->k11 = b / det, p->k22 = a / det, p->k12 = nm / det;
}

INLINE void look_at(const sap_align_points* points, const sap_pose* pose, const sap_align_rule* rule,
                    const sap_align_method method, const bool with_normals, int64_t i, pair_vectors* p) {
    turn(points, pose, i, p->u);
    for (int a = 0; a < 3; a++) {
        eight other;
        load_reals(points->other[a], i, &other);
        p->r[a] = (p->u[a] + pose->middle[a]) - other;
    }
    p->distance2 = p->r[0] * p->r[0] + p->r[1] * p->r[1] + p->r[2] * p->r[2];
    p->residual2 = p->distance2;
    if (method != SAP_ALIGN_POINT || with_normals)
        for (int a = 0; a < 3; a++) load_floats(points->other_normals[a], i, &p->n[a]);
    if (method == SAP_ALIGN_GENERALISED || with_normals) {
        eight m[3];
        for (int a = 0; a < 3; a++) load_floats(points->own_normals[a], i, &m[a]);
        for (int a = 0; a < 3; a++)
            p->m[a] = pose->turn[3 * a] * m[0] + pose->turn[3 * a + 1] * m[1] + pose->turn[3 * a + 2] * m[2];
    }
    if (method == SAP_ALIGN_PLANE) {
        const eight across = p->n[0] * p->r[0] + p->n[1] * p->r[1] + p->n[2] * p->r[2];
        p->residual2 = across * across;
    }
    if (method == SAP_ALIGN_GENERALISED) {
        weigh_disks(rule, p);
        const eight n = p->n[0] * p->r[0] + p->n[1] * p->r[1] + p->n[2] * p->r[2];
        const eight m = p->m[0] * p->r[0] + p->m[1] * p->r[1] + p->m[2] * p->r[2];
        p->residual2 = rule->flatness * (p->distance2 + (p->k11 * n * n + 2.0 * (p->k12 * n * m) + p->k22 * m * m));
    }
}

INLINE void measure_by(sap_align_points* points, const sap_pose* pose, const sap_align_rule* rule,
                       const sap_align_method method, const bool with_normals, int64_t from, int64_t to) {
    for (int64_t i = from; i < to; i += SAP_ALIGN_LANES) {
        pair_vectors p;
        eight_ids pairs;
        look_at(points, pose, rule, method, with_normals, i, &p);
        memcpy(&pairs, points->pairs + i, sizeof pairs);
        eight_words fits = (p.distance2 <= rule->limit2) & __builtin_convertvector(pairs >= 0, eight_words);
        if (method == SAP_ALIGN_PLANE) fits &= (p.n[0] != 0) | (p.n[1] != 0) | (p.n[2] != 0);
        if (with_normals) {
            const eight c = p.n[0] * p.m[0] + p.n[1] * p.m[1] + p.n[2] * p.m[2];
            fits &= (c >= rule->cosine) | (-c >= rule->cosine);
            fits &= ((p.n[0] != 0) | (p.n[1] != 0) | (p.n[2] != 0)) & ((p.m[0] != 0) | (p.m[1] != 0) | (p.m[2] != 0));
        }
        const eight_floats counts = __builtin_convertvector(-fits, eight_floats);
        memcpy(points->distance2 + i, &p.distance2, sizeof p.distance2);
        if (points->residual2) memcpy(points->residual2 + i, &p.residual2, sizeof p.residual2);
        memcpy(points->counts + i, &counts, sizeof counts);
    }
}

static void measure(sap_align_points* points, const sap_pose* pose, const sap_align_rule* rule, int64_t from,
                    int64_t to) {
    if (rule->cosine >= 0) {
        switch (rule->method) {
        case SAP_ALIGN_POINT: measure_by(points, pose, rule, SAP_ALIGN_POINT, true, from, to); break;
        case SAP_ALIGN_PLANE: measure_by(points, pose, rule, SAP_ALIGN_PLANE, true, from, to); break;
        default: measure_by(points, pose, rule, SAP_ALIGN_GENERALISED, true, from, to);
        }
        return;
    }
    switch (rule->method) {
    case SAP_ALIGN_POINT: measure_by(points, pose, rule, SAP_ALIGN_POINT, false, from, to); break;
    case SAP_ALIGN_PLANE: measure_by(points, pose, rule, SAP_ALIGN_PLANE, false, from, to); break;
    default: measure_by(points, pose, rule, SAP_ALIGN_GENERALISED, false, from, to);
    }
}

// Which pairs count, 1 or 0, and what they weigh.
INLINE void weigh(const sap_align_points* points, const sap_align_rule* rule, int64_t i, const pair_vectors* p,
                  eight* counts, eight* weight) {
    const eight zero = {0}, one = zero + 1.0;
    eight part = one;
    load_floats(points->counts, i, counts);
    const eight_words inside = p->residual2 <= rule->scale2;
    switch (rule->kernel) {
    case SAP_KERNEL_HUBER: {
        double ratio[SAP_ALIGN_LANES];
        const eight over = rule->scale2 / p->residual2;
        memcpy(ratio, &over, sizeof ratio);
        for (int l = 0; l < SAP_ALIGN_LANES; l++) ratio[l] = sqrt(ratio[l]);
        memcpy(&part, ratio, sizeof part);
        choose(&inside, &one, &part, &part);
        break;
    }
    case SAP_KERNEL_TUKEY: {
        const eight left = 1.0 - p->residual2 / rule->scale2, square = left * left;
        choose(&inside, &square, &zero, &part);
        break;
    }
    case SAP_KERNEL_CAUCHY: part = 1.0 / (1.0 + p->residual2 / rule->scale2); break;
    default: break;
    }
    // Not a product, which would be NaN where the distance overflows.
    const eight_words used = *counts > 0;
    choose(&used, &part, &zero, weight);
}

// The lanes of a sum, one after another.
INLINE double total(const eight* lanes) {
    double sum = 0;
    for (int l = 0; l < SAP_ALIGN_LANES; l++) sum += (*lanes)[l];
    return sum;
}

INLINE void clear_unused(const eight* weight, eight v[3]) {
    const eight zero = {0};
    const eight_words used = *weight > 0;
    for (int a = 0; a < 3; a++) choose(&used, &v[a], &zero, &v[a]);
}

INLINE void add_points(const sap_align_points* points, const sap_pose* pose, const sap_align_rule* rule, int64_t from,
                       int64_t to, double sums[SAP_ALIGN_SUMS]) {
    eight pairs = {0}, weights = {0}, squares = {0}, own[3] = {{0}}, other[3] = {{0}}, products[9] = {{0}};
    for (int64_t i = from; i < to; i += SAP_ALIGN_LANES) {
        pair_vectors p;
        eight counts, weight;
        look_at(points, pose, rule, SAP_ALIGN_POINT, false, i, &p);
        weigh(points, rule, i, &p, &counts, &weight);
        clear_unused(&counts, p.r);
        const eight square = p.r[0] * p.r[0] + p.r[1] * p.r[1] + p.r[2] * p.r[2];
        pairs += counts, weights += weight, squares += square;
        for (int a = 0; a < 3; a++) {
            own[a] += weight * p.u[a];
            other[a] += weight * (p.u[a] - p.r[a]);
            for (int b = 0; b < 3; b++) products[3 * a + b] += weight * p.u[a] * (p.u[b] - p.r[b]);
        }
    }
    sums[SAP_ALIGN_PAIRS] = total(&pairs);
    sums[SAP_ALIGN_WEIGHT] = total(&weights);
    sums[SAP_ALIGN_SQUARES] = total(&squares);
    for (int a = 0; a < 3; a++) sums[SAP_ALIGN_OWN + a] = total(&own[a]);
    for (int a = 0; a < 3; a++) sums[SAP_ALIGN_OTHER + a] = total(&other[a]);
    for (int a = 0; a < 9; a++) sums[SAP_ALIGN_PRODUCTS + a] = total(&products[a]);
}

// The row of J for an offset along n: by a turn about the middle, u x n, and by a shift, n.
INLINE void row_of(const eight u[3], const eight n[3], eight row[6]) {
    row[0] = u[1] * n[2] - u[2] * n[1];
    row[1] = u[2] * n[0] - u[0] * n[2];
    row[2] = u[0] * n[1] - u[1] * n[0];
    for (int a = 0; a < 3; a++) row[3 + a] = n[a];
}

// Adds weight * row^T row and weight * row * residual.
INLINE void add_row(const eight* weight, const eight row[6], const eight* residual, eight matrix[21], eight right[6]) {
    int at = 0;
    for (int i = 0; i < 6; i++) {
        const eight weighted = *weight * row[i];
        for (int j = i; j < 6; j++) matrix[at++] += weighted * row[j];
        right[i] += weighted * *residual;
    }
}

INLINE void add_matrix(const sap_align_points* points, const sap_pose* pose, const sap_align_rule* rule,
                       const sap_align_method method, int64_t from, int64_t to, double sums[SAP_ALIGN_SUMS]) {
    eight pairs = {0}, weights = {0}, squares = {0}, matrix[21] = {{0}}, right[6] = {{0}};
    const double per = 1 / rule->size;
    for (int64_t i = from; i < to; i += SAP_ALIGN_LANES) {
        pair_vectors p;
        eight counts, weight, row[6];
        look_at(points, pose, rule, method, false, i, &p);
        weigh(points, rule, i, &p, &counts, &weight);
        clear_unused(&counts, p.r);
        squares += p.r[0] * p.r[0] + p.r[1] * p.r[1] + p.r[2] * p.r[2];
        pairs += counts, weights += weight;
        for (int a = 0; a < 3; a++) p.u[a] *= per, p.r[a] *= per;
        if (method == SAP_ALIGN_PLANE) {
            const eight across = p.n[0] * p.r[0] + p.n[1] * p.r[1] + p.n[2] * p.r[2];
            row_of(p.u, p.n, row);
            add_row(&weight, row, &across, matrix, right);
            continue;
        }
        // M is 1, times the flatness of disks: of the rows of an axis most are 0.
        const eight w = method == SAP_ALIGN_GENERALISED ? weight * rule->flatness : weight;
        const eight *u = p.u, *r = p.r;
        matrix[0] += w * (u[1] * u[1] + u[2] * u[2]), matrix[6] += w * (u[0] * u[0] + u[2] * u[2]);
        matrix[11] += w * (u[0] * u[0] + u[1] * u[1]);
        matrix[1] -= w * (u[0] * u[1]), matrix[2] -= w * (u[0] * u[2]), matrix[7] -= w * (u[1] * u[2]);
        matrix[4] -= w * u[2], matrix[5] += w * u[1], matrix[8] += w * u[2];
        matrix[10] -= w * u[0], matrix[12] -= w * u[1], matrix[13] += w * u[0];
        matrix[15] += w, matrix[18] += w, matrix[20] += w;
        right[0] += w * (u[1] * r[2] - u[2] * r[1]), right[1] += w * (u[2] * r[0] - u[0] * r[2]);
        right[2] += w * (u[0] * r[1] - u[1] * r[0]);
        for (int a = 0; a < 3; a++) right[3 + a] += w * r[a];
        if (method != SAP_ALIGN_GENERALISED) continue;
        // And K = L D L^T of the two normals: the rows along n + l m, and along m.
        const eight n = p.n[0] * r[0] + p.n[1] * r[1] + p.n[2] * r[2],
                    m = p.m[0] * r[0] + p.m[1] * r[1] + p.m[2] * r[2];
        const eight l = p.k12 / p.k11, rest = p.k22 - p.k12 * l, first = w * p.k11, second = w * rest;
        const eight along[3] = {p.n[0] + l * p.m[0], p.n[1] + l * p.m[1], p.n[2] + l * p.m[2]}, offset = n + l * m;
        row_of(p.u, along, row);
        add_row(&first, row, &offset, matrix, right);
        row_of(p.u, p.m, row);
        add_row(&second, row, &m, matrix, right);
    }
    sums[SAP_ALIGN_PAIRS] = total(&pairs);
    sums[SAP_ALIGN_WEIGHT] = total(&weights);
    sums[SAP_ALIGN_SQUARES] = total(&squares);
    for (int a = 0; a < 21; a++) sums[SAP_ALIGN_MATRIX + a] = total(&matrix[a]);
    for (int a = 0; a < 6; a++) sums[SAP_ALIGN_RIGHT + a] = total(&right[a]);
}

static void add(const sap_align_points* points, const sap_pose* pose, const sap_align_rule* rule, bool matrix,
                int64_t from, int64_t to, double sums[SAP_ALIGN_SUMS]) {
    switch (rule->method) {
    case SAP_ALIGN_PLANE: add_matrix(points, pose, rule, SAP_ALIGN_PLANE, from, to, sums); break;
    case SAP_ALIGN_GENERALISED: add_matrix(points, pose, rule, SAP_ALIGN_GENERALISED, from, to, sums); break;
    default:
        if (matrix)
            add_matrix(points, pose, rule, SAP_ALIGN_POINT, from, to, sums);
        else
            add_points(points, pose, rule, from, to, sums);
    }
}

const sap_align_kernels SAP_KERNEL(align_kernels) = {look, measure, add};
