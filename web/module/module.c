// The module itself: its device, its memory, and the sentence about what went wrong.
#include "module.h"

#include <stdio.h>
#include <stdlib.h>

sap_device* web_device;
web_exchange web_shared;
static char sentence[512];

sap_status web_fail(sap_status status, const char* text) {
    snprintf(sentence, sizeof sentence, "%s", text);
    return status;
}

static void listen(void* user, sap_status status, const char* text) {
    (void)user;
    if (status != SAP_OK) web_fail(status, text);
}

/** Opens the device: once, before anything else. threads as in sap_device_options. */
SAP_EXPORT sap_status web_open(int32_t threads) {
    const sap_device_options options = {.processor = SAP_CPU, .threads = threads, .log = listen};
    return sap_device_open(&options, &web_device);
}

/** Where the last sentence stands, ended by a 0. */
SAP_EXPORT const char* web_sentence(void) { return sentence; }

/** Where web_exchange lies. */
SAP_EXPORT web_exchange* web_block(void) { return &web_shared; }

/** Memory for a saved tree, which is used where it lies: aligned to 64 bytes, NULL if there is none. free takes it. */
SAP_EXPORT void* web_allocate_saved(size_t bytes) {
    return bytes > SIZE_MAX - 64 ? NULL : aligned_alloc(64, (bytes + 63) / 64 * 64);
}
