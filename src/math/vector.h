// Vectors of three floats, as C and CUDA have them; shaders have their own (mesh/step_glsl.h, ray/intersect.h).
#ifndef SAPWOOD_MATH_VECTOR_H
#define SAPWOOD_MATH_VECTOR_H

#include "math/dialect.h"

SAP_STRUCT(sap_vector)
struct sap_vector {
    float x;
    float y;
    float z;
};

SAP_FN sap_vector sap_vector_of(const float* v) {
    sap_vector to;
    to.x = v[0];
    to.y = v[1];
    to.z = v[2];
    return to;
}

SAP_FN float sap_magnitude(float x) { return x < 0.0f ? -x : x; }

SAP_FN float sap_largest_magnitude(sap_vector v) {
    float x = sap_magnitude(v.x);
    float y = sap_magnitude(v.y);
    float z = sap_magnitude(v.z);
    float largest = x > y ? x : y;
    return largest > z ? largest : z;
}

#endif
