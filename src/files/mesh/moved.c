// Vertices that floats cannot hold where they are: far from 0, and close together.
#include "base/assert.h"
#include "device/device.h"
#include "files/mesh/mesh_draft.h"
#include <math.h>

static const double float_error = 0x1p-20; // what may be lost, as a part of the bounds' largest side

// The largest side of the bounds of the finite coordinates; their middle, and the largest magnitude of any.
static double side_of(const sap_mesh_draft* draft, double middle[3], double* magnitude) {
    const float* vertices = draft->vertices.memory;
    double side = 0;
    *magnitude = 0;
    for (int a = 0; a < 3; a++) {
        float lower = INFINITY, upper = -INFINITY;
        for (int64_t i = 0; i < draft->vertex_count; i++) {
            const float value = vertices[3 * i + a];
            if (!isfinite(value)) continue;
            lower = value < lower ? value : lower;
            upper = value > upper ? value : upper;
        }
        bool any = lower <= upper;
        middle[a] = any ? 0.5 * ((double)lower + (double)upper) : 0;
        if (!any) continue;
        side = fmax(side, (double)upper - (double)lower);
        *magnitude = fmax(*magnitude, fmax(-(double)lower, (double)upper));
    }
    return side;
}

bool sap_draft_may_be_moved(const sap_mesh_draft* draft) {
    const int float_bits = 24;
    double middle[3], magnitude, side = side_of(draft, middle, &magnitude);
    int exponent;
    frexp(magnitude, &exponent);
    return ldexp(0.5, exponent - float_bits) > float_error * side;
}

bool sap_draft_place_number(sap_mesh_draft* draft, int axis, double number, float* value) {
    const double relative = number - draft->origin[axis];
    *value = (float)relative;
    if (draft->measures && isfinite(*value)) draft->moved = fmax(draft->moved, fabs(relative - (double)*value));
    return isfinite(*value) || !isfinite(number);
}

bool sap_draft_place(sap_mesh_draft* draft, int axis, const char* at, const char* end, float* value) {
    sap_decimal decimal;
    SAP_ASSERT(axis >= 0 && axis < 3);
    if (!draft->shifted && !draft->measures) return !sap_float_beyond(at, end, *value);
    if (!sap_decimal_scan(at, end, &decimal) || decimal.kind != SAP_DECIMAL_NUMBER) return true;
    const double number = sap_decimal_double(&decimal);
    return isfinite(number) && sap_draft_place_number(draft, axis, number, value);
}

sap_status sap_draft_origin_take(const sap_mesh_read_options* options, sap_mesh_draft* draft) {
    for (int a = 0; options && a < 3; a++) {
        if (!isfinite(options->origin[a]))
            return sap_fail(draft->source->device, SAP_ERROR_ARGUMENT, "options.origin[%d]: is not finite", a);
        draft->origin[a] = options->origin[a];
        draft->shifted |= options->origin[a] != 0;
    }
    if (!options || !options->find_origin || !draft->shifted) return SAP_OK;
    return sap_fail(draft->source->device, SAP_ERROR_ARGUMENT, "options.origin: is given, and is to be found, too");
}

bool sap_draft_is_moved(const sap_mesh_draft* draft, double moved) {
    double middle[3], magnitude;
    return moved > float_error * side_of(draft, middle, &magnitude);
}

void sap_draft_origin_choose(const sap_mesh_draft* draft, double origin[3]) {
    double middle[3], magnitude, side = side_of(draft, middle, &magnitude);
    // What is left is a few times as large as the bounds.
    double step = side > 0 ? pow(10, ceil(log10(side))) : 1;
    for (int a = 0; a < 3; a++) origin[a] = round((draft->origin[a] + middle[a]) / step) * step + 0.0; // and no -0
}

void sap_draft_tell_moved(const sap_mesh_draft* draft, double moved) {
    double origin[3];
    sap_draft_origin_choose(draft, origin);
    (void)sap_bad_byte(draft->source, SAP_OK, -1,
                       "vertices are floats, which moves coordinates by up to %.2g; read it with the origin %.15g, "
                       "%.15g, %.15g, to keep them",
                       moved, origin[0], origin[1], origin[2]);
}
