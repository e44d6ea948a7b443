// A stable sort of keys with a number beside each: digits of eleven bits from the lowest on, leaving out those that are
// the same in all keys.
#ifndef SAPWOOD_CLOUD_SORT_H
#define SAPWOOD_CLOUD_SORT_H

#include <stdint.h>

// Sorts keys[count] of so many bits and their numbers; spare_keys and spare_numbers are as long. True if the result
// stands in the spare arrays.
_Bool sap_cloud_sort_32(uint32_t* keys, uint32_t* numbers, uint32_t* spare_keys, uint32_t* spare_numbers, int64_t count,
                        int bits);
_Bool sap_cloud_sort_64(uint64_t* keys, uint32_t* numbers, uint64_t* spare_keys, uint32_t* spare_numbers, int64_t count,
                        int bits);

#endif
