// Volumes that are formulas, for the scenes that show volumes: samples over the cube -1 … 1, about -1 … 1 themselves,
// high inside. Level 0 shows the body as it is meant; none reaches the cube's faces, so that every surface is closed.
#ifndef SAPWOOD_PAGE_VOLUMES_H
#define SAPWOOD_PAGE_VOLUMES_H

typedef enum page_shape {
    PAGE_GYROID,    // a sheet that divides space in two, as far as a ball goes
    PAGE_METABALLS, // fields of nine balls that run together
    PAGE_ASTEROID,  // a ball pushed in and out by noise of four octaves
    PAGE_SEXTIC,    // Barth's surface of degree six (1996), with 65 double points
    PAGE_SHAPES
} page_shape;

// values[side * side * side], x fastest. side >= 2.
void page_volume_fill(page_shape shape, int side, float* values);

#endif
