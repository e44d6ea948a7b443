// Any bytes, read as LAS. What LASzip has packed is left to it.
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    enum { FORMAT = 104, PACKED = 0xc0 };
    if (size <= FORMAT || !(data[FORMAT] & PACKED)) fuzz_points(data, size, SAP_FORMAT_LAS);
    return 0;
}
