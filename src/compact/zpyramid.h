// Histopyramids in Z order: what the room's files share, in every build.
#ifndef SAPWOOD_COMPACT_ZPYRAMID_H
#define SAPWOOD_COMPACT_ZPYRAMID_H

#include "compact/ops.h"

struct sap_gl_zpyramid {
    sap_device* device;
    sap_gl_zpyramid_options options;
    bool filled;
    uint32_t levels, work; // all levels, and one while it is made
    uint32_t list;         // the pyramid's own
    int32_t list_size[2];
    uint32_t arrays; // none: for points that have only their number
};

#endif
