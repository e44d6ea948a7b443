// Calls from JavaScript: arguments, answers and sentences.
#include "page.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static page_job job;
static char sentence[PAGE_SENTENCE];

// The one job of this instance, emptied.
PAGE_EXPORT page_job* page_job_begin(void) {
    memset(&job, 0, sizeof job);
    sentence[0] = 0;
    return &job;
}

PAGE_EXPORT const char* page_sentence(void) { return sentence[0] ? sentence : "It failed for an unknown reason."; }

sap_status page_fail(sap_status status, const char* format, ...) {
    va_list values;
    va_start(values, format);
    vsnprintf(sentence, sizeof sentence, format, values);
    va_end(values);
    return status;
}

void page_log(void* user, sap_status status, const char* text) {
    (void)user;
    if (status != SAP_OK) snprintf(sentence, sizeof sentence, "%s: %s.", sap_status_string(status), text);
}

PAGE_EXPORT void* page_allocate(size_t bytes) {
    const size_t whole = (bytes + 63) / 64 * 64;
    return whole >= bytes ? aligned_alloc(64, whole ? whole : 64) : NULL;
}

void* page_answer(page_job* answered, size_t bytes) {
    int i = 0;
    while (i < PAGE_MOST_BUFFERS && answered->out[i]) i++;
    void* memory = i < PAGE_MOST_BUFFERS && bytes <= UINT32_MAX ? page_allocate(bytes) : NULL;
    if (!memory) {
        page_fail(SAP_ERROR_MEMORY, "There is no memory here for %.4g MB.", (double)bytes / 1e6);
        return NULL;
    }
    answered->out[i] = memory;
    answered->out_bytes[i] = (uint32_t)bytes;
    return memory;
}
