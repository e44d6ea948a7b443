// Thinning by a grid: which cell a point lies in, keys by which points are sorted, and what a cell is made of. One text for the
// CPU and CUDA; and the memory of what a call makes.
#ifndef SAPWOOD_CLOUD_VOXELS_H
#define SAPWOOD_CLOUD_VOXELS_H

#include "math/dialect.h"
#include "sapwood/cloud.h"
#include "tree/layout.h"

typedef struct sap_gridding {
    sap_rows points;
    sap_voxels_options options;  // checked, but for the numbers in its arrays
    double most;                 // magnitude of a coordinate that can be squared, in double precision
    int64_t count;               // points that are not left out
    int64_t lower[SAP_MAX_DIMS]; // least cell along each axis
    int32_t bits[SAP_MAX_DIMS];  // of cells counted from there
    bool is_split;               // the keys are those of some axes only
} sap_gridding;

// Whether a point can be put in the grid. Too far is what lies over 2^52 cells from the origin, or cannot be squared.
typedef enum sap_voxel_fault { SAP_VOXEL_FITS = 0, SAP_VOXEL_NOT_FINITE = 1, SAP_VOXEL_TOO_FAR = 2 } sap_voxel_fault;

// Where the numbers of a column lie: those of the coordinates, then of normals, then of attributes, of what there is.
typedef struct sap_voxel_column {
    const void* first;
    int64_t stride;
    bool is_double;
} sap_voxel_column;

SAP_FN sap_voxel_column sap_voxel_column_of(const sap_gridding* g, int32_t column) {
    const int32_t dims = g->points.dims, beside = dims + (g->options.normals ? 3 : 0);
    sap_voxel_column c = {g->points.coords, g->points.stride, g->points.real_bits == 64};
    if (column >= beside) {
        c.first = g->options.attributes + (column - beside);
        c.stride = g->options.attribute_count;
        c.is_double = false;
    } else if (column >= dims) {
        c.first = g->options.normals + (column - dims);
        c.stride = 3;
        c.is_double = false;
    } else {
        c.first = (const char*)c.first + (size_t)column * (c.is_double ? 8 : 4);
    }
    return c;
}

SAP_FN double sap_voxel_number(const sap_voxel_column* c, int64_t row) {
    return c->is_double ? ((const double*)c->first)[row * c->stride]
                        : (double)((const float*)c->first)[row * c->stride];
}

SAP_FN double sap_voxel_coordinate(const sap_gridding* g, int64_t row, int32_t axis) {
    const int64_t at = row * g->points.stride + axis;
    return g->points.real_bits == 64 ? ((const double*)g->points.coords)[at]
                                     : (double)((const float*)g->points.coords)[at];
}

SAP_FN double sap_voxel_along(const sap_gridding* g, int64_t row, int32_t axis) {
    return floor((sap_voxel_coordinate(g, row, axis) - g->options.origin[axis]) / g->options.sizes[axis]);
}

// Whether a point fits; cells[dims] along each axis, of one that is finite.
SAP_FN sap_voxel_fault sap_voxel_look(const sap_gridding* g, int64_t row, double* cells) {
    sap_voxel_fault fault = SAP_VOXEL_FITS;
    for (int32_t a = 0; a < g->points.dims; a++) {
        const double size = fabs(sap_voxel_coordinate(g, row, a));
        if (!(size <= DBL_MAX)) return SAP_VOXEL_NOT_FINITE;
        cells[a] = sap_voxel_along(g, row, a);
        if (!(size <= g->most && fabs(cells[a]) <= 0x1p52)) fault = SAP_VOXEL_TOO_FAR;
    }
    return fault;
}

SAP_FN uint64_t sap_voxel_from_lower(const sap_gridding* g, int64_t row, int32_t axis) {
    return (uint64_t)((int64_t)sap_voxel_along(g, row, axis) - g->lower[axis]);
}

// The key of the axes first … end - 1, which together have 64 bits at most.
SAP_FN uint64_t sap_voxel_key(const sap_gridding* g, int64_t row, int32_t first, int32_t end) {
    uint64_t key = 0;
    int32_t shift = 0;
    for (int32_t a = first; a < end; shift += g->bits[a++])
        if (g->bits[a]) key |= sap_voxel_from_lower(g, row, a) << shift;
    return key;
}

// Whether the points at two places of those that are sorted lie in one cell.
SAP_FN bool sap_voxel_is_same(const sap_gridding* g, const uint64_t* keys, const uint32_t* ids, int64_t i, int64_t j) {
    if (keys[i] != keys[j]) return false;
    for (int32_t a = 0; a < g->points.dims && g->is_split; a++)
        if (sap_voxel_from_lower(g, ids[i], a) != sap_voxel_from_lower(g, ids[j], a)) return false;
    return true;
}

// The squared distance to the middle of the point's cell.
SAP_FN double sap_voxel_off_middle2(const sap_gridding* g, int64_t row) {
    double sum = 0;
    for (int32_t a = 0; a < g->points.dims; a++) {
        const double middle = g->options.origin[a] + (sap_voxel_along(g, row, a) + 0.5) * g->options.sizes[a];
        const double off = sap_voxel_coordinate(g, row, a) - middle;
        sum += off * off;
    }
    return sum;
}

// Means of normals are made of length 1, or 0 where they vanish.
SAP_FN void sap_voxel_normalize(double normal[3]) {
    const double length = sqrt(normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2]);
    for (int a = 0; a < 3; a++) normal[a] = length > 0 ? normal[a] / length : 0;
}

// Numbers a point has.
SAP_FN int32_t sap_voxel_columns(const sap_gridding* g) {
    return g->points.dims + (g->options.normals ? 3 : 0) + (g->options.attributes ? g->options.attribute_count : 0);
}

// Writes number `column` of the point that stands for a cell.
SAP_FN void sap_voxel_put(const sap_gridding* g, const sap_thinned* v, int64_t cell, int32_t column, double value) {
    const int32_t dims = g->points.dims, beside = dims + (g->options.normals ? 3 : 0);
    const int64_t at = cell * dims + column;
    if (column >= beside)
        ((float*)(uintptr_t)v->attributes)[cell * g->options.attribute_count + column - beside] = (float)value;
    else if (column >= dims)
        ((float*)(uintptr_t)v->normals)[3 * cell + column - dims] = (float)value;
    else if (g->points.real_bits == 64)
        ((double*)(uintptr_t)v->coords_f64)[at] = value;
    else
        ((float*)(uintptr_t)v->coords)[at] = (float)value;
}

#ifdef __cplusplus
extern "C" {
#endif

// Refuse a point that does not fit, its coordinates on the host; and a number beside a point, by the name of its array.
sap_status sap_voxels_refuse_point(const sap_device* device, const sap_gridding* g, const void* coords, int64_t row);
sap_status sap_voxels_refuse_value(const sap_device* device, const char* name, float value, int64_t row);
// Sets the bits of cells from `lower` to `upper`.
void sap_voxels_bound(sap_gridding* g, const int64_t* lower, const int64_t* upper);
// The first of the axes after `first` that no longer fit into a key with it, or dims; and the bits of the key.
int32_t sap_voxels_group(const sap_gridding* g, int32_t first, int32_t* bits);

// Bytes that the arrays of so many cells take, and where they lie in memory.
sap_status sap_voxels_bytes(const sap_device* device, const sap_gridding* g, int64_t cells, size_t* bytes);
void sap_voxels_place(const sap_gridding* g, int64_t cells, unsigned char* memory, sap_thinned* voxels);
// A result in memory that `release` frees in the end; NULL: the host's.
typedef void sap_voxels_release(sap_device* device, void* memory, size_t bytes);
sap_status sap_voxels_adopt(sap_device* device, const sap_gridding* g, int64_t cells, sap_scratch memory,
                            sap_voxels_release* release, sap_thinned** voxels);

#ifdef __cplusplus
}
#endif
#endif
