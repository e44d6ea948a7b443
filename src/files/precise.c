// Text whose digits a float keeps, but whose points lie so close together that it moves them beside one another.
#include "files/precise.h"
#include "device/device.h"
#include <math.h>

sap_status sap_reading_take(const sap_points_read_options* options, sap_source* source) {
    if (!options) return SAP_OK;
    source->member = options->member;
    source->unpack_limit = options->unpack_limit;
    source->with_fields = options->with_fields;
    const sap_status status = sap_unpack_limit_check(source->device, options->unpack_limit);
    if (status != SAP_OK) return status;
    const double values[] = {options->float_error, options->extent};
    for (int i = 0; i < 2; i++)
        if (!(values[i] >= 0) || isinf(values[i]))
            return sap_fail(source->device, SAP_ERROR_ARGUMENT, "options.%s: is %g; it must be finite, and at least 0",
                            i ? "extent" : "float_error", values[i]);
    source->float_error = options->float_error;
    source->extent = options->extent;
    return SAP_OK;
}

// The largest side of the bounds of the finite coordinates; the largest magnitude of any.
static double side_of(const sap_point_set* set, double* magnitude) {
    float lower[SAP_MAX_DIMS], upper[SAP_MAX_DIMS];
    double side = 0;
    *magnitude = 0;
    for (int32_t axis = 0; axis < set->dims; axis++) {
        lower[axis] = INFINITY;
        upper[axis] = -INFINITY;
    }
    for (int64_t i = 0; i < set->count; i++)
        for (int32_t axis = 0; axis < set->dims; axis++) {
            const float value = set->coords[i * set->dims + axis];
            if (!isfinite(value)) continue;
            lower[axis] = fminf(lower[axis], value);
            upper[axis] = fmaxf(upper[axis], value);
        }
    for (int32_t axis = 0; axis < set->dims; axis++) {
        if (lower[axis] > upper[axis]) continue;
        side = fmax(side, (double)upper[axis] - (double)lower[axis]);
        *magnitude = fmax(*magnitude, (double)fmaxf(-lower[axis], upper[axis]));
    }
    return side;
}

static bool moved_beyond(const sap_point_set* narrow, const sap_point_set* wide, double most) {
    for (int64_t i = 0; i < narrow->count * narrow->dims; i++)
        if (fabs(wide->coords_f64[i] - (double)narrow->coords[i]) > most) return true;
    return false;
}

sap_status sap_precise_set(const sap_source* source, sap_reader read, sap_point_set** set) {
    const int float_bits = 24;
    double magnitude, side = side_of(*set, &magnitude), most = source->float_error * side;
    if (source->extent > 0) most = source->float_error * source->extent;
    int exponent;
    frexp(magnitude, &exponent);
    if (ldexp(0.5, exponent - float_bits) <= most) return SAP_OK; // no rounding moves anything as far
    sap_source again = *source;
    again.real_bits = 64;
    again.again = true;
    sap_point_set* wide = NULL;
    sap_status status = read(&again, &wide);
    if (status != SAP_OK) return status;
    bool keep = !moved_beyond(*set, wide, most);
    sap_point_set_free(keep ? wide : *set);
    if (!keep) *set = wide;
    return SAP_OK;
}
