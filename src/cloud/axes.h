// The principal axes of a symmetric 3 x 3 matrix in closed form: the same bits in C and CUDA, since there is no function
// of a library in it whose last bits differ, and no branch, so that compilers make vectors of a loop over it.
//
// Of the three eigenvalues one is always far from the other two. It is a root of a cubic, found by Newton's method from a
// polynomial close to it; its axis is the longest of three cross products, which cannot be short. The other two axes lie
// in the plane across it, where what is left is a symmetric 2 x 2 matrix (Eberly 2014). So axes are as exact as those of
// an iteration, also where eigenvalues are equal or nearly so.
#ifndef SAPWOOD_CLOUD_AXES_H
#define SAPWOOD_CLOUD_AXES_H

#include "math/dialect.h"

// A symmetric matrix.
typedef struct sap_symmetric {
    double xx, xy, xz, yy, yz, zz;
} sap_symmetric;

typedef struct sap_place3 {
    double x, y, z;
} sap_place3;

// Eigenvalues, ascending; the axes of the least and the greatest, of length 1 and at right angles.
typedef struct sap_principal {
    double least, middle, greatest;
    sap_place3 least_axis, greatest_axis;
} sap_principal;

SAP_FN double sap_larger_of(double a, double b) { return a > b ? a : b; }

// cos(acos(x) / 3) for x of 0 to 1: the largest root of 4 c^3 - 3 c = x. The polynomial is within 7e-5 of it, and two
// steps of Newton's leave an error of 3e-16.
SAP_FN double sap_third_of_angle(double x) {
    double c =
        0.86609253849158827 + x * (0.16521460518545197 + x * (-0.040630349965457182 + x * 0.0093744344244988186));
    c = c - (c * (4 * (c * c) - 3) - x) / (12 * (c * c) - 3);
    return c - (c * (4 * (c * c) - 3) - x) / (12 * (c * c) - 3);
}

SAP_FN sap_place3 sap_cross3(sap_place3 a, sap_place3 b) {
    sap_place3 c;
    c.x = a.y * b.z - a.z * b.y;
    c.y = a.z * b.x - a.x * b.z;
    c.z = a.x * b.y - a.y * b.x;
    return c;
}

SAP_FN double sap_dot3(sap_place3 a, sap_place3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

SAP_FN sap_place3 sap_scaled3(sap_place3 a, double by) {
    sap_place3 b;
    b.x = a.x * by;
    b.y = a.y * by;
    b.z = a.z * by;
    return b;
}

SAP_FN sap_place3 sap_either3(bool first, sap_place3 a, sap_place3 b) {
    sap_place3 c;
    c.x = first ? a.x : b.x;
    c.y = first ? a.y : b.y;
    c.z = first ? a.z : b.z;
    return c;
}

// x * a + y * b
SAP_FN sap_place3 sap_blend3(double x, sap_place3 a, double y, sap_place3 b) {
    sap_place3 c;
    c.x = x * a.x + y * b.x;
    c.y = x * a.y + y * b.y;
    c.z = x * a.z + y * b.z;
    return c;
}

SAP_FN sap_place3 sap_times3(sap_symmetric m, sap_place3 v) {
    sap_place3 r;
    r.x = m.xx * v.x + m.xy * v.y + m.xz * v.z;
    r.y = m.xy * v.x + m.yy * v.y + m.yz * v.z;
    r.z = m.xz * v.x + m.yz * v.y + m.zz * v.z;
    return r;
}

// A direction of an axis, which has two: that in which its largest coordinate, or the first of those, is positive.
SAP_FN sap_place3 sap_axis_turned(sap_place3 v) {
    const double x = fabs(v.x), y = fabs(v.y), z = fabs(v.z);
    const double leading = x >= y && x >= z ? v.x : y >= z ? v.y : v.z;
    return sap_scaled3(v, leading < 0 ? -1.0 : 1.0);
}

// A direction at right angles to one of length 1.
SAP_FN sap_place3 sap_across3(sap_place3 v) {
    const bool wide = fabs(v.x) > fabs(v.y);
    const double length = sqrt(v.z * v.z + (wide ? v.x * v.x : v.y * v.y));
    sap_place3 a;
    a.x = wide ? -v.z / length : 0.0;
    a.y = wide ? 0.0 : v.z / length;
    a.z = (wide ? v.x : -v.y) / length;
    return a;
}

// The axis of the eigenvalue `value` of m, which is far from the other two.
SAP_FN sap_place3 sap_lone_axis(sap_symmetric m, double value) {
    sap_place3 x, y, z;
    x.x = m.xx - value, x.y = m.xy, x.z = m.xz;
    y.x = m.xy, y.y = m.yy - value, y.z = m.yz;
    z.x = m.xz, z.y = m.yz, z.z = m.zz - value;
    const sap_place3 xy = sap_cross3(x, y), yz = sap_cross3(y, z), zx = sap_cross3(z, x);
    const double length_xy = sap_dot3(xy, xy), length_yz = sap_dot3(yz, yz), length_zx = sap_dot3(zx, zx);
    const bool is_xy = length_xy >= length_yz && length_xy >= length_zx, is_yz = length_yz >= length_zx;
    const sap_place3 longest = sap_either3(is_xy, xy, sap_either3(is_yz, yz, zx));
    const double length = is_xy ? length_xy : is_yz ? length_yz : length_zx;
    return sap_scaled3(longest, 1 / sqrt(length));
}

// The axes of a matrix of finite numbers. Eigenvalues are not clamped: that of a flat set may be below 0 by a rounding.
SAP_FN sap_principal sap_principal_of(sap_symmetric a) {
    const double mean = (a.xx + a.yy + a.zz) / 3;
    const double largest =
        sap_larger_of(sap_larger_of(sap_larger_of(fabs(a.xx - mean), fabs(a.yy - mean)), fabs(a.zz - mean)),
                      sap_larger_of(sap_larger_of(fabs(a.xy), fabs(a.xz)), fabs(a.yz)));
    // What is the same in all directions has every axis: that of x, y, z = 1, 0, -1, times the size, is as good.
    const bool is_round = !(largest > 0);
    const double size = is_round ? 1.0 : largest;
    sap_symmetric b; // without its mean, entries of at most 1
    b.xx = is_round ? 1.0 : (a.xx - mean) / size;
    b.xy = is_round ? 0.0 : a.xy / size;
    b.xz = is_round ? 0.0 : a.xz / size;
    b.yy = is_round ? 0.0 : (a.yy - mean) / size;
    b.yz = is_round ? 0.0 : a.yz / size;
    b.zz = is_round ? -1.0 : (a.zz - mean) / size;
    const double square = (b.xx * b.xx + b.yy * b.yy + b.zz * b.zz + 2 * (b.xy * b.xy + b.xz * b.xz + b.yz * b.yz)) / 6;
    const double spread = sqrt(square);
    const double determinant =
        b.xx * (b.yy * b.zz - b.yz * b.yz) - b.xy * (b.xy * b.zz - b.yz * b.xz) + b.xz * (b.xy * b.yz - b.yy * b.xz);
    const double half = determinant / (2 * square * spread), x = fabs(half);
    const bool is_greatest = half >= 0;
    const double lone = 2 * spread * sap_third_of_angle(x < 1 ? x : 1.0), value = is_greatest ? lone : -lone;
    const sap_place3 axis = sap_lone_axis(b, value), u = sap_across3(axis), v = sap_cross3(axis, u);
    const sap_place3 bu = sap_times3(b, u), bv = sap_times3(b, v);
    const double uu = sap_dot3(u, bu), uv = sap_dot3(u, bv), vv = sap_dot3(v, bv);
    const double middle = (uu + vv) / 2, difference = (uu - vv) / 2;
    const double radius = sqrt(difference * difference + uv * uv);
    // The axis of middle + radius, in the plane of u and v.
    const double along = difference >= 0 ? difference + radius : uv,
                 beside = difference >= 0 ? uv : radius - difference;
    const double length = sqrt(along * along + beside * beside);
    const bool is_any = !(length > 0);
    const double cosine = is_any ? 1.0 : along / length, sine = is_any ? 0.0 : beside / length;
    const sap_place3 upper = sap_blend3(cosine, u, sine, v), lower = sap_blend3(cosine, v, -sine, u);
    const double scale = is_round ? 0.0 : size;
    sap_principal p;
    p.middle = mean + scale * (is_greatest ? middle + radius : middle - radius);
    p.greatest = mean + scale * (is_greatest ? value : middle + radius);
    p.least_axis = sap_axis_turned(sap_either3(is_greatest, lower, axis));
    // Not mean + scale * (is_greatest ? middle - radius : value): of a plane along the axes this is 0.
    p.least = sap_dot3(p.least_axis, sap_times3(a, p.least_axis));
    p.greatest_axis = sap_axis_turned(sap_either3(is_greatest, axis, upper));
    return p;
}

// The variance along the middle axis that points of a line may have: their coordinates, which are about x, y, z, are known to
// `half_unit` of their size. Points that are a unit apart span a plane all the same.
SAP_FN double sap_noise_across(sap_principal p, double x, double y, double z, double half_unit) {
    const sap_place3 across = sap_cross3(p.least_axis, p.greatest_axis);
    const double a = x * across.x, b = y * across.y, c = z * across.z;
    return half_unit * half_unit * (a * a + b * b + c * c + 16 * p.greatest) + 0x1p-48 * p.greatest;
}

#endif
