// The nearest points of one tree for each point of another on the CPU: the points ask leaf by leaf, so consecutive
// queries lie close to one another and need no ordering.
#include "base/team.h"
#include "pairs/ops.h"
#include "tree/leaves.h"

#include <string.h>

enum { SLAB = 1 << 16, GRAIN = 1024 }; // queries asked at a time; rows that are worth a thread

typedef struct asking {
    const sap_tree_nearest_job* job;
    int64_t most, count, asked; // room for queries; gathered now; all that were asked before
    unsigned char* coords;      // real[most][dims]
    int32_t* rows;              // [most] ids of a
    int32_t* without;           // [most] or NULL: what the search says by ids of a, in the order of the queries
    int32_t* ks;                // the same
    double* radii;              // the same
    int32_t* ids;               // [most][k]
    unsigned char* distance2;   // real[most][k]
    sap_scratch memory;
} asking;

static sap_status reserve(asking* q) {
    const sap_tree_nearest_job* job = q->job;
    sap_device* device = job->a->device;
    const size_t real = sap_real_bytes(&job->a->shape), k = (size_t)job->search.k;
    const int64_t points = job->a->shape.count + job->a->shape.capacity;
    q->most = points < SLAB + job->a->shape.capacity ? points : SLAB + job->a->shape.capacity;
    const size_t most = (size_t)q->most, coords = sap_align(most * (size_t)job->a->shape.dims * real);
    const size_t numbers = sap_align(most * 4), given = coords + 3 * numbers + sap_align(most * sizeof *q->radii);
    size_t answers, distances;
    if (!sap_size_multiply(most * k, 4, &answers) || !sap_size_multiply(most * k, real, &distances) ||
        !sap_scratch_take(device, given + sap_align(answers) + distances + 1, &q->memory))
        return sap_fail(device, SAP_ERROR_MEMORY, "no memory for lists of %d neighbours", (int)job->search.k);
    unsigned char* at = q->memory.memory;
    q->coords = at;
    q->rows = (int32_t*)(void*)(at + coords);
    q->without = job->search.without_ids ? (int32_t*)(void*)(at + coords + numbers) : NULL;
    q->ks = job->search.ks ? (int32_t*)(void*)(at + coords + 2 * numbers) : NULL;
    q->radii = job->search.radii ? (double*)(void*)(at + coords + 3 * numbers) : NULL;
    q->ids = (int32_t*)(void*)(at + given);
    q->distance2 = at + given + sap_align(answers);
    return SAP_OK;
}

// Rows of points that are not in the tree, because they were duplicates, answer "none".
static void clear(const sap_tree_nearest_job* job) {
    const int64_t answers = job->a->shape.source_count * job->search.k;
    for (int64_t i = 0; i < answers; i++) job->ids[i] = -1;
    for (int64_t i = 0; job->distance2 && i < answers; i++)
        if (job->a->shape.real_bits == 32)
            ((float*)job->distance2)[i] = __builtin_inff();
        else
            ((double*)job->distance2)[i] = (double)__builtin_inff();
}

static void gather(asking* q, int64_t* place) {
    const sap_tree* a = q->job->a;
    const size_t row = (size_t)a->shape.dims * sap_real_bytes(&a->shape);
    const int64_t places = sap_leaf_places(a);
    for (q->count = 0; *place < places && q->count < SLAB; ++*place) {
        const sap_leaf_block leaf = sap_leaf_block_at(a, *place);
        SAP_ASSERT(q->coords && q->rows && q->count + leaf.count <= q->most);
        for (int32_t i = 0; i < leaf.count; i++, q->count++) {
            sap_leaf_point(a, &leaf, i, q->coords + (size_t)q->count * row);
            q->rows[q->count] = leaf.ids[i];
            if (q->without) q->without[q->count] = q->job->search.without_ids[leaf.ids[i]];
            if (q->ks) q->ks[q->count] = q->job->search.ks[leaf.ids[i]];
            if (q->radii) q->radii[q->count] = q->job->search.radii[leaf.ids[i]];
        }
    }
}

static void move_rows(void* context, int64_t from, int64_t to, int32_t worker) {
    const asking* q = context;
    const sap_tree_nearest_job* job = q->job;
    const size_t k = (size_t)job->search.k, real = sap_real_bytes(&job->a->shape);
    (void)worker;
    for (int64_t i = from; i < to; i++) {
        const size_t row = (size_t)q->rows[i] * k, at = (size_t)i * k;
        memcpy(job->ids + row, q->ids + at, k * 4);
        if (job->distance2) memcpy((unsigned char*)job->distance2 + row * real, q->distance2 + at * real, k * real);
    }
}

static sap_status search(asking* q) {
    const sap_tree_nearest_job* job = q->job;
    const int32_t dims = job->a->shape.dims;
    sap_search asked = job->search;
    asked.ordered = true;
    asked.without_ids = q->without;
    asked.ks = q->ks;
    asked.radii = q->radii;
    void* distance2 = job->distance2 ? q->distance2 : NULL;
    if (job->a->shape.real_bits == 64)
        return sap_nearest_f64(job->b, (sap_points_f64){(const double*)(const void*)q->coords, q->count, dims, 0},
                               &asked, q->ids, distance2);
    return sap_nearest(job->b, (sap_points){(const float*)(const void*)q->coords, q->count, dims, 0}, &asked, q->ids,
                       distance2);
}

static sap_status search_all(asking* q) {
    const sap_tree* a = q->job->a;
    sap_device* device = q->job->b->device;
    sap_status status = SAP_OK;
    for (int64_t place = 0; status == SAP_OK && place < sap_leaf_places(a);) {
        gather(q, &place);
        if (q->count == 0) break;
        sap_progress_mute(true);
        status = search(q);
        sap_progress_mute(false);
        if (status != SAP_OK) return status;
        sap_team_loop(a->device->options.threads, q->count, GRAIN, move_rows, q);
        q->asked += q->count;
        if (!sap_progress_report(device, (double)q->asked / (double)a->shape.count))
            return sap_fail(device, SAP_ERROR_CANCELLED, "the search was cancelled");
    }
    return status;
}

sap_status sap_tree_nearest_cpu(const sap_tree_nearest_job* job) {
    asking q = {.job = job};
    sap_status status = reserve(&q);
    if (status == SAP_OK) {
        if (job->a->shape.count < job->a->shape.source_count) clear(job);
        if (job->a->shape.count) status = search_all(&q);
    }
    sap_scratch_give(job->a->device, &q.memory);
    return status;
}
