// What the functions share that the package's entry for WebGL exports to JavaScript. As in web/module, numbers and
// addresses of 32 bits go in, and small results through one block of memory. An instance serves one context of WebGL.
#ifndef WEB_GL_MODULE_H
#define WEB_GL_MODULE_H

#include "module/export.h"
#include <sapwood/gl.h>

/** Numbers that go to a call and come from it. */
typedef struct web_exchange {
    double numbers[16];
    int32_t integers[16]; // counts; addresses and names of textures too
} web_exchange;

extern web_exchange web_shared;

/** Where saved trees are loaded, and where they are copied to: NULL without a context. */
extern sap_device *web_host, *web_gl;

/** The address of an array as one of web_exchange's integers. */
static inline int32_t web_address(const void* array) { return (int32_t)(uintptr_t)array; }

/** Gives saved bytes, aligned to 64, to a tree on the host; `trusted`: they were saved by the package itself. */
static inline sap_load_options web_loading(int32_t trusted) { return (sap_load_options){.trust = trusted != 0}; }

#endif
