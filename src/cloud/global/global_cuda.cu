// Alignment without a start of what lies on a GPU: copied to a CPU once, where it is found. That is done once for a cloud, on
// a few thousand points left of it; the steps that follow a start run on the GPU (cloud/align_cuda.cu).
#include "device/cuda.h"

extern "C" {
#include "cloud/ops.h"
#include "device/memory.h"
#include "sapwood/mesh.h"
#include "tree/layout.h"
}

// A CPU with the device's threads, host memory and log.
static sap_status open_cpu(const sap_device* device, sap_device** cpu) {
    sap_device_options options;
    memset((void*)&options, 0, sizeof options);
    options.processor = SAP_CPU;
    options.threads = device->options.threads;
    options.allocator = device->options.allocator;
    options.log = device->options.log;
    options.log_user = device->options.log_user;
    return sap_device_open(&options, cpu);
}

// Rows where the host can read them; `memory` holds the copy, if there is one.
static sap_status rows_here(sap_device* device, sap_rows* rows, sap_scratch* memory) {
    sap_cuda_call call;
    if (rows->count == 0) return SAP_OK;
    const size_t numbers = (size_t)(rows->count - 1) * (size_t)rows->stride + (size_t)rows->dims;
    const size_t bytes = numbers * (size_t)rows->real_bits / 8;
    sap_status status = SAP_OK;
    if (sap_cuda_begin(&call, device) == SAP_OK && sap_cuda_on_device(&call, rows->coords)) {
        if (sap_scratch_take(device, bytes, memory)) {
            sap_cuda_fetch(&call, memory->memory, rows->coords, bytes);
            rows->coords = memory->memory;
        } else {
            status = sap_fail(device, SAP_ERROR_MEMORY, "no memory for %lld points", (long long)rows->count);
        }
    }
    return sap_cuda_end(&call, status);
}

sap_status sap_cloud_global_cuda(sap_global_job* job) {
    sap_device *cpu = NULL, *device = job->device;
    sap_tree* tree = NULL;
    sap_mesh_tree* mesh = NULL;
    sap_global_job here = *job;
    sap_scratch memory = {NULL, 0};
    sap_status status = open_cpu(device, &cpu);
    if (status == SAP_OK && job->mesh) status = sap_mesh_tree_copy(job->mesh, cpu, &mesh);
    if (status == SAP_OK && job->tree) status = sap_tree_copy(job->tree, cpu, &tree);
    if (status == SAP_OK) status = rows_here(device, &here.source, &memory);
    here.device = cpu;
    here.tree = tree;
    here.mesh = mesh;
    if (status == SAP_OK) status = sap_cloud_global_cpu(&here);
    job->out = here.out;
    sap_scratch_give(device, &memory);
    sap_tree_free(tree);
    sap_mesh_tree_free(mesh);
    sap_device_close(cpu);
    return status;
}
