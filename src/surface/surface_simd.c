// Surfaces on the CPU: a bit for each sample by vectors, then the vertices and triangles of a row from the bits.
#include "surface/surface.h"

#if SAP_REAL_BITS == 32
#include "math/simd.h"
#include "surface/rows.h"

// ---- Bits

// The bits of 64 samples; fine keeps the lanes in which all samples so far were finite and not too large.
INLINE uint64_t classify_word(const float* values, vreal level, vreal most, uint32_t* fine) {
    uint64_t bits = 0;
    vreal least = v_sub(v_set(0), most);
    for (int i = 0; i < SAP_WORD_BITS; i += LANES) {
        vreal x = v_load(values + i);
        bits |= (uint64_t)v_less_equal(level, x) << i;
        *fine &= v_less_equal(x, most) & v_less_equal(least, x);
    }
    return bits;
}

// So many samples as floats, and zeros up to a whole word.
static void convert_word(const sap_voxels* voxels, int64_t at, int count, float* values) {
    SAP_ASSERT(count > 0 && count <= SAP_WORD_BITS);
    memset(values, 0, SAP_WORD_BITS * sizeof *values);
    switch (voxels->type) {
    case SAP_VOXEL_U8:
        for (int i = 0; i < count; i++) values[i] = ((const uint8_t*)voxels->values)[at + i];
        break;
    case SAP_VOXEL_I16:
        for (int i = 0; i < count; i++) values[i] = ((const int16_t*)voxels->values)[at + i];
        break;
    case SAP_VOXEL_U16:
        for (int i = 0; i < count; i++) values[i] = ((const uint16_t*)voxels->values)[at + i];
        break;
    default: memcpy(values, (const float*)voxels->values + at, (size_t)count * sizeof *values);
    }
}

static int64_t first_bad(const float* values, int64_t count) {
    for (int64_t i = 0; i < count; i++)
        if (!(fabsf(values[i]) <= 0x1p126f)) return i;
    return -1;
}

static int64_t classify(const sap_surface_job* job, int64_t y, int64_t z, uint64_t* bits) {
    const sap_voxels* voxels = &job->voxels;
    vreal level = v_set(job->lattice.level), most = v_set(0x1p126f);
    uint32_t fine = ALL_LANES;
    int64_t side = job->lattice.sides[0], at = y * voxels->row + z * voxels->slice;
    const float* values = voxels->values;
    for (int64_t x = 0; x < side; x += SAP_WORD_BITS) {
        int64_t count = side - x < SAP_WORD_BITS ? side - x : SAP_WORD_BITS;
        if (voxels->type == SAP_VOXEL_F32 && count == SAP_WORD_BITS) {
            bits[x / SAP_WORD_BITS] = classify_word(values + at + x, level, most, &fine);
            continue;
        }
        float converted[SAP_WORD_BITS];
        convert_word(voxels, at + x, (int)count, converted);
        uint64_t ones = count == SAP_WORD_BITS ? ~UINT64_C(0) : (UINT64_C(1) << count) - 1;
        bits[x / SAP_WORD_BITS] = classify_word(converted, level, most, &fine) & ones;
    }
    return fine == ALL_LANES ? -1 : first_bad(values + at, side);
}

// ---- Vertices and triangles

static void count(const sap_surface_job* job, const uint64_t* bits, int64_t y, int64_t z, int64_t counts[2]) {
    const sap_rows_about about = sap_rows_at(bits, job->lattice.sides, y, z);
    int64_t words = sap_row_words(about.side), vertices = 0, triangles = 0;
    for (int64_t w = 0; w < words; w++) {
        sap_word_edges edges = sap_edges_at(&about, w);
        sap_word_cells cells = sap_cells_at(&about, w);
        vertices += sap_word_vertices(edges);
        for (uint64_t left = cells.active; left; left &= left - 1)
            triangles += sap_cube_triangles(sap_cell_inside(&cells, __builtin_ctzll(left)));
    }
    counts[0] = vertices;
    counts[1] = triangles;
}

// Edges wait until there are so many: then their vertices are made by vectors, into which the compiler turns the loop
// over them, since all that a step reads and writes lies in a row.
enum { EDGES = 32 };

typedef struct waiting_edges {
    int count;
    int32_t axis[EDGES];
    float place[3][EDGES], from[EDGES], to[EDGES], here[3][EDGES], there[3][EDGES];
} waiting_edges;

INLINE void put_edge(waiting_edges* w, sap_surface_edge edge) {
    int n = w->count++;
    SAP_ASSERT(n < EDGES);
    w->axis[n] = edge.axis;
    w->from[n] = edge.from;
    w->to[n] = edge.to;
    for (int i = 0; i < 3; i++) {
        w->place[i][n] = edge.place[i];
        w->here[i][n] = edge.here[i];
        w->there[i][n] = edge.there[i];
    }
}

typedef struct made_vertices {
    float position[3][EDGES], normal[3][EDGES];
} made_vertices;

static void make_waiting(const sap_lattice* of, const waiting_edges* w, made_vertices* made) {
    const sap_lattice lattice = *of;
    for (int n = 0; n < EDGES; n++) {
        sap_surface_edge edge;
        edge.axis = w->axis[n];
        edge.from = w->from[n];
        edge.to = w->to[n];
        for (int i = 0; i < 3; i++) {
            edge.place[i] = w->place[i][n];
            edge.here[i] = w->here[i][n];
            edge.there[i] = w->there[i][n];
        }
        sap_surface_vertex vertex = sap_surface_vertex_of(lattice, edge);
        for (int i = 0; i < 3; i++) {
            made->position[i][n] = vertex.position[i];
            made->normal[i][n] = vertex.normal[i];
        }
    }
}

// Writes the vertices of all edges that wait; how many numbers these are.
static int64_t write_waiting(const sap_lattice* lattice, waiting_edges* w, float* vertices, float* normals) {
    made_vertices made;
    int count = w->count;
    SAP_ASSERT(count > 0 && count <= EDGES);
    make_waiting(lattice, w, &made);
    for (int n = 0; n < count; n++) {
        for (int i = 0; i < 3; i++) {
            vertices[3 * n + i] = made.position[i][n];
            normals[3 * n + i] = made.normal[i][n];
        }
    }
    w->count = 0;
    return 3 * (int64_t)count;
}

INLINE void make_vertices(const sap_surface_job* job, sap_voxel type, const uint64_t* bits, int64_t y, int64_t z,
                          float* vertices, float* normals) {
    const sap_rows_about about = sap_rows_at(bits, job->lattice.sides, y, z);
    const sap_voxels voxels = {job->voxels.values, job->voxels.row, job->voxels.slice, type};
    int64_t words = sap_row_words(about.side), written = 0;
    waiting_edges waiting = {0};
    for (int64_t w = 0; w < words; w++) {
        sap_word_edges edges = sap_edges_at(&about, w);
        for (uint64_t left = edges.along[0] | edges.along[1] | edges.along[2]; left; left &= left - 1) {
            int i = __builtin_ctzll(left);
            SAP_UNROLL
            for (int axis = 0; axis < 3; axis++) {
                if (!(edges.along[axis] >> i & 1)) continue;
                put_edge(&waiting,
                         sap_surface_edge_at(voxels, job->lattice, (int)(w * SAP_WORD_BITS) + i, (int)y, (int)z, axis));
                if (waiting.count == EDGES)
                    written += write_waiting(&job->lattice, &waiting, vertices + written, normals + written);
            }
        }
    }
    if (waiting.count) write_waiting(&job->lattice, &waiting, vertices + written, normals + written);
}

static void vertices_of_row(const sap_surface_job* job, const uint64_t* bits, int64_t y, int64_t z, float* vertices,
                            float* normals) {
    switch (job->voxels.type) {
    case SAP_VOXEL_U8: make_vertices(job, SAP_VOXEL_U8, bits, y, z, vertices, normals); break;
    case SAP_VOXEL_I16: make_vertices(job, SAP_VOXEL_I16, bits, y, z, vertices, normals); break;
    case SAP_VOXEL_U16: make_vertices(job, SAP_VOXEL_U16, bits, y, z, vertices, normals); break;
    default: make_vertices(job, SAP_VOXEL_F32, bits, y, z, vertices, normals);
    }
}

// Writes the triangles of a cell; where these end.
INLINE int32_t* make_triangles(SAP_BITS inside, const int32_t vertex[12], bool reversed, int32_t* triangles) {
    SAP_BITS corners = 3 * sap_cube_triangles(inside);
    for (SAP_BITS c = 0; c < corners; c += 3) {
        triangles[0] = vertex[sap_cube_edge(inside, c)];
        triangles[1] = vertex[sap_cube_edge(inside, reversed ? c + 2 : c + 1)];
        triangles[2] = vertex[sap_cube_edge(inside, reversed ? c + 1 : c + 2)];
        triangles += 3;
    }
    return triangles;
}

static void triangles_of_row(const sap_surface_job* job, const uint64_t* bits, int64_t y, int64_t z,
                             const int64_t before[4], int32_t* triangles) {
    const sap_rows_about about = sap_rows_at(bits, job->lattice.sides, y, z);
    int64_t words = sap_row_words(about.side), numbers[4];
    sap_cell_edges edges;
    memcpy(numbers, before, sizeof numbers);
    sap_cell_edges_at(&about, 0, edges.behind);
    for (int64_t w = 0; w < words; w++) {
        sap_word_cells cells = sap_cells_at(&about, w);
        memcpy(edges.row, edges.behind, sizeof edges.row);
        if (w + 1 < words) sap_cell_edges_at(&about, w + 1, edges.behind);
        for (uint64_t left = cells.active; left; left &= left - 1) {
            int i = __builtin_ctzll(left);
            int32_t vertex[12];
            sap_cell_vertices(&edges, numbers, i, vertex);
            triangles = make_triangles(sap_cell_inside(&cells, i), vertex, job->low_inside, triangles);
        }
        for (int r = 0; r < 4; r++) numbers[r] += sap_word_vertices(edges.row[r]);
    }
}

const sap_surface_kernels SAP_KERNEL_OF_FLOAT(surface_kernels) = {classify, count, vertices_of_row, triangles_of_row};

#endif
