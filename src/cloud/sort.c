#include "cloud/sort.h"
#include <stdbool.h>
#include <string.h>

enum { DIGIT = 11, DIGITS = 1 << DIGIT };

#define SORT(width)                                                                                                    \
    bool sap_cloud_sort_##width(uint##width##_t* keys, uint32_t* numbers, uint##width##_t* spare_keys,                 \
                                uint32_t* spare_numbers, int64_t count, int bits) {                                    \
        bool is_spare = false;                                                                                         \
        for (int shift = 0; shift < bits && count > 1; shift += DIGIT) {                                               \
            int64_t begin[DIGITS];                                                                                     \
            memset(begin, 0, sizeof begin);                                                                            \
            for (int64_t i = 0; i < count; i++) begin[keys[i] >> shift & (DIGITS - 1)]++;                              \
            if (begin[keys[0] >> shift & (DIGITS - 1)] == count) continue;                                             \
            for (int64_t digit = 0, sum = 0; digit < DIGITS; digit++) {                                                \
                const int64_t here = begin[digit];                                                                     \
                begin[digit] = sum;                                                                                    \
                sum += here;                                                                                           \
            }                                                                                                          \
            for (int64_t i = 0; i < count; i++) {                                                                      \
                const int64_t to = begin[keys[i] >> shift & (DIGITS - 1)]++;                                           \
                spare_keys[to] = keys[i];                                                                              \
                spare_numbers[to] = numbers[i];                                                                        \
            }                                                                                                          \
            uint##width##_t* const other_keys = keys;                                                                  \
            uint32_t* const other_numbers = numbers;                                                                   \
            keys = spare_keys, numbers = spare_numbers;                                                                \
            spare_keys = other_keys, spare_numbers = other_numbers;                                                    \
            is_spare = !is_spare;                                                                                      \
        }                                                                                                              \
        return is_spare;                                                                                               \
    }

SORT(32)
SORT(64)
