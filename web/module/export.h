// What a module offers to JavaScript: SAP_EXPORT before a function's definition puts it among the module's exports.
#ifndef SAPWOOD_WEB_EXPORT_H
#define SAPWOOD_WEB_EXPORT_H

#include <emscripten/emscripten.h>

#define SAP_EXPORT EMSCRIPTEN_KEEPALIVE

#endif
