#include "cloud/global/poses.h"
#include "cloud/rigid.h"
#include <math.h>
#include <string.h>

#define KEPT      0.25  // the least weight of a pair that agrees with the others
#define DAMPING   1e-9  // of each entry of the diagonal: directions in which nothing pulls stay as they are
#define FINEST    1e-5  // of the size of clouds: alignments end before they are as exact as that
#define CONVERGED 1e-10 // of the scale
#define LOOSEST   8.0   // how many times the median rmse, or the part of it, that makes a difference at most

enum { STEPS = 8 }; // at each scale

void sap_motion_product(const double a[16], const double b[16], double product[16]) {
    double p[16] = {[15] = 1};
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 4; c++)
            p[4 * r + c] =
                a[4 * r] * b[c] + a[4 * r + 1] * b[4 + c] + a[4 * r + 2] * b[8 + c] + (c == 3 ? a[4 * r + 3] : 0);
    memcpy(product, p, sizeof p);
}

void sap_motion_inverse(const double m[16], double inverse[16]) {
    double p[16] = {[15] = 1};
    for (int r = 0; r < 3; r++) {
        for (int c = 0; c < 3; c++) p[4 * r + c] = m[4 * c + r];
        p[4 * r + 3] = -(m[r] * m[3] + m[4 + r] * m[7] + m[8 + r] * m[11]);
    }
    memcpy(inverse, p, sizeof p);
}

static void move_point(const double m[16], const double p[3], double to[3]) {
    for (int r = 0; r < 3; r++) to[r] = m[4 * r] * p[0] + m[4 * r + 1] * p[1] + m[4 * r + 2] * p[2] + m[4 * r + 3];
}

// ---- One pair

// The small turn about the pair's center and the shift there, in the target, by which the clouds are off from the pair.
static void find_error(const sap_poses* g, const sap_many_pair* pair, double error[6]) {
    const double* center = pair->alignment.center;
    double back[16], ahead[16], off[16], at[3];
    sap_motion_inverse(pair->alignment.transform, back);
    sap_motion_inverse(g->transforms + 16 * (int64_t)pair->target, ahead);
    sap_motion_product(g->transforms + 16 * (int64_t)pair->source, back, off);
    sap_motion_product(ahead, off, off);
    error[0] = (off[9] - off[6]) / 2;
    error[1] = (off[2] - off[8]) / 2;
    error[2] = (off[4] - off[1]) / 2;
    move_point(off, center, at);
    for (int c = 0; c < 3; c++) error[3 + c] = at[c] - center[c];
}

// The mean square of how far the pair's points are off.
static double residual2_of(const sap_poses* g, const sap_many_pair* pair) {
    const double* m = pair->alignment.information;
    double e[6], sum = 0;
    find_error(g, pair, e);
    for (int r = 0; r < 6; r++)
        for (int c = 0; c < 6; c++) sum += e[r] * m[6 * r + c] * e[c];
    return pair->alignment.pairs > 0 && sum > 0 ? sum / (double)pair->alignment.pairs : 0;
}

static double weight_of(double residual2, double scale2) {
    const double part = scale2 > 0 ? scale2 / (scale2 + residual2) : residual2 == 0;
    return part * part;
}

// What a pair of that rmse weighs beside one of the median rmse: squares are as certain as they are small.
static double certainty_of(const sap_poses* g, const sap_many_pair* pair) {
    const double ratio = g->rmse > 0 ? pair->alignment.rmse / g->rmse : 1;
    const double part = fmin(fmax(ratio, 1 / LOOSEST), LOOSEST);
    return 1 / (part * part);
}

// ---- Where clouds lie at first: along the pairs with the most points, a tree of them.

static int32_t root_of(const int32_t* groups, int32_t cloud) {
    while (groups[cloud] != cloud) cloud = groups[cloud];
    return cloud;
}

// Moves all clouds of a group.
static void move_group(sap_poses* g, int32_t root, const double m[16]) {
    for (int32_t i = 0; i < g->count; i++)
        if (root_of(g->groups, i) == root)
            sap_motion_product(m, g->transforms + 16 * (int64_t)i, g->transforms + 16 * (int64_t)i);
}

// Joins the two groups of a pair, the one of the later first cloud being moved.
static void join(sap_poses* g, const sap_many_pair* pair, int32_t a, int32_t b) {
    const double *source = g->transforms + 16 * (int64_t)pair->source,
                 *target = g->transforms + 16 * (int64_t)pair->target;
    double back[16], m[16];
    if (a > b) { // the source's: target * alignment * source^-1
        sap_motion_inverse(source, back);
        sap_motion_product(pair->alignment.transform, back, m);
        sap_motion_product(target, m, m);
        move_group(g, a, m);
        g->groups[a] = b;
    } else { // the target's: source * alignment^-1 * target^-1
        double over[16];
        sap_motion_inverse(target, back);
        sap_motion_inverse(pair->alignment.transform, over);
        sap_motion_product(over, back, m);
        sap_motion_product(source, m, m);
        move_group(g, b, m);
        g->groups[b] = a;
    }
}

static void place_along_tree(sap_poses* g) {
    for (int32_t i = 0; i < g->count; i++) g->groups[i] = i;
    for (;;) {
        int64_t best = -1;
        for (int64_t k = 0; k < g->pair_count; k++) {
            const sap_many_pair* p = &g->pairs[k];
            if (p->found && root_of(g->groups, p->source) != root_of(g->groups, p->target) &&
                (best < 0 || p->alignment.pairs > g->pairs[best].alignment.pairs))
                best = k;
        }
        if (best < 0) return;
        join(g, &g->pairs[best], root_of(g->groups, g->pairs[best].source), root_of(g->groups, g->pairs[best].target));
    }
}

// ---- Gauss and Newton

// A motion of the world is a turn about `middle` and a shift: what it does to the error of a pair whose target has the
// turn R and whose center lies at P is [R^T 0; -R^T [P]x R^T].
static void find_jacobian(const sap_poses* g, const sap_many_pair* pair, const double middle[3], double a[36]) {
    const double* target = g->transforms + 16 * (int64_t)pair->target;
    double p[3];
    move_point(target, pair->alignment.center, p);
    for (int c = 0; c < 3; c++) p[c] -= middle[c];
    const double cross[9] = {0, p[2], -p[1], -p[2], 0, p[0], p[1], -p[0], 0}; // -[P]x
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) {
            a[6 * r + c] = a[6 * (r + 3) + c + 3] = target[4 * c + r];
            a[6 * r + c + 3] = 0;
            a[6 * (r + 3) + c] = target[r] * cross[c] + target[4 + r] * cross[3 + c] + target[8 + r] * cross[6 + c];
        }
}

// Adds what a pair pulls. The first cloud of each group does not move.
static void add_pair(sap_poses* g, const sap_many_pair* pair, const double middle[3], double weight) {
    const double* m = pair->alignment.information;
    const int64_t order = 6 * (int64_t)g->count, at[2] = {6 * (int64_t)pair->source, 6 * (int64_t)pair->target};
    double e[6], a[36], half[36], block[36], pull[6];
    find_error(g, pair, e);
    find_jacobian(g, pair, middle, a);
    for (int r = 0; r < 6; r++) {
        for (int c = 0; c < 6; c++) {
            half[6 * r + c] = 0;
            for (int k = 0; k < 6; k++) half[6 * r + c] += a[6 * k + r] * m[6 * k + c];
            half[6 * r + c] *= weight;
        }
        pull[r] = 0;
        for (int k = 0; k < 6; k++) pull[r] += half[6 * r + k] * e[k];
    }
    for (int r = 0; r < 6; r++)
        for (int c = 0; c < 6; c++) {
            block[6 * r + c] = 0;
            for (int k = 0; k < 6; k++) block[6 * r + c] += half[6 * r + k] * a[6 * k + c];
        }
    for (int x = 0; x < 2; x++)
        for (int r = 0; r < 6; r++) {
            g->right[at[x] + r] -= (x == 0 ? 1 : -1) * pull[r];
            for (int y = 0; y < 2; y++)
                for (int c = 0; c < 6; c++)
                    g->matrix[(at[x] + r) * order + at[y] + c] += (x == y ? 1 : -1) * block[6 * r + c];
        }
}

// Solves by Cholesky's method in place; the answer is in g->right.
static void solve(sap_poses* g) {
    const int64_t n = 6 * (int64_t)g->count;
    double *m = g->matrix, *x = g->right;
    for (int64_t i = 0; i < n; i++) m[i * n + i] *= 1 + DAMPING;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j <= i; j++) {
            double sum = m[i * n + j];
            for (int64_t k = 0; k < j; k++) sum -= m[i * n + k] * m[j * n + k];
            if (i == j)
                m[i * n + i] = sum > DAMPING / 2 * m[i * n + i] ? sqrt(sum) : INFINITY; // nothing pulls: no step
            else
                m[i * n + j] = sum / m[j * n + j];
        }
    for (int64_t i = 0; i < n; i++) {
        for (int64_t k = 0; k < i; k++) x[i] -= m[i * n + k] * x[k];
        x[i] /= m[i * n + i];
    }
    for (int64_t i = n; i-- > 0;) {
        for (int64_t k = i + 1; k < n; k++) x[i] -= m[k * n + i] * x[k];
        x[i] /= m[i * n + i];
    }
}

// The first cloud of each group stays: its rows and columns are those of no step.
static void hold(sap_poses* g, int32_t cloud) {
    const int64_t n = 6 * (int64_t)g->count;
    for (int64_t r = 6 * (int64_t)cloud; r < 6 * (int64_t)(cloud + 1); r++) {
        for (int64_t c = 0; c < n; c++) g->matrix[r * n + c] = g->matrix[c * n + r] = 0;
        g->matrix[r * n + r] = 1;
        g->right[r] = 0;
    }
}

// Gives how far the middle of a cloud's world moves, at most.
static double move_clouds(sap_poses* g, const double middle[3]) {
    double most = 0;
    for (int32_t i = 0; i < g->count; i++) {
        double *m = g->transforms + 16 * (int64_t)i, turn[9], own[9], shift[3], far[3], moved = 0;
        const double* x = g->right + 6 * (int64_t)i;
        sap_turn_of_vector(x, turn);
        for (int k = 0; k < 9; k++) own[k] = m[k / 3 * 4 + k % 3];
        for (int c = 0; c < 3; c++) far[c] = m[4 * c + 3] - middle[c];
        sap_turn_vector(turn, far, shift);
        sap_turn_further(own, turn);
        for (int k = 0; k < 9; k++) m[k / 3 * 4 + k % 3] = own[k];
        for (int c = 0; c < 3; c++) {
            const double to = middle[c] + shift[c] + x[3 + c];
            moved += (to - m[4 * c + 3]) * (to - m[4 * c + 3]);
            m[4 * c + 3] = to;
        }
        most = fmax(most, moved);
    }
    return sqrt(most);
}

// The mean of the places of the pairs' centers: turns about it do not swing far.
static void find_middle(const sap_poses* g, double middle[3]) {
    int64_t count = 0;
    for (int c = 0; c < 3; c++) middle[c] = 0;
    for (int64_t k = 0; k < g->pair_count; k++) {
        double at[3];
        if (!g->pairs[k].found) continue;
        move_point(g->transforms + 16 * (int64_t)g->pairs[k].target, g->pairs[k].alignment.center, at);
        for (int c = 0; c < 3; c++) middle[c] += at[c];
        count++;
    }
    for (int c = 0; c < 3 && count > 0; c++) middle[c] /= (double)count;
}

static double step(sap_poses* g, double scale2) {
    const size_t n = 6 * (size_t)g->count;
    double middle[3];
    find_middle(g, middle);
    memset(g->matrix, 0, n * n * sizeof *g->matrix);
    memset(g->right, 0, n * sizeof *g->right);
    for (int64_t k = 0; k < g->pair_count; k++)
        if (g->pairs[k].found)
            add_pair(g, &g->pairs[k], middle,
                     weight_of(residual2_of(g, &g->pairs[k]), scale2) * certainty_of(g, &g->pairs[k]));
    for (int32_t i = 0; i < g->count; i++)
        if (g->groups[i] == i) hold(g, i);
    solve(g);
    return move_clouds(g, middle);
}

// ---- The scale, and what is said at the end

static double median_of(double* values, int64_t count) {
    for (int64_t i = 1; i < count; i++) {
        const double value = values[i];
        int64_t at = i;
        for (; at > 0 && values[at - 1] > value; at--) values[at] = values[at - 1];
        values[at] = value;
    }
    return count ? values[count / 2] : 0;
}

static void find_scale(sap_poses* g) {
    int64_t count = 0;
    double turns = 0, shifts = 0;
    for (int64_t k = 0; k < g->pair_count; k++) {
        const double* m = g->pairs[k].alignment.information;
        if (!g->pairs[k].found) continue;
        g->sorted[count++] = g->pairs[k].alignment.rmse;
        turns += m[0] + m[7] + m[14];
        shifts += m[21] + m[28] + m[35];
    }
    g->rmse = median_of(g->sorted, count);
    const double scale = 3 * g->rmse, size2 = shifts > 0 ? turns / shifts : 0;
    if (g->scale2 > 0) return;
    g->scale2 = fmax(scale * scale, FINEST * FINEST * size2);
}

static void write_pairs(sap_poses* g) {
    for (int64_t k = 0; k < g->pair_count; k++) {
        sap_many_pair* p = &g->pairs[k];
        if (!p->found) continue;
        const double residual2 = residual2_of(g, p);
        p->residual = sqrt(residual2);
        p->weight = weight_of(residual2, g->scale2);
        p->kept = p->weight >= KEPT;
    }
}

// Groups by the pairs that are kept, numbered by their first clouds.
static void write_groups(sap_poses* g) {
    int32_t count = 0;
    for (int32_t i = 0; i < g->count; i++) g->groups[i] = i;
    for (int64_t k = 0; k < g->pair_count; k++) {
        if (!g->pairs[k].kept) continue;
        const int32_t a = root_of(g->groups, g->pairs[k].source), b = root_of(g->groups, g->pairs[k].target);
        g->groups[a > b ? a : b] = a > b ? b : a;
    }
    // A group's first cloud comes before its others.
    for (int32_t i = 0; i < g->count; i++) g->groups[i] = g->groups[i] == i ? count++ : g->groups[g->groups[i]];
}

void sap_poses_solve(sap_poses* g) {
    double scale2 = 0;
    find_scale(g);
    place_along_tree(g);
    for (int64_t k = 0; k < g->pair_count; k++)
        if (g->pairs[k].found) scale2 = fmax(scale2, residual2_of(g, &g->pairs[k]));
    for (scale2 = fmax(scale2, g->scale2); g->scale2 > 0; scale2 = fmax(scale2 / 4, g->scale2)) {
        for (int i = 0; i < STEPS; i++)
            if (!(step(g, scale2) > CONVERGED * sqrt(scale2))) break;
        if (scale2 <= g->scale2) break;
    }
    write_pairs(g);
    write_groups(g);
}
