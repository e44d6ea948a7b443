// Any bytes, read as NPY.
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    fuzz_points(data, size, SAP_FORMAT_NPY);
    return 0;
}
