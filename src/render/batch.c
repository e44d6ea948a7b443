// Batches: how large tiles are, and where the arrays of their paths lie.
#include "render/picture.h"

#include <string.h>

size_t sap_batch_places(sap_batch* b, unsigned char* memory) {
    size_t room = (size_t)b->room, at = 0;
    struct {
        void** array;
        size_t bytes;
    } arrays[] = {{(void**)&b->paths, sizeof *b->paths},     {(void**)&b->rays, sizeof *b->rays},
                  {(void**)&b->hits, sizeof *b->hits},       {(void**)&b->surfaces, sizeof *b->surfaces},
                  {(void**)&b->shadows, sizeof *b->shadows}, {(void**)&b->lit, sizeof *b->lit},
                  {(void**)&b->dark, sizeof *b->dark},       {(void**)&b->goes_on, sizeof *b->goes_on},
                  {(void**)&b->visits, sizeof *b->visits},   {(void**)&b->found, sizeof *b->found}};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        void* start = memory ? memory + at : NULL;
        memcpy(arrays[i].array, &start, sizeof start);
        at += sap_align(room * arrays[i].bytes);
    }
    return at;
}

void sap_tiles_set(sap_picture* picture, int32_t width, int32_t height) {
    const sap_render_options* o = &picture->options;
    picture->pass = sap_lesser(o->samples, SAP_PASS);
    picture->tile_width = sap_lesser(o->width, width);
    picture->tile_height = sap_lesser(o->height, height);
    picture->batch.room = (int64_t)picture->tile_width * picture->tile_height * picture->pass;
}
