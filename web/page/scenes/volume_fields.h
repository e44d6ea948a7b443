// Fields of the jobs that make or read volumes, of the scenes Compaction and Isosurface (../fields.h).
#ifndef SAPWOOD_PAGE_VOLUME_FIELDS_H
#define SAPWOOD_PAGE_VOLUME_FIELDS_H

// A volume of a formula: which (page_shape), and samples on a side.
enum volume_make { VOLUME_MAKE_SHAPE, VOLUME_MAKE_SIDE };

// How the samples of a raw file lie; all 0 for NPY, which says it itself.
enum volume_raw {
    VOLUME_RAW_WIDTH,
    VOLUME_RAW_HEIGHT,
    VOLUME_RAW_DEPTH,
    VOLUME_RAW_TYPE, // sap_voxel
    VOLUME_RAW_BIG_ENDIAN,
    VOLUME_RAW_SKIP // bytes ahead of the first sample
};

#endif
