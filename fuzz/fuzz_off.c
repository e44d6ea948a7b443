// Any bytes, read as OFF.
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    fuzz_mesh(data, size, SAP_FORMAT_OFF, NULL);
    return 0;
}
