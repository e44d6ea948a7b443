// Atomics and loads past caches. Fibers share one thread of the CPU and give way only where they wait, so that plain
// reads and writes are atomic. The overloads are CUDA's, so that what nvcc refuses is refused here. Part of
// cuda_runtime.h.
#ifndef CUDA_ON_CPU_ATOMICS_H
#define CUDA_ON_CPU_ATOMICS_H

// Only what changes memory is progress: a thread that waits for a lock may try it for ever. Memory is volatile, since
// whoever polls would otherwise read once.
template <typename type> static inline type cuda_on_cpu_store(type* at, type old, type value) {
    cuda_on_cpu_look_at_store(at);
    cuda_on_cpu_progress += memcmp(&old, &value, sizeof value) != 0;
    *(volatile type*)at = value;
    return old;
}

template <typename type> static inline type cuda_on_cpu_load(const type* at) { return *(const volatile type*)at; }

#define CUDA_ON_CPU_ATOMIC(type, name, expression)                                                                     \
    static inline type name(type* at, type value) {                                                                    \
        type old = cuda_on_cpu_load(at);                                                                               \
        return cuda_on_cpu_store(at, old, (type)(expression));                                                         \
    }

#define CUDA_ON_CPU_ATOMICS(type)                                                                                      \
    CUDA_ON_CPU_ATOMIC(type, atomicMin, value < old ? value : old)                                                     \
    CUDA_ON_CPU_ATOMIC(type, atomicMax, value > old ? value : old)                                                     \
    CUDA_ON_CPU_ATOMIC(type, atomicAnd, old& value)                                                                    \
    CUDA_ON_CPU_ATOMIC(type, atomicOr, old | value)                                                                    \
    CUDA_ON_CPU_ATOMIC(type, atomicXor, old ^ value)

#define CUDA_ON_CPU_ATOMIC_SWAPS(type, unsigned_type)                                                                  \
    CUDA_ON_CPU_ATOMIC(type, atomicAdd, (unsigned_type)old + (unsigned_type)value)                                     \
    CUDA_ON_CPU_ATOMIC(type, atomicExch, value)                                                                        \
    static inline type atomicCAS(type* at, type expected, type value) {                                                \
        type old = cuda_on_cpu_load(at);                                                                               \
        return old == expected ? cuda_on_cpu_store(at, old, value) : old;                                              \
    }

CUDA_ON_CPU_ATOMICS(int)
CUDA_ON_CPU_ATOMICS(unsigned)
CUDA_ON_CPU_ATOMICS(long long)
CUDA_ON_CPU_ATOMICS(unsigned long long)
CUDA_ON_CPU_ATOMIC_SWAPS(int, unsigned)
CUDA_ON_CPU_ATOMIC_SWAPS(unsigned, unsigned)
CUDA_ON_CPU_ATOMIC_SWAPS(unsigned long long, unsigned long long)
CUDA_ON_CPU_ATOMIC(int, atomicSub, (unsigned)old - (unsigned)value)
CUDA_ON_CPU_ATOMIC(unsigned, atomicSub, old - value)
CUDA_ON_CPU_ATOMIC(float, atomicAdd, old + value)
CUDA_ON_CPU_ATOMIC(double, atomicAdd, old + value)
CUDA_ON_CPU_ATOMIC(float, atomicExch, value)

// ---- Loads and stores that say how they are cached.

template <typename type> static inline type __ldg(const type* at) { return *at; }
template <typename type> static inline type __ldca(const type* at) { return *at; }
template <typename type> static inline type __ldcs(const type* at) { return *at; }
template <typename type> static inline type __ldlu(const type* at) { return *at; }

// These two are polled. The compiler has to read again, but a vector has no volatile copy.
template <typename type> static inline type __ldcg(const type* at) {
    __asm__ volatile("" ::: "memory");
    return *at;
}

template <typename type> static inline type __ldcv(const type* at) {
    __asm__ volatile("" ::: "memory");
    return *at;
}

template <typename type> struct cuda_on_cpu_plain { typedef type as; }; // keeps a parameter from choosing the type

template <typename type> static inline void __stcg(type* at, typename cuda_on_cpu_plain<type>::as value) {
    *at = value;
}

template <typename type> static inline void __stcs(type* at, typename cuda_on_cpu_plain<type>::as value) {
    *at = value;
}

template <typename type> static inline void __stwb(type* at, typename cuda_on_cpu_plain<type>::as value) {
    *at = value;
}

template <typename type> static inline void __stwt(type* at, typename cuda_on_cpu_plain<type>::as value) {
    *at = value;
}

#endif
