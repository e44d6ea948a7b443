// FAST's large nodes (Zhou, Hou, Wang and Guo 2008).
#include "mesh/large/level_cuda.cuh"

namespace {

struct sap_mesh_fast {
    enum { fast = 1 };
    typedef struct {
    } shared;
};

} // namespace

void sap_mesh_cuda_large_fast(sap_cuda_call* call, const sap_mesh_cuda_build* b) {
    sap_mesh_launch_large<sap_mesh_fast>(call, b);
}
