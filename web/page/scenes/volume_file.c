#include "volume_file.h"
#include "nifti.h"
#include <math.h>
#include <string.h>

size_t page_volume_count(const sap_volume* volume) {
    return (size_t)volume->size[0] * (size_t)volume->size[1] * (size_t)volume->size[2];
}

double page_volume_value(const sap_volume* volume, size_t i) {
    switch (volume->type) {
    case SAP_VOXEL_U8: return ((const uint8_t*)volume->values)[i];
    case SAP_VOXEL_I16: return ((const int16_t*)volume->values)[i];
    case SAP_VOXEL_U16: return ((const uint16_t*)volume->values)[i];
    default: return (double)((const float*)volume->values)[i];
    }
}

enum { BINS = 256 };

// The level that tells two kinds of samples apart best (Otsu 1979).
static double parting(const int64_t bins[BINS], int64_t count) {
    double all = 0, below = 0, best = -1, level = 0.5;
    int64_t ahead = 0;
    for (int i = 0; i < BINS; i++) all += (double)i * (double)bins[i];
    for (int i = 0; i < BINS - 1; i++) {
        ahead += bins[i];
        below += (double)i * (double)bins[i];
        if (!ahead || ahead == count) continue;
        double apart = all / (double)count * (double)ahead - below;
        double variance = apart * apart / ((double)ahead * (double)(count - ahead));
        if (variance > best) {
            best = variance;
            level = (i + 1.0) / BINS;
        }
    }
    return level;
}

// The first sample that is no number to go by, or -1.
static int64_t first_bad(const sap_volume* volume, size_t count) {
    for (size_t i = 0; volume->type == SAP_VOXEL_F32 && i < count; i++)
        if (!(fabs(page_volume_value(volume, i)) <= 0x1p126)) return (int64_t)i;
    return -1;
}

sap_status page_volume_describe(const sap_volume* volume, page_volume_facts* facts) {
    static int64_t bins[BINS];
    const int64_t* size = volume->size;
    const size_t count = page_volume_count(volume);
    if (size[0] < 2 || size[1] < 2 || size[2] < 2)
        return page_fail(SAP_ERROR_FORMAT,
                         "This volume has %lld x %lld x %lld samples: fewer than two along an axis have no surface.",
                         (long long)size[0], (long long)size[1], (long long)size[2]);
    int64_t bad = first_bad(volume, count);
    if (bad >= 0)
        return page_fail(SAP_ERROR_NOT_FINITE, "Sample %lld of this volume is not finite (x %lld, y %lld, z %lld).",
                         (long long)bad, (long long)(bad % size[0]), (long long)(bad / size[0] % size[1]),
                         (long long)(bad / size[0] / size[1]));
    double least = page_volume_value(volume, 0), most = least;
    for (size_t i = 1; i < count; i++) {
        double value = page_volume_value(volume, i);
        least = fmin(least, value);
        most = fmax(most, value);
    }
    if (least == most)
        return page_fail(SAP_ERROR_FORMAT, "Every sample of this volume is %g: it has no surface at any level.", least);
    memset(bins, 0, sizeof bins);
    for (size_t i = 0; i < count; i++) {
        double share = (page_volume_value(volume, i) - least) / (most - least);
        bins[share < 1 ? (int)(share * BINS) : BINS - 1]++;
    }
    *facts = (page_volume_facts){least, most, least + (most - least) * parting(bins, (int64_t)count)};
    return SAP_OK;
}

sap_status page_volume_parse(const page_job* job, sap_volume_file** file, page_volume_facts* facts) {
    const double* number = job->number;
    const sap_volume_read_options options = {.size = {(int64_t)number[VOLUME_RAW_WIDTH],
                                                      (int64_t)number[VOLUME_RAW_HEIGHT],
                                                      (int64_t)number[VOLUME_RAW_DEPTH]},
                                             .type = (sap_voxel)number[VOLUME_RAW_TYPE],
                                             .big_endian = number[VOLUME_RAW_BIG_ENDIAN] != 0,
                                             .skip = (int64_t)number[VOLUME_RAW_SKIP]};
    sap_volume_file* read = NULL;
    sap_status status = number[VOLUME_RAW_NIFTI] != 0
                            ? page_nifti_parse(job->in[0], job->in_bytes[0], &read)
                            : sap_volume_parse(page_cpu(), job->in[0], job->in_bytes[0], &options, &read);
    if (status == SAP_OK) status = page_volume_describe(&read->volume, facts);
    if (status == SAP_OK)
        *file = read;
    else
        sap_volume_file_free(read);
    return status;
}
