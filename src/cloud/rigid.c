#include "cloud/rigid.h"
#include <math.h>
#include <string.h>

#define WEAK 1e-9 // of the greatest eigenvalue: nothing but rounding

enum { SWEEPS = 16 }; // of Jacobi's method, which converges with the square: six are enough

void sap_turn_vector(const double turn[9], const double v[3], double out[3]) {
    for (int r = 0; r < 3; r++) out[r] = turn[3 * r] * v[0] + turn[3 * r + 1] * v[1] + turn[3 * r + 2] * v[2];
}

void sap_turn_further(double turn[9], const double by[9]) {
    double product[9];
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++)
            product[3 * r + c] = by[3 * r] * turn[c] + by[3 * r + 1] * turn[3 + c] + by[3 * r + 2] * turn[6 + c];
    memcpy(turn, product, sizeof product);
}

void sap_turn_of_quaternion(const double q[4], double turn[9]) {
    const double s = 2 / (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    const double x = q[1] * s, y = q[2] * s, z = q[3] * s;
    const double wx = q[0] * x, wy = q[0] * y, wz = q[0] * z, xx = q[1] * x, xy = q[1] * y, xz = q[1] * z,
                 yy = q[2] * y, yz = q[2] * z, zz = q[3] * z;
    const double rows[9] = {1 - (yy + zz), xy - wz, xz + wy, xy + wz,      1 - (xx + zz),
                            yz - wx,       xz - wy, yz + wx, 1 - (xx + yy)};
    memcpy(turn, rows, sizeof rows);
}

void sap_turn_of_vector(const double v[3], double turn[9]) {
    const double q[4] = {2, v[0], v[1], v[2]};
    sap_turn_of_quaternion(q, turn);
}

// Rows and columns i and j, by the turn in their plane that makes their common entry 0.
static void turn_away(int n, double* m, double* axes, int i, int j) {
    const double off = m[i * n + j];
    if (off == 0) return;
    const double theta = (m[j * n + j] - m[i * n + i]) / (2 * off);
    const double t = isfinite(theta) ? (theta >= 0 ? 1 : -1) / (fabs(theta) + sqrt(theta * theta + 1)) : 0;
    const double c = 1 / sqrt(t * t + 1), s = t * c;
    for (int k = 0; k < n; k++) {
        const double a = m[k * n + i], b = m[k * n + j];
        m[k * n + i] = c * a - s * b;
        m[k * n + j] = s * a + c * b;
    }
    for (int k = 0; k < n; k++) {
        const double a = m[i * n + k], b = m[j * n + k];
        m[i * n + k] = c * a - s * b;
        m[j * n + k] = s * a + c * b;
    }
    for (int k = 0; k < n; k++) {
        const double a = axes[i * n + k], b = axes[j * n + k];
        axes[i * n + k] = c * a - s * b;
        axes[j * n + k] = s * a + c * b;
    }
    m[i * n + j] = m[j * n + i] = 0;
}

void sap_symmetric_axes(int n, double* matrix, double* values, double* axes) {
    for (int i = 0; i < n * n; i++) axes[i] = i % (n + 1) == 0;
    for (int sweep = 0; sweep < SWEEPS; sweep++)
        for (int i = 0; i < n; i++)
            for (int j = i + 1; j < n; j++) turn_away(n, matrix, axes, i, j);
    for (int i = 0; i < n; i++) values[i] = matrix[i * (n + 1)];
    for (int i = 0; i < n; i++) {
        int least = i;
        for (int j = i + 1; j < n; j++)
            if (values[j] < values[least]) least = j;
        for (int k = 0; least != i && k < n; k++) {
            const double other = axes[i * n + k];
            axes[i * n + k] = axes[least * n + k];
            axes[least * n + k] = other;
        }
        const double value = values[i];
        values[i] = values[least];
        values[least] = value;
    }
}

void sap_turn_of_products(const double p[9], double turn[9]) {
    double size = 0, values[4], axes[16], q[4] = {0, 0, 0, 0};
    for (int i = 0; i < 9; i++) size = fabs(p[i]) > size ? fabs(p[i]) : size;
    if (!(size > 0)) size = 1;
    double s[9];
    for (int i = 0; i < 9; i++) s[i] = p[i] / size;
    double m[16] = {s[0] + s[4] + s[8], s[5] - s[7],        s[6] - s[2],        s[1] - s[3],
                    s[5] - s[7],        s[0] - s[4] - s[8], s[1] + s[3],        s[6] + s[2],
                    s[6] - s[2],        s[1] + s[3],        s[4] - s[0] - s[8], s[5] + s[7],
                    s[1] - s[3],        s[6] + s[2],        s[5] + s[7],        s[8] - s[0] - s[4]};
    sap_symmetric_axes(4, m, values, axes);
    // Where several are as good, such as all turns about a line, the one nearest to no turn at all.
    const double near = values[3] - WEAK * (values[3] - values[0]);
    for (int i = 0; i < 4; i++)
        for (int k = 0; values[i] >= near && k < 4; k++) q[k] += axes[4 * i] * axes[4 * i + k];
    if (!(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3] > 1e-18)) memcpy(q, axes + 12, sizeof q);
    sap_turn_of_quaternion(q, turn);
}

bool sap_turn_repaired(const double m[9], double tolerance, double turn[9]) {
    const double transposed[9] = {m[0], m[3], m[6], m[1], m[4], m[7], m[2], m[5], m[8]};
    for (int i = 0; i < 9; i++)
        if (!(fabs(m[i]) <= 2)) return false;
    sap_turn_of_products(transposed, turn);
    for (int i = 0; i < 9; i++)
        if (!(fabs(turn[i] - m[i]) <= tolerance)) return false;
    return true;
}

int sap_solve_least(const double matrix[36], const double right[6], double x[6], double values[6], double axes[36]) {
    double m[36];
    int weak = 0;
    memcpy(m, matrix, sizeof m);
    sap_symmetric_axes(6, m, values, axes);
    for (int k = 0; k < 6; k++) x[k] = 0;
    for (int i = 0; i < 6; i++) {
        double along = 0;
        if (!(values[i] > WEAK * values[5])) {
            weak++;
            continue;
        }
        for (int k = 0; k < 6; k++) along += axes[6 * i + k] * right[k];
        for (int k = 0; k < 6; k++) x[k] += axes[6 * i + k] * (along / values[i]);
    }
    return weak;
}
