// Reading under watch: a device that tells what was asked of its allocator, and parsing that checks what every parsing
// must keep. For test programs only: needs test.h.
#ifndef SAPWOOD_TESTS_FILE_READING_H
#define SAPWOOD_TESTS_FILE_READING_H

#include "allocator.h"
#include "file_samples.h"
#include "test.h"
#include <math.h>

// A device whose allocator refuses blocks beyond a limit and remembers that it was asked.
typedef struct reading {
    watch w;
    size_t limit, largest;
    sap_device* device;
} reading;

static inline void* limited_allocate(void* user, size_t bytes, size_t alignment) {
    reading* r = user;
    if (bytes > r->largest) r->largest = bytes;
    return bytes > r->limit ? NULL : watch_allocate(&r->w, bytes, alignment);
}

static inline void limited_release(void* user, void* memory, size_t bytes) {
    reading* r = user;
    watch_release(&r->w, memory, bytes);
}

static inline void begin(reading* r) {
    memset(r, 0, sizeof *r);
    r->limit = SIZE_MAX;
    sap_device_options options = watched(&r->w);
    options.allocator = (sap_allocator){limited_allocate, limited_release, r};
    CHECK_STATUS(sap_device_open(&options, &r->device), SAP_OK);
    r->largest = 0;
}

static inline void end(reading* r) {
    sap_device_close(r->device);
    CHECK_EQUAL(r->w.blocks, 0);
    CHECK_EQUAL(r->w.wrong, 0);
}

// A copy of exactly these bytes, so that a sanitizer sees every step beyond them; to be freed.
static inline void* exact_copy(const void* bytes, size_t size) {
    void* copy = malloc(size ? size : 1);
    if (!copy) abort();
    memcpy(copy, bytes, size);
    return copy;
}

static inline sap_status parse_as(reading* r, const void* bytes, size_t size, sap_format format, int32_t real_bits,
                                  sap_point_set** set) {
    void* copy = exact_copy(bytes, size);
    sap_point_set* const untouched = *set;
    r->w.log_calls = 0;
    sap_status status = sap_points_parse(r->device, copy, size, format, real_bits, set);
    if (status != SAP_OK) {
        CHECK(*set == untouched);
        CHECK_EQUAL(r->w.log_calls, 1);
        CHECK_EQUAL(r->w.logged, status);
    }
    free(copy);
    return status;
}

static inline sap_status parse(reading* r, const void* bytes, size_t size, sap_format format, sap_point_set** set) {
    return parse_as(r, bytes, size, format, 0, set);
}

static inline double value_of(const sap_point_set* set, int64_t index) {
    if (set->coords) return (double)set->coords[index];
    return set->coords_f64 ? set->coords_f64[index] : (double)NAN;
}

// Parses and compares with `count` points of `dims` coordinates.
static inline void expect(reading* r, const sample* s, sap_format format, int64_t count, int32_t dims,
                          int32_t real_bits, const double* values) {
    sap_point_set* set = NULL;
    NOTE("%s", s->name);
    if (!CHECK_STATUS(parse(r, s->bytes, s->size, format, &set), SAP_OK)) {
        printf("  %s\n", r->w.sentence);
        return;
    }
    if (!CHECK(set != NULL)) return;
    CHECK_EQUAL(set->count, count);
    CHECK_EQUAL(set->dims, dims);
    CHECK_EQUAL(set->real_bits, real_bits);
    CHECK((set->coords != NULL) == (real_bits == 32) && (set->coords_f64 != NULL) == (real_bits == 64));
    if (set->count == count && set->dims == dims)
        for (int64_t i = 0; i < count * dims; i++) CHECK(value_of(set, i) == values[i]);
    sap_point_set_free(set);
}

#endif
