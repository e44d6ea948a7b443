// The bits of a lattice: which samples are inside, and what follows from them a word of samples at a time. For C and
// CUDA, where a word has 64 and 32 bits.
//
// Bit i of word w of a row says whether sample w * SAP_WORD_BITS + i of it is inside; the bits behind the row's end are
// 0. A vertex's number is that of the first of its row and how many edges before it in the row have one, so that no
// table of numbers is needed: bits are counted.
#ifndef SAPWOOD_SURFACE_ROWS_H
#define SAPWOOD_SURFACE_ROWS_H

#include "surface/lattice.h"

#ifdef __cplusplus
typedef uint32_t sap_word;
#else
typedef uint64_t sap_word;
#endif

#if defined(__CUDA_ARCH__)
#define SAP_COUNT_BITS(word) __popc(word)
#else
#define SAP_COUNT_BITS(word) __builtin_popcountll(word)
#endif

enum { SAP_WORD_BITS = 8 * sizeof(sap_word) };

// Words of a row of so many samples.
SAP_FN int64_t sap_row_words(int64_t samples) { return (samples + SAP_WORD_BITS - 1) / SAP_WORD_BITS; }

// The rows about the cells between row (y, z) and those above it. Rows that the lattice lacks are the last ones there
// are, so that nothing crosses to them.
enum { SAP_ROW_Y = 1, SAP_ROW_Z = 2, SAP_ROW_YY = 4, SAP_ROW_ZZ, SAP_ROW_YYZ, SAP_ROW_YZZ, SAP_ROWS };

typedef struct sap_rows_about {
    const sap_word* row[SAP_ROWS]; // (y, z), (y+1, z), (y, z+1), (y+1, z+1), (y+2, z), (y, z+2), (y+2, z+1), (y+1, z+2)
    int side;                      // samples of a row
    bool has_cells;                // there are rows y+1 and z+1
} sap_rows_about;

SAP_FN sap_rows_about sap_rows_at(const sap_word* bits, const int* sides, int64_t y, int64_t z) {
    SAP_ASSERT(y >= 0 && y < sides[1] && z >= 0 && z < sides[2]);
    int64_t words = sap_row_words(sides[0]), slice = words * sides[1];
    int64_t up = y + 1 < sides[1] ? words : 0, far_up = y + 2 < sides[1] ? 2 * words : up;
    int64_t back = z + 1 < sides[2] ? slice : 0, far_back = z + 2 < sides[2] ? 2 * slice : back;
    const sap_word* row = bits + z * slice + y * words;
    sap_rows_about about;
    about.row[0] = row;
    about.row[SAP_ROW_Y] = row + up;
    about.row[SAP_ROW_Z] = row + back;
    about.row[SAP_ROW_Y + SAP_ROW_Z] = row + up + back;
    about.row[SAP_ROW_YY] = row + far_up;
    about.row[SAP_ROW_ZZ] = row + far_back;
    about.row[SAP_ROW_YYZ] = row + far_up + back;
    about.row[SAP_ROW_YZZ] = row + up + far_back;
    about.side = sides[0];
    about.has_cells = up > 0 && back > 0 && sides[0] > 1;
    return about;
}

// Which edges of a word of samples have a vertex.
typedef struct sap_word_edges {
    sap_word along[3];
} sap_word_edges;

SAP_FN int sap_word_vertices(sap_word_edges edges) {
    return (int)(SAP_COUNT_BITS(edges.along[0]) + SAP_COUNT_BITS(edges.along[1]) + SAP_COUNT_BITS(edges.along[2]));
}

// Word w of a row, moved by one: bit i is that of the sample behind sample i.
SAP_FN sap_word sap_word_behind(const sap_word* row, int64_t w, int64_t words) {
    sap_word next = w + 1 < words ? row[w + 1] : 0;
    return row[w] >> 1 | next << (SAP_WORD_BITS - 1);
}

// The samples of word w that have one behind them.
SAP_FN sap_word sap_word_inner(int side, int64_t w) {
    int64_t samples = side - 1 - w * SAP_WORD_BITS;
    if (samples >= SAP_WORD_BITS) return ~(sap_word)0;
    return samples > 0 ? ((sap_word)1 << samples) - 1 : 0;
}

SAP_FN sap_word_edges sap_edges_of(const sap_word* row, const sap_word* above, const sap_word* back, int side,
                                   int64_t w) {
    sap_word_edges edges;
    edges.along[0] = (row[w] ^ sap_word_behind(row, w, sap_row_words(side))) & sap_word_inner(side, w);
    edges.along[1] = row[w] ^ above[w];
    edges.along[2] = row[w] ^ back[w];
    return edges;
}

// The edges of row (y, z) itself.
SAP_FN sap_word_edges sap_edges_at(const sap_rows_about* about, int64_t w) {
    return sap_edges_of(about->row[0], about->row[SAP_ROW_Y], about->row[SAP_ROW_Z], about->side, w);
}

// The corners of a word of cells: bit i of word c is corner c of cell i.
typedef struct sap_word_cells {
    sap_word corner[8];
    sap_word active; // cells that are neither outside nor inside as a whole
} sap_word_cells;

SAP_FN sap_word_cells sap_cells_at(const sap_rows_about* about, int64_t w) {
    sap_word_cells cells;
    int64_t words = sap_row_words(about->side);
    sap_word any = 0, all = ~(sap_word)0;
    for (int i = 0; i < 4; i++) {
        sap_word here = about->row[i][w], behind = sap_word_behind(about->row[i], w, words);
        cells.corner[2 * i] = here;
        cells.corner[2 * i + 1] = behind;
        any |= here | behind;
        all &= here & behind;
    }
    cells.active = about->has_cells ? any & ~all & sap_word_inner(about->side, w) : 0;
    return cells;
}

SAP_FN SAP_BITS sap_cell_inside(const sap_word_cells* cells, int i) {
    SAP_BITS inside = 0;
    for (int c = 0; c < 8; c++) inside |= (SAP_BITS)(cells->corner[c] >> i & 1) << c;
    return inside;
}

// The edges of the four rows about a word of cells, and of the word behind it.
typedef struct sap_cell_edges {
    sap_word_edges row[4], behind[4];
} sap_cell_edges;

SAP_FN void sap_cell_edges_at(const sap_rows_about* about, int64_t w, sap_word_edges edges[4]) {
    const sap_word* const* row = about->row;
    edges[0] = sap_edges_of(row[0], row[SAP_ROW_Y], row[SAP_ROW_Z], about->side, w);
    edges[1] = sap_edges_of(row[1], row[SAP_ROW_YY], row[3], about->side, w);
    edges[2] = sap_edges_of(row[2], row[3], row[SAP_ROW_ZZ], about->side, w);
    edges[3] = sap_edges_of(row[3], row[SAP_ROW_YYZ], row[SAP_ROW_YZZ], about->side, w);
}

// The numbers of the vertices on the edges of cell i; before[r] is how many vertices come before the word in row r, all
// rows before it included.
SAP_FN void sap_cell_vertices(const sap_cell_edges* edges, const int64_t before[4], int i, int32_t vertex[12]) {
    SAP_ASSERT(i >= 0 && i < SAP_WORD_BITS);
    sap_word below = ((sap_word)1 << i) - 1;
    for (int r = 0; r < 4; r++) {
        const sap_word* along = edges->row[r].along;
        const sap_word* behind = i + 1 < SAP_WORD_BITS ? along : edges->behind[r].along;
        int next = i + 1 < SAP_WORD_BITS ? i + 1 : 0;
        int32_t x = (int32_t)before[r] + (int32_t)(SAP_COUNT_BITS(along[0] & below) + SAP_COUNT_BITS(along[1] & below) +
                                                   SAP_COUNT_BITS(along[2] & below));
        int32_t y = x + (int32_t)(along[0] >> i & 1), z = y + (int32_t)(along[1] >> i & 1);
        int32_t next_y = z + (int32_t)(along[2] >> i & 1) + (int32_t)(behind[0] >> next & 1);
        vertex[r] = x;
        if (r == 0 || r == 2) { // of the cell's lower side
            vertex[4 + r] = y;
            vertex[5 + r] = next_y;
        }
        if (r < 2) { // of its front
            vertex[8 + 2 * r] = z;
            vertex[9 + 2 * r] = next_y + (int32_t)(behind[1] >> next & 1);
        }
    }
}

#endif
