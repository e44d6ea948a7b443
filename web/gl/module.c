// The module itself: its devices, its memory, and the sentence about what went wrong.
#include "gl/module.h"
#include <stdio.h>
#include <stdlib.h>

sap_device *web_host, *web_gl;
web_exchange web_shared;
static char sentence[512];

static void listen(void* user, sap_status status, const char* text) {
    (void)user;
    if (status != SAP_OK) snprintf(sentence, sizeof sentence, "%s", text);
}

/** Opens the device that holds trees for others: once, before anything else. */
SAP_EXPORT sap_status web_open(void) {
    return sap_device_open(&(sap_device_options){.processor = SAP_CPU, .log = listen}, &web_host);
}

/** Opens a device in the context that is current. The library takes it for the device's own: what calls change there is
 * kept and restored in JavaScript, which knows the objects that C has no names for. */
SAP_EXPORT sap_status web_gl_open(void) {
    return sap_device_open(&(sap_device_options){.processor = SAP_GL, .log = listen}, &web_gl);
}

/** Everything made with it must have been freed. */
SAP_EXPORT void web_gl_close(void) {
    sap_device_close(web_gl);
    web_gl = NULL;
}

/** integers: GL_MAX_TEXTURE_SIZE, textures that a pass writes, whether floats can be written, the version. */
SAP_EXPORT sap_status web_gl_describe(void) {
    sap_gl_info info;
    const sap_status status = sap_gl_describe(web_gl, &info);
    if (status != SAP_OK) return status;
    const int32_t integers[] = {info.max_texture_size, info.max_draw_buffers, info.float_targets, info.version};
    for (int i = 0; i < 4; i++) web_shared.integers[i] = integers[i];
    return SAP_OK;
}

/** Where the last sentence stands, ended by a 0. */
SAP_EXPORT char* web_sentence(void) { return sentence; }

/** Where web_exchange lies. */
SAP_EXPORT web_exchange* web_block(void) { return &web_shared; }

/** Memory aligned to 64 bytes, as saved trees need it; NULL if there is none. free takes it. */
SAP_EXPORT void* web_allocate(size_t bytes) {
    return bytes > SIZE_MAX - 64 ? NULL : aligned_alloc(64, (bytes + 64) / 64 * 64);
}
