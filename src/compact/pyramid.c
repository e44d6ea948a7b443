// Histopyramids' face: checks, in every build.
#include "compact/pyramid.h"
#include "device/reserved.h"
#include <string.h>

static sap_status check(const sap_device* device, const sap_gl_pyramid_options* o) {
    if (o->form < SAP_GL_VEC4 || o->form > SAP_GL_FLOAT)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "options.form: unknown form %d", (int)o->form);
    if (o->cells < SAP_GL_CELLS_UINT || o->cells > SAP_GL_CELLS_BYTE)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "options.cells: unknown kind %d", (int)o->cells);
    if (o->form == SAP_GL_FLOAT && o->cells < SAP_GL_CELLS_FLOAT)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "options.cells: GLSL ES 1.00 cannot read textures of integers");
    if (o->width < 1 || o->height < 1)
        return sap_fail(device, SAP_ERROR_ARGUMENT,
                        "options.width and .height: %d x %d texels; both numbers must be at least 1", (int)o->width,
                        (int)o->height);
    sap_status status = sap_reserved_check(device, o->reserved, "options");
    if (status != SAP_OK) return status;
    int64_t all = (int64_t)o->width * o->height;
    if (o->cells == SAP_GL_CELLS_UINT4) all = all > INT64_MAX / 4 ? INT64_MAX : 4 * all;
    if (o->count < 0 || o->count > all)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "options.count: %lld is not in 0...%lld", (long long)o->count,
                        (long long)all);
    return SAP_OK;
}

static void complete(sap_gl_pyramid* p) {
    sap_gl_pyramid_options* o = &p->options;
    if (!o->count) o->count = (int64_t)o->width * o->height * (o->cells == SAP_GL_CELLS_UINT4 ? 4 : 1);
    if (!o->most) o->most = 1;
}

// Levels up to the one that is one node; those that have textures of their own are always there.
static void plan(sap_gl_pyramid* p) {
    p->nodes[0] = (uint32_t)p->options.count;
    while (p->levels <= SAP_PYRAMID_SEPARATE || p->nodes[p->levels] > 1) {
        p->nodes[p->levels + 1] = p->nodes[p->levels] / 4 + (p->nodes[p->levels] % 4 != 0);
        p->levels++;
    }
}

sap_status sap_gl_pyramid_create(sap_device* device, const sap_gl_pyramid_options* options, sap_gl_pyramid** pyramid) {
    if (!device) return SAP_ERROR_ARGUMENT;
    if (!options) return sap_fail(device, SAP_ERROR_ARGUMENT, "options: is NULL");
    if (!pyramid) return sap_fail(device, SAP_ERROR_ARGUMENT, "pyramid: is NULL");
    if (!SAP_CAN(device, pyramid, create)) return sap_unsupported(device, "build histopyramids");
    sap_status status = check(device, options);
    if (status != SAP_OK) return status;
    sap_gl_pyramid* made = sap_memory_allocate_zero(device, sizeof *made);
    if (!made) return sap_fail(device, SAP_ERROR_MEMORY, "no memory for a pyramid");
    made->device = device;
    made->options = *options;
    complete(made);
    const long long most = options->form == SAP_GL_FLOAT ? 16777215 : 4294967295;
    if ((double)made->options.count * made->options.most > (double)most) {
        status = sap_fail(device, SAP_ERROR_RANGE, "%lld cells with up to %lu outputs are more than %lld",
                          (long long)made->options.count, (unsigned long)made->options.most, most);
    } else {
        plan(made);
        status = device->rooms.pyramid->create(made);
    }
    if (status == SAP_OK)
        *pyramid = made;
    else
        sap_memory_release(device, made, sizeof *made);
    return status;
}

void sap_gl_pyramid_free(sap_gl_pyramid* pyramid) {
    if (!pyramid) return;
    pyramid->device->rooms.pyramid->free(pyramid);
    sap_memory_release(pyramid->device, pyramid, sizeof *pyramid);
}

sap_status sap_gl_compact(sap_gl_pyramid* pyramid, uint32_t base, sap_gl_list* list, int64_t* total) {
    if (!pyramid) return SAP_ERROR_ARGUMENT;
    const sap_device* device = pyramid->device;
    if (!base) return sap_fail(device, SAP_ERROR_ARGUMENT, "base: is 0");
    if (list && list->expected < 0)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "list.expected: %lld is negative", (long long)list->expected);
    if (list && list->texture && (list->width < 1 || list->height < 1))
        return sap_fail(device, SAP_ERROR_ARGUMENT,
                        "list.width and .height: %d x %d texels; both numbers must be at least 1", (int)list->width,
                        (int)list->height);
    return device->rooms.pyramid->compact(pyramid, base, list, total);
}

static sap_status check_filled(const sap_gl_pyramid* pyramid) {
    return pyramid->filled
               ? SAP_OK
               : sap_fail(pyramid->device, SAP_ERROR_ARGUMENT, "pyramid: no base has been compacted with it yet");
}

sap_status sap_gl_pyramid_total(sap_gl_pyramid* pyramid, int64_t* total) {
    if (!pyramid) return SAP_ERROR_ARGUMENT;
    if (!total) return sap_fail(pyramid->device, SAP_ERROR_ARGUMENT, "total: is NULL");
    sap_status status = check_filled(pyramid);
    return status == SAP_OK ? pyramid->device->rooms.pyramid->total(pyramid, total) : status;
}

sap_status sap_gl_pyramid_sums(sap_gl_pyramid* pyramid, int32_t level, uint32_t* sums) {
    if (!pyramid) return SAP_ERROR_ARGUMENT;
    if (!sums) return sap_fail(pyramid->device, SAP_ERROR_ARGUMENT, "sums: is NULL");
    if (level < 1 || level > pyramid->levels)
        return sap_fail(pyramid->device, SAP_ERROR_ARGUMENT, "level: %d is not in 1...%d", (int)level,
                        (int)pyramid->levels);
    sap_status status = check_filled(pyramid);
    return status == SAP_OK ? pyramid->device->rooms.pyramid->sums(pyramid, level, sums) : status;
}

sap_status sap_gl_pyramid_describe(const sap_gl_pyramid* pyramid, sap_gl_pyramid_info* info) {
    if (!pyramid) return SAP_ERROR_ARGUMENT;
    if (!info) return sap_fail(pyramid->device, SAP_ERROR_ARGUMENT, "info: is NULL");
    *info = (sap_gl_pyramid_info){.levels = pyramid->levels, .bytes = pyramid->bytes};
    int textures = pyramid->options.form == SAP_GL_FLOAT ? 1 : 4;
    for (int i = 0; i < textures; i++) {
        info->texture[i] = pyramid->texture[i];
        info->width[i] = 1 << pyramid->shift[i];
    }
    memcpy(info->first_row, pyramid->row, sizeof info->first_row);
    return SAP_OK;
}
