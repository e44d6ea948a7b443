#include "schedule.h"

#include <math.h>

// As in src/cluster/cut.c.
enum { FINER = 5, FEW_NODES = 4, FEW_BITS = 8, MANY_BITS = 11 };

static const double PI = 3.14159265358979323846;
// Of the k nearest points that a rank found for a point near a border, the part that a rank behind the border replaces: the
// mean over all distances from a plane within which the ball crosses it, the ball being as much larger as it is cut off.
static const double HITS = 0.306;

static int32_t log2_above(double ranks) {
    int32_t bits = 0;
    while (ldexp(1, bits) < ranks) bits++;
    return bits;
}

static bool is_power(int32_t ranks) { return (ranks & (ranks - 1)) == 0; }

// ---- The upper levels

// The depth of the deepest nodes that may be cut off.
static int32_t deepest_of(const scale_task* t) {
    const int32_t bits = log2_above(t->ranks), wanted = is_power(t->ranks) ? bits : bits + FINER;
    int32_t depth = 0;
    while (ceil(ldexp(t->points, -depth)) > t->leaf_size + t->leaf_size / 4) depth++;
    return depth < wanted ? depth : wanted;
}

// A node is split if one rank's share ends and the next one's begins within it.
int32_t scale_levels(const scale_task* t, int64_t nodes[SCALE_MOST_LEVELS]) {
    const int32_t deepest = deepest_of(t);
    int32_t levels = 0;
    for (int32_t depth = 0; depth < deepest; depth++) {
        int64_t last = -1;
        nodes[depth] = 0;
        for (int64_t rank = 1; rank < t->ranks; rank++) {
            const int64_t cell = (rank << deepest) / t->ranks, node = cell >> (deepest - depth);
            if (node << (deepest - depth) == cell || node == last) continue;
            nodes[depth]++;
            last = node;
        }
        if (nodes[depth]) levels = depth + 1;
    }
    return levels;
}

int64_t scale_pieces(const scale_task* t) {
    int64_t nodes[SCALE_MOST_LEVELS], pieces = 1;
    const int32_t levels = scale_levels(t, nodes);
    for (int32_t i = 0; i < levels; i++) pieces += nodes[i];
    return pieces;
}

// ---- The calls

static void vote(const scale_visit* v, int32_t values) { v->reduce(v->context, 1 + 2 * values); }

static void find_cut(const scale_task* t, const scale_visit* v) {
    int64_t nodes[SCALE_MOST_LEVELS];
    const int32_t levels = scale_levels(t, nodes);
    vote(v, 0);
    if (t->placed) v->reduce(v->context, 1); // the largest id
    for (int32_t i = 0; i < levels; i++) {
        const int32_t step = nodes[i] <= FEW_NODES ? MANY_BITS : FEW_BITS;
        v->reduce(v->context, (double)nodes[i] * 2 * t->dims);
        for (int32_t key = 0; key < t->keys;
             key++) // of the first one no more than the bits in which a node's points differ
            for (int32_t left = t->real_bits; left > 0; left -= step)
                v->reduce(v->context, ldexp((double)nodes[i], left < step ? left : step));
    }
}

void scale_build(const scale_task* t, const scale_visit* v) {
    const double pieces = (double)scale_pieces(t), moved = t->placed ? 0 : t->points / t->ranks;
    vote(v, 6);
    v->gather(v->context, 48);
    find_cut(t, v);
    vote(v, 0);
    v->exchange(v->context, SCALE_ALL, 1, 8 * pieces / t->ranks);
    vote(v, 0);
    const double id = t->real_bits == 32 && t->points <= INT32_MAX ? 4 : 8;
    v->exchange(v->context, SCALE_RANDOM, moved, t->dims * t->real_bits / 8.0 + id);
    vote(v, 0);
    vote(v, 0);
    v->reduce(v->context, pieces * 2 * t->dims);
}

// Counts go to all ranks, then what they count.
static void send(const scale_visit* v, scale_pattern pattern, double count, double bytes) {
    v->exchange(v->context, SCALE_ALL, 1, 8);
    vote(v, 0);
    v->exchange(v->context, pattern, count, bytes);
}

void scale_nearest(const scale_task* t, const scale_visit* v) {
    const double real = t->real_bits / 8.0, count = t->queries > 0 ? t->queries : t->points / t->ranks;
    const bool away = t->queries > 0 && t->ranks > 1, borders = t->ranks > 1;
    v->reduce(v->context, 6); // a vote on k and the radius, and on whether any query goes away
    if (away) send(v, SCALE_RANDOM, count, t->dims * real);
    v->reduce(v->context, 2); // a vote, and whether any ball crosses a border
    if (borders) {
        send(v, SCALE_BORDERS, count, (t->dims + 1) * real);
        vote(v, 0);
        v->exchange(v->context, SCALE_BORDERS, count, 4); // how many are found
        vote(v, 0);
        v->exchange(v->context, SCALE_BORDERS, count, t->k * HITS * (8 + real));
    }
    if (away) {
        vote(v, 0);
        v->exchange(v->context, SCALE_RANDOM, count, t->k * 8 + ceil(t->k * real / 8) * 8);
    }
}

// ---- Borders

// The mean of the j-th power of the distance of the k-th neighbour, among points strewn at random.
static double mean_reach(const scale_task* t, int32_t j) {
    return exp(lgamma(t->k + j / 3.0) - lgamma(t->k)) * pow(3 / (4 * PI * t->points), j / 3.0);
}

scale_borders scale_find_borders(const scale_task* t) {
    scale_borders b = {.reach = mean_reach(t, 1)};
    const int32_t bits = log2_above(t->ranks), whole = (int32_t)lround(cbrt(t->ranks));
    const double each = t->points / t->ranks, square = mean_reach(t, 2), cube = mean_reach(t, 3);
    double side[3], inner[3]; // of a rank's cell; how many of its two faces are not the cube's
    for (int32_t a = 0; a < 3; a++) {
        b.grid[a] = is_power(t->ranks) ? 1 << (bits + 2 - a) / 3 : whole;
        side[a] = 1.0 / b.grid[a];
        inner[a] = 2 * (1 - side[a]);
    }
    for (int32_t a = 0; a < 3; a++) {
        const int32_t x = (a + 1) % 3, y = (a + 2) % 3;
        b.face[a] = fmax(0, b.reach / side[a] - 1 / (each + 1)); // boxes are tight: there is a gap between two of them
        b.edge[a] = PI / 4 * square / (side[x] * side[y]);
        b.pairs += inner[a] * b.face[a] + inner[x] * inner[y] * b.edge[a];
        b.peers += inner[a] * -expm1(-each * b.face[a]) + inner[x] * inner[y] * -expm1(-each * b.edge[a]);
    }
    b.corner = PI / 6 * cube / (side[0] * side[1] * side[2]);
    b.pairs += inner[0] * inner[1] * inner[2] * b.corner;
    b.peers += inner[0] * inner[1] * inner[2] * -expm1(-each * b.corner);
    return b;
}

// ---- What it comes to

typedef struct planning {
    const scale_task* task;
    const ranks_network* network;
    scale_borders borders;
    scale_plan plan;
} planning;

static void add(scale_sent* sent, double messages, double bytes) {
    sent->calls++;
    sent->messages += messages;
    sent->bytes += bytes;
}

static void plan_gather(void* context, double bytes) {
    planning* p = context;
    const ranks_network* n = p->network;
    const double ranks = p->task->ranks, steps = log2_above(ranks);
    add(&p->plan.gather, ranks * steps, ranks * (ranks - 1) * bytes);
    p->plan.seconds += steps * (n->latency + 2 * n->overhead) + (ranks - 1) * bytes * n->per_byte;
}

static void plan_reduce(void* context, double words) {
    planning* p = context;
    const ranks_network* n = p->network;
    const double bytes = 8 * words, step = n->latency + 2 * n->overhead;
    const int32_t steps = log2_above(p->task->ranks + 1) - 1; // below, if ranks are no power of two
    const double most = ldexp(1, steps), rest = p->task->ranks - most;
    if (bytes <= RANKS_SMALL_REDUCE) {
        add(&p->plan.reduce, most * steps + 2 * rest, (most * steps + 2 * rest) * bytes);
        p->plan.seconds += steps * (step + bytes * (n->per_byte + n->per_byte_reduced));
    } else {
        const double part = bytes * (most - 1) / most;
        add(&p->plan.reduce, most * 2 * steps + 2 * rest, most * 2 * part + 2 * rest * bytes);
        p->plan.seconds += 2 * steps * step + part * (2 * n->per_byte + n->per_byte_reduced);
    }
    if (rest > 0) p->plan.seconds += 2 * step + bytes * (2 * n->per_byte + n->per_byte_reduced);
}

static void plan_exchange(void* context, scale_pattern pattern, double count, double bytes) {
    planning* p = context;
    const ranks_network* n = p->network;
    const double ranks = p->task->ranks, step = n->latency + 2 * n->overhead;
    double messages = 0, carried = 0; // of a rank
    if (pattern == SCALE_ALL) {
        messages = ranks - 1;
        carried = messages * bytes;
    } else if (pattern == SCALE_RANDOM) {
        messages = ranks > 1 ? (ranks - 1) * -expm1(count * log1p(-1 / ranks)) : 0;
        carried = count * (ranks - 1) / ranks * bytes;
    } else {
        messages = p->borders.peers;
        carried = count * p->borders.pairs * bytes;
    }
    add(&p->plan.exchange, ranks * messages, ranks * carried);
    p->plan.seconds += messages * step + carried * n->per_byte;
}

scale_plan scale_plan_of(const scale_task* task, const ranks_network* network,
                         void (*schedule)(const scale_task*, const scale_visit*)) {
    planning p = {.task = task, .network = network, .borders = scale_find_borders(task)};
    schedule(task, &(scale_visit){plan_gather, plan_reduce, plan_exchange, &p});
    return p.plan;
}
