// The public functions of gl.h: arguments are checked here, then the device's table is asked.
#include "device/opengl.h"

const sap_gl_functions* sap_gl_functions_of(const sap_device* device) {
    if (!device->table->gl) sap_fail(device, SAP_ERROR_ARGUMENT, "device: is not an OpenGL device");
    return device->table->gl;
}

sap_status sap_gl_describe(const sap_device* device, sap_gl_info* info) {
    if (!device) return SAP_ERROR_ARGUMENT;
    const sap_gl_functions* functions = sap_gl_functions_of(device);
    if (!functions) return SAP_ERROR_ARGUMENT;
    if (!info) return sap_fail(device, SAP_ERROR_ARGUMENT, "info: is NULL");
    functions->describe(device, info);
    return SAP_OK;
}
