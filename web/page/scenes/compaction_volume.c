// What the worker does for the scene Compaction: samples of shapes, and of volumes that were dropped.
#include "volume_file.h"
#include "volumes.h"
#include <math.h>

// What was dropped.
static sap_volume_file* dropped;
static page_volume_facts facts;

// Job: reads a volume, as page_volume_parse does (volume_raw).
PAGE_EXPORT sap_status job_compaction_read(page_job* job) {
    sap_volume_file* file = NULL;
    sap_status status = page_volume_parse(job, &file, &facts);
    if (status != SAP_OK) return status; // the one that there was stays
    sap_volume_file_free(dropped);
    dropped = file;
    return SAP_OK;
}

// Job: frees it.
PAGE_EXPORT sap_status job_compaction_forget(page_job* job) {
    (void)job;
    sap_volume_file_free(dropped);
    dropped = NULL;
    return SAP_OK;
}

// The value between eight samples; `at` counts them from the first.
static double value_between(const sap_volume* volume, const double at[3]) {
    size_t low[3];
    double t[3], sum = 0;
    for (int a = 0; a < 3; a++) {
        double last = (double)(volume->size[a] - 2), whole = fmin(floor(at[a]), last);
        low[a] = (size_t)whole;
        t[a] = at[a] - whole;
    }
    for (size_t corner = 0; corner < 8; corner++) {
        size_t sample = 0;
        double weight = 1;
        for (int a = 2; a >= 0; a--) {
            size_t up = corner >> a & 1;
            sample = sample * (size_t)volume->size[a] + low[a] + up;
            weight *= up ? t[a] : 1 - t[a];
        }
        sum += weight * page_volume_value(volume, sample);
    }
    return sum;
}

// What was dropped as a cube of samples from -1 to 1, 0 where its two kinds of values part.
static void resample(int side, float* values) {
    const sap_volume* volume = &dropped->volume;
    for (int z = 0; z < side; z++)
        for (int y = 0; y < side; y++)
            for (int x = 0; x < side; x++) {
                const int place[3] = {x, y, z};
                double at[3];
                for (int a = 0; a < 3; a++) at[a] = (double)place[a] * (double)(volume->size[a] - 1) / (side - 1);
                double above = value_between(volume, at) - facts.parting;
                double room = above < 0 ? facts.parting - facts.least : facts.most - facts.parting;
                *values++ = (float)(room > 0 ? above / room : 0);
            }
}

// Job: the samples of a shape (volume_make).
PAGE_EXPORT sap_status job_compaction(page_job* job) {
    int side = (int)job->number[VOLUME_MAKE_SIDE];
    enum volume_shape shape = (enum volume_shape)job->number[VOLUME_MAKE_SHAPE];
    if (shape == VOLUME_SHAPE_DROPPED && !dropped) return page_fail(SAP_ERROR_ARGUMENT, "No volume has been dropped.");
    float* values = page_answer(job, sizeof *values * (size_t)side * (size_t)side * (size_t)side);
    if (!values) return SAP_ERROR_MEMORY;
    if (shape == VOLUME_SHAPE_DROPPED)
        resample(side, values);
    else
        page_volume_fill(shape, side, values);
    return SAP_OK;
}
