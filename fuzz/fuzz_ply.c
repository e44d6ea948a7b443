// Any bytes, read as PLY.
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    fuzz_points(data, size, SAP_FORMAT_PLY);
    return 0;
}
