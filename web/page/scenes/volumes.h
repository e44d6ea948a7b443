// Volumes that are formulas, for the scenes that show volumes: samples over the cube -1 … 1, about -1 … 1 themselves,
// high inside. Level 0 shows the body as it is meant; none reaches the cube's faces, so that every surface is closed.
#ifndef SAPWOOD_PAGE_VOLUMES_H
#define SAPWOOD_PAGE_VOLUMES_H

#include "volume_fields.h"

// values[side * side * side], x fastest. side >= 2; any shape but the dropped volume.
void page_volume_fill(enum volume_shape shape, int side, float* values);

#endif
