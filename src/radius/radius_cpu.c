// The batch radius search on the CPU. Counting writes its answers at once. Collecting writes hits into segments that
// belong to one thread each, and moves those of a slab of queries to their rows when its counts, and so its offsets, are
// known.
#include "radius/radius_cpu.h"
#include "base/assert.h"
#include "base/team.h"
#include "device/cpu.h"
#include "device/progress.h"
#include "radius/neighbors.h"
#include "radius/radius.h"
#include "tree/periods.h"
#include "tree/queries.h"
#include <string.h>

enum { SEGMENT_HITS = 1 << 20, SEGMENT_PIECES = 1024 };
// Hits are collected in so many slabs of queries, each moved to its rows at its end: more slabs would take less memory, but
// the queries of smaller ones lie farther apart in the tree.
#if defined(__EMSCRIPTEN__) // where code is downloaded
enum { SLABS = 1, SLAB_LEAST = 0 };
#else
enum { SLABS = 10, SLAB_LEAST = 3 << 15 };
#endif

// Hits of consecutive queries.
typedef struct piece {
    const int32_t* rows; // the queries' rows; NULL: first_row, first_row + 1, …
    int64_t first_row, count, start;
} piece;

typedef struct segment {
    struct segment* next;
    sap_scratch scratch; // holds this segment too
    int32_t* ids;
    unsigned char* distance2;
    int64_t used, room;
    int pieces;
    piece piece[SEGMENT_PIECES];
} segment;

typedef struct radius_search {
    const sap_tree* tree;
    const sap_radius_job* job;
    const sap_radius_kernels* kernels;
    const sap_radius_kernels* periodic; // for queries that reach around a tree with periods; else NULL
    int64_t* counts;                    // of each query; of collected hits, before they become the offsets that follow
    segment* segments;                  // of all threads
    sap_progress_state progress;
    int failed; // a thread found no memory
} radius_search;

static segment* new_segment(const radius_search* state, int64_t room) {
    size_t header = sap_align(sizeof(segment)), real = sap_real_bytes(&state->tree->shape);
    sap_scratch scratch;
    // Kernels may write a register beyond the last hit.
    size_t ids = sap_align((size_t)room * 4) + SAP_ALIGNMENT,
           distances = sap_align((size_t)room * real) + SAP_ALIGNMENT;
    if (!sap_scratch_take(state->tree->device, header + ids + distances, &scratch)) return NULL;
    segment* s = (segment*)(void*)scratch.memory;
    s->next = NULL;
    s->scratch = scratch;
    s->ids = (int32_t*)(void*)(scratch.memory + header);
    s->distance2 = scratch.memory + header + ids;
    SAP_ASSERT(header + ids + distances <= scratch.bytes);
    s->used = 0;
    s->room = room;
    s->pieces = 0;
    return s;
}

static void give_segments(radius_search* state) {
    for (segment* s = state->segments; s;) {
        segment* next = s->next;
        sap_scratch scratch = s->scratch;
        sap_scratch_give(state->tree->device, &scratch);
        s = next;
    }
    state->segments = NULL;
}

static void publish(radius_search* state, segment* s) {
    s->next = __atomic_load_n(&state->segments, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&state->segments, &s->next, s, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {}
}

static void search_run(const radius_search* state, sap_radius_run* run) {
    if (state->periodic)
        sap_radius_run_periodic(state->kernels, state->periodic, run);
    else
        state->kernels->search(run);
}

// Collects the hits of a run in the thread's segment, and in new segments when that is full. False if memory is
// exhausted.
static bool collect(radius_search* state, sap_radius_run* run, segment** current) {
    int64_t wanted = SEGMENT_HITS;
    while (run->done < run->count) {
        segment* s = *current;
        if (!s || s->pieces == SEGMENT_PIECES) {
            s = new_segment(state, wanted);
            if (!s) return false;
            publish(state, s);
            *current = s;
        }
        int64_t before = run->done;
        run->ids = s->ids;
        run->distance2 = s->distance2;
        run->used = s->used;
        run->room = s->room;
        search_run(state, run);
        SAP_ASSERT(run->done >= before && run->done <= run->count);
        SAP_ASSERT(run->used >= s->used && run->used <= run->room);
        if (run->done > before) {
            SAP_ASSERT(s->pieces < SEGMENT_PIECES);
            s->piece[s->pieces++] =
                (piece){run->rows ? run->rows + before : NULL, run->first_row + before, run->done - before, s->used};
            s->used = run->used;
        } else if (s->used == 0)
            wanted = 2 * s->room; // one query has more hits than a whole segment holds
        if (run->done < run->count) *current = NULL;
    }
    return true;
}

static bool run_one(radius_search* state, sap_radius_run* run, segment** current) {
    run->tree = state->tree;
    run->greater_only = state->job->self;
    run->limit2 = state->job->limit2;
    run->told = state->job->told;
    run->counts = state->counts;
    if (state->job->found || state->job->into) return collect(state, run, current);
    search_run(state, run);
    return true;
}

typedef struct whole_search {
    radius_search* state;
    const sap_radius_run* whole;
    segment* current[SAP_TEAM_MOST]; // of each worker
} whole_search;

static void run_range(void* context, int64_t from, int64_t to, int32_t worker) {
    whole_search* all = context;
    radius_search* state = all->state;
    const size_t row = (size_t)all->whole->stride * sap_real_bytes(&state->tree->shape);
    if (__atomic_load_n(&state->failed, __ATOMIC_RELAXED) || !sap_progress_add(&state->progress, 0)) return;
    sap_radius_run run = *all->whole;
    run.count = to - from;
    run.queries = (const unsigned char*)run.queries + (size_t)from * row;
    run.first_row += from;
    if (run.rows) run.rows += from;
    if (run_one(state, &run, &all->current[worker]))
        sap_progress_add(&state->progress, run.count);
    else
        __atomic_store_n(&state->failed, 1, __ATOMIC_RELAXED);
}

static sap_status fail_cancelled(const sap_device* device) {
    return sap_fail(device, SAP_ERROR_CANCELLED, "the search was cancelled");
}

// Answers the queries of `whole`; threads take them in short runs.
static sap_status run_all(radius_search* state, const sap_radius_run* whole) {
    sap_device* device = state->tree->device;
    const int32_t threads = whole->count > SAP_QUERY_RUN ? device->options.threads : 1;
    whole_search all;
    all.state = state;
    all.whole = whole;
    for (int32_t i = 0; i < threads; i++) all.current[i] = NULL;
    sap_team_loop(threads, whole->count, SAP_QUERY_RUN, run_range, &all);
    if (state->failed) return sap_fail(device, SAP_ERROR_MEMORY, "no memory to collect the hits");
    return state->progress.cancelled ? fail_cancelled(device) : SAP_OK;
}

// Where hits go: row i to offsets[i] and on, as far as there is room.
typedef struct target {
    int64_t* offsets;
    int32_t* ids;
    unsigned char* distance2; // may be NULL
    int64_t capacity;
} target;

static void move_segment(const segment* s, const radius_search* state, const target* out) {
    size_t real = sap_real_bytes(&state->tree->shape);
    for (int p = 0; p < s->pieces; p++) {
        int64_t from = s->piece[p].start;
        for (int64_t i = 0; i < s->piece[p].count; i++) {
            int64_t row = s->piece[p].rows ? s->piece[p].rows[i] : s->piece[p].first_row + i;
            int64_t to = out->offsets[row], count = out->offsets[row + 1] - to, room = out->capacity - to;
            size_t fit = room <= 0 ? 0 : (size_t)(count < room ? count : room);
            if (fit) memcpy(out->ids + to, s->ids + from, fit * 4);
            if (fit && out->distance2)
                memcpy(out->distance2 + (size_t)to * real, s->distance2 + (size_t)from * real, fit * real);
            from += count;
        }
        SAP_ASSERT(from == (p + 1 < s->pieces ? s->piece[p + 1].start : s->used));
    }
}

typedef struct move {
    const radius_search* state;
    const target* out;
    segment* left; // a list to which none is added any more
} move;

// Each part takes the first segment that is left.
static void move_next(void* context, int64_t part, int32_t worker) {
    move* m = context;
    segment* s = __atomic_load_n(&m->left, __ATOMIC_ACQUIRE);
    (void)part, (void)worker;
    while (s && !__atomic_compare_exchange_n(&m->left, &s, s->next, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {}
    SAP_ASSERT(s);
    move_segment(s, m->state, m->out);
}

static void move_all(const radius_search* state, const target* out) {
    move m = {state, out, state->segments};
    int64_t segments = 0;
    for (const segment* s = m.left; s; s = s->next) segments++;
    sap_team_run(state->tree->device->options.threads, segments, move_next, &m);
}

// Where the hits of a search go, slab after slab: to rows that are made (job->found) or to the caller's (job->into).
typedef struct rows {
    sap_neighbors* made;
    target out;
    int64_t used; // hits of all slabs before
} rows;

static target target_of(const sap_neighbors* made, int64_t capacity) {
    const void* distance2 = made->distance2 ? (const void*)made->distance2 : (const void*)made->distance2_f64;
    return (target){(int64_t*)(uintptr_t)made->offsets, (int32_t*)(uintptr_t)made->ids,
                    (unsigned char*)(uintptr_t)distance2, capacity};
}

// The counts of the first `done` queries, and those of the others to come, stand where they will become offsets.
static void begin_offsets(radius_search* state, int64_t* offsets, int64_t done) {
    memset(offsets, 0, (size_t)(state->job->queries.count + 1) * 8);
    memcpy(offsets + 1, state->counts, (size_t)done * 8);
    state->counts = offsets + 1;
}

// Makes room in rows that are made for `needed` hits, of the first `done` queries. How many all will have is guessed from
// these, since most systems give memory only where it is used; where they do not, what is needed is enough.
static sap_status make_room(radius_search* state, rows* r, int64_t needed, int64_t done) {
    sap_device* device = state->tree->device;
    const int64_t count = state->job->queries.count;
    const int32_t real_bits = state->tree->shape.real_bits;
    if (r->made && needed <= r->out.capacity) return SAP_OK;
    double guess = SLABS > 1 && done < count ? (double)needed / (double)done * (double)count * 1.125 : 0;
    const double most = (double)state->tree->shape.count * (double)count;
    if (guess > most) guess = most;
    int64_t capacity = guess > (double)needed ? (int64_t)guess : needed;
    sap_neighbors* made;
    if (sap_neighbors_try(device, count, real_bits, capacity, &made) != SAP_OK) {
        capacity = needed;
        const sap_status status = sap_neighbors_reserve(device, count, real_bits, capacity, &made);
        if (status != SAP_OK) return status;
    }
    const target out = target_of(made, capacity);
    begin_offsets(state, out.offsets, done);
    if (SLABS > 1 && r->made) {
        const int32_t threads = device->options.threads;
        const size_t real = sap_real_bytes(&state->tree->shape);
        sap_memory_pack(out.ids, r->out.ids, 4, 4, (size_t)r->used, threads);
        sap_memory_pack(out.distance2, r->out.distance2, real, real, (size_t)r->used, threads);
        sap_neighbors_free(r->made);
    }
    r->made = made;
    r->out = out;
    return SAP_OK;
}

// Moves the hits of queries [first, end) to their rows. The counts of all queries before have become offsets.
static sap_status finish_slab(radius_search* state, rows* r, int64_t first, int64_t end) {
    int64_t sum = r->used;
    for (int64_t i = first; i < end; i++) sum += state->counts[i];
    const sap_status status = state->job->found ? make_room(state, r, sum, end) : SAP_OK;
    if (status != SAP_OK) return status;
    if (state->job->into && first == 0) begin_offsets(state, r->out.offsets, end);
    SAP_ASSERT(state->counts == r->out.offsets + 1 && (first > 0 || r->out.offsets[0] == 0));
    for (int64_t i = first; i < end; i++) state->counts[i] += r->out.offsets[i];
    SAP_ASSERT(r->out.offsets[end] == sum);
    r->used = sum;
    move_all(state, &r->out);
    give_segments(state);
    return SAP_OK;
}

// Orders queries [first, first + count) where that pays, and searches for them.
static sap_status search_slab(radius_search* state, int64_t first, int64_t count, sap_query_order* order) {
    const sap_rows* q = &state->job->queries;
    const sap_tree_shape* s = &state->tree->shape;
    if (!order->coords) {
        const size_t skipped = (size_t)(first * q->stride) * sap_real_bytes(s);
        return run_all(state, &(sap_radius_run){.queries = (const unsigned char*)q->coords + skipped,
                                                .count = count,
                                                .stride = q->stride,
                                                .first_row = first});
    }
    if (state->job->self)
        sap_queries_of_leaves(state->tree, 0, s->leaves, order);
    else
        sap_queries_order(state->tree, q, first, count, order);
    SAP_ASSERT(order->count <= count);
    return run_all(state, &(sap_radius_run){
                              .queries = order->coords, .count = order->count, .stride = s->dims, .rows = order->rows});
}

static int64_t slab_of(const radius_search* state) {
    const int64_t count = state->job->queries.count;
    if (SLABS == 1 || state->job->self || state->job->counts || count <= SLAB_LEAST) return count;
    return count / SLABS > SLAB_LEAST ? count / SLABS : SLAB_LEAST;
}

// Answers all queries, those whose hits are collected in slabs, in the caller's order: then no more than a slab's hits
// are anywhere but in their rows.
static sap_status search(radius_search* state, rows* r, int64_t slab) {
    const sap_radius_job* job = state->job;
    const int64_t count = job->queries.count;
    sap_query_order order = {.count = 0};
    sap_status status = SAP_OK;
    if (job->self || count >= SAP_QUERY_FEW)
        status = sap_queries_reserve(state->tree, job->self ? state->tree->shape.count : slab, false, &order);
    int64_t first = 0;
    do {
        const int64_t part = count - first < slab ? count - first : slab;
        if (status == SAP_OK) status = search_slab(state, first, part, &order);
        first += part;
        if (status == SAP_OK && !job->counts) status = finish_slab(state, r, first - part, first);
    } while (status == SAP_OK && first < count);
    if (status == SAP_OK && state->progress.total > SAP_QUERY_RUN && !sap_progress_finish(&state->progress))
        status = fail_cancelled(state->tree->device);
    sap_scratch_give(state->tree->device, &order.scratch);
    return status;
}

// The vector kernels for a job, or NULL: the shared text answers.
static const sap_radius_kernels* kernels_of(const sap_tree* tree, const sap_radius_job* job) {
    const sap_cpu_kernels* all = sap_cpu_kernels_of(tree->device, tree->shape.real_bits);
    const sap_told* told = job->told;
    if (tree->shape.kind == SAP_TREE_EXPLICIT) {
        const bool is_plain = !told && !job->self && !sap_is_periodic(&tree->options);
        return is_plain && tree->beside ? all->radius_explicit : NULL;
    }
    if (!told) return all->radius;
    return sap_told_in_vectors(told) ? all->radius_told[told->metric] : NULL;
}

// Those that know periods, for what kernels_of gives kernels for.
static const sap_radius_kernels* periodic_kernels_of(const sap_tree* tree, const sap_told* told) {
    if (!sap_is_periodic(&tree->options)) return NULL;
    const sap_cpu_kernels* all = sap_cpu_kernels_of(tree->device, tree->shape.real_bits);
    return all->radius_periodic[told ? told->metric : SAP_METRIC_L2];
}

// A run through the shared texts: those that collect are first counted, since rows must have room for all.
static void run_walk(sap_radius_run* run) {
    const sap_tree_shape* s = &run->tree->shape;
    const size_t real = sap_real_bytes(s);
    const bool is_periodic = sap_is_periodic(&run->tree->options);
    const sap_told* told = is_periodic ? &sap_told_nothing : NULL;
    const sap_radius_answer count =
        is_periodic ? sap_radius_answer_choose_periodic(s, false) : sap_radius_answer_choose(s, false);
    const sap_radius_answer collect_all =
        is_periodic ? sap_radius_answer_choose_periodic(s, true) : sap_radius_answer_choose(s, true);
    for (; run->done < run->count; run->done++) {
        const void* query = (const unsigned char*)run->queries + (size_t)(run->done * run->stride) * real;
        const int64_t row = run->rows ? run->rows[run->done] : run->first_row + run->done;
        run->counts[row] = count(run->tree, told, query, run->limit2, -1, NULL, NULL);
        if (!run->ids) continue;
        if (run->counts[row] > run->room - run->used) return;
        collect_all(run->tree, told, query, run->limit2, -1, run->ids + run->used,
                    (unsigned char*)run->distance2 + (size_t)run->used * real);
        run->used += run->counts[row];
    }
}

void sap_radius_run_cpu(sap_radius_run* run) {
    const sap_radius_job plain = {.limit2 = run->limit2};
    const sap_radius_kernels* kernels = kernels_of(run->tree, &plain);
    const sap_radius_kernels* periodic = periodic_kernels_of(run->tree, NULL);
    SAP_ASSERT(!run->told && !run->greater_only);
    if (!kernels)
        run_walk(run);
    else if (periodic)
        sap_radius_run_periodic(kernels, periodic, run);
    else
        kernels->search(run);
}

static sap_status answer(const sap_tree* tree, const sap_radius_job* job) {
    const sap_radius_kernels* kernels = kernels_of(tree, job);
    if (job->into && (!kernels || job->into->capacity == 0)) return sap_radius_into_cpu(tree, job);
    if (!kernels) return sap_radius_walk_cpu(tree, job);
    radius_search state = {.tree = tree,
                           .job = job,
                           .kernels = kernels,
                           .periodic = periodic_kernels_of(tree, job->told),
                           .counts = job->counts,
                           .progress = sap_progress_begin(tree->device, job->queries.count)};
    rows r = {.made = NULL};
    sap_scratch counts = {NULL, 0};
    const int64_t slab = slab_of(&state);
    int64_t only = 0; // a single query needs no memory for its count
    if (job->into && slab == 1) {
        state.counts = &only;
    } else if (!job->counts) {
        const size_t bytes = (size_t)slab * 8;
        if (!sap_scratch_take(tree->device, bytes + 1, &counts))
            return sap_fail(tree->device, SAP_ERROR_MEMORY, "no memory to count the hits of %lld queries",
                            (long long)slab);
        state.counts = (int64_t*)(void*)counts.memory;
        memset(state.counts, 0, bytes);
    }
    if (job->into) r.out = (target){job->into->offsets, job->into->ids, job->into->distance2, job->into->capacity};
    const sap_status status = search(&state, &r, slab);
    give_segments(&state);
    sap_scratch_give(tree->device, &counts);
    if (status == SAP_OK && job->found)
        *job->found = r.made;
    else
        sap_neighbors_free(r.made);
    return status;
}

sap_status sap_radius_cpu(const sap_tree* tree, const sap_radius_job* job) {
    if (!sap_is_periodic(&tree->options)) return answer(tree, job);
    sap_radius_job inside = *job;
    sap_wrapped wrapped;
    sap_status status = sap_wrapped_open(tree, &job->queries, &wrapped);
    if (status != SAP_OK) return status;
    inside.queries = wrapped.rows;
    status = answer(tree, &inside);
    sap_wrapped_close(tree, &wrapped);
    return status;
}
