// Photons on a GPU: a thread follows a photon from one surface to the next, or to its end once few are left, for which starting
// kernels would take longer. One call of the device is open from `begin` to `end` and holds the batch; traces are calls of
// their own in between, in the same stream.
#include "ray/lane_cuda.cuh"
#include "render/scene_cuda.cuh"

extern "C" {
#include "base/assert.h"
#include "render/photons/swarm.h"
}
#include "compact/prefix_sum_cuda.h"

enum {
    FLIGHT_THREADS = 128,
    BATCH_MOST = 1 << 20,  // photons
    BATCH_LEAST = 1 << 12, // where memory is short
#ifdef SAP_CUDA_ON_CPU     // less than tests send, which so do both
    FOLLOW_MOST = 1 << 12
#else
    FOLLOW_MOST = 1 << 20
#endif
};

// What kernels know of a batch; each array has an entry for each of its photons.
typedef struct fleet {
    sap_scene_data scene;
    sap_source_table table;
    sap_photon_options options;
    sap_flight *flights, *next_flights;
    sap_ray *rays, *next_rays;
    sap_hit* hits;
    int64_t* offsets;           // after the first: how many photons each slot has kept, then where the next slot's go
    double *sums, *emitted;     // [3] of each block of photons, and [3] of all
    unsigned long long* counts; // [2] photons in the heap, and that go on
    int64_t live, first;
} fleet;

// What is kept from `begin` to `end`.
typedef struct flying {
    sap_cuda_call call;
    fleet f;
} flying;

static flying* flying_of(const sap_swarm* s) { return (flying*)s->state; }

// ---- Kernels

static __device__ __forceinline__ int64_t photon_number(void) {
    return (int64_t)blockIdx.x * FLIGHT_THREADS + threadIdx.x;
}

static __global__ void __launch_bounds__(FLIGHT_THREADS) photons_leave(const __grid_constant__ fleet f) {
    const int64_t i = photon_number();
    if (i >= f.live) return;
    f.flights[i] = sap_photon_begin(&f.scene, &f.table, (uint32_t)(f.first + i), (int32_t)i, &f.rays[i]);
    f.offsets[i + 1] = 0;
}

typedef struct leaving_lanes {
    double sum[SAP_LEAVING_LANES][3];
} leaving_lanes;

static __global__ void __launch_bounds__(SAP_LEAVING_LANES) photons_sum_blocks(const __grid_constant__ fleet f) {
    SAP_CUDA_SHARED(leaving_lanes, own);
    const int64_t start = (int64_t)blockIdx.x * SAP_LEAVING_BLOCK, rest = f.live - start;
    const int64_t end = start + (rest < SAP_LEAVING_BLOCK ? rest : SAP_LEAVING_BLOCK);
    double sum[3] = {0, 0, 0};
    for (int64_t i = start + threadIdx.x; i < end; i += SAP_LEAVING_LANES) {
        const sap_vector power = f.flights[i].power;
        sum[0] += (double)power.x;
        sum[1] += (double)power.y;
        sum[2] += (double)power.z;
    }
    for (int a = 0; a < 3; a++) own->sum[threadIdx.x][a] = sum[a];
    __syncthreads();
    if (threadIdx.x >= 3) return;
    double all = 0;
    for (int l = 0; l < SAP_LEAVING_LANES; l++) all += own->sum[l][threadIdx.x];
    f.sums[3 * (int64_t)blockIdx.x + threadIdx.x] = all;
}

typedef struct leaving_blocks {
    double sum[FLIGHT_THREADS][3];
} leaving_blocks;

// Threads read side by side what three of them add up in its order.
static __global__ void __launch_bounds__(FLIGHT_THREADS)
    photons_sum_all(const __grid_constant__ fleet f, int64_t blocks) {
    SAP_CUDA_SHARED(leaving_blocks, some);
    double all = threadIdx.x < 3 ? f.emitted[threadIdx.x] : 0;
    for (int64_t from = 0; from < blocks; from += FLIGHT_THREADS) {
        const int count = (int)(blocks - from < FLIGHT_THREADS ? blocks - from : FLIGHT_THREADS);
        if ((int)threadIdx.x < count)
            for (int a = 0; a < 3; a++) some->sum[threadIdx.x][a] = f.sums[3 * (from + threadIdx.x) + a];
        __syncthreads();
        for (int b = 0; b < count && threadIdx.x < 3; b++) all += some->sum[b][threadIdx.x];
        __syncthreads();
    }
    if (threadIdx.x < 3) f.emitted[threadIdx.x] = all;
}

typedef struct meeting_counts {
    unsigned int count[2];
    unsigned long long first[2];
} meeting_counts;

// Photons of the heap, and those that go on, may come in any order: of a slot at most one is on its way. In the heap the
// upper byte of `bounce` says how many its slot has kept before.
static __global__ void __launch_bounds__(FLIGHT_THREADS)
    photons_meet(const __grid_constant__ fleet f, int32_t bounce, sap_photon* heap) {
    SAP_CUDA_SHARED(meeting_counts, own);
    const int64_t i = photon_number();
    sap_flight flight;
    sap_ray ray;
    sap_photon met;
    bool keeps = false, goes_on = false;
    if (threadIdx.x < 2) own->count[threadIdx.x] = 0;
    if (i < f.live) {
        flight = f.flights[i];
        ray = f.rays[i];
        goes_on = sap_photon_meet(&f.scene, &f.table, &f.hits[i], bounce, &flight, &ray, &met) &&
                  sap_photon_goes_on(&f.options, &flight, bounce);
        keeps = (met.kind & f.options.kinds) != 0;
    }
    __syncthreads();
    unsigned int kept = 0, gone = 0;
    if (keeps) kept = atomicAdd(&own->count[0], 1u);
    if (goes_on) gone = atomicAdd(&own->count[1], 1u);
    __syncthreads();
    if (threadIdx.x < 2)
        own->first[threadIdx.x] = atomicAdd(&f.counts[threadIdx.x], (unsigned long long)own->count[threadIdx.x]);
    __syncthreads();
    if (keeps) {
        met.bounce = (uint16_t)(met.bounce + 256 * f.offsets[flight.slot + 1]++);
        heap[own->first[0] + kept] = met;
    }
    if (goes_on) {
        f.next_flights[own->first[1] + gone] = flight;
        f.next_rays[own->first[1] + gone] = ray;
    }
}

// A thread follows a photon to its end, a warp's together from surface to surface.
static __global__ void __launch_bounds__(FLIGHT_THREADS)
    photons_follow(const __grid_constant__ fleet f, const __grid_constant__ sap_mesh_on_cuda mesh, int32_t bounce,
                   sap_photon* heap) {
    const int64_t i = photon_number();
    ray_stack stack;
    sap_flight flight;
    sap_ray ray;
    bool flies = i < f.live;
    int32_t rays = 0;
    if (flies) {
        flight = f.flights[i];
        ray = f.rays[i];
    }
    for (; __any_sync(SAP_ALL_LANES, flies); bounce++) {
        sap_photon met;
        const sap_hit hit = trace_together(mesh, flies, ray, &stack);
        if (!flies) continue;
        rays++;
        flies = sap_photon_meet(&f.scene, &f.table, &hit, bounce, &flight, &ray, &met) &&
                sap_photon_goes_on(&f.options, &flight, bounce);
        if (!(met.kind & f.options.kinds)) continue;
        met.bounce = (uint16_t)(met.bounce + 256 * f.offsets[flight.slot + 1]++);
        heap[atomicAdd(&f.counts[0], 1ull)] = met;
    }
    if (rays) atomicAdd(&f.counts[1], (unsigned long long)rays);
}

static __global__ void __launch_bounds__(FLIGHT_THREADS)
    photons_sort(const __grid_constant__ fleet f, const sap_photon* heap, int64_t count, sap_photon* to) {
    const int64_t i = photon_number();
    if (i >= count) return;
    sap_photon photon = heap[i];
    const int64_t slot = (int64_t)photon.number - f.first, place = f.offsets[slot] + photon.bounce / 256;
    SAP_ASSERT(place < f.offsets[slot + 1]);
    photon.bounce %= 256;
    to[place] = photon;
}

// ---- Memory

static void free_photons(sap_photons* map) {
    sap_cuda_release(map->device, map->photons, (size_t)map->room * sizeof *map->photons);
}

static sap_status make_room(sap_photons* map, int64_t room) {
    sap_cuda_call call;
    sap_status status = sap_cuda_begin(&call, map->device);
    const size_t bytes = (size_t)room * sizeof *map->photons;
    sap_photon* photons = (sap_photon*)sap_cuda_allocate(&call, bytes);
    if (map->info.count) sap_cuda_copy(&call, photons, map->photons, (size_t)map->info.count * sizeof *photons);
    status = sap_cuda_end(&call, status);
    if (status != SAP_OK) {
        sap_cuda_release(map->device, photons, bytes);
        return status;
    }
    free_photons(map);
    map->photons = photons;
    return SAP_OK;
}

static sap_status copy(const sap_photons* map, sap_photon* to, const sap_photon* from, int64_t count) {
    sap_cuda_call call;
    const sap_status status = sap_cuda_begin(&call, map->device);
    call.waits = true;
    if (count) sap_cuda_copy(&call, to, from, (size_t)count * sizeof *to);
    return sap_cuda_end(&call, status);
}

static size_t lay_out(fleet* f, int64_t batch, unsigned char* memory) {
    const size_t room = (size_t)batch, blocks = room / SAP_LEAVING_BLOCK;
    struct {
        void** array;
        size_t bytes;
    } arrays[] = {
        {(void**)&f->flights, room * sizeof *f->flights}, {(void**)&f->next_flights, room * sizeof *f->flights},
        {(void**)&f->rays, room * sizeof *f->rays},       {(void**)&f->next_rays, room * sizeof *f->rays},
        {(void**)&f->hits, room * sizeof *f->hits},       {(void**)&f->offsets, (room + 1) * sizeof *f->offsets},
        {(void**)&f->sums, blocks * 3 * sizeof *f->sums}, {(void**)&f->emitted, 3 * sizeof *f->emitted},
        {(void**)&f->counts, 2 * sizeof *f->counts}};
    size_t at = 0;
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        *arrays[i].array = memory ? memory + at : NULL;
        at += sap_align(arrays[i].bytes);
    }
    return at;
}

// Memory for as many photons as there is.
static void take_batch(sap_cuda_call* call, sap_swarm* s, fleet* f, int64_t most) {
    unsigned char* memory = NULL;
    int64_t batch = BATCH_LEAST;
    while (batch < most && batch < BATCH_MOST) batch *= 2;
    for (; !memory && call->status == SAP_OK; batch /= 2) {
        s->batch = batch;
        call->quiet = batch > BATCH_LEAST;
        memory = (unsigned char*)sap_cuda_take(call, lay_out(f, batch, NULL));
        if (call->status == SAP_ERROR_DEVICE_MEMORY && call->quiet) call->status = SAP_OK;
    }
    call->quiet = false;
    (void)lay_out(f, s->batch, memory);
}

static sap_status begin(sap_swarm* s, int64_t most) {
    sap_picture* p = s->picture;
    flying* y = (flying*)sap_memory_allocate_zero(p->device, sizeof *y);
    if (!y) return sap_fail(p->device, SAP_ERROR_MEMORY, "no memory for photons on their way");
    s->state = y;
    fleet* f = &y->f;
    sap_cuda_begin(&y->call, p->device);
    y->call.waits = true;
    scene_in(&y->call, p, &s->scene);
    s->table.sources =
        (const sap_source*)sap_cuda_in(&y->call, s->table.sources, (size_t)s->table.count * sizeof *s->table.sources);
    take_batch(&y->call, s, f, most);
    f->scene = s->scene;
    f->table = s->table;
    f->options = s->options;
    sap_cuda_fill(&y->call, f->emitted, 0, 3 * sizeof *f->emitted);
    return y->call.status;
}

static sap_status end(sap_swarm* s) {
    flying* y = flying_of(s);
    if (!y) return SAP_OK;
    sap_cuda_fetch(&y->call, s->emitted, y->f.emitted, sizeof s->emitted);
    const sap_status status = sap_cuda_end(&y->call, SAP_OK);
    sap_memory_release(s->picture->device, y, sizeof *y);
    s->state = NULL;
    return status;
}

// ---- Steps

static sap_cuda_grid grid_of(int64_t items) { return sap_cuda_grid_for(items, FLIGHT_THREADS); }

static void show_rays(sap_swarm* s) {
    const fleet* f = &flying_of(s)->f;
    s->rays = f->rays;
    s->hits = f->hits;
}

static sap_status leave(sap_swarm* s) {
    flying* y = flying_of(s);
    fleet* f = &y->f;
    const int64_t blocks = (s->live + SAP_LEAVING_BLOCK - 1) / SAP_LEAVING_BLOCK;
    const sap_cuda_grid sums = {blocks, SAP_LEAVING_LANES, sizeof(leaving_lanes), false},
                        all = {1, FLIGHT_THREADS, sizeof(leaving_blocks), false};
    f->live = s->live;
    f->first = s->first;
    sap_cuda_fill(&y->call, f->counts, 0, 2 * sizeof *f->counts);
    sap_cuda_launch(&y->call, photons_leave, grid_of(f->live), *f);
    sap_cuda_launch(&y->call, photons_sum_blocks, sums, *f);
    sap_cuda_launch(&y->call, photons_sum_all, all, *f, blocks);
    show_rays(s);
    return y->call.status;
}

static sap_status meet(sap_swarm* s) {
    flying* y = flying_of(s);
    fleet* f = &y->f;
    unsigned long long counts[2] = {0, 0};
    sap_cuda_grid grid = grid_of(s->live);
    grid.shared = sizeof(meeting_counts);
    f->live = s->live;
    sap_cuda_fill(&y->call, &f->counts[1], 0, sizeof *f->counts);
    sap_cuda_launch(&y->call, photons_meet, grid, *f, s->bounce, s->heap->photons);
    sap_cuda_fetch(&y->call, counts, f->counts, sizeof counts);
    sap_flight* flights = f->flights;
    f->flights = f->next_flights;
    f->next_flights = flights;
    sap_ray* rays = f->rays;
    f->rays = f->next_rays;
    f->next_rays = rays;
    show_rays(s);
    s->heap->info.count = (int64_t)counts[0];
    s->live = (int64_t)counts[1];
    return y->call.status;
}

static sap_status follow(sap_swarm* s) {
    flying* y = flying_of(s);
    fleet* f = &y->f;
    const sap_mesh_tree* tree = s->picture->tree;
    unsigned long long counts[2] = {0, 0};
    f->live = s->live;
    sap_cuda_fill(&y->call, &f->counts[1], 0, sizeof *f->counts);
    sap_cuda_launch(&y->call, photons_follow, grid_of(s->live), *f, sap_mesh_on_cuda_of(tree), s->bounce,
                    s->heap->photons);
    sap_cuda_fetch(&y->call, counts, f->counts, sizeof counts);
    s->heap->info.count = (int64_t)counts[0];
    s->map->info.rays += (int64_t)counts[1];
    return y->call.status;
}

static sap_status sort(sap_swarm* s, int64_t count) {
    flying* y = flying_of(s);
    const sap_photons* heap = s->heap;
    sap_prefix_sum_cuda(&y->call, y->f.offsets, count);
    sap_cuda_launch(&y->call, photons_sort, grid_of(heap->info.count), y->f, heap->photons, heap->info.count,
                    s->map->photons + s->map->info.count);
    return y->call.status;
}

// C++17 has no initialisers that name their entries.
static constexpr sap_photon_ops photon_ops(void) {
    sap_photon_ops ops = {};
    ops.make_room = make_room;
    ops.free_photons = free_photons;
    ops.copy = copy;
    ops.begin = begin;
    ops.end = end;
    ops.leave = leave;
    ops.meet = meet;
    ops.follow = follow;
    ops.follow_most = FOLLOW_MOST;
    ops.sort = sort;
    ops.estimate = sap_photons_estimate_cuda;
    ops.add_light = sap_lighting_add_cuda;
    return ops;
}

extern "C" const sap_photon_ops sap_photon_ops_cuda = photon_ops();
