// Fields of the jobs that make or read volumes, of the scenes Compaction and Isosurface (../fields.h).
#ifndef SAPWOOD_PAGE_VOLUME_FIELDS_H
#define SAPWOOD_PAGE_VOLUME_FIELDS_H

// Which volume (volume_shape), and samples on a side.
enum volume_make { VOLUME_MAKE_SHAPE, VOLUME_MAKE_SIDE };
enum volume_shape {
    VOLUME_SHAPE_GYROID,    // a sheet that divides space in two, as far as a ball goes
    VOLUME_SHAPE_METABALLS, // fields of nine balls that run together
    VOLUME_SHAPE_ASTEROID,  // a ball pushed in and out by noise of four octaves
    VOLUME_SHAPE_SEXTIC,    // Barth's surface of degree six (1996), with 65 double points
    VOLUME_SHAPE_SKULL,     // ellipsoids that run into each other, and hollows
    VOLUME_SHAPE_DROPPED    // no formula: the volume that compaction_read has read
};

// How the samples of a raw file lie; all 0 for NPY, which says it itself, and all but the last for NIfTI.
enum volume_raw {
    VOLUME_RAW_WIDTH,
    VOLUME_RAW_HEIGHT,
    VOLUME_RAW_DEPTH,
    VOLUME_RAW_TYPE, // sap_voxel
    VOLUME_RAW_BIG_ENDIAN,
    VOLUME_RAW_SKIP, // bytes ahead of the first sample
    VOLUME_RAW_NIFTI // not 0: it is NIfTI, whose header says all this
};

#endif
