// Fields of the job that makes sample files (samples.c).
#ifndef SAPWOOD_PAGE_SAMPLE_FIELDS_H
#define SAPWOOD_PAGE_SAMPLE_FIELDS_H

enum sample_make { SAMPLE_MAKE_KIND }; // of sample_kind
enum sample_kind {
    SAMPLE_KIND_SUNFLOWER, // CSV: places in the plane
    SAMPLE_KIND_GALAXY,    // NPY: places in the plane
    SAMPLE_KIND_RINGS,     // NPY: a volume of bytes
    SAMPLE_KIND_ORBITAL,   // NPY: a volume of floats
    SAMPLE_KIND_GYROID,    // PLY: a mesh that marching cubes made
    SAMPLE_KIND_LINK,      // OBJ: a mesh, as text
    SAMPLE_KIND_ASTEROID,  // XYZ: a scan that is dense and thin by turns
    SAMPLE_KIND_SCANS      // PLY, twice: two scans of one body, of which one is turned
};

#endif
