// Any bytes, read as OBJ.
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    fuzz_mesh(data, size, SAP_FORMAT_OBJ, NULL);
    return 0;
}
