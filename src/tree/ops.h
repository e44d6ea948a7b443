// What a processor does with trees over points.
#ifndef SAPWOOD_TREE_OPS_H
#define SAPWOOD_TREE_OPS_H

#include "device/device.h"
#include "sapwood/points.h"

#ifdef __cplusplus
extern "C" {
#endif

struct sap_gl_tree_textures; // sapwood/gl.h

typedef struct sap_tree_ops {
    // Builds into a tree whose device and options are set and whose arrays are empty or of an earlier build.
    sap_status (*build)(sap_tree* tree, const sap_rows* points);
    // The next three are there where a tree's arrays are not host memory, or not alone. copy_in gives a tree that has
    // device, options and shape its arrays, and fills them with shape.bytes bytes of host or device memory. copy_out
    // copies bytes [at, at + bytes) of the arrays to host memory. free_arrays frees the arrays and all else that the
    // processor keeps with the tree.
    sap_status (*copy_in)(sap_tree* tree, const unsigned char* arrays);
    sap_status (*copy_out)(const sap_tree* tree, size_t at, size_t bytes, void* to);
    void (*free_arrays)(sap_tree* tree);
    bool copies_host_only; // copy_in takes host memory only
    bool is_periodic;      // trees may have periods
    // (optional) Makes what the processor keeps beside the arrays, when these are whole: built, loaded or copied.
    void (*complete)(sap_tree* tree);
    // (optional) Whether a tree is right; host code then names what is wrong with one that is not.
    sap_status (*verify)(const sap_tree* tree, bool* right);
    // (optional) Trees as textures: sap_gl_tree_describe, sap_gl_tree_update.
    sap_status (*describe_textures)(const sap_tree* tree, struct sap_gl_tree_textures* textures);
    sap_status (*update_textures)(sap_tree* copy, const sap_tree* tree);
} sap_tree_ops;

sap_status sap_tree_build_cpu(sap_tree* tree, const sap_rows* points);
void sap_tree_free_arrays_cpu(sap_tree* tree);

sap_status sap_tree_build_cuda(sap_tree* tree, const sap_rows* points);
sap_status sap_tree_copy_in_cuda(sap_tree* tree, const unsigned char* arrays);
sap_status sap_tree_copy_out_cuda(const sap_tree* tree, size_t at, size_t bytes, void* to);
void sap_tree_free_arrays_cuda(sap_tree* tree);
sap_status sap_tree_verify_cuda(const sap_tree* tree, bool* right);

sap_status sap_tree_build_gl(sap_tree* tree, const sap_rows* points);
sap_status sap_tree_copy_in_gl(sap_tree* tree, const unsigned char* arrays);
sap_status sap_tree_copy_out_gl(const sap_tree* tree, size_t at, size_t bytes, void* to);
void sap_tree_free_arrays_gl(sap_tree* tree);
sap_status sap_tree_describe_textures_gl(const sap_tree* tree, struct sap_gl_tree_textures* result);
sap_status sap_tree_update_textures_gl(sap_tree* copy, const sap_tree* tree);

#ifdef __cplusplus
}
#endif
#endif
