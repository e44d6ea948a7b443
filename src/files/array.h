// Arrays that grow, for data of a file that does not say its length beforehand.
#ifndef SAPWOOD_FILES_ARRAY_H
#define SAPWOOD_FILES_ARRAY_H

#include "base/assert.h"
#include "device/memory.h"

// All zero is empty.
typedef struct sap_array {
    void* memory;
    size_t used, allocated; // bytes
} sap_array;

// Makes room for `more` bytes behind those used, at least doubling what there is; false when memory is exhausted.
bool sap_array_grow(const sap_device* device, sap_array* array, size_t more);

// Takes `more` bytes (or none) at the end, to be filled; NULL when memory is exhausted.
static inline void* sap_array_add(const sap_device* device, sap_array* array, size_t more) {
    SAP_ASSERT(array->used <= array->allocated);
    bool room = array->memory && array->allocated - array->used >= more;
    if (!room && !sap_array_grow(device, array, more)) return NULL;
    void* added = (unsigned char*)array->memory + array->used;
    array->used += more;
    return added;
}

static inline void sap_array_release(const sap_device* device, sap_array* array) {
    sap_memory_release(device, array->memory, array->allocated);
    *array = (sap_array){NULL, 0, 0};
}

#endif
