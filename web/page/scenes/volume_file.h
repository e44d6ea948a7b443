// Volumes that come from files: whether they can have a surface, and what their values are.
#ifndef SAPWOOD_PAGE_VOLUME_FILE_H
#define SAPWOOD_PAGE_VOLUME_FILE_H

#include "../page.h"
#include "volume_fields.h"

typedef struct page_volume_facts {
    double least, most; // of the values
    double parting;     // a level between them that tells two kinds of samples apart
} page_volume_facts;

double page_volume_value(const sap_volume* volume, size_t i);
size_t page_volume_count(const sap_volume* volume);
// An error, and a sentence, if no level has a surface: too few samples, all equal, or one that is no number.
sap_status page_volume_describe(const sap_volume* volume, page_volume_facts* facts);
// Reads a job's only buffer, NPY, NIfTI or raw (volume_raw), and describes it.
sap_status page_volume_parse(const page_job* job, sap_volume_file** file, page_volume_facts* facts);

#endif
