// Any bytes, read as the MTL of a small OBJ.
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    static const char obj[] = "v 0 0 0\nv 1 0 0\nv 0 1 0\nusemtl a\nf 1 2 3\nusemtl b\nf 1 2 3\n";
    sap_mesh_read_options options = {.materials = data, .materials_size = size};
    fuzz_mesh((const uint8_t*)obj, sizeof obj - 1, SAP_FORMAT_OBJ, &options);
    return 0;
}
