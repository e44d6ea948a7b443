#include "cluster/answer.h"
#include "base/team.h"
#include "nearest/nearest_cpu.h"
#include "tree/leaves.h"
#include "tree/queries.h"
#include <math.h>

enum {
    QUERIES = 32,    // that are searched before those before them go to their rows: memory has that long to bring them
    CELLS = 4096,    // neighbours that a thread holds, if no query has more
    LEAVES_RUN = 32, // leaves whose points a thread asks for at a time
    LIST_BYTES = 16, // of a key, in a long list of candidates
    ORDER_BITS = 12, // of sap_queries_order
    LINE = 64        // bytes
};

// A subtree that is asked.
typedef struct answering {
    const sap_cluster_asking* a;
    const sap_cluster_piece* piece;
    const sap_nearest_kernels* leaves; // that take whole leaves; or NULL
    int64_t first_row;
    const int32_t* rows;   // of the caller's queries, or NULL
    sap_query_order order; // coords NULL: as they are
    const sap_rows* queries;
    int64_t first;     // query of the part that is ordered
    int32_t leaf_bits; // leaves of a cell by which it is ordered, as a power of two
    int32_t most;      // queries that a thread holds
    size_t each;       // bytes of a thread's own memory
    sap_scratch own;
} answering;

// Of one thread.
typedef struct holding {
    int32_t* ids;    // [most * k]
    void* distance2; // the same
    int64_t* named;  // [k]
    int64_t* next;   // cell
    int32_t *rows, *self;
    uint32_t* home;
    unsigned char* coords;
    void* heap;
} holding;

static size_t real_of(const answering* w) { return (size_t)w->a->tree->real_bits / 8; }

// ---- Rows

static double distance_at(const sap_cluster_asking* a, const void* distance2, int64_t at) {
    return a->tree->real_bits == 64 ? ((const double*)distance2)[at] : (double)((const float*)distance2)[at];
}

static void set_distance(const sap_cluster_asking* a, void* distance2, int64_t at, double value) {
    if (a->tree->real_bits == 64)
        ((double*)distance2)[at] = value;
    else
        ((float*)distance2)[at] = (float)value;
}

void sap_cluster_clear(const sap_cluster_asking* a, int64_t row) {
    for (int32_t i = 0; i < a->k; i++) {
        if (a->into.ids) sap_cluster_ids(&a->into, row)[i] = -1;
        if (a->into.distance2) set_distance(a, sap_cluster_distances(&a->into, row), i, INFINITY);
    }
}

double sap_cluster_bound(const sap_cluster_asking* a, int64_t row) {
    const double last = distance_at(a, sap_cluster_distances(&a->into, row), a->k - 1);
    return last < a->limit2 ? last : a->limit2; // infinite where neighbours are missing
}

// How many of either list are among the k nearest is found from the front; then these are merged from the back, in place.
#define MERGE(real)                                                                                                    \
    static inline bool before_##real(real x, int64_t x_id, real y, int64_t y_id) {                                     \
        return x < y || (x == y && x_id < y_id);                                                                       \
    }                                                                                                                  \
    static void merge_##real(int64_t* own, real near[], int32_t k, const int64_t* ids, const real* distance2,          \
                             int32_t count) {                                                                          \
        int32_t kept = 0, taken = 0;                                                                                   \
        while (kept + taken < k) {                                                                                     \
            const bool some = taken < count && ids[taken] >= 0;                                                        \
            if (some && (own[kept] < 0 || before_##real(distance2[taken], ids[taken], near[kept], own[kept])))         \
                taken++;                                                                                               \
            else if (own[kept] >= 0)                                                                                   \
                kept++;                                                                                                \
            else                                                                                                       \
                break;                                                                                                 \
        }                                                                                                              \
        while (taken > 0) {                                                                                            \
            const int32_t to = kept + taken - 1;                                                                       \
            const bool is_own =                                                                                        \
                kept > 0 && before_##real(distance2[taken - 1], ids[taken - 1], near[kept - 1], own[kept - 1]);        \
            own[to] = is_own ? own[kept - 1] : ids[taken - 1];                                                         \
            near[to] = is_own ? near[kept - 1] : distance2[taken - 1];                                                 \
            kept -= is_own;                                                                                            \
            taken -= !is_own;                                                                                          \
        }                                                                                                              \
    }
MERGE(float)
MERGE(double)

void sap_cluster_merge(const sap_cluster_asking* a, int64_t row, const int64_t* ids, const void* distance2,
                       int32_t count) {
    int64_t* own = sap_cluster_ids(&a->into, row);
    void* near = sap_cluster_distances(&a->into, row);
    if (a->tree->real_bits == 64)
        merge_double(own, near, a->k, ids, distance2, count);
    else
        merge_float(own, near, a->k, ids, distance2, count);
}

// ---- What a thread has found goes to its rows

// Whether a ball reaches the sides of a cell, in the arithmetic of distances: each rounding keeps order, so what lies
// beyond a side is no nearer than the side.
#define REACHES(real)                                                                                                  \
    static inline bool reaches_##real(const real* cell, const int32_t dims, const real* q, real bound2) {              \
        real least = INFINITY; /* distance to a side; of a NaN nothing is found, whoever is asked */                   \
        for (int32_t a = 0; a < dims; a++) {                                                                           \
            const real low = q[a] - cell[a], high = cell[dims + a] - q[a];                                             \
            least = low < least ? low : least;                                                                         \
            least = high < least ? high : least;                                                                       \
        }                                                                                                              \
        return !(least >= 0 && least * least > bound2);                                                                \
    }
REACHES(float)
REACHES(double)

typedef struct found {
    const int32_t* ids;
    const void* distance2;
    const int32_t* rows; // of the caller's queries; NULL: first, first + 1, …
    int64_t first;
    const unsigned char* coords;
    int64_t stride;
    int64_t count;
} found;

static inline void give(const answering* w, const found* f, int64_t* named, const size_t real, const int32_t dims,
                        const int32_t k) {
    const sap_cluster_asking* a = w->a;
    const int64_t* names = w->piece->ids;
    const int64_t name = w->piece->first;
    const size_t row_bytes = (size_t)k * real;
    const unsigned char* cell = a->tree->top.cells + (size_t)w->piece->subtree * 2 * (size_t)dims * real;
    for (int64_t i = 0; i < f->count; i++) {
        int64_t row = f->rows ? f->rows[i] : f->first + i;
        row = w->rows ? w->rows[row] : w->first_row + row;
        const int32_t* places = f->ids + i * k;
        const unsigned char* distance2 = (const unsigned char*)f->distance2 + (size_t)i * row_bytes;
        if (a->merge) {
            for (int32_t j = 0; j < k; j++) named[j] = places[j] < 0 ? -1 : sap_cluster_name(w->piece, places[j]);
            sap_cluster_merge(a, row, named, distance2, k);
        } else {
            if (a->into.ids) {
                int64_t* ids = sap_cluster_ids(&a->into, row);
                // Without branches: -1 stays.
                if (name < 0)
                    for (int32_t j = 0; j < k; j++)
                        ids[j] = names[places[j] < 0 ? 0 : places[j]] | -(int64_t)(places[j] < 0);
                else
                    for (int32_t j = 0; j < k; j++) ids[j] = (name + places[j]) | -(int64_t)(places[j] < 0);
            }
            if (a->into.distance2) memcpy(sap_cluster_distances(&a->into, row), distance2, row_bytes);
        }
        if (!a->crosses) continue;
        const unsigned char* q = f->coords + (size_t)(i * f->stride) * real;
        const double last = distance_at(a, distance2, k - 1), bound2 = last < a->limit2 ? last : a->limit2;
        a->crosses[row] =
            real == sizeof(float)
                ? reaches_float((const float*)(const void*)cell, dims, (const float*)(const void*)q, (float)bound2)
                : reaches_double((const double*)(const void*)cell, dims, (const double*)(const void*)q, bound2);
    }
}

// Asks memory for the lines that rows lie in.
static void call_rows(const answering* w, const int32_t* rows, int64_t first, int64_t count) {
    const sap_cluster_rows* into = &w->a->into;
    const size_t ids = (size_t)w->a->k * sizeof(int64_t), reals = (size_t)w->a->k * real_of(w);
    if (w->a->k > CELLS / QUERIES) return; // too many
    for (int64_t i = 0; i < count; i++) {
        int64_t row = rows ? rows[i] : first + i;
        row = w->rows ? w->rows[row] : w->first_row + row;
        for (size_t at = 0; into->ids && at < ids; at += LINE)
            __builtin_prefetch(into->ids + (size_t)row * into->ids_pitch + at, 1);
        for (size_t at = 0; into->distance2 && at < reals; at += LINE)
            __builtin_prefetch(into->distance2 + (size_t)row * into->distance_pitch + at, 1);
    }
}

// Asks memory for the names of points, if leaves do not hold them, in cells up to that of a query, from *next on, which
// becomes the cell behind. It is in the thread's memory: compilers leave out functions that only count and ask memory.
static void call_names(const answering* w, int64_t* next, int32_t query) {
    const sap_tree* tree = w->piece->tree;
    const int64_t last = w->order.cell[query - w->first] >> (w->order.home ? w->leaf_bits : 0);
    int64_t cell = *next < last - 1 ? last - 1 : *next; // or begins anew
    *next = last + 1;
    for (; cell <= last; cell++)
        for (int64_t leaf = cell << w->leaf_bits; leaf < (cell + 1) << w->leaf_bits; leaf++) {
            const sap_leaf_block block = sap_leaf_block_at(tree, leaf);
            for (int32_t i = 0; i < block.count; i++) __builtin_prefetch(&w->piece->ids[block.ids[i]]);
        }
}

static void give_rows(const answering* w, const found* f, int64_t* named) {
    const int32_t dims = w->a->tree->dims, k = w->a->k;
    if (w->a->tree->real_bits == 64)
        give(w, f, named, sizeof(double), dims, k);
    else if (dims == 3 && k == 1) // which costs more to give than others, measured by what it takes to find
        give(w, f, named, sizeof(float), 3, 1);
    else
        give(w, f, named, sizeof(float), dims, k);
}

// ---- Runs

static sap_nearest_run run_of(const answering* w, const holding* h) {
    const int64_t count = w->piece->count;
    return (sap_nearest_run){.tree = w->piece->tree,
                             .stride = w->a->tree->dims,
                             .k = (int32_t)(w->a->k < count ? w->a->k : count),
                             .row_length = w->a->k,
                             .limit2 = w->a->limit2,
                             .ids = h->ids,
                             .distance2 = h->distance2,
                             .heap = h->heap};
}

static holding holding_of(const answering* w, int32_t worker) {
    const size_t most = (size_t)w->most, cells = sap_align(most * (size_t)w->a->k * 4);
    const size_t reals = sap_align(most * (size_t)w->a->k * real_of(w)), numbers = sap_align(most * 4);
    unsigned char* at = w->own.memory + (size_t)worker * w->each;
    holding h = {.ids = (int32_t*)(void*)at, .distance2 = at + cells};
    at += cells + reals;
    h.named = (int64_t*)(void*)at;
    h.next = h.named + w->a->k;
    at += sap_align(((size_t)w->a->k + 1) * sizeof *h.named);
    h.rows = (int32_t*)(void*)at;
    h.self = (int32_t*)(void*)(at + numbers);
    h.home = (uint32_t*)(void*)(at + 2 * numbers);
    at += 3 * numbers;
    h.coords = at;
    h.heap = at + sap_align(most * (size_t)w->a->tree->dims * real_of(w));
    return h;
}

static bool take_holdings(answering* w, int64_t queries) {
    const size_t k = (size_t)w->a->k, real = real_of(w), dims = (size_t)w->a->tree->dims;
    w->most = (int32_t)queries;
    const size_t most = (size_t)w->most;
    size_t cells;
    if (!sap_size_multiply(most, k, &cells) || cells > SIZE_MAX / 64 / SAP_TEAM_MOST) return false;
    w->each = sap_align(cells * 4) + sap_align(cells * real) + sap_align((k + 1) * sizeof(int64_t)) +
              3 * sap_align(most * 4) + sap_align(most * dims * real) +
              sap_align(k > SAP_LIST_MAX ? k * LIST_BYTES : 0);
    return sap_scratch_take(w->a->tree->device, w->each * (size_t)w->a->tree->device->options.threads, &w->own);
}

// Runs a run, query by query if each has a limit of its own.
static void search(const answering* w, sap_nearest_run* run, const int32_t* rows, int64_t first) {
    if (!w->a->limits2) {
        sap_nearest_run_cpu(run);
        return;
    }
    sap_nearest_run one = *run;
    one.count = 1;
    for (int64_t i = 0; i < run->count; i++) {
        one.queries = (const unsigned char*)run->queries + (size_t)(i * run->stride) * real_of(w);
        one.home = run->home ? run->home + i : NULL;
        one.first_row = i;
        one.limit2 = w->a->limits2[rows ? rows[i] : first + i];
        sap_nearest_run_cpu(&one);
    }
}

static void answer_range(void* context, int64_t from, int64_t to, int32_t worker) {
    const answering* w = context;
    const holding h = holding_of(w, worker);
    const bool is_ordered = w->order.coords != NULL;
    const unsigned char* coords = is_ordered ? w->order.coords : w->queries->coords;
    const int64_t stride = is_ordered ? w->a->tree->dims : w->queries->stride;
    const int32_t half = w->most / 2;
    found before = {.count = 0};
    int side = 0;
    *h.next = 0;
    for (int64_t count; from < to; from += count, side = !side) {
        count = to - from < half ? to - from : half;
        sap_nearest_run run = run_of(w, &h);
        const int32_t* rows = is_ordered ? w->order.rows + from : NULL;
        const size_t skipped = (size_t)(side * half) * (size_t)w->a->k;
        run.queries = coords + (size_t)(from * stride) * real_of(w);
        run.stride = stride;
        run.count = count;
        run.home = w->order.home ? w->order.home + from : NULL;
        run.ids = h.ids + skipped;
        run.distance2 = (unsigned char*)h.distance2 + skipped * real_of(w);
        call_rows(w, rows, from, count);
        if (is_ordered && w->piece->first < 0) call_names(w, h.next, rows[count - 1]);
        search(w, &run, rows, from);
        if (before.count) give_rows(w, &before, h.named);
        before = (found){run.ids, run.distance2, rows, from, run.queries, stride, count};
    }
    give_rows(w, &before, h.named);
}

static sap_status no_memory(const answering* w, int64_t count) {
    return sap_fail(w->a->tree->device, SAP_ERROR_MEMORY, "no memory to answer %lld queries", (long long)count);
}

// A subtree without points.
static void answer_nothing(const answering* w, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        const int64_t row = w->rows ? w->rows[i] : w->first_row + i;
        if (!w->a->merge) sap_cluster_clear(w->a, row);
        if (w->a->crosses) w->a->crosses[row] = 1;
    }
}

sap_status sap_cluster_answer(const sap_cluster_asking* a, int32_t piece, const sap_rows* queries,
                              const int32_t* rows) {
    sap_device* device = a->tree->device;
    answering w = {.a = a, .piece = &a->tree->pieces[piece], .rows = rows, .queries = queries};
    if (!queries->count) return SAP_OK;
    if (!w.piece->count) {
        answer_nothing(&w, queries->count);
        return SAP_OK;
    }
    sap_status status =
        take_holdings(&w, a->k <= CELLS / QUERIES ? 2 * QUERIES : 2) ? SAP_OK : no_memory(&w, queries->count);
    const bool orders = !a->ordered && queries->count >= SAP_QUERY_FEW;
    const int64_t slab = queries->count < SAP_QUERY_SLAB ? queries->count : SAP_QUERY_SLAB;
    if (status == SAP_OK && orders) status = sap_queries_reserve(w.piece->tree, slab, a->k == 1, &w.order);
    w.leaf_bits = w.piece->tree->shape.depth < ORDER_BITS ? 0 : w.piece->tree->shape.depth - ORDER_BITS;
    for (int64_t first = 0; status == SAP_OK && orders && first < queries->count; first += slab) {
        const int64_t left = queries->count - first;
        w.first = first;
        sap_queries_order(w.piece->tree, queries, first, left < slab ? left : slab, &w.order);
        sap_team_loop(device->options.threads, w.order.count, SAP_QUERY_RUN, answer_range, &w);
    }
    if (status == SAP_OK && !orders)
        sap_team_loop(device->options.threads, queries->count, SAP_QUERY_RUN, answer_range, &w);
    sap_scratch_give(device, &w.order.scratch);
    sap_scratch_give(device, &w.own);
    return status;
}

// ---- A subtree's own points

// Lists the points of leaves from `leaf` on, as many as fit; the leaf behind them.
static int64_t list_leaves(const answering* w, const holding* h, int64_t leaf, int64_t end, int64_t* count) {
    const sap_tree* tree = w->piece->tree;
    const int32_t dims = tree->shape.dims;
    *count = 0;
    for (; leaf < end; leaf++) {
        const sap_leaf_block block = sap_leaf_block_at(tree, leaf);
        if (*count + block.count > w->most) break;
        for (int32_t i = 0; i < block.count; i++, (*count)++) {
            if (w->piece->first < 0) __builtin_prefetch(&w->piece->ids[block.ids[i]]);
            h->rows[*count] = sap_cluster_place(w->piece, leaf, i, block.ids[i]);
            h->self[*count] = w->a->with_self ? -1 : block.ids[i];
            h->home[*count] = (uint32_t)leaf;
            sap_leaf_point(tree, &block, i, h->coords + (size_t)(*count * dims) * real_of(w));
        }
    }
    return leaf;
}

static void answer_leaves(void* context, int64_t from, int64_t to, int32_t worker) {
    const answering* w = context;
    const holding h = holding_of(w, worker);
    while (from < to) {
        int64_t count;
        const int64_t next = list_leaves(w, &h, from, to, &count);
        sap_nearest_run run = run_of(w, &h);
        if (w->leaves) {
            run.first_row = from;
            run.count = next - from;
            run.in_turn = true;
            run.skip_self = !w->a->with_self;
            w->leaves->search(&run);
        } else {
            run.queries = h.coords;
            run.count = count;
            run.home = w->a->k == 1 ? h.home : NULL;
            run.without = h.self;
            sap_nearest_run_cpu(&run);
        }
        give_rows(w, &(found){h.ids, h.distance2, h.rows, 0, h.coords, w->a->tree->dims, count}, h.named);
        from = next;
    }
}

sap_status sap_cluster_answer_self(const sap_cluster_asking* a, int32_t piece, int64_t first_row) {
    sap_device* device = a->tree->device;
    answering w = {.a = a, .piece = &a->tree->pieces[piece], .first_row = first_row};
    if (!w.piece->count) return SAP_OK;
    w.leaves = sap_nearest_self_kernels_of(w.piece->tree, a->k);
    const int32_t least = w.piece->tree->shape.capacity, usual = a->k < CELLS ? CELLS / a->k : 1;
    if (!take_holdings(&w, least > usual ? least : usual)) return no_memory(&w, w.piece->count);
    sap_team_loop(device->options.threads, sap_leaf_places(w.piece->tree), LEAVES_RUN, answer_leaves, &w);
    sap_scratch_give(device, &w.own);
    return SAP_OK;
}
