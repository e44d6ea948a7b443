// What files of saved trees have in common.
#ifndef SAPWOOD_BASE_SAVED_H
#define SAPWOOD_BASE_SAVED_H

#include <stddef.h>
#include <stdint.h>

// The checksum of whole words. It multiplies words of 8 bytes into eight lanes, each by h = (h ^ word) * odd, and the
// lanes into one. Every step is a bijection of h and of the word alike, so a change within one word never goes
// unnoticed.
uint64_t sap_saved_sum(const void* bytes, size_t size);

// Reads exactly `size` bytes; 1 if they are there, 0 if the file ends before, -1 on an error.
int sap_saved_read(int file, void* bytes, size_t size);

#endif
