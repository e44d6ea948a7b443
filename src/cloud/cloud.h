// The inner loops of the CPU for clouds; one set for each instruction set and precision.
#ifndef SAPWOOD_CLOUD_CLOUD_H
#define SAPWOOD_CLOUD_CLOUD_H

#include "cloud/ops.h"
#include "cloud/rows_cpu.h"

typedef struct sap_cloud_kernels {
    // Writes what the job wants of the points of these rows. points: real[source_count][4], by id.
    void (*axes)(const sap_axes_job* job, const void* points, const sap_cloud_rows* rows);
    // means[id]: the mean of the distances to the neighbours of each of these points, 0 without any.
    void (*means)(const sap_cloud_rows* rows, double* means);
    // sums[id]: factor times the sum of (1 - distance2 / limit2)^2 over the neighbours.
    void (*kernel_sums)(const sap_cloud_rows* rows, double limit2, double factor, double* sums);
    // Moves the points of these rows by the forces of their neighbours. points: float[count][4]; floats only.
    void (*relax)(const sap_relax_job* job, const void* points, const sap_cloud_rows* rows);
} sap_cloud_kernels;

typedef struct sap_gather_kernels {
    // Writes what the job wants of the queries of these rows. points as for axes; attributes are added to.
    void (*gather)(const sap_gather_job* job, const void* points, const sap_cloud_rows* rows);
} sap_gather_kernels;

#endif
