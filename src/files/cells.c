#include "files/cells.h"
#include "base/assert.h"
#include <math.h>
#include <string.h>

enum { BLOCK = 512 }; // numbers converted at a time, to stay in the nearest cache

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
static const bool host_big_endian = true;
#else
static const bool host_big_endian = false;
#endif

static uint16_t load_16(const unsigned char* at, bool swap) {
    uint16_t bits;
    memcpy(&bits, at, sizeof bits);
    return swap ? __builtin_bswap16(bits) : bits;
}

static uint32_t load_32(const unsigned char* at, bool swap) {
    uint32_t bits;
    memcpy(&bits, at, sizeof bits);
    return swap ? __builtin_bswap32(bits) : bits;
}

static uint64_t load_64(const unsigned char* at, bool swap) {
    uint64_t bits;
    memcpy(&bits, at, sizeof bits);
    return swap ? __builtin_bswap64(bits) : bits;
}

static double double_of_half(uint16_t bits) {
    int exponent = bits >> 10 & 31, mantissa = bits & 1023;
    double value = exponent == 31  ? (mantissa ? (double)NAN : (double)INFINITY)
                   : exponent == 0 ? ldexp(mantissa, -24)
                                   : ldexp(mantissa + 1024, exponent - 25);
    return bits >> 15 ? -value : value;
}

static double double_of_single(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

static double double_of_double(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

#define EACH(expression)                                                                                               \
    for (int64_t i = 0; i < count; i++) {                                                                              \
        const unsigned char* at = first + (size_t)i * stride;                                                          \
        out[i] = expression;                                                                                           \
    }                                                                                                                  \
    break

// Chooses by the type once for many numbers, BLOCK at most.
static void load(const unsigned char* first, size_t stride, sap_cell cell, int64_t count, double* out) {
    bool swap = cell.big_endian != host_big_endian;
    SAP_ASSERT(count <= BLOCK && (cell.kind == 'i' || cell.kind == 'u' || cell.kind == 'f'));
    switch (cell.kind * 16 + cell.bytes) {
    case 'i' * 16 + 1: EACH((int8_t)*at);
    case 'i' * 16 + 2: EACH((int16_t)load_16(at, swap));
    case 'i' * 16 + 4: EACH((int32_t)load_32(at, swap));
    case 'i' * 16 + 8: EACH((double)(int64_t)load_64(at, swap));
    case 'u' * 16 + 1: EACH(*at);
    case 'u' * 16 + 2: EACH(load_16(at, swap));
    case 'u' * 16 + 4: EACH(load_32(at, swap));
    case 'u' * 16 + 8: EACH((double)load_64(at, swap));
    case 'f' * 16 + 2: EACH(double_of_half(load_16(at, swap)));
    case 'f' * 16 + 4: EACH(double_of_single(load_32(at, swap)));
    default: EACH(double_of_double(load_64(at, swap)));
    }
}

double sap_cell_double(const unsigned char* at, sap_cell cell) {
    double value;
    load(at, 0, cell, 1, &value);
    return value;
}

// The bits decide, since a 64-bit integer may be rounded on its way into a double.
static bool integers_fit_float(const sap_column* column, int64_t count) {
    const int float_bits = 24;
    SAP_ASSERT(column->cell.bytes == 4 || column->cell.bytes == 8);
    bool swap = column->cell.big_endian != host_big_endian, with_sign = column->cell.kind == 'i';
    for (int64_t i = 0; i < count; i++) {
        const unsigned char* at = column->first + (size_t)i * column->stride;
        uint64_t bits;
        if (column->cell.bytes == 8)
            bits = load_64(at, swap);
        else
            bits = with_sign ? (uint64_t)(int32_t)load_32(at, swap) : load_32(at, swap);
        if (with_sign && bits >> 63) bits = 0 - bits;
        if (bits && bits >> __builtin_ctzll(bits) >> float_bits) return false;
    }
    return true;
}

bool sap_column_fits_float(const sap_column* column, int64_t count) {
    if (column->cell.kind == 'f') return column->cell.bytes <= 4;
    return column->cell.bytes <= 2 || integers_fit_float(column, count);
}

sap_status sap_columns_check(const sap_source* source, const sap_column* columns, int32_t dims, int64_t count) {
    for (int32_t axis = 0; axis < dims && source->real_bits == 32; axis++) {
        const sap_column* c = &columns[axis];
        if (c->cell.kind != 'f' || c->cell.bytes < 8) continue; // the others are all within the range
        for (int64_t row = 0; row < count; row++) {
            const unsigned char* at = c->first + (size_t)row * c->stride;
            double value = sap_cell_double(at, c->cell);
            if (!isfinite(value) || isfinite((float)value)) continue;
            return sap_bad_byte(source, SAP_ERROR_RANGE, at - source->bytes,
                                "%g is beyond the range of a float; points can be read as double", value);
        }
    }
    return SAP_OK;
}

// Whether the columns hold the points' bytes in their order.
static bool is_plain(const sap_column* columns, int32_t dims, const sap_sink* sink) {
    size_t bytes = sink->coords ? sizeof(float) : sizeof(double);
    for (int32_t axis = 0; axis < dims; axis++) {
        const sap_column* c = &columns[axis];
        if (c->cell.kind != 'f' || c->cell.bytes != bytes || c->cell.big_endian != host_big_endian ||
            c->stride != bytes * (size_t)dims || c->first != columns[0].first + bytes * (size_t)axis)
            return false;
    }
    return true;
}

void sap_columns_store(const sap_column* columns, int32_t dims, int64_t count, const sap_sink* sink) {
    SAP_ASSERT(dims > 0 && (sink->coords || sink->coords_f64));
    if (count == 0) return;
    if (is_plain(columns, dims, sink)) {
        void* coords = sink->coords ? (void*)sink->coords : (void*)sink->coords_f64;
        memcpy(coords, columns[0].first, (size_t)count * columns[0].stride);
        return;
    }
    double block[BLOCK];
    for (int64_t row = 0; row < count; row += BLOCK) {
        int64_t rows = count - row < BLOCK ? count - row : BLOCK;
        for (int32_t axis = 0; axis < dims; axis++) {
            const sap_column* c = &columns[axis];
            load(c->first + (size_t)row * c->stride, c->stride, c->cell, rows, block);
            int64_t start = row * dims + axis;
            for (int64_t i = 0; i < rows; i++) {
                if (sink->coords)
                    sink->coords[start + i * dims] = (float)block[i];
                else
                    sink->coords_f64[start + i * dims] = block[i];
            }
        }
    }
}
