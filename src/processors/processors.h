// The processors that there are, one file each, on top of all rooms.
#ifndef SAPWOOD_PROCESSORS_PROCESSORS_H
#define SAPWOOD_PROCESSORS_PROCESSORS_H

#include "device/device.h"

extern const sap_processor_table sap_cpu_table;
#if defined(SAP_HAVE_CUDA)
extern const sap_processor_table sap_cuda_table;
#endif
#if defined(SAP_HAVE_GL)
extern const sap_processor_table sap_gl_table;
#endif

#endif
