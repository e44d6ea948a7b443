// The scheduler: blocks, warps and threads of one launch at a time, and where threads wait for one another.
#include "cuda_runtime.h"

#include "fibers.h"
#include "launch.h"
#include <stdarg.h>

uint3 threadIdx, blockIdx;
dim3 blockDim, gridDim;
uint64_t cuda_on_cpu_progress;
bool cuda_on_cpu_backwards = getenv("CUDA_ON_CPU_BACKWARDS") != NULL;
thread_local void (*cuda_on_cpu_kernel)(const void* kernel, void** arguments);

static cuda_launch launch;
static cuda_thread* self; // NULL between threads

int cuda_on_cpu_lane(void) { return self->lane; }
void* cuda_on_cpu_shared(void) { return self->block->shared; }

// ---- Failing.

static const char* const kind_names[CUDA_ON_CPU_KINDS] = {
    "running",           "cuda_on_cpu_yield",   "__syncthreads",     "__syncthreads_or",
    "__syncthreads_and", "__syncthreads_count", "__syncwarp",        "__ballot_sync",
    "__any_sync",        "__all_sync",          "__match_any_sync",  "__shfl_sync",
    "__shfl_up_sync",    "__shfl_down_sync",    "__shfl_xor_sync",   "__reduce_add_sync",
    "__reduce_min_sync", "__reduce_max_sync",   "__reduce_and_sync", "__reduce_or_sync",
    "__reduce_xor_sync"};

static void print_threads(void) {
    int printed = 0;
    for (int i = 0; i < launch.alive; ++i) {
        const cuda_block* b = &launch.block[i];
        for (int number = 0; number < b->threads && b->live > 0; ++number) {
            const cuda_thread* t = &b->thread[number];
            if (!(t->warp->started & ~t->warp->exited & t->bit) || t->waits == CUDA_ON_CPU_NOTHING) continue;
            if (++printed > 40) {
                fprintf(stderr, "  and more\n");
                return;
            }
            fprintf(stderr, "  block (%u, %u, %u) thread (%u, %u, %u) waits in %s", b->index.x, b->index.y, b->index.z,
                    t->index.x, t->index.y, t->index.z, kind_names[t->waits]);
            if (t->waits >= CUDA_ON_CPU_SYNCWARP) fprintf(stderr, ", mask %08x", t->mask);
            fprintf(stderr, "\n");
        }
    }
}

void cuda_on_cpu_fail(const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "cuda_on_cpu: ");
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    if (self != NULL)
        fprintf(stderr, "\n  in block (%u, %u, %u) thread (%u, %u, %u)", blockIdx.x, blockIdx.y, blockIdx.z,
                threadIdx.x, threadIdx.y, threadIdx.z);
    fprintf(stderr, "\n");
    if (launch.kernel != NULL) {
        fprintf(stderr, "  kernel %p, grid (%u, %u, %u) of (%u, %u, %u) threads%s\n", launch.kernel, gridDim.x,
                gridDim.y, gridDim.z, blockDim.x, blockDim.y, blockDim.z, launch.together ? ", cooperative" : "");
        print_threads();
    }
    abort();
}

// ---- Which thread goes on.

static void become(cuda_thread* t) {
    self = t;
    threadIdx = t->index;
    blockIdx = t->block->index;
}

// The next ready thread of a warp, no longer counted as ready.
static cuda_thread* pick(cuda_warp* w) {
    int lane = cuda_on_cpu_backwards ? 31 - __builtin_clz(w->ready) : __builtin_ctz(w->ready);
    cuda_thread* t = &w->first[lane];
    w->ready &= ~(1u << lane);
    if (w->started >> lane & 1u) return t;
    w->started |= 1u << lane;
    ++cuda_on_cpu_progress;
    unsigned number = (unsigned)(t - t->block->thread);
    t->index.x = number % blockDim.x;
    t->index.y = number / blockDim.x % blockDim.y;
    t->index.z = number / blockDim.x / blockDim.y;
    t->waits = CUDA_ON_CPU_NOTHING;
    t->awaited = false;
    t->on = NULL;
    return t;
}

static void wait_for(cuda_on_cpu_kind kind, unsigned mask) {
    cuda_thread* me = self;
    me->waits = kind;
    me->mask = mask;
    fiber_pause(me->on);
    me->waits = CUDA_ON_CPU_NOTHING;
}

static void release_barrier(cuda_block* b) {
    b->met_truths = b->truths;
    b->met = b->arrived;
    b->truths = b->arrived = 0;
    for (int i = 0; i < b->warps; ++i) {
        b->warp[i].ready |= b->warp[i].at_barrier;
        b->warp[i].at_barrier = 0;
    }
    ++cuda_on_cpu_progress;
}

// Ends the running thread.
static void finish(void) {
    cuda_thread* t = self;
    cuda_warp* w = t->warp;
    cuda_block* b = t->block;
    if (launch.early && !t->awaited) cuda_on_cpu_fail("a thread of an early launch never waits for the launch before");
    for (uint32_t open = w->open; open != 0; open &= open - 1)
        if (w->meeting[__builtin_ctz(open)].mask & t->bit)
            cuda_on_cpu_fail("a thread exits while other lanes wait for it in a warp collective");
    w->exited |= t->bit;
    --b->live;
    ++cuda_on_cpu_progress;
    if (b->arrived > 0 && b->arrived == b->live) release_barrier(b);
}

// A fiber runs thread after thread. As long as the next one has not started, it can do so without a switch.
void cuda_on_cpu_run_fiber(fiber* mine) {
    for (;;) {
        launch.call(launch.kernel, launch.arguments);
        cuda_warp* w = self->warp;
        finish();
        if (w->ready & ~w->started) {
            int lane = cuda_on_cpu_backwards ? 31 - __builtin_clz(w->ready) : __builtin_ctz(w->ready);
            if (!(w->started >> lane & 1u)) {
                become(pick(w));
                self->on = mine;
                continue;
            }
        }
        fiber_give(mine);
        fiber_pause(mine);
    }
}

void cuda_on_cpu_await(void) { self->awaited = true; }

void cuda_on_cpu_look_at_store(const volatile void* at) {
    if (!launch.early || self == NULL || self->awaited) return;
    const uintptr_t from = (uintptr_t)self->block->shared;
    if ((uintptr_t)at < from || (uintptr_t)at - from >= CUDA_ON_CPU_SHARED_OPTIN)
        cuda_on_cpu_fail("a thread of an early launch changes memory before it waits for the launch before");
}

void cuda_on_cpu_yield(void) {
    self->warp->yielded |= self->bit;
    wait_for(CUDA_ON_CPU_YIELD, 0);
}

// ---- Meetings.

int cuda_on_cpu_barrier(cuda_on_cpu_kind kind, bool truth, int* arrived) {
    cuda_block* b = self->block;
    if (b->arrived == 0) b->kind = kind;
    if (b->kind != kind) cuda_on_cpu_fail("%s meets %s", kind_names[kind], kind_names[b->kind]);
    b->truths += truth;
    if (++b->arrived == b->live) {
        release_barrier(b);
    } else {
        self->warp->at_barrier |= self->bit;
        wait_for(kind, 0);
    }
    if (arrived != NULL) *arrived = b->met;
    return b->met_truths;
}

// The open meeting of these lanes, or a new one.
static cuda_meeting* meeting_of(cuda_warp* w, cuda_on_cpu_kind kind, unsigned mask) {
    for (uint32_t open = w->open; open != 0; open &= open - 1) {
        cuda_meeting* m = &w->meeting[__builtin_ctz(open)];
        if (m->mask != mask) continue;
        if (m->kind != kind) cuda_on_cpu_fail("%s meets %s, mask %08x", kind_names[kind], kind_names[m->kind], mask);
        return m;
    }
    int place = __builtin_ctz(~w->used); // there are as many as lanes, and each lane is in one at most
    cuda_meeting* m = &w->meeting[place];
    w->used |= 1u << place;
    w->open |= 1u << place;
    m->kind = kind;
    m->mask = mask;
    m->arrived = m->left = 0;
    return m;
}

const uint64_t* cuda_on_cpu_exchange(cuda_on_cpu_kind kind, unsigned mask, uint64_t value) {
    cuda_thread* me = self;
    cuda_warp* w = me->warp;
    if (!(mask & me->bit))
        cuda_on_cpu_fail("%s: mask %08x lacks the calling lane %d", kind_names[kind], mask, me->lane);
    if (mask & w->exited)
        cuda_on_cpu_fail("%s: mask %08x names lanes %08x, which exited or never were", kind_names[kind], mask,
                         mask & w->exited);
    cuda_meeting* m = meeting_of(w, kind, mask);
    m->value[me->lane] = value;
    m->arrived |= me->bit;
    if (m->arrived == mask) {
        w->open &= ~(1u << (m - w->meeting));
        w->ready |= mask & ~me->bit;
        ++cuda_on_cpu_progress;
    } else {
        wait_for(kind, mask);
    }
    m->left |= me->bit;
    if (m->left == mask) w->used &= ~(1u << (m - w->meeting)); // read by the caller before anybody can take it
    return m->value;
}

int cuda_on_cpu_source(cuda_on_cpu_kind kind, int operand, int width) {
    if (width < 1 || width > 32 || (width & (width - 1)) != 0)
        cuda_on_cpu_fail("%s: width %d is no power of two up to 32", kind_names[kind], width);
    int lane = self->lane, first = lane & ~(width - 1), source;
    if (kind == CUDA_ON_CPU_SHFL) return first | (operand & (width - 1));
    operand &= 31;
    if (kind == CUDA_ON_CPU_SHFL_UP)
        source = lane - operand;
    else
        source = kind == CUDA_ON_CPU_SHFL_DOWN ? lane + operand : lane ^ operand;
    if (kind == CUDA_ON_CPU_SHFL_UP) return source < first ? lane : source;
    return source >= first + width ? lane : source;
}

// ---- Rounds.

// Every thread of the block goes on until it waits. Whether any of them yielded.
static bool run_block(cuda_block* b) {
    bool yielded = false;
    for (int i = 0; i < b->warps; ++i) {
        cuda_warp* w = &b->warp[cuda_on_cpu_backwards ? b->warps - 1 - i : i];
        while (w->ready != 0) {
            cuda_thread* t = pick(w);
            if (t->on == NULL) t->on = fiber_take();
            become(t);
            fiber_resume(t->on);
        }
        yielded = yielded || w->yielded != 0;
        w->ready = w->yielded;
        w->yielded = 0;
    }
    self = NULL;
    return yielded;
}

void cuda_on_cpu_run_blocks(void) {
    enum { PATIENCE = 20000 }; // rounds in which threads do nothing but spin
    uint64_t before = cuda_on_cpu_progress;
    for (int rounds = 0;; ++rounds) {
        int live = 0;
        bool yielded = false, ready = false;
        for (int i = 0; i < launch.alive; ++i) {
            cuda_block* b = &launch.block[cuda_on_cpu_backwards ? launch.alive - 1 - i : i];
            if (b->live > 0 && run_block(b)) yielded = true;
            live += b->live;
            for (int j = 0; j < b->warps; ++j) ready = ready || b->warp[j].ready != 0;
        }
        if (live == 0) return;
        if (cuda_on_cpu_progress != before) rounds = 0;
        before = cuda_on_cpu_progress;
        if (!ready && !yielded) cuda_on_cpu_fail("deadlock: nobody can go on");
        if (rounds >= PATIENCE) cuda_on_cpu_fail("deadlock: threads spin through %d rounds without progress", rounds);
    }
}

cuda_launch* cuda_on_cpu_launch_state(void) { return &launch; }
