// The end of a build over triangles on CUDA devices: its parameters.
#ifndef SAPWOOD_MESH_JOIN_JOIN_CUDA_CUH
#define SAPWOOD_MESH_JOIN_JOIN_CUDA_CUH

#include "mesh/build_cuda.cuh"

enum { SAP_MESH_GAPS = 4 }; // between a tree's arrays and behind them

typedef struct sap_mesh_cuda_join {
    int64_t triangles, tops, positions;
    // The tree's arrays.
    unsigned char* arrays;
    struct {
        size_t from, to;
    } gap[SAP_MESH_GAPS];
    sap_mesh_node* nodes;
    int32_t* references;
    float* corners;
    int32_t* ids;
    // The form that rays traverse (mesh/mesh_cuda.h): triangles are stored at their references' positions.
    uint4* inner;
    float4* packed;
    // Set by sap_mesh_cuda_join_all.
    int64_t tile;    // positions per block
    uint32_t* sums;  // one per tile
    uint32_t* first; // [triangles]: the first position of a triangle in preorder
    int32_t* place;  // [triangles]
    int32_t* met;    // [positions]: triangles in preorder, or SAP_MESH_HOLE; in the end, as they are packed
} sap_mesh_cuda_join;

// Scratch memory that the join needs.
size_t sap_mesh_join_bytes(int64_t triangles, int64_t positions);
// Writes the tree. large_leaves: there are leaves of more triangles than a small root has. Only these may have more
// than SAP_MESH_SMALL positions, holes included.
void sap_mesh_cuda_join_all(sap_cuda_call* call, const sap_mesh_cuda_build* b, sap_mesh_cuda_join* j, void* memory,
                            bool large_leaves);

#endif
