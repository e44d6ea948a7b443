// LAS files, made by hand: any point format of any version, with records and extra bytes. For test programs only.
#ifndef SAPWOOD_TESTS_LAS_SAMPLES_H
#define SAPWOOD_TESTS_LAS_SAMPLES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { LAS_BYTES = 4096, LAS_POINTS = 3 };

typedef struct las_sample {
    int format, minor;
    bool extras; // a scaled number of 16 bits, and a float, described in a record between two others
    unsigned char bytes[LAS_BYTES];
    size_t size;
} las_sample;

static inline void las_put(las_sample* s, uint64_t value, int bytes) {
    for (int i = 0; i < bytes; i++) s->bytes[s->size++] = (unsigned char)(value >> 8 * i);
}

// A number that is not negative, of `bytes` bytes.
static inline void las_put_int(las_sample* s, int value, int bytes) { las_put(s, (uint64_t)(unsigned)value, bytes); }

static inline void las_put_double(las_sample* s, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    las_put(s, bits, 8);
}

static inline void las_put_float(las_sample* s, float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    las_put(s, bits, 4);
}

static inline void las_put_text(las_sample* s, const char* text, size_t room) {
    memcpy(s->bytes + s->size, text, strlen(text));
    s->size += room;
}

static const double las_scales[3] = {0.01, 0.01, 0.001}, las_offsets[3] = {1000, -2000, 0.5};

static inline int32_t las_step(int point, int axis) {
    return axis == 0 ? 100 * point : axis == 1 ? 200 - 7 * point : 50000 + point;
}

static inline double las_place(int point, int axis) {
    return las_step(point, axis) * las_scales[axis] + las_offsets[axis];
}

static inline bool las_has_time(int format) { return format == 1 || format >= 3; }
static inline bool las_has_colors(int format) {
    return format == 2 || format == 3 || format == 5 || format == 7 || format == 8 || format == 10;
}
static inline bool las_has_wave(int format) { return format == 4 || format == 5 || format == 9 || format == 10; }

// Point i is the (i%2+1)th return of two.
static inline void las_put_point(las_sample* s, int i) {
    const bool late = s->format >= 6;
    for (int a = 0; a < 3; a++) las_put(s, (uint32_t)las_step(i, a), 4);
    las_put_int(s, 1000 + i, 2);
    las_put_int(s, late ? (1 + i % 2) | 2 << 4 : (1 + i % 2) | 2 << 3 | (i & 1) << 6, 1);
    if (late) las_put_int(s, 0xb | 2 << 4 | 1 << 7, 1); // flags but withheld, channel 2, an edge
    las_put_int(s, late ? 40 + i : 5 | 1 << 6, 1);
    if (!late) las_put(s, (uint8_t)(-12 + i), 1);
    las_put_int(s, 7 + i, 1);
    if (late) las_put(s, (uint16_t)(-1200 + i), 2);
    las_put_int(s, 300 + i, 2);
    if (las_has_time(s->format)) las_put_double(s, 1e8 + i / 3.0);
    if (las_has_colors(s->format)) las_put(s, (uint64_t)(65535 - i) | (uint64_t)(300 * i) << 16 | (uint64_t)7 << 32, 6);
    if (s->format == 8 || s->format == 10) las_put(s, 999, 2);
    if (las_has_wave(s->format)) {
        las_put(s, 1, 1);
        las_put(s, ((uint64_t)1 << 40) + (uint64_t)i, 8);
        las_put(s, 256, 4);
        for (int f = 0; f < 4; f++) las_put_float(s, 1.5f + (float)f);
    }
    if (s->extras) {
        las_put(s, (uint16_t)(-100 + i), 2);
        las_put_float(s, (float)i / 7);
    }
}

static inline void las_put_record(las_sample* s, const char* user, int id, size_t bytes, const char* description) {
    las_put(s, 0, 2);
    las_put_text(s, user, 16);
    las_put(s, (uint64_t)id, 2);
    las_put(s, bytes, 2);
    las_put_text(s, description, 32);
}

// `scale` 0: none.
static inline void las_put_extra(las_sample* s, const char* name, int type, double scale, double offset) {
    las_put(s, 0, 2);
    las_put(s, (uint64_t)type, 1);
    las_put(s, scale != 0 ? 8 | 16 : 0, 1);
    las_put_text(s, name, 32);
    s->size += 4 + 3 * 24;
    las_put_double(s, scale);
    s->size += 16;
    las_put_double(s, offset);
    s->size += 16;
    las_put_text(s, "a thing", 32);
}

// The sample of a format and version; with extras, also a record behind the points of LAS 1.4.
static inline void las_make(las_sample* s, int format, int minor, bool extras) {
    static const int header_sizes[] = {227, 227, 227, 235, 375};
    static const int record_sizes[] = {20, 28, 26, 34, 57, 63, 30, 36, 38, 59, 67};
    const bool narrow = format < 6, late = minor >= 4 && extras;
    const uint64_t returns[3] = {2, 1, 0};
    const int header = header_sizes[minor], record = record_sizes[format] + (extras ? 6 : 0);
    const int records = extras ? 54 + 11 + 54 + 2 * 192 + 54 + 3 + 2 : 0;
    memset(s, 0, sizeof *s);
    s->format = format;
    s->minor = minor;
    s->extras = extras;
    las_put_text(s, "LASF", 4);
    las_put(s, 17, 2);
    las_put(s, narrow ? 0 : 16, 2);
    for (int i = 0; i < 16; i++) las_put(s, (uint64_t)i, 1);
    las_put(s, 1, 1);
    las_put(s, (uint64_t)minor, 1);
    las_put_text(s, "SYS", 32);
    las_put_text(s, "BY HAND", 32);
    las_put(s, 12, 2);
    las_put(s, 2020, 2);
    las_put(s, (uint64_t)header, 2);
    las_put_int(s, header + records, 4);
    las_put(s, extras ? 3 : 0, 4);
    las_put(s, (uint64_t)format, 1);
    las_put(s, (uint64_t)record, 2);
    las_put(s, narrow ? LAS_POINTS : 0, 4);
    for (int i = 0; i < 5; i++) las_put(s, narrow && i < 3 ? returns[i] : 0, 4);
    for (int a = 0; a < 3; a++) las_put_double(s, las_scales[a]);
    for (int a = 0; a < 3; a++) las_put_double(s, las_offsets[a]);
    for (int a = 0; a < 3; a++) {
        las_put_double(s, las_place(a == 1 ? 0 : LAS_POINTS - 1, a));
        las_put_double(s, las_place(a == 1 ? LAS_POINTS - 1 : 0, a));
    }
    if (minor >= 3) las_put(s, 0, 8);
    if (minor >= 4) {
        las_put(s, late ? (uint64_t)(header + records + LAS_POINTS * record) : 0, 8);
        las_put(s, late, 4);
        las_put(s, LAS_POINTS, 8);
        for (int i = 0; i < 15; i++) las_put(s, i < 3 ? returns[i] : 0, 8);
    }
    if (extras) {
        las_put_record(s, "LASF_Projection", 2112, 11, "");
        las_put_text(s, "PROJCS[...]", 11);
        las_put_record(s, "LASF_Spec", 4, 2 * 192, "Extra");
        las_put_extra(s, "height_cm", 4, 0.01, 5);
        las_put_extra(s, "amplitude", 9, 0, 0);
        las_put_record(s, "somebody", 1, 3, "");
        las_put_text(s, "abc", 3);
        las_put(s, 0xccdd, 2); // what LAS 1.0 has ahead of the points
    }
    for (int i = 0; i < LAS_POINTS; i++) las_put_point(s, i);
    if (late) {
        las_put(s, 0, 2);
        las_put_text(s, "late", 16);
        las_put(s, 9, 2);
        las_put(s, 4, 8);
        las_put_text(s, "", 32);
        las_put_text(s, "LATE", 4);
    }
}

// Which versions have which formats.
static inline bool las_exists(int format, int minor) {
    return format <= 1 || (format <= 3 && minor >= 2) || (format <= 5 && minor >= 3) || minor >= 4;
}

#endif
