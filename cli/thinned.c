// What the cells of a grid have beside their points.
#include "cloud.h"
#include "shades.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double sap_cli_field_number(const sap_field* field, int64_t row) {
    switch (field->type) {
    case SAP_FIELD_U8: return ((const uint8_t*)field->values)[row];
    case SAP_FIELD_I8: return ((const int8_t*)field->values)[row];
    case SAP_FIELD_U16: return ((const uint16_t*)field->values)[row];
    case SAP_FIELD_I16: return ((const int16_t*)field->values)[row];
    case SAP_FIELD_U32: return ((const uint32_t*)field->values)[row];
    case SAP_FIELD_I32: return ((const int32_t*)field->values)[row];
    case SAP_FIELD_U64: return (double)((const uint64_t*)field->values)[row];
    case SAP_FIELD_I64: return (double)((const int64_t*)field->values)[row];
    case SAP_FIELD_F32: return (double)((const float*)field->values)[row];
    default: return ((const double*)field->values)[row];
    }
}

static bool is_real(sap_field_type type) { return type == SAP_FIELD_F32 || type == SAP_FIELD_F64; }

// Whether a mean makes sense: not of classes, flags and numbers of returns.
static bool has_mean(const sap_field* field) {
    static const char* const names[] = {"red", "green", "blue", "alpha", "nir", "intensity"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(field->name, names[i])) return field->type <= SAP_FIELD_I32 || is_real(field->type);
    return is_real(field->type);
}

static void put_number(sap_field_type type, void* values, int64_t row, double value) {
    const double whole = nearbyint(value);
    switch (type) {
    case SAP_FIELD_U8: ((uint8_t*)values)[row] = (uint8_t)whole; break;
    case SAP_FIELD_I8: ((int8_t*)values)[row] = (int8_t)whole; break;
    case SAP_FIELD_U16: ((uint16_t*)values)[row] = (uint16_t)whole; break;
    case SAP_FIELD_I16: ((int16_t*)values)[row] = (int16_t)whole; break;
    case SAP_FIELD_U32: ((uint32_t*)values)[row] = (uint32_t)whole; break;
    case SAP_FIELD_I32: ((int32_t*)values)[row] = (int32_t)whole; break;
    case SAP_FIELD_F32: ((float*)values)[row] = (float)value; break;
    default: ((double*)values)[row] = value;
    }
}

// first + (sum of value - first) / count, as the coordinates are, in the order of the points.
static void take_means(const sap_cli_points* points, const sap_thinned* t, const sap_field* from, double* sums,
                       void* values) {
    for (int64_t cell = 0; cell < t->count; cell++) sums[cell] = 0;
    for (int64_t i = 0; i < points->count; i++) {
        const int32_t cell = t->cell_of[i];
        if (cell >= 0) sums[cell] += sap_cli_field_number(from, i) - sap_cli_field_number(from, t->ids[cell]);
    }
    for (int64_t cell = 0; cell < t->count; cell++)
        put_number(from->type, values, cell, sap_cli_field_number(from, t->ids[cell]) + sums[cell] / t->counts[cell]);
}

static float* floats_named(sap_field* fields, int32_t count, const char* name) {
    for (int32_t f = 0; f < count; f++)
        if (!strcmp(fields[f].name, name) && fields[f].type == SAP_FIELD_F32)
            return (float*)(uintptr_t)fields[f].values;
    return NULL;
}

// Means of normals get length 1 again, or stay 0.
static void make_unit(sap_field* fields, int32_t field_count, int64_t count) {
    float* axes[3] = {floats_named(fields, field_count, "nx"), floats_named(fields, field_count, "ny"),
                      floats_named(fields, field_count, "nz")};
    for (int64_t i = 0; axes[0] && axes[1] && axes[2] && i < count; i++) {
        double length = 0;
        for (int a = 0; a < 3; a++) length += (double)axes[a][i] * (double)axes[a][i];
        for (int a = 0; a < 3 && length > 0; a++) axes[a][i] = (float)((double)axes[a][i] / sqrt(length));
    }
}

sap_field* sap_cli_thinned_fields(sap_cli* cli, const sap_cli_points* points, const sap_thinned* thinned, bool means) {
    const int32_t count = points->field_count;
    size_t row = sizeof(double);
    for (int32_t f = 0; f < count; f++) row += sap_cli_field_bytes(points->fields[f].type);
    const size_t table = ((size_t)count * sizeof(sap_field) + 15) / 16 * 16;
    // Each field begins at a multiple of 16 bytes.
    unsigned char* memory = sap_cli_allocate(cli, thinned->count + (int64_t)table + 16 * ((int64_t)count + 1), row);
    if (!memory) return NULL;
    sap_field* fields = (sap_field*)(void*)memory;
    double* sums = (double*)(void*)(memory + table);
    unsigned char* at = (unsigned char*)(sums + thinned->count + (thinned->count & 1));
    for (int32_t f = 0; f < count; f++) {
        const sap_field* from = &points->fields[f];
        const size_t bytes = sap_cli_field_bytes(from->type);
        fields[f] = (sap_field){from->name, from->type, at};
        if (means && has_mean(from))
            take_means(points, thinned, from, sums, at);
        else
            for (int64_t cell = 0; cell < thinned->count; cell++)
                memcpy(at + (size_t)cell * bytes,
                       (const unsigned char*)from->values + (size_t)thinned->ids[cell] * bytes, bytes);
        at += ((size_t)thinned->count * bytes + 15) / 16 * 16;
    }
    if (means) make_unit(fields, count, thinned->count);
    return fields;
}
