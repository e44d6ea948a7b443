// The places of a grid, as all processors compute them.
#ifndef SAPWOOD_NEAREST_GRID_GRID_H
#define SAPWOOD_NEAREST_GRID_GRID_H

#include "sapwood/grid.h"

// The part of column x's places that does not depend on the row, and the other way round.
static inline float sap_grid_column(const sap_grid* grid, int32_t x, int32_t axis) {
    return (float)(grid->origin[axis] + (x + 0.5) * grid->right[axis]);
}
static inline float sap_grid_row(const sap_grid* grid, int32_t y, int32_t axis) {
    return (float)((y + 0.5) * grid->down[axis]);
}

#endif
