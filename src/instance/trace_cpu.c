// Rays about instances on the CPU: bundles of rays that are alike go through the tree over instances together. Where a
// bundle meets an instance, those of its rays that do are moved to the mesh and traced there, several at once.
#include "base/team.h"
#include "device/cpu.h"
#include "device/progress.h"
#include "instance/bundle.h"
#include "instance/moved.h"
#include "ray/query.h"
#include "ray/ray.h"
#include <float.h>
#include <math.h>

enum {
    PART_MOST = 1 << 18, // most rays that a thread orders at once
    PART_LEAST = 1 << 12,
    PARTS_PER_THREAD = 4,
    LOCAL_KEYS = 256, // calls with at most so many rays allocate nothing
    LOCAL_ROWS = 1024 // nor do those that ask for at most so many hits of a ray
};

typedef struct instance_call {
    const sap_instance_tree* tree;
    sap_instance_job job;
    const sap_cpu_kernels* kernels;
    int64_t part; // rays in a part
    int threads;  // at most as many as parts: each has scratch memory
    int together; // rays in a bundle
    size_t each;  // bytes of a thread's scratch memory: keys, then rows
    sap_scratch memory;
    sap_progress_state progress;
} instance_call;

// What a bundle's rays have found so far.
typedef struct bundle_search {
    const instance_call* call;
    sap_bundle bundle;
    uint64_t going; // the rays that search on
    sap_ray rays[SAP_BUNDLE];
    sap_instance_hit first[SAP_BUNDLE];
    sap_instance_hit* row[SAP_BUNDLE]; // all hits
    int32_t count[SAP_BUNDLE];         // all hits
    sap_hit* rows;                     // all hits: room for a bundle's in one instance
} bundle_search;

static const sap_instance_hit no_hit = {INFINITY, 0, 0, -1, -1};

// ---- In a mesh

// Traces rays that are not alike, those of an octant together.
static void trace_by_octants(const sap_ray_run* run, const sap_ray_kernels* kernels) {
    sap_ray_key keys[SAP_BUNDLE];
    uint8_t octant[SAP_BUNDLE];
    int at[9] = {0};
    for (int i = 0; i < run->job.count; i++) {
        octant[i] = (uint8_t)(sap_ray_class(&run->job.rays[i]) & 7);
        at[octant[i] + 1]++;
    }
    for (int i = 1; i < 8; i++) at[i] += at[i - 1];
    for (uint32_t i = 0; i < run->job.count; i++)
        keys[at[octant[i]]++] = (sap_ray_key){(uint32_t)octant[i] << SAP_RAY_BELOW_OCTANT, i};
    kernels->ordered(run, keys, run->job.count);
}

// Traces up to SAP_BUNDLE rays in one mesh.
static void trace_mesh(const sap_cpu_kernels* kernels, const sap_mesh_tree* tree, const sap_ray_job* job) {
    const sap_ray_run run = {tree, *job, sap_mesh_magnitude(tree)};
    if (job->count >= SAP_RAY_FEW) {
        if (!kernels->ray->block(&run, 0, (int)job->count)) trace_by_octants(&run, kernels->ray);
    } else if (job->limit) {
        kernels->ray->few(&run);
    } else if (job->occluded) {
        for (int i = 0; i < job->count; i++) job->occluded[i] = kernels->mesh_query->occluded(tree, &job->rays[i]);
    } else {
        for (int i = 0; i < job->count; i++) kernels->mesh_query->trace(tree, &job->rays[i], &job->hits[i]);
    }
}

// ---- What is found

static void take_first(bundle_search* s, int i, const sap_instance_hit* hit) {
    if (s->first[i].triangle >= 0 && !sap_instance_hit_precedes(hit, &s->first[i])) return;
    s->first[i] = *hit;
    s->bundle.t_max[i] = hit->t;
}

// Inserts a hit into a ray's row; false if it comes after all of a full row.
static bool take_one_of_all(bundle_search* s, int i, const sap_instance_hit* hit) {
    const int32_t limit = s->call->job.limit;
    sap_instance_hit* row = s->row[i];
    if (s->count[i] == limit && !sap_instance_hit_precedes(hit, &row[limit - 1])) return false;
    s->count[i] = sap_instance_hits_insert(row, s->count[i], limit, *hit);
    if (s->count[i] == limit) s->bundle.t_max[i] = row[limit - 1].t;
    return true;
}

// Traces some of the bundle's rays in an instance.
static void trace_instance(bundle_search* s, int32_t instance, uint64_t rays) {
    const sap_placed* placed = &sap_instances_placed(s->call->tree)[instance];
    const int32_t limit = s->call->job.limit;
    sap_ray moved[SAP_BUNDLE];
    sap_hit hits[SAP_BUNDLE];
    int32_t counts[SAP_BUNDLE];
    uint8_t occluded[SAP_BUNDLE], number[SAP_BUNDLE];
    sap_ray_job job = {.rays = moved, .limit = limit};
    for (; rays; rays &= rays - 1) {
        const int i = __builtin_ctzll(rays);
        moved[job.count] = sap_ray_moved(placed->inverse, s->rays[i], s->bundle.t_max[i]);
        number[job.count++] = (uint8_t)i;
    }
    if (s->call->job.occluded)
        job.occluded = occluded;
    else
        job.hits = limit ? s->rows : hits;
    if (limit) job.counts = counts;
    trace_mesh(s->call->kernels, placed->tree, &job);
    for (int j = 0; j < job.count; j++) {
        const int i = number[j];
        if (job.occluded && occluded[j]) s->going &= ~((uint64_t)1 << i);
        const int64_t found = job.occluded ? 0 : limit ? counts[j] : hits[j].triangle >= 0;
        for (int64_t k = 0; k < found; k++) {
            const sap_hit* h = limit ? s->rows + (int64_t)j * limit + k : &hits[j];
            const sap_instance_hit hit = {h->t, h->u, h->v, h->triangle, instance};
            if (!limit)
                take_first(s, i, &hit);
            else if (!take_one_of_all(s, i, &hit))
                break;
        }
    }
}

// ---- Bundles

static bool is_finite(const float* v) { return isfinite(v[0]) && isfinite(v[1]) && isfinite(v[2]); }

static void prepare(bundle_search* s, int i) {
    const sap_ray* ray = &s->rays[i];
    const uint64_t bit = (uint64_t)1 << i;
    const bool is_ray = is_finite(ray->origin) && is_finite(ray->direction) && isfinite(ray->t_min);
    sap_bundle* b = &s->bundle;
    b->far[i] = 0;
    for (int k = 0; k < 3; k++) {
        const float far = fabsf(ray->origin[k]);
        b->origin[k][i] = ray->origin[k];
        b->inverse[k][i] = sap_inverse_for_boxes(ray->direction[k]);
        b->far[i] = far > b->far[i] ? far : b->far[i];
        if (ray->direction[k] < 0) b->backward[k] |= bit;
    }
    b->t_min[i] = ray->t_min;
    b->t_max[i] = ray->t_max < FLT_MAX ? ray->t_max : FLT_MAX;
    if (is_ray && ray->t_min <= ray->t_max) s->going |= bit;
}

// Walks the tree over instances, of which there are some.
static void walk(bundle_search* s) {
    struct {
        uint32_t node;
        uint64_t rays;
    } stack[SAP_INSTANCE_DEPTH_MAX + 1] = {{0, s->going}};
    const sap_instance_node* nodes = sap_instance_nodes(s->call->tree);
    for (int top = 1; top;) {
        const uint32_t at = stack[--top].node;
        const sap_instance_node* node = &nodes[at];
        const uint64_t rays = s->call->kernels->instance->meet(&s->bundle, node, stack[top].rays & s->going);
        if (!rays) continue;
        if (node->link & 1) {
            trace_instance(s, (int32_t)(node->link >> 1), rays);
            continue;
        }
        // Most rays decide which side comes first: it does not matter to what is found.
        const int back = __builtin_popcountll(rays & s->bundle.backward[node->link >> 1 & 3]);
        const bool right_first = 2 * back > __builtin_popcountll(rays);
        const uint32_t left = at + 1, right = node->link >> 3;
        SAP_ASSERT(top + 2 <= SAP_INSTANCE_DEPTH_MAX + 1);
        stack[top].node = right_first ? left : right;
        stack[top++].rays = rays;
        stack[top].node = right_first ? right : left;
        stack[top++].rays = rays;
    }
}

// Traces the job's rays of `numbers`, up to SAP_BUNDLE. `rows` has room for their hits in one instance.
static void trace_bundle(const instance_call* c, const uint32_t* numbers, int count, int64_t first, sap_hit* rows) {
    const sap_instance_job* job = &c->job;
    bundle_search s;
    s.call = c;
    s.going = 0;
    s.rows = rows;
    for (int k = 0; k < 3; k++) s.bundle.backward[k] = 0;
    SAP_ASSERT(count > 0 && count <= c->together && c->together <= SAP_BUNDLE);
    for (int i = 0; i < count; i++) {
        const int64_t ray = first + numbers[i];
        s.rays[i] = job->rays[ray];
        s.first[i] = no_hit;
        s.count[i] = 0;
        s.row[i] = job->limit ? job->hits + ray * job->limit : NULL;
        prepare(&s, i);
    }
    const uint64_t asked = s.going;
    if (c->tree->filed) walk(&s);
    for (int i = 0; i < count; i++) {
        const int64_t ray = first + numbers[i];
        if (job->occluded) {
            job->occluded[ray] = ((asked & ~s.going) >> i & 1) != 0;
        } else if (job->numbered) {
            const int32_t instance = s.first[i].instance;
            const sap_placed* placed = sap_instances_placed(c->tree);
            job->numbered[ray] = sap_hit_numbered(&s.first[i], instance < 0 ? 0 : placed[instance].before);
        } else if (!job->limit) {
            job->hits[ray] = s.first[i];
        } else {
            if (job->counts) job->counts[ray] = s.count[i];
            for (int32_t j = s.count[i]; j < job->limit; j++) s.row[i][j] = no_hit;
        }
    }
}

// ---- Many rays

// Whether neighbouring rays have near origins and similar directions.
static bool are_alike(const sap_instance_tree* tree, const sap_ray* rays, int count) {
    float longest = 0;
    for (int k = 0; k < 3; k++) {
        const float side = tree->upper[k] - tree->lower[k];
        longest = side > longest ? side : longest;
    }
    for (int k = 0; k < 3; k++) {
        float low = rays[0].origin[k], high = low, from = rays[0].direction[k], to = from;
        for (int i = 1; i < count; i++) {
            const float o = rays[i].origin[k], d = rays[i].direction[k];
            low = o < low ? o : low;
            high = o > high ? o : high;
            from = d < from ? d : from;
            to = d > to ? d : to;
        }
        if (!(high - low <= longest * 0.25F && to - from <= 0.5F)) return false;
    }
    return true;
}

// Calls with few rays report no progress.
static bool goes_on(instance_call* c, int done) {
    return c->job.count <= LOCAL_KEYS || sap_progress_add(&c->progress, done);
}

static void trace_part(void* context, int64_t part, int32_t worker) {
    instance_call* c = context;
    const sap_instance_tree* tree = c->tree;
    sap_ray_key local[2 * LOCAL_KEYS], *keys = local, *other = local + LOCAL_KEYS;
    sap_hit local_rows[LOCAL_ROWS], *rows = local_rows;
    uint32_t numbers[SAP_BUNDLE];
    const int64_t first = part * c->part, left = c->job.count - first, count = left < c->part ? left : c->part;
    int64_t later = 0;
    if (!goes_on(c, 0)) return;
    if (c->memory.memory) {
        SAP_ASSERT(worker < c->threads);
        keys = (sap_ray_key*)(void*)(c->memory.memory + (size_t)worker * c->each);
        other = keys + c->part;
        if (c->job.limit > LOCAL_ROWS) rows = (sap_hit*)(void*)(other + c->part);
    }
    for (int64_t at = 0; at < count; at += c->together) {
        const int n = count - at < c->together ? (int)(count - at) : c->together;
        const bool is_few = count <= c->together;
        for (int i = 0; i < n; i++) numbers[i] = (uint32_t)(at + i);
        if (is_few || are_alike(tree, c->job.rays + first + at, n)) {
            trace_bundle(c, numbers, n, first, rows);
            if (!goes_on(c, n)) return;
        } else {
            for (int i = 0; i < n; i++)
                keys[later++] = sap_ray_key_of(c->job.rays + first + at + i, tree->lower, tree->upper, numbers[i]);
        }
    }
    if (later) keys = sap_ray_keys_sort(keys, other, later);
    for (int64_t at = 0; at < later; at += c->together) {
        const int n = later - at < c->together ? (int)(later - at) : c->together;
        for (int i = 0; i < n; i++) numbers[i] = keys[at + i].ray;
        trace_bundle(c, numbers, n, first, rows);
        if (!goes_on(c, n)) return;
    }
}

// Chooses the length of parts and of bundles, and takes scratch memory.
static bool reserve(instance_call* c) {
    sap_device* device = c->tree->device;
    const int64_t count = c->job.count, threads = device->options.threads, limit = c->job.limit;
    const int64_t even = (count + threads * PARTS_PER_THREAD - 1) / (threads * PARTS_PER_THREAD);
    c->part = even > PART_MOST || threads == 1 ? PART_MOST : even < PART_LEAST ? PART_LEAST : even;
    if (c->part > count) c->part = count;
    const int64_t parts = (count + c->part - 1) / c->part;
    c->threads = (int)(parts < threads ? parts : threads);
    c->together = limit * SAP_BUNDLE <= LOCAL_ROWS ? SAP_BUNDLE : limit < LOCAL_ROWS ? (int)(LOCAL_ROWS / limit) : 1;
    if (count <= LOCAL_KEYS && limit <= LOCAL_ROWS) return true;
    const size_t keys = (size_t)c->part * 2 * sizeof(sap_ray_key);
    const size_t rows = limit > LOCAL_ROWS ? (size_t)limit * sizeof(sap_hit) : 0;
    size_t bytes;
    if (!sap_size_add(keys, rows, &c->each) || !sap_size_multiply((uint64_t)c->threads, c->each, &bytes)) return false;
    return sap_scratch_take(device, bytes, &c->memory);
}

sap_status sap_instance_trace_cpu(const sap_instance_tree* tree, const sap_instance_job* job) {
    sap_device* device = tree->device;
    instance_call c = {.tree = tree,
                       .job = *job,
                       .kernels = sap_cpu_kernels_of(device, 32),
                       .progress = sap_progress_begin(device, job->count)};
    if (!reserve(&c))
        return sap_fail(device, SAP_ERROR_MEMORY, "no memory to order %lld rays, and for %d hits of one in each thread",
                        (long long)job->count, (int)job->limit);
    sap_team_run(c.threads, (job->count + c.part - 1) / c.part, trace_part, &c);
    sap_scratch_give(device, &c.memory);
    if (job->count > LOCAL_KEYS && !sap_progress_finish(&c.progress))
        return sap_fail(device, SAP_ERROR_CANCELLED, "the rays were cancelled");
    return SAP_OK;
}
