// What the library uses of CUB's sorts, on the CPU.
#ifndef CUDA_ON_CPU_CUB_DEVICE_RADIX_SORT_CUH
#define CUDA_ON_CPU_CUB_DEVICE_RADIX_SORT_CUH

#include <algorithm>
#include <cuda_runtime.h>
#include <vector>

namespace cub {

template <typename type> struct DoubleBuffer {
    type* arrays[2];
    int selector = 0;
    DoubleBuffer(type* current, type* alternate) : arrays{current, alternate} {}
    type* Current() { return arrays[selector]; }
    type* Alternate() { return arrays[1 - selector]; }
};

struct DeviceRadixSort {
    // By the bits begin … end - 1; without memory only says how much it wants.
    template <typename key, typename value>
    static cudaError_t SortPairs(void* memory, size_t& bytes, DoubleBuffer<key>& keys, DoubleBuffer<value>& values,
                                 int64_t count, int begin, int end, cudaStream_t) {
        if (!memory) {
            bytes = 1;
            return cudaSuccess;
        }
        const key mask = end - begin < (int)(8 * sizeof(key)) ? ((key)1 << (end - begin)) - 1 : ~(key)0;
        std::vector<std::pair<key, value>> pairs;
        for (int64_t i = 0; i < count; i++) pairs.emplace_back(keys.Current()[i], values.Current()[i]);
        std::stable_sort(pairs.begin(), pairs.end(), [&](const auto& a, const auto& b) {
            return (a.first >> begin & mask) < (b.first >> begin & mask);
        });
        for (int64_t i = 0; i < count; i++) {
            keys.Alternate()[i] = pairs[(size_t)i].first;
            values.Alternate()[i] = pairs[(size_t)i].second;
        }
        keys.selector = values.selector = 1 - keys.selector;
        return cudaSuccess;
    }

    // All bits of keys alone.
    template <typename key>
    static cudaError_t SortKeys(void* memory, size_t& bytes, const key* keys, key* sorted, int64_t count, int, int,
                                cudaStream_t) {
        if (!memory) {
            bytes = 1;
            return cudaSuccess;
        }
        std::copy(keys, keys + count, sorted);
        std::sort(sorted, sorted + count);
        return cudaSuccess;
    }
};

} // namespace cub
#endif
