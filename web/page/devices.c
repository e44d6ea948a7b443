// The devices of this instance. Contexts come from JavaScript, which makes them current.
#include "page.h"
#include <emscripten/html5.h>

static sap_device *cpu, *gl;
static int version; // of WebGL; 0: no context

sap_device* page_cpu(void) {
    if (!cpu) (void)sap_device_open(&(sap_device_options){.processor = SAP_CPU, .log = page_log}, &cpu);
    return cpu;
}

// Opens the device of the context that is now the current one. It is the device's own as far as the library knows,
// which then neither keeps nor restores its state: asking a browser for that takes longer than drawing.
PAGE_EXPORT sap_status page_context_open(int of_version) {
    sap_device_options options = {.processor = SAP_GL, .log = page_log};
    version = of_version;
    return sap_device_open(&options, &gl);
}

// Everything made with it must have been freed; also after the context was lost.
PAGE_EXPORT void page_context_close(void) {
    sap_device_close(gl);
    gl = NULL;
    version = 0;
}

sap_device* page_gl(void) { return gl; }
int page_gl_version(void) { return version; }
