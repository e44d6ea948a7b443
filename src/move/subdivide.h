// Loop subdivision, one text for the CPU and CUDA: where a refined vertex comes to lie, its limit and its normal.
//
// All sums are of ways from the vertex itself, p - v, so that what is flat stays flat to the bit, and equal points stay
// where they are.
//
// **Programs.** Each vertex has a record of two words: where its program begins in the level's list, and its mask.
// Programs by mask:
//   SAP_LOOP_CREASE   two neighbours along the crease, then sectors
//   SAP_LOOP_CORNER   sectors
//   all others        where the weights of a smooth vertex begin in the table: its n neighbours, counter-clockwise
// Sectors: how many; of each how many neighbours it has, where their weights are in the table (creases only), and the
// neighbours, counter-clockwise from one sharp edge to the next. Weights of smooth vertices: n as bits, the weight of
// each neighbour, that for the limit, and the cosine and sine of each neighbour. A vertex keeps its record through all
// levels, and its program but for the neighbours' numbers.
#ifndef SAPWOOD_MOVE_SUBDIVIDE_H
#define SAPWOOD_MOVE_SUBDIVIDE_H

#include "math/dialect.h"

enum { SAP_LOOP_CREASE = 0, SAP_LOOP_CORNER = 1, SAP_LOOP_TABLE = 4 /* where weights begin */ };

// A level, and how it is refined.
SAP_STRUCT(sap_loop_level)
struct sap_loop_level {
    const uint32_t* records; // [2*vertices]
    const float* table;
    const int32_t* list;  // programs
    const int32_t* quads; // [4*edges]: its ends and the vertices across it; the third is -1: none count
    int64_t vertices, edges;
};

SAP_FN void sap_loop_copy(const float* from, float* to) {
    for (int a = 0; a < 3; a++) to[a] = from[a];
}

// sum += weight * (point - origin).
SAP_FN void sap_loop_add(const float* point, const float origin[3], float weight, float sum[3]) {
    for (int a = 0; a < 3; a++) sum[a] += weight * (point[a] - origin[a]);
}

// Multiplied by a power of two, so that squares and products neither overflow nor vanish: exact.
SAP_FN void sap_loop_scale(float v[3]) {
    uint32_t most = 0; // of numbers without signs, which are in the order of their bits
    for (int a = 0; a < 3; a++) {
        const uint32_t bits = sap_bits_of_float(v[a]) & 0x7fffffffu;
        most = bits > most ? bits : most;
    }
    const uint32_t exponent = most >> 23;
    const float scale = sap_float_of_bits((254 - (exponent < 253 ? exponent : 253)) << 23);
    for (int a = 0; a < 3; a++) v[a] *= scale;
}

// Length 1, whatever it was; 0 stays 0.
SAP_FN void sap_loop_unit(float v[3]) {
    sap_loop_scale(v);
    const float length = sap_square_root(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    for (int a = 0; a < 3; a++) v[a] = length == 0 ? v[a] : v[a] / length;
}

// sum += a x b.
SAP_FN void sap_loop_cross(const float a[3], const float b[3], float sum[3]) {
    sum[0] += a[1] * b[2] - a[2] * b[1];
    sum[1] += a[2] * b[0] - a[0] * b[2];
    sum[2] += a[0] * b[1] - a[1] * b[0];
}

// ---- A level from the one before

// How many neighbours a smooth vertex has.
SAP_FN int64_t sap_loop_valence(const float* weights) { return (int64_t)sap_bits_of_float(weights[0]); }

// Where vertex i goes: to the next level, or to the limit.
SAP_FN void sap_loop_move(const sap_loop_level* level, const float* from, int64_t i, bool limit, float* to) {
    const int32_t* program = level->list + level->records[2 * i];
    const uint32_t mask = level->records[2 * i + 1];
    float v[3], sum[3] = {0, 0, 0}, weight = 0;
    sap_loop_copy(from + 3 * i, v);
    if (mask == SAP_LOOP_CREASE) {
        weight = limit ? 1.0f / 6 : 0.125f;
        for (int j = 0; j < 2; j++) sap_loop_add(from + 3 * (int64_t)program[j], v, 1, sum);
    } else if (mask != SAP_LOOP_CORNER) {
        const float* weights = level->table + mask;
        const int64_t n = sap_loop_valence(weights);
        weight = limit ? weights[2] : weights[1];
        for (int64_t j = 0; j < n; j++) sap_loop_add(from + 3 * (int64_t)program[j], v, 1, sum);
    }
    for (int a = 0; a < 3; a++) to[a] = v[a] + weight * sum[a];
}

// Vertex i of the next level: first those of this level, then one for each edge.
SAP_FN void sap_loop_refine(const sap_loop_level* level, const float* from, int64_t i, float* to) {
    if (i < level->vertices) {
        sap_loop_move(level, from, i, false, to + 3 * i);
        return;
    }
    const int32_t* quad = level->quads + 4 * (i - level->vertices);
    const float *a = from + 3 * (int64_t)quad[0], *b = from + 3 * (int64_t)quad[1];
    float middle[3], sum[3] = {0, 0, 0};
    for (int k = 0; k < 3; k++) middle[k] = 0.5f * a[k] + 0.5f * b[k];
    if (quad[2] >= 0)
        for (int j = 2; j < 4; j++) sap_loop_add(from + 3 * (int64_t)quad[j], middle, 1, sum);
    for (int k = 0; k < 3; k++) to[3 * i + k] = middle[k] + 0.125f * sum[k];
}

// ---- Limits

// The normal of a sector, of length 1, is added to `normal`. `neighbours` are its `count` neighbours.
SAP_FN void sap_loop_sector(const float* from, const float v[3], const int32_t* neighbours, int64_t count,
                            const float* weights, float normal[3]) {
    const float *first = from + 3 * (int64_t)neighbours[0], *last = from + 3 * (int64_t)neighbours[count - 1];
    float own[3] = {0, 0, 0};
    if (weights) { // along the crease, and across it into the surface
        float along[3] = {0, 0, 0}, across[3] = {0, 0, 0};
        sap_loop_add(first, last, 1, along);
        for (int64_t j = 0; j < count; j++) sap_loop_add(from + 3 * (int64_t)neighbours[j], v, weights[j], across);
        sap_loop_scale(along);
        sap_loop_scale(across);
        sap_loop_cross(along, across, own);
    } else {
        for (int64_t j = 0; j + 1 < count; j++) {
            float a[3] = {0, 0, 0}, b[3] = {0, 0, 0};
            sap_loop_add(from + 3 * (int64_t)neighbours[j], v, 1, a);
            sap_loop_add(from + 3 * (int64_t)neighbours[j + 1], v, 1, b);
            sap_loop_unit(a);
            sap_loop_unit(b);
            sap_loop_cross(a, b, own);
        }
    }
    sap_loop_unit(own);
    for (int a = 0; a < 3; a++) normal[a] += own[a];
}

// The normal of the limit surface at vertex i of the last level.
SAP_FN void sap_loop_normal(const sap_loop_level* level, const float* from, int64_t i, float* normal) {
    const int32_t* program = level->list + level->records[2 * i];
    const uint32_t mask = level->records[2 * i + 1];
    float v[3], sum[3] = {0, 0, 0};
    sap_loop_copy(from + 3 * i, v);
    if (mask == SAP_LOOP_CREASE || mask == SAP_LOOP_CORNER) {
        if (mask == SAP_LOOP_CREASE) program += 2;
        const int32_t sectors = *program++;
        for (int32_t s = 0; s < sectors; s++) {
            const float* weights = mask == SAP_LOOP_CREASE ? level->table + program[1] : NULL;
            sap_loop_sector(from, v, program + 2, program[0], weights, sum);
            program += 2 + program[0];
        }
    } else {
        const float* weights = level->table + mask;
        const int64_t n = sap_loop_valence(weights);
        float right[3] = {0, 0, 0}, up[3] = {0, 0, 0};
        for (int64_t j = 0; j < n; j++) {
            const float* p = from + 3 * (int64_t)program[j];
            sap_loop_add(p, v, weights[3 + 2 * j], right);
            sap_loop_add(p, v, weights[4 + 2 * j], up);
        }
        sap_loop_scale(right);
        sap_loop_scale(up);
        sap_loop_cross(right, up, sum);
    }
    sap_loop_unit(sum);
    sap_loop_copy(sum, normal);
}

// Vertex i of the last level: its place, where `to` is not NULL, and its normal, where `normals` is not.
SAP_FN void sap_loop_finish(const sap_loop_level* level, const float* from, int64_t i, float* to, float* normals) {
    if (to) sap_loop_move(level, from, i, true, to + 3 * i);
    if (normals) sap_loop_normal(level, from, i, normals + 3 * i);
}

#endif
