// NIfTI-1: volumes of medical scanners, in one file with their header.
#ifndef SAPWOOD_PAGE_NIFTI_H
#define SAPWOOD_PAGE_NIFTI_H

#include "../page.h"

// Reads the first volume of a file; its bytes are written to. Values are scaled as the header says.
sap_status page_nifti_parse(void* bytes, size_t size, sap_volume_file** file);

#endif
