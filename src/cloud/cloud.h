// The inner loops of the CPU for clouds; one set for each instruction set and precision.
#ifndef SAPWOOD_CLOUD_CLOUD_H
#define SAPWOOD_CLOUD_CLOUD_H

#include "cloud/ops.h"
#include "cloud/rows_cpu.h"

typedef struct sap_cloud_kernels {
    // Writes what the job wants of the points of these rows. points: real[source_count][4], by id.
    void (*axes)(const sap_axes_job* job, const void* points, const sap_cloud_rows* rows);
} sap_cloud_kernels;

#endif
