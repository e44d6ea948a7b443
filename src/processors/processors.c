#include "processors/processors.h"

const sap_processor_table* const sap_processors[] = {
#if defined(SAP_HAVE_CUDA)
    &sap_cuda_table,
#endif
#if defined(SAP_HAVE_GL)
    &sap_gl_table,
#endif
    &sap_cpu_table, NULL};
