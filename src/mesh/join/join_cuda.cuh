// What the end of a build over triangles on CUDA devices works on.
#ifndef SAPWOOD_MESH_JOIN_JOIN_CUDA_CUH
#define SAPWOOD_MESH_JOIN_JOIN_CUDA_CUH

#include "mesh/build_cuda.cuh"

enum { SAP_MESH_GAPS = 4 }; // between a tree's arrays and behind them

typedef struct sap_mesh_cuda_join {
    int64_t triangles, tops, positions;
    // The tree's.
    unsigned char* arrays;
    struct {
        size_t from, to;
    } gap[SAP_MESH_GAPS];
    sap_mesh_node* nodes;
    int32_t* references;
    float* corners;
    int32_t* ids;
    // What stands beside them (mesh/mesh_cuda.h): triangles stand at their references' positions.
    uint4* inner;
    float4* packed;
    // Filled in by sap_mesh_cuda_join_all.
    int64_t tile;    // positions of a block
    uint32_t* sums;  // of the tiles
    uint32_t* first; // [triangles]: the position where preorder meets a triangle
    int32_t* place;  // [triangles]
    int32_t* met;    // [positions]: triangles, or SAP_MESH_HOLE; in the end, as they are packed
} sap_mesh_cuda_join;

// Scratch memory that the join needs.
size_t sap_mesh_join_bytes(int64_t triangles, int64_t positions);
// Writes the tree. large_leaves: there are leaves of more triangles than a small root has; only those may take more
// than SAP_MESH_SMALL places, holes among them.
void sap_mesh_cuda_join_all(sap_cuda_call* call, const sap_mesh_cuda_build* b, sap_mesh_cuda_join* j, void* memory,
                            bool large_leaves);

#endif
