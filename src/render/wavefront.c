// Wavefronts: the size of tiles, and where the arrays of their paths lie.
#include "render/picture.h"

#include "base/assert.h"

#include <string.h>

size_t sap_wavefront_layout(sap_wavefront* w, unsigned char* memory) {
    size_t room = (size_t)w->room, at = 0;
    struct {
        void** array;
        size_t bytes;
    } arrays[] = {{(void**)&w->paths, sizeof *w->paths},     {(void**)&w->rays, sizeof *w->rays},
                  {(void**)&w->hits, sizeof *w->hits},       {(void**)&w->surfaces, sizeof *w->surfaces},
                  {(void**)&w->shadows, sizeof *w->shadows}, {(void**)&w->lit, sizeof *w->lit},
                  {(void**)&w->dark, sizeof *w->dark},       {(void**)&w->goes_on, sizeof *w->goes_on},
                  {(void**)&w->visits, sizeof *w->visits},   {(void**)&w->found, sizeof *w->found}};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        void* start = memory ? memory + at : NULL;
        memcpy(arrays[i].array, &start, sizeof start);
        at += sap_align(room * arrays[i].bytes);
    }
    return at;
}

void sap_tiles_limit(sap_picture* picture, int32_t width, int32_t height) {
    const sap_render_options* o = &picture->options;
    SAP_ASSERT(width > 0 && height > 0);
    picture->pass = sap_lesser(o->samples, SAP_PASS);
    picture->tile_width = sap_lesser(o->width, width);
    picture->tile_height = sap_lesser(o->height, height);
    picture->wavefront.room = (int64_t)picture->tile_width * picture->tile_height * picture->pass;
    SAP_ASSERT(picture->wavefront.room > 0 && picture->wavefront.room <= INT32_MAX); // slots are int32_t
}
