// Rigid motions in three dimensions, and the small systems of equations that they come from. Only operations that every
// machine rounds alike: no sines.
#ifndef SAPWOOD_CLOUD_RIGID_H
#define SAPWOOD_CLOUD_RIGID_H

#include <stdbool.h>
#include <stdint.h>

// Takes a point p, given from the middle of what moves, to turn * p + middle.
typedef struct sap_pose {
    double turn[9]; // row by row
    double middle[3];
} sap_pose;

void sap_turn_vector(const double turn[9], const double v[3], double out[3]);
// turn = by * turn
void sap_turn_further(double turn[9], const double by[9]);
// The turn of a quaternion w, x, y, z, of any length but 0.
void sap_turn_of_quaternion(const double q[4], double turn[9]);
// A turn by about the vector's length about it: exact to the second order, and a turn whatever the length.
void sap_turn_of_vector(const double v[3], double turn[9]);
// The turn nearest to a matrix that is one but for rounding; false if its entries differ by more than `tolerance` from
// that of a turn, or it is a mirror.
bool sap_turn_repaired(const double matrix[9], double tolerance, double turn[9]);

// The turn Q that makes the trace of Q * products largest, products being the sum of u v^T row by row: that for which
// Q u is nearest to v. Of several, the smallest.
void sap_turn_of_products(const double products[9], double turn[9]);

// Eigenvalues, ascending, and the axes row by row, of a symmetric matrix of order n <= 6; matrix is destroyed.
void sap_symmetric_axes(int n, double* matrix, double* values, double* axes);

// The least squares solution of matrix * x = right of order 6 that moves only in directions whose eigenvalues are above
// 1e-9 of the greatest. Eigenvalues and axes as above. Returns how many directions are left out.
int sap_solve_least(const double matrix[36], const double right[6], double x[6], double values[6], double axes[36]);

#endif
