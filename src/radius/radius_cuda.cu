// The radius search on a CUDA device. Collecting takes two passes over the queries: the first counts, the counts become
// offsets, the second writes the hits to their rows. The host does not wait between them if the caller says how much
// room there is, or if it can guess from the last search how many hits there will be.
#include "base/assert.h"
#include "compact/prefix_sum_cuda.h"
#include "radius/radius_cuda.h"
#include "radius/radius_kernels_cuda.cuh"

// A guess saves some 10 µs. For more bytes than these a wrong guess costs too much.
static const double GUESS_BYTES = 64 << 20;

typedef struct radius_search {
    sap_cuda_call call;
    const sap_tree* tree;
    const sap_radius_job* job;
    sap_radius_pass pass;
    bool is_told; // then one of these:
    sap_cuda_told<float> told;
    sap_cuda_told<double> told_f64;
    bool on_device; // the rows stay on the GPU
    sap_neighbors_home home;
} radius_search;

// ---- Passes

template <typename real, int dims> static void run_plain(radius_search* r, bool collect) {
    sap_radius_launch<real, dims, SAP_RADIUS_PLAIN>(&r->call, r->tree, r->pass, sap_radius_no_more(), collect);
}

static void run_told_f32(radius_search* r, bool collect) {
    sap_cuda_call* call = &r->call;
    if (r->tree->shape.dims != 3) {
        sap_radius_launch<float, 0, SAP_CUDA_ANY>(call, r->tree, r->pass, r->told, collect);
        return;
    }
    switch (r->told.measure) {
    case SAP_CUDA_L2: sap_radius_launch<float, 3, SAP_CUDA_L2>(call, r->tree, r->pass, r->told, collect); break;
    case SAP_CUDA_L1: sap_radius_launch<float, 3, SAP_CUDA_L1>(call, r->tree, r->pass, r->told, collect); break;
    case SAP_CUDA_LINF: sap_radius_launch<float, 3, SAP_CUDA_LINF>(call, r->tree, r->pass, r->told, collect); break;
    case SAP_CUDA_AROUND: sap_radius_launch<float, 3, SAP_CUDA_AROUND>(call, r->tree, r->pass, r->told, collect); break;
    default: sap_radius_launch<float, 3, SAP_CUDA_ANY>(call, r->tree, r->pass, r->told, collect); break;
    }
}

static void run_told_f64(radius_search* r, bool collect) {
    if (r->tree->shape.dims == 3 && r->told_f64.measure == SAP_CUDA_AROUND)
        sap_radius_launch<double, 3, SAP_CUDA_AROUND>(&r->call, r->tree, r->pass, r->told_f64, collect);
    else
        sap_radius_launch<double, 0, SAP_CUDA_ANY>(&r->call, r->tree, r->pass, r->told_f64, collect);
}

static void run_pass(radius_search* r, bool collect) {
    const sap_tree_shape* shape = &r->tree->shape;
    const bool is_wide = shape->real_bits == 64;
    if (r->is_told) {
        (is_wide ? run_told_f64 : run_told_f32)(r, collect);
    } else if (is_wide) {
        (shape->dims == 3 ? run_plain<double, 3> : run_plain<double, 0>)(r, collect);
    } else {
        switch (shape->dims) {
        case 2: run_plain<float, 2>(r, collect); break;
        case 3: run_plain<float, 3>(r, collect); break;
        case 4: run_plain<float, 4>(r, collect); break;
        case 8: run_plain<float, 8>(r, collect); break;
        default: run_plain<float, 0>(r, collect); break;
        }
    }
}

// Sets up the queries and what both passes share.
static void prepare(radius_search* r) {
    const sap_tree* tree = r->tree;
    const sap_tree_shape* shape = &tree->shape;
    const sap_cuda_tree* beside = sap_cuda_tree_of(tree);
    sap_radius_pass* pass = &r->pass;
    if (shape->count == 0 || pass->all_rows == 0) return; // no query is answered
    sap_cuda_queries queries;
    const sap_tree* from = pass->self ? tree : r->job->from;
    if (from)
        queries = sap_cuda_queries_from(&r->call, from, tree);
    else {
        const sap_rows rows = sap_cuda_rows_within(&r->call, tree, &r->job->queries);
        queries = sap_cuda_queries_order(&r->call, tree, &rows, false);
    }
    pass->queries = queries.coords;
    pass->rows = queries.rows;
    pass->by_row = queries.by_row;
    pass->count = queries.count;
    pass->stride = queries.stride;
    r->is_told = r->job->told || sap_is_periodic(&tree->options);
    if (r->is_told && shape->real_bits == 64)
        r->told_f64 = sap_cuda_told_of<double>(&r->call, tree, r->job->told, r->job->queries.count);
    else if (r->is_told)
        r->told = sap_cuda_told_of<float>(&r->call, tree, r->job->told, r->job->queries.count);
    pass->boxes = beside->boxes;
    pass->bad = beside->bad;
    sap_radius_spread(&r->call, shape, pass);
}

// Rows to which no query will write.
static void zero_rows(radius_search* r, int64_t* counts) {
    const bool covers_all = !r->job->self && !r->job->from && r->tree->shape.count > 0;
    if (!covers_all) sap_cuda_fill(&r->call, counts, 0, (size_t)r->pass.all_rows * sizeof *counts);
}

static sap_status count(radius_search* r) {
    r->pass.counts =
        (int64_t*)sap_cuda_out(&r->call, r->job->counts, (size_t)r->pass.all_rows * sizeof *r->pass.counts);
    zero_rows(r, r->pass.counts);
    run_pass(r, false);
    return sap_cuda_end(&r->call, SAP_OK);
}

// ---- Room for rows

static void* take(radius_search* r, sap_scratch* block, size_t bytes) {
    if (!r->on_device) return sap_cuda_take(&r->call, bytes);
    block->memory = (unsigned char*)sap_cuda_allocate(&r->call, bytes);
    block->bytes = bytes;
    return block->memory;
}

static void give_up(radius_search* r, sap_scratch* block) {
    sap_cuda_release(r->call.device, block->memory, block->bytes);
    block->memory = NULL;
}

// Takes memory for `hits` ids, and behind them distances.
static void make_room(radius_search* r, int64_t hits) {
    const size_t real = sap_real_bytes(&r->tree->shape), ids = ((size_t)hits * 4 + 255) / 256 * 256;
    size_t bytes;
    give_up(r, &r->home.hits);
    if (r->call.status != SAP_OK) return;
    if (!sap_size_multiply((uint64_t)hits, 4 + real, &bytes) || !sap_size_add(bytes, 256, &bytes)) {
        r->call.status = sap_fail(r->call.device, SAP_ERROR_RANGE, "%lld neighbours are more than can be addressed",
                                  (long long)hits);
        return;
    }
    unsigned char* memory = (unsigned char*)take(r, &r->home.hits, bytes);
    r->pass.room = hits;
    r->pass.ids = (int32_t*)(void*)memory;
    r->pass.distance2 = memory ? memory + ids : NULL;
}

// A quarter more hits than there were in the last search, for as many rows as this one has; 0: there was none.
static int64_t guess_hits(const radius_search* r) {
    const int64_t last = __atomic_load_n(&r->call.cuda->radius_hits, __ATOMIC_RELAXED);
    const double hits = (double)last * (double)r->pass.all_rows / 1024 * 1.25 + 1024;
    return last > 0 && hits * 12 <= GUESS_BYTES ? (int64_t)hits : 0;
}

// Rows that stay on the GPU are moved to a block of just their size, if they take less than half of theirs.
static void tighten(radius_search* r, int64_t total) {
    if (!r->on_device || r->call.status != SAP_OK || r->pass.room / 2 < total + 65536) return;
    const sap_scratch loose = r->home.hits;
    const sap_radius_pass from = r->pass;
    r->home.hits.memory = NULL;
    make_room(r, total);
    sap_cuda_copy(&r->call, r->pass.ids, from.ids, (size_t)total * 4);
    sap_cuda_copy(&r->call, r->pass.distance2, from.distance2, (size_t)total * sap_real_bytes(&r->tree->shape));
    sap_cuda_release(r->call.device, loose.memory, loose.bytes);
}

// ---- Collecting

// Fills rows on the GPU; how many hits there are.
static int64_t fill_rows(radius_search* r) {
    const int64_t rows = r->pass.all_rows, guess = guess_hits(r);
    int64_t total = 0;
    int64_t* offsets = (int64_t*)take(r, &r->home.offsets, (size_t)(rows + 1) * sizeof *offsets);
    if (!offsets) return 0;
    r->pass.counts = offsets + 1;
    r->pass.offsets = offsets;
    zero_rows(r, r->pass.counts);
    run_pass(r, false);
    sap_prefix_sum_cuda(&r->call, offsets, rows);
    if (guess > 0) {
        make_room(r, guess);
        run_pass(r, true);
    }
    sap_cuda_fetch(&r->call, &total, offsets + rows, sizeof total);
    if (r->call.status != SAP_OK) return 0;
    SAP_ASSERT(total >= 0);
    if (guess == 0 || total > guess) {
        make_room(r, total);
        run_pass(r, true);
    } else
        tighten(r, total);
    if (rows > 0)
        __atomic_store_n(&r->call.cuda->radius_hits, (int64_t)((double)total / (double)rows * 1024), __ATOMIC_RELAXED);
    return total;
}

// Copies rows to host memory.
static sap_status bring_down(radius_search* r, int64_t total, sap_neighbors** out) {
    const int64_t rows = r->pass.all_rows;
    const int32_t real_bits = r->tree->shape.real_bits;
    const sap_status status = sap_neighbors_reserve(r->call.device, rows, real_bits, total, out);
    if (status != SAP_OK) return status;
    const sap_neighbors* made = *out;
    const void* distance2 = real_bits == 32 ? (const void*)made->distance2 : (const void*)made->distance2_f64;
    r->call.waits = true;
    sap_cuda_copy(&r->call, (void*)(uintptr_t)made->offsets, r->pass.offsets, (size_t)(rows + 1) * 8);
    sap_cuda_copy(&r->call, (void*)(uintptr_t)made->ids, r->pass.ids, (size_t)total * 4);
    sap_cuda_copy(&r->call, (void*)(uintptr_t)distance2, r->pass.distance2, (size_t)total * (size_t)real_bits / 8);
    return SAP_OK;
}

static sap_status keep(radius_search* r, sap_neighbors** out) {
    sap_neighbors rows = {};
    rows.count = r->pass.all_rows;
    rows.offsets = r->pass.offsets;
    rows.ids = r->pass.ids;
    if (r->tree->shape.real_bits == 32)
        rows.distance2 = (const float*)r->pass.distance2;
    else
        rows.distance2_f64 = (const double*)r->pass.distance2;
    r->home.release = sap_cuda_release;
    r->home.sort = sap_neighbors_sort_cuda;
    r->home.shorten = sap_neighbors_shorten_cuda;
    return sap_neighbors_adopt(r->call.device, &rows, &r->home, out);
}

static sap_status collect(radius_search* r) {
    sap_neighbors* made = NULL;
    r->on_device = r->job->self || r->job->from ? r->call.cuda->caller_stream
                                                : sap_cuda_on_device(&r->call, r->job->queries.coords);
    const int64_t total = fill_rows(r);
    sap_status status = r->call.status;
    if (status == SAP_OK) status = r->on_device ? keep(r, &made) : bring_down(r, total, &made);
    status = sap_cuda_end(&r->call, status);
    if (status == SAP_OK) {
        *r->job->found = made;
        return SAP_OK;
    }
    if (!made) {
        give_up(r, &r->home.offsets);
        give_up(r, &r->home.hits);
    }
    sap_neighbors_free(made);
    return status;
}

// ---- Collecting into the caller's memory

// Room on the GPU for hits that go to the host, as much as they need. False if no pass has to collect any.
static bool make_room_there(radius_search* r, const sap_radius_rows* rows, bool ids_there, bool distance2_there) {
    int64_t total = 0;
    r->pass.room = rows->capacity;
    r->pass.ids = rows->ids;
    r->pass.distance2 = rows->distance2;
    if (ids_there && (distance2_there || !rows->distance2)) return true;
    sap_cuda_fetch(&r->call, &total, r->pass.offsets + r->pass.all_rows, sizeof total);
    if (total < r->pass.room) r->pass.room = total;
    size_t bytes;
    if (!sap_size_multiply((uint64_t)r->pass.room, sap_real_bytes(&r->tree->shape), &bytes)) {
        r->call.status = sap_fail(r->call.device, SAP_ERROR_RANGE, "%lld neighbours are more than can be addressed",
                                  (long long)r->pass.room);
        return false;
    }
    if (!ids_there) r->pass.ids = (int32_t*)sap_cuda_out(&r->call, rows->ids, (size_t)r->pass.room * 4);
    if (!distance2_there) r->pass.distance2 = sap_cuda_out(&r->call, rows->distance2, bytes);
    return r->call.status == SAP_OK && r->pass.room > 0;
}

static sap_status collect_into(radius_search* r) {
    const sap_radius_rows* rows = r->job->into;
    const bool ids_there = sap_cuda_on_device(&r->call, rows->ids);
    const bool distance2_there = sap_cuda_on_device(&r->call, rows->distance2);
    int64_t* offsets =
        (int64_t*)sap_cuda_out(&r->call, rows->offsets, (size_t)(r->pass.all_rows + 1) * sizeof *offsets);
    if (r->call.status != SAP_OK) return sap_cuda_end(&r->call, SAP_OK);
    r->pass.counts = offsets + 1;
    r->pass.offsets = offsets;
    r->pass.cut = true;
    zero_rows(r, r->pass.counts);
    run_pass(r, false);
    sap_prefix_sum_cuda(&r->call, offsets, r->pass.all_rows);
    if (rows->capacity > 0 && make_room_there(r, rows, ids_there, distance2_there)) run_pass(r, true);
    return sap_cuda_end(&r->call, SAP_OK);
}

sap_status sap_radius_cuda(const sap_tree* tree, const sap_radius_job* job) {
    radius_search r = {};
    r.tree = tree;
    r.job = job;
    r.pass.limit2 = job->limit2;
    r.pass.self = job->self;
    r.pass.all_rows = job->queries.count;
    r.pass.share = 1;
    if (sap_cuda_begin(&r.call, tree->device) == SAP_OK) prepare(&r);
    if (job->into) return collect_into(&r);
    return job->found ? collect(&r) : count(&r);
}
