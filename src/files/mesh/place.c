// Where vertices stand in files: further away than they are in memory by the origin.
#include "base/assert.h"
#include "files/mesh/mesh_write.h"
#include <math.h>

// The decimal number of the fewest places after the point that becomes the value when the origin is subtracted. All
// numbers that are divided are whole and below 2^53, so a quotient is the double nearest to its decimal number.
static double place_of(double origin, float value) {
    static const double most = 1e15;
    const double sum = origin + (double)value;
    double power = 1;
    for (int places = 0; places <= 15 && fabs(sum) * power < most; places++, power *= 10) {
        const double decimal = rint(sum * power) / power;
        if ((float)(decimal - origin) == value) return decimal;
    }
    return sum;
}

void sap_mesh_file_place(const sap_mesh_file* file, int64_t vertex, double place[3]) {
    SAP_ASSERT(file && vertex >= 0 && vertex < file->mesh.vertex_count);
    const float* at = file->mesh.vertices + 3 * vertex;
    const bool shifted = sap_has_origin(file);
    for (int a = 0; a < 3; a++) place[a] = shifted ? place_of(file->origin[a], at[a]) : (double)at[a];
}

void sap_put_place(sap_output* output, const sap_mesh_file* file, int64_t vertex, const char* between) {
    char text[SAP_TEXT_BYTES];
    double place[3];
    sap_mesh_file_place(file, vertex, place);
    for (int a = 0; a < 3; a++) {
        sap_output_text(output, a ? " " : between);
        const int length = sap_has_origin(file) ? sap_print_double(place[a], text)
                                                : sap_print_float(file->mesh.vertices[3 * vertex + a], text);
        sap_output_put(output, text, (size_t)length);
    }
}
