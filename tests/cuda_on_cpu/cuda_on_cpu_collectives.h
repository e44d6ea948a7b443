// Barriers, votes, shuffles and reductions of CUDA, over the scheduler's two kinds of rendezvous. Part of
// cuda_runtime.h.
#ifndef CUDA_ON_CPU_COLLECTIVES_H
#define CUDA_ON_CPU_COLLECTIVES_H

// What a thread waits for. Threads that meet must wait for the same.
typedef enum cuda_on_cpu_kind {
    CUDA_ON_CPU_NOTHING,
    CUDA_ON_CPU_YIELD,
    CUDA_ON_CPU_SYNCTHREADS,
    CUDA_ON_CPU_SYNCTHREADS_OR,
    CUDA_ON_CPU_SYNCTHREADS_AND,
    CUDA_ON_CPU_SYNCTHREADS_COUNT,
    CUDA_ON_CPU_SYNCWARP,
    CUDA_ON_CPU_BALLOT,
    CUDA_ON_CPU_ANY,
    CUDA_ON_CPU_ALL,
    CUDA_ON_CPU_MATCH_ANY,
    CUDA_ON_CPU_SHFL,
    CUDA_ON_CPU_SHFL_UP,
    CUDA_ON_CPU_SHFL_DOWN,
    CUDA_ON_CPU_SHFL_XOR,
    CUDA_ON_CPU_REDUCE_ADD,
    CUDA_ON_CPU_REDUCE_MIN,
    CUDA_ON_CPU_REDUCE_MAX,
    CUDA_ON_CPU_REDUCE_AND,
    CUDA_ON_CPU_REDUCE_OR,
    CUDA_ON_CPU_REDUCE_XOR,
    CUDA_ON_CPU_KINDS
} cuda_on_cpu_kind;

// Waits until every thread of the block that has not exited is here; how many came with a truth.
int cuda_on_cpu_barrier(cuda_on_cpu_kind kind, bool truth, int* arrived);
// Waits until all lanes of `mask` are here; the value each brought, by lane, to be read before the next wait.
const uint64_t* cuda_on_cpu_exchange(cuda_on_cpu_kind kind, unsigned mask, uint64_t value);
// This thread's lane, and the lane that a shuffle reads.
int cuda_on_cpu_lane(void);
int cuda_on_cpu_source(cuda_on_cpu_kind kind, int operand, int width);

// ---- Blocks.

static inline void __syncthreads(void) { cuda_on_cpu_barrier(CUDA_ON_CPU_SYNCTHREADS, false, NULL); }

static inline int __syncthreads_count(int truth) {
    return cuda_on_cpu_barrier(CUDA_ON_CPU_SYNCTHREADS_COUNT, truth != 0, NULL);
}

static inline int __syncthreads_or(int truth) {
    return cuda_on_cpu_barrier(CUDA_ON_CPU_SYNCTHREADS_OR, truth != 0, NULL) != 0;
}

static inline int __syncthreads_and(int truth) {
    int arrived;
    int truths = cuda_on_cpu_barrier(CUDA_ON_CPU_SYNCTHREADS_AND, truth != 0, &arrived);
    return truths == arrived;
}

// ---- Warps.

static inline void __syncwarp(unsigned mask = 0xffffffffu) { cuda_on_cpu_exchange(CUDA_ON_CPU_SYNCWARP, mask, 0); }

// The lanes of mask whose value equals `value`.
static inline unsigned cuda_on_cpu_equal(const uint64_t* values, unsigned mask, uint64_t value) {
    unsigned equal = 0;
    for (unsigned lane = 0; lane < 32; ++lane) equal |= (unsigned)(mask >> lane & 1u && values[lane] == value) << lane;
    return equal;
}

static inline unsigned __ballot_sync(unsigned mask, int truth) {
    return cuda_on_cpu_equal(cuda_on_cpu_exchange(CUDA_ON_CPU_BALLOT, mask, truth != 0), mask, 1);
}

static inline int __any_sync(unsigned mask, int truth) {
    return cuda_on_cpu_equal(cuda_on_cpu_exchange(CUDA_ON_CPU_ANY, mask, truth != 0), mask, 1) != 0;
}

static inline int __all_sync(unsigned mask, int truth) {
    return cuda_on_cpu_equal(cuda_on_cpu_exchange(CUDA_ON_CPU_ALL, mask, truth != 0), mask, 1) == mask;
}

// Reading a lane outside the mask is undefined on a GPU: here it gives 0xA5 bytes, since many discard what they read.
#define CUDA_ON_CPU_SHUFFLE(type, name, kind, operand_type)                                                            \
    static inline type name(unsigned mask, type value, operand_type operand, int width = 32) {                         \
        uint64_t bits = 0;                                                                                             \
        memcpy(&bits, &value, sizeof value);                                                                           \
        const uint64_t* values = cuda_on_cpu_exchange(kind, mask, bits);                                               \
        int source = cuda_on_cpu_source(kind, (int)operand, width);                                                    \
        bits = mask >> source & 1u ? values[source] : 0xA5A5A5A5A5A5A5A5u;                                             \
        memcpy(&value, &bits, sizeof value);                                                                           \
        return value;                                                                                                  \
    }

#define CUDA_ON_CPU_SHUFFLES(type)                                                                                     \
    CUDA_ON_CPU_SHUFFLE(type, __shfl_sync, CUDA_ON_CPU_SHFL, int)                                                      \
    CUDA_ON_CPU_SHUFFLE(type, __shfl_up_sync, CUDA_ON_CPU_SHFL_UP, unsigned)                                           \
    CUDA_ON_CPU_SHUFFLE(type, __shfl_down_sync, CUDA_ON_CPU_SHFL_DOWN, unsigned)                                       \
    CUDA_ON_CPU_SHUFFLE(type, __shfl_xor_sync, CUDA_ON_CPU_SHFL_XOR, int)                                              \
    static inline unsigned __match_any_sync(unsigned mask, type value) {                                               \
        uint64_t bits = 0;                                                                                             \
        memcpy(&bits, &value, sizeof value);                                                                           \
        return cuda_on_cpu_equal(cuda_on_cpu_exchange(CUDA_ON_CPU_MATCH_ANY, mask, bits), mask, bits);                 \
    }

CUDA_ON_CPU_SHUFFLES(int)
CUDA_ON_CPU_SHUFFLES(unsigned)
CUDA_ON_CPU_SHUFFLES(long)
CUDA_ON_CPU_SHUFFLES(unsigned long)
CUDA_ON_CPU_SHUFFLES(long long)
CUDA_ON_CPU_SHUFFLES(unsigned long long)
CUDA_ON_CPU_SHUFFLES(float)
CUDA_ON_CPU_SHUFFLES(double)

#define CUDA_ON_CPU_REDUCE(type, name, kind, expression)                                                               \
    static inline type name(unsigned mask, type value) {                                                               \
        const uint64_t* values = cuda_on_cpu_exchange(kind, mask, (uint32_t)value);                                    \
        type a = (type)(uint32_t)values[__builtin_ctz(mask)];                                                          \
        for (unsigned rest = mask & (mask - 1); rest != 0; rest &= rest - 1) {                                         \
            type b = (type)(uint32_t)values[__builtin_ctz(rest)];                                                      \
            a = expression;                                                                                            \
        }                                                                                                              \
        return a;                                                                                                      \
    }

CUDA_ON_CPU_REDUCE(int, __reduce_add_sync, CUDA_ON_CPU_REDUCE_ADD, (int)((unsigned)a + (unsigned)b))
CUDA_ON_CPU_REDUCE(int, __reduce_min_sync, CUDA_ON_CPU_REDUCE_MIN, b < a ? b : a)
CUDA_ON_CPU_REDUCE(int, __reduce_max_sync, CUDA_ON_CPU_REDUCE_MAX, b > a ? b : a)
CUDA_ON_CPU_REDUCE(unsigned, __reduce_add_sync, CUDA_ON_CPU_REDUCE_ADD, a + b)
CUDA_ON_CPU_REDUCE(unsigned, __reduce_min_sync, CUDA_ON_CPU_REDUCE_MIN, b < a ? b : a)
CUDA_ON_CPU_REDUCE(unsigned, __reduce_max_sync, CUDA_ON_CPU_REDUCE_MAX, b > a ? b : a)
CUDA_ON_CPU_REDUCE(unsigned, __reduce_and_sync, CUDA_ON_CPU_REDUCE_AND, a& b)
CUDA_ON_CPU_REDUCE(unsigned, __reduce_or_sync, CUDA_ON_CPU_REDUCE_OR, a | b)
CUDA_ON_CPU_REDUCE(unsigned, __reduce_xor_sync, CUDA_ON_CPU_REDUCE_XOR, a ^ b)

// ---- Waiting otherwise.

static inline void __nanosleep(unsigned) { cuda_on_cpu_yield(); }
static inline void __threadfence(void) { __asm__ volatile("" ::: "memory"); }
static inline void __threadfence_block(void) { __asm__ volatile("" ::: "memory"); }
static inline void __threadfence_system(void) { __asm__ volatile("" ::: "memory"); }
[[noreturn]] static inline void __trap(void) { cuda_on_cpu_fail("__trap was called"); }
long long clock64(void);

#endif
