// Any bytes, read as PLY: as points and as a mesh.
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    fuzz_points(data, size, SAP_FORMAT_PLY);
    fuzz_mesh(data, size, SAP_FORMAT_PLY, NULL);
    return 0;
}
