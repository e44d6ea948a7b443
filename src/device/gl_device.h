// OpenGL devices, as the list of processors sees them; device/gl.h is for what runs on them.
#ifndef SAPWOOD_DEVICE_GL_DEVICE_H
#define SAPWOOD_DEVICE_GL_DEVICE_H

#include "device/device.h"
#include "sapwood/gl.h"

sap_status sap_gl_open(sap_device* device);
void sap_gl_close(sap_device* device);
sap_status sap_gl_describe_device(const sap_device* device, sap_device_info* info);
void sap_gl_describe_context(const sap_device* device, sap_gl_info* info);
void sap_gl_trim(sap_device* device);
sap_status sap_gl_wait(sap_device* device);

#endif
