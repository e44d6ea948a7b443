// An instance in the world: the inverse of its transform, and a box that a ray meets whenever the instance is hit.
//
// A hit lies in the mesh's box, seen from the instance, but for two things: sap_trace finds hits up to
// sap_margin(m + |o'|) outside the box, of which m is the largest coordinate and o' the origin as the instance sees it;
// and o' and the direction were rounded to floats, which moves the hit by less than that. |o'| is at most |W| |o| + |w|.
// So the hit lies within unit * (m + |w| + |W| |o|) of the box, unit being twice as much as both together; the other half
// is for the roundings of the test of boxes. In the world that is |M| times as much: a part that is added to the box
// here, and a part times |o|, which is the node's `reach`.
#include "instance/layout.h"
#include "mesh/layout.h"
#include "ray/ray.h"
#include "tree/layout.h"
#include <math.h>

static const double unit = 0x1p-18; // sap_margin is 2^-20 of its argument
static const double rounding = 0x1p-50;

// W and w of sap_instance_trace. False: there is no inverse.
static bool invert(const float m[12], double w[12]) {
    static const int next[3] = {1, 2, 0}, last[3] = {2, 0, 1};
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) { // the cofactor of row c, column r
            const float *a = m + 4 * next[c], *b = m + 4 * last[c];
            w[4 * r + c] = (double)a[next[r]] * (double)b[last[r]] - (double)a[last[r]] * (double)b[next[r]];
        }
    const double determinant = ((double)m[0] * w[0] + (double)m[1] * w[4]) + (double)m[2] * w[8];
    if (determinant == 0) return false;
    for (int r = 0; r < 3; r++) {
        for (int c = 0; c < 3; c++) w[4 * r + c] /= determinant;
        w[4 * r + 3] = -((w[4 * r] * (double)m[3] + w[4 * r + 1] * (double)m[7]) + w[4 * r + 2] * (double)m[11]);
    }
    return true;
}

// How far a point of the world comes to lie from itself when it goes to the mesh and back, along axis r: its largest
// coordinate times *turned, plus *shifted.
static void round_trip(const float m[12], const double w[12], int r, double* turned, double* shifted) {
    const float* row = m + 4 * r;
    double product = 0;
    *turned = *shifted = 0;
    for (int c = 0; c < 4; c++) {
        double entry = c == 3 ? (double)row[3] : c == r ? -1 : 0, size = fabs(entry);
        for (int k = 0; k < 3; k++) {
            product = (double)row[k] * w[4 * k + c];
            entry += product;
            size += fabs(product);
        }
        *(c == 3 ? shifted : turned) += fabs(entry) + rounding * size;
    }
}

// The largest sum of a row's magnitudes.
static double norm(const double w[12]) {
    double most = 0;
    for (int r = 0; r < 3; r++) {
        const double row = fabs(w[4 * r]) + fabs(w[4 * r + 1]) + fabs(w[4 * r + 2]);
        if (!(row <= most)) most = row;
    }
    return most;
}

static double larger(double a, double b) { return a > b ? a : b; }

// The mesh's box in the world along axis r.
static void transformed_box(const float* row, const sap_mesh_tree_shape* s, double* lower, double* upper) {
    *lower = *upper = (double)row[3];
    for (int c = 0; c < 3; c++) {
        const double a = (double)row[c] * (double)s->lower[c], b = (double)row[c] * (double)s->upper[c];
        *lower += a < b ? a : b;
        *upper += a < b ? b : a;
    }
}

sap_misplaced sap_instance_place(const sap_device* device, const sap_instance* instance, sap_placed* placed,
                                 sap_instance_node* leaf) {
    const sap_mesh_tree* tree = instance->tree;
    const float* m = instance->transform;
    double* w = placed->inverse;
    double lower[3], upper[3], turned[3], shifted[3], far = 0;
    if (!tree) return SAP_PLACED_WITHOUT_TREE;
    if (tree->device != device) return SAP_PLACED_ELSEWHERE;
    for (int i = 0; i < 12; i++)
        if (!isfinite(m[i])) return SAP_PLACED_NOWHERE;
    if (!invert(m, w)) return SAP_PLACED_FLAT;
    for (int r = 0; r < 3; r++) {
        round_trip(m, w, r, &turned[r], &shifted[r]);
        if (!(turned[r] < 0x1p-20)) return SAP_PLACED_FLAT;
    }
    placed->tree = tree;
    if (tree->shape.triangles == 0) return SAP_PLACED_WELL;
    for (int r = 0; r < 3; r++) {
        transformed_box(m + 4 * r, &tree->shape, &lower[r], &upper[r]);
        far = larger(far, larger(fabs(lower[r]), fabs(upper[r])));
    }
    const double size = norm(w), shift = larger(larger(fabs(w[3]), fabs(w[7])), fabs(w[11]));
    leaf->reach = 0;
    for (int r = 0; r < 3; r++) {
        const double row = fabs((double)m[4 * r]) + fabs((double)m[4 * r + 1]) + fabs((double)m[4 * r + 2]);
        const double more = unit * row * (1 + 0x1p-31 * size * row); // W o + w itself is rounded to doubles
        const double pad = more * ((double)sap_mesh_magnitude(tree) + shift) + 2 * (turned[r] * far + shifted[r]);
        leaf->lower[r] = (float)(lower[r] - pad);
        leaf->upper[r] = (float)(upper[r] + pad);
        leaf->reach = (float)larger((double)leaf->reach, more * size);
        if (!(larger(fabs(lower[r] - pad), fabs(upper[r] + pad)) <= sap_largest_coordinate(32, 3)))
            return SAP_PLACED_TOO_FAR;
    }
    return SAP_PLACED_WELL;
}
