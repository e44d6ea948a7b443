// Going through a tree's points from one place, point by point.
#include "base/assert.h"
#include "math/dialect.h"
#include "nearest/next.h"
#include "tree/explicit/groups.h"
#include <float.h>
#include <string.h>

// Makes memory larger; what it held stays. False if there is none: then it is as it was.
static bool sap_next_grow(const sap_device* device, void** memory, size_t* bytes, size_t wanted) {
    void* larger = sap_memory_allocate(device, wanted);
    if (!larger) return false;
    if (*bytes) memcpy(larger, *memory, *bytes);
    sap_memory_release(device, *memory, *bytes);
    *memory = larger;
    *bytes = wanted;
    return true;
}

#define SAP_SPECIAL_TEXT "nearest/next_instances.h"
#include "math/specialise_all.h"

#define FUNCTIONS(bits, axes)                                                                                          \
    { next_begin_f##bits##_##axes, next_take_f##bits##_##axes }

sap_next_functions sap_next_choose(const sap_tree_shape* shape) {
    static const sap_next_functions functions[2][4] = {{SAP_EACH_AXES_32(FUNCTIONS)}, {SAP_EACH_AXES_64(FUNCTIONS)}};
    const int axes = shape->dims >= 2 && shape->dims <= 4 ? shape->dims - 2 : 3;
    SAP_ASSERT(shape->dims >= 1 && shape->dims <= SAP_MAX_DIMS);
    return functions[shape->real_bits == 64][axes];
}

void sap_next_free(const sap_device* device, sap_next* next) {
    sap_memory_release(device, next->entries, next->entries_bytes);
    sap_memory_release(device, next->cells, next->cells_bytes);
}
