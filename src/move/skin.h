// Skinning, one text for the CPU and CUDA: a vertex and its normal, moved by a sum of matrices or of dual quaternions.
#ifndef SAPWOOD_MOVE_SKIN_H
#define SAPWOOD_MOVE_SKIN_H

#include "math/dialect.h"
#include "sapwood/move.h"

// A dual quaternion: two quaternions, the scalar part of each last.
enum { SAP_DUAL_NUMBERS = 8 };

SAP_FN void sap_skin_unit(float v[3]) {
    const float length = sap_square_root(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    for (int a = 0; a < 3; a++) v[a] = length > 0 ? v[a] / length : length * v[a];
}

SAP_FN void sap_skin_nowhere(float v[3]) {
    for (int a = 0; a < 3; a++) v[a] = NAN;
}

// ---- Sums of matrices

SAP_FN void sap_skin_by_matrix(const float m[12], const float* vertex, const float* normal, float* moved,
                               float* turned) {
    for (int r = 0; r < 3; r++) {
        const float* row = m + 4 * r;
        moved[r] = row[0] * vertex[0] + row[1] * vertex[1] + row[2] * vertex[2] + row[3];
        if (normal) turned[r] = row[0] * normal[0] + row[1] * normal[1] + row[2] * normal[2];
    }
    if (normal) sap_skin_unit(turned);
}

// ---- Sums of dual quaternions

// The quaternion of a turn, by the largest of its four numbers (Shepperd 1978), and with the shift the dual part.
SAP_FN void sap_skin_dual_of(const float m[12], float dual[SAP_DUAL_NUMBERS]) {
    const float trace = m[0] + m[5] + m[10];
    const float squares[4] = {1 + 2 * m[0] - trace, 1 + 2 * m[5] - trace, 1 + 2 * m[10] - trace, 1 + trace};
    // Each row has four times the products of one number with all of them.
    const float products[4][4] = {{squares[0], m[4] + m[1], m[8] + m[2], m[9] - m[6]},
                                  {m[4] + m[1], squares[1], m[9] + m[6], m[2] - m[8]},
                                  {m[8] + m[2], m[9] + m[6], squares[2], m[4] - m[1]},
                                  {m[9] - m[6], m[2] - m[8], m[4] - m[1], squares[3]}};
    const float t[3] = {m[3], m[7], m[11]};
    float* q = dual;
    int largest = 0;
    for (int i = 1; i < 4; i++)
        if (squares[i] > squares[largest]) largest = i;
    float length = 0;
    for (int i = 0; i < 4; i++) {
        q[i] = products[largest][i];
        length += q[i] * q[i];
    }
    length = sap_square_root(length);
    for (int i = 0; i < 4; i++) q[i] /= length;
    dual[4] = 0.5f * (t[0] * q[3] + t[1] * q[2] - t[2] * q[1]);
    dual[5] = 0.5f * (t[1] * q[3] + t[2] * q[0] - t[0] * q[2]);
    dual[6] = 0.5f * (t[2] * q[3] + t[0] * q[1] - t[1] * q[0]);
    dual[7] = -0.5f * (t[0] * q[0] + t[1] * q[1] + t[2] * q[2]);
}

// v turned by the quaternion q of length 1: v + 2 q x (q x v + w v).
SAP_FN void sap_skin_turn(const float q[4], const float* v, float* to) {
    const float u[3] = {q[1] * v[2] - q[2] * v[1] + q[3] * v[0], q[2] * v[0] - q[0] * v[2] + q[3] * v[1],
                        q[0] * v[1] - q[1] * v[0] + q[3] * v[2]};
    to[0] = v[0] + 2 * (q[1] * u[2] - q[2] * u[1]);
    to[1] = v[1] + 2 * (q[2] * u[0] - q[0] * u[2]);
    to[2] = v[2] + 2 * (q[0] * u[1] - q[1] * u[0]);
}

SAP_FN void sap_skin_by_dual(const float sum[SAP_DUAL_NUMBERS], const float* vertex, const float* normal, float* moved,
                             float* turned) {
    const float length = sap_square_root(sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2] + sum[3] * sum[3]);
    float d[SAP_DUAL_NUMBERS];
    if (!(length > 0)) {
        sap_skin_nowhere(moved);
        if (normal) sap_skin_nowhere(turned);
        return;
    }
    for (int i = 0; i < SAP_DUAL_NUMBERS; i++) d[i] = sum[i] / length;
    const float* e = d + 4;
    sap_skin_turn(d, vertex, moved);
    moved[0] += 2 * (d[3] * e[0] - e[3] * d[0] + (d[1] * e[2] - d[2] * e[1]));
    moved[1] += 2 * (d[3] * e[1] - e[3] * d[1] + (d[2] * e[0] - d[0] * e[2]));
    moved[2] += 2 * (d[3] * e[2] - e[3] * d[2] + (d[0] * e[1] - d[1] * e[0]));
    if (!normal) return;
    sap_skin_turn(d, normal, turned);
    sap_skin_unit(turned);
}

// ---- A vertex

// Moves vertex i. motions: of each bone its matrix, or its dual quaternion. False: it follows a bone that there is none of.
SAP_FN bool sap_skin_vertex(const sap_skin* s, const float* motions, int64_t i, float* moved, float* turned) {
    const bool by_dual = s->blend == SAP_SKIN_DUAL_QUATERNIONS;
    const int numbers = by_dual ? SAP_DUAL_NUMBERS : 12;
    const float* first = NULL; // of those that count
    float sum[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    float* to_normal = s->normals ? turned + 3 * i : NULL;
    for (int64_t j = i * s->each; j < (i + 1) * s->each; j++) {
        if (s->bones[j] < 0 || s->bones[j] >= s->matrix_count) {
            sap_skin_nowhere(moved + 3 * i);
            if (to_normal) sap_skin_nowhere(to_normal);
            return false;
        }
        const float* motion = motions + numbers * (int64_t)s->bones[j];
        float weight = s->weights[j];
        if (weight == 0) continue;
        if (!first) first = motion;
        if (by_dual && first[0] * motion[0] + first[1] * motion[1] + first[2] * motion[2] + first[3] * motion[3] < 0)
            weight = -weight;
        SAP_UNROLL
        for (int k = 0; k < 12; k++)
            if (k < numbers) sum[k] += weight * motion[k];
    }
    const float* normal = s->normals ? s->normals + 3 * i : NULL;
    if (by_dual)
        sap_skin_by_dual(sum, s->vertices + 3 * i, normal, moved + 3 * i, to_normal);
    else
        sap_skin_by_matrix(sum, s->vertices + 3 * i, normal, moved + 3 * i, to_normal);
    return true;
}

#endif
