// Any bytes, read as PCD.
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    fuzz_points(data, size, SAP_FORMAT_PCD);
    return 0;
}
