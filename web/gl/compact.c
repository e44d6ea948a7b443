// Compaction of textures.
#include "gl/module.h"

/** A pyramid: integers[0]. */
SAP_EXPORT sap_status web_pyramid_create(int32_t form, int32_t cells, int32_t width, int32_t height, double count,
                                         uint32_t most) {
    const sap_gl_pyramid_options options = {.form = (sap_gl_form)form,
                                            .cells = (sap_gl_cells)cells,
                                            .width = width,
                                            .height = height,
                                            .count = (int64_t)count,
                                            .most = most};
    sap_gl_pyramid* pyramid = NULL;
    const sap_status status = sap_gl_pyramid_create(web_gl, &options, &pyramid);
    web_shared.integers[0] = web_address(pyramid);
    return status;
}

/** Lists the cells of a texture: integers[0 … 2] are the list's texture, width and height. numbers[0] is how many there are, if
 * `asks` says that this is asked, which waits; expected: how many are listed at most, 0: any number. */
SAP_EXPORT sap_status web_pyramid_compact(sap_gl_pyramid* pyramid, uint32_t base, double expected, int32_t asks) {
    sap_gl_list list = {.expected = (int64_t)expected};
    int64_t total = -1;
    const sap_status status = sap_gl_compact(pyramid, base, &list, asks ? &total : NULL);
    web_shared.integers[0] = (int32_t)list.texture;
    web_shared.integers[1] = list.width;
    web_shared.integers[2] = list.height;
    web_shared.numbers[0] = (double)total;
    return status;
}

/** How many there are: numbers[0]. */
SAP_EXPORT sap_status web_pyramid_total(sap_gl_pyramid* pyramid) {
    int64_t total = 0;
    const sap_status status = sap_gl_pyramid_total(pyramid, &total);
    web_shared.numbers[0] = (double)total;
    return status;
}

SAP_EXPORT void web_pyramid_free(sap_gl_pyramid* pyramid) { sap_gl_pyramid_free(pyramid); }
