// Any bytes, read as STL, with corners merged and apart; and as whatever mesh they look like.
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    fuzz_mesh(data, size, SAP_FORMAT_STL, NULL);
    fuzz_mesh(data, size, SAP_FORMAT_STL, &(sap_mesh_read_options){.keep_apart = true});
    fuzz_mesh(data, size, SAP_FORMAT_AUTO, NULL);
    return 0;
}
