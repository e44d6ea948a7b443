// What the status codes and the version are called.
#include "sapwood/base.h"

#define TEXT(x)   #x
#define NUMBER(x) TEXT(x)

const char* sap_status_string(sap_status status) {
    switch (status) {
    case SAP_OK: return "ok";
    case SAP_ERROR_ARGUMENT: return "invalid argument";
    case SAP_ERROR_RANGE: return "out of range";
    case SAP_ERROR_NOT_FINITE: return "coordinate not finite";
    case SAP_ERROR_MEMORY: return "out of memory";
    case SAP_ERROR_DEVICE_MEMORY: return "out of device memory";
    case SAP_ERROR_NO_DEVICE: return "no such device";
    case SAP_ERROR_DEVICE_LOST: return "device lost";
    case SAP_ERROR_UNSUPPORTED: return "not supported";
    case SAP_ERROR_IO: return "input/output error";
    case SAP_ERROR_FORMAT: return "malformed data";
    case SAP_ERROR_CANCELLED: return "cancelled";
    }
    return "unknown status";
}

const char* sap_version(void) {
    return NUMBER(SAP_VERSION_MAJOR) "." NUMBER(SAP_VERSION_MINOR) "." NUMBER(SAP_VERSION_PATCH);
}
