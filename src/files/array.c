#include "files/array.h"
#include <string.h>

bool sap_array_grow(const sap_device* device, sap_array* array, size_t more) {
    enum { LEAST_BYTES = 256 };
    size_t needed, bytes = LEAST_BYTES;
    if (!sap_size_add(array->used, more, &needed)) return false;
    if (array->allocated && !sap_size_multiply(array->allocated, 2, &bytes)) return false;
    if (bytes < needed) bytes = needed;
    void* memory = sap_memory_allocate(device, bytes);
    if (!memory) return false;
    if (array->used) memcpy(memory, array->memory, array->used);
    sap_memory_release(device, array->memory, array->allocated);
    array->memory = memory;
    array->allocated = bytes;
    SAP_ASSERT(array->allocated - array->used >= more);
    return true;
}
