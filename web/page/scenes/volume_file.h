// Volumes that come from files: whether they can have a surface, and what their values are.
#ifndef SAPWOOD_PAGE_VOLUME_FILE_H
#define SAPWOOD_PAGE_VOLUME_FILE_H

#include "../page.h"

typedef struct page_volume_facts {
    double least, most; // of the values
    double parting;     // a level between them that tells two kinds of samples apart
} page_volume_facts;

double page_volume_value(const sap_volume* volume, size_t i);
size_t page_volume_count(const sap_volume* volume);
// An error, and a sentence, if no level has a surface: too few samples, all equal, or one that is no number.
sap_status page_volume_describe(const sap_volume* volume, page_volume_facts* facts);
// Reads a job's first buffer, NPY or raw, and describes it. Numbers: samples along x, y, z, type, whether the highest
// byte comes first, bytes ahead of the first sample; NPY says for itself if they are 0.
sap_status page_volume_parse(const page_job* job, sap_volume_file** file, page_volume_facts* facts);

#endif
