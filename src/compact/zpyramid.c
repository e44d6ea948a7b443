// The face of histopyramids in Z order: checks, in every build.
#include "compact/zpyramid.h"
#include "device/reserved.h"

enum { MOST_SIDE = 4096 }; // floats count exactly to 2^24

static sap_status check(const sap_device* device, const sap_gl_zpyramid_options* o) {
    if (o->side < 2 || o->side > MOST_SIDE || (o->side & (o->side - 1)))
        return sap_fail(device, SAP_ERROR_ARGUMENT, "options.side: %d is no power of two in 2...%d", (int)o->side,
                        (int)MOST_SIDE);
    if (o->gather < SAP_GL_GATHER_PLACE || o->gather > SAP_GL_GATHER_TEXEL)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "options.gather: unknown kind %d", (int)o->gather);
    if (o->gather == SAP_GL_GATHER_POSITION && (o->slice < 1 || o->side % o->slice))
        return sap_fail(device, SAP_ERROR_ARGUMENT, "options.slice: slices of %d do not fill a base of %d",
                        (int)o->slice, (int)o->side);
    if (o->bytes && o->vec4)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "options.vec4: a texel of bytes holds one sum");
    return sap_reserved_check(device, o->reserved, "options");
}

sap_status sap_gl_zpyramid_create(sap_device* device, const sap_gl_zpyramid_options* options,
                                  sap_gl_zpyramid** pyramid) {
    if (!device) return SAP_ERROR_ARGUMENT;
    if (!options) return sap_fail(device, SAP_ERROR_ARGUMENT, "options: is NULL");
    if (!pyramid) return sap_fail(device, SAP_ERROR_ARGUMENT, "pyramid: is NULL");
    if (!SAP_CAN(device, zpyramid, create)) return sap_unsupported(device, "build histopyramids");
    sap_status status = check(device, options);
    if (status != SAP_OK) return status;
    sap_gl_zpyramid* made = sap_memory_allocate_zero(device, sizeof *made);
    if (!made) return sap_fail(device, SAP_ERROR_MEMORY, "no memory for a pyramid");
    made->device = device;
    made->options = *options;
    status = device->rooms.zpyramid->create(made);
    if (status == SAP_OK)
        *pyramid = made;
    else
        sap_memory_release(device, made, sizeof *made);
    return status;
}

void sap_gl_zpyramid_free(sap_gl_zpyramid* pyramid) {
    if (!pyramid) return;
    pyramid->device->rooms.zpyramid->free(pyramid);
    sap_memory_release(pyramid->device, pyramid, sizeof *pyramid);
}

sap_status sap_gl_zpyramid_compact(sap_gl_zpyramid* pyramid, uint32_t base, uint32_t payload, sap_gl_list* list,
                                   int64_t* total) {
    if (!pyramid) return SAP_ERROR_ARGUMENT;
    const sap_device* device = pyramid->device;
    if (!base) return sap_fail(device, SAP_ERROR_ARGUMENT, "base: is 0");
    if (list && !payload && pyramid->options.gather == SAP_GL_GATHER_TEXEL)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "payload: is 0, and its texels are to be gathered");
    if (list && list->expected < 0)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "list.expected: %lld is negative", (long long)list->expected);
    if (list && list->texture && (list->width < 1 || list->height < 1))
        return sap_fail(device, SAP_ERROR_ARGUMENT,
                        "list.width and .height: %d x %d texels; both numbers must be at least 1", (int)list->width,
                        (int)list->height);
    return device->rooms.zpyramid->compact(pyramid, base, payload, list, total);
}

sap_status sap_gl_zpyramid_total(sap_gl_zpyramid* pyramid, int64_t* total) {
    if (!pyramid) return SAP_ERROR_ARGUMENT;
    if (!total) return sap_fail(pyramid->device, SAP_ERROR_ARGUMENT, "total: is NULL");
    if (!pyramid->filled)
        return sap_fail(pyramid->device, SAP_ERROR_ARGUMENT, "pyramid: no base has been compacted with it yet");
    return pyramid->device->rooms.zpyramid->total(pyramid, total);
}
