// Any bytes, read as XYZ.
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    fuzz_points(data, size, SAP_FORMAT_XYZ);
    return 0;
}
