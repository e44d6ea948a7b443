// Small point files of every kind, made in memory.
#ifndef SAPWOOD_TESTS_FILE_SAMPLES_H
#define SAPWOOD_TESTS_FILE_SAMPLES_H

#include "sapwood/files.h"
#include <stdio.h>
#include <string.h>

// The bytes of a file.
typedef struct sample {
    const char* name;
    sap_format format;
    unsigned char bytes[1024];
    size_t size;
} sample;

static inline void put_text(sample* s, const char* text) {
    memcpy(s->bytes + s->size, text, strlen(text));
    s->size += strlen(text);
}

// The low bytes of an integer in either order.
static inline void put_int(sample* s, uint64_t value, int bytes, bool big) {
    for (int i = 0; i < bytes; i++) s->bytes[s->size++] = (unsigned char)(value >> 8 * (big ? bytes - 1 - i : i));
}

static inline void put_float(sample* s, float value, bool big) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    put_int(s, bits, 4, big);
}

static inline void put_double(sample* s, double value, bool big) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    put_int(s, bits, 8, big);
}

static inline sample text_sample(const char* name, sap_format format, const char* text) {
    sample s = {.name = name, .format = format};
    put_text(&s, text);
    return s;
}

static inline sample npy_sample(const char* name, int version, const char* dictionary) {
    sample s = {.name = name, .format = SAP_FORMAT_NPY};
    put_text(&s, "\x93NUMPY");
    put_int(&s, (uint64_t)version, 1, false);
    put_int(&s, 0, 1, false);
    put_int(&s, strlen(dictionary), version == 1 ? 2 : 4, false);
    put_text(&s, dictionary);
    return s;
}

// Two points, (1, -2, 3.5) and (4, 5, 6), after an element with a list, before faces; vertices hold a list too.
static inline sample ply_sample(const char* name, bool big) {
    sample s = text_sample(name, SAP_FORMAT_PLY, "ply\nformat binary_");
    put_text(&s, big ? "big" : "little");
    put_text(&s, "_endian 1.0\nelement tag 1\nproperty list uchar short words\nelement vertex 2\nproperty double y\n"
                 "property uchar red\nproperty list int8 uint16 links\nproperty int32 z2\nproperty float x\n"
                 "property float32 z\nelement face 1\nproperty list uint8 int vertex_indices\nend_header\n");
    put_int(&s, 2, 1, big);
    put_int(&s, 77, 2, big);
    put_int(&s, 78, 2, big);
    for (int i = 0; i < 2; i++) {
        put_double(&s, i ? 5 : -2, big);
        put_int(&s, 255, 1, big);
        put_int(&s, i ? 0 : 3, 1, big);
        for (int j = 0; j < 3 && !i; j++) put_int(&s, 9, 2, big);
        put_int(&s, 1000000, 4, big);
        put_float(&s, i ? 4.0f : 1.0f, big);
        put_float(&s, i ? 6.0f : 3.5f, big);
    }
    put_int(&s, 3, 1, big);
    for (int i = 0; i < 3; i++) put_int(&s, 0, 4, big);
    return s;
}

static inline sample pcd_sample(const char* name) {
    sample s = text_sample(name, SAP_FORMAT_PCD,
                           "# .PCD v.7\nVERSION .7\nFIELDS i z x _ y\nSIZE 2 4 4 1 4\nTYPE U F F U F\nCOUNT 1 1 1 3 1\n"
                           "WIDTH 2\nHEIGHT 1\nVIEWPOINT 0 0 0 1 0 0 0\nPOINTS 2\nDATA binary\n");
    for (int i = 0; i < 2; i++) {
        put_int(&s, 7, 2, false);
        put_float(&s, i ? 6.0f : 3.5f, false);
        put_float(&s, i ? 4.0f : 1.0f, false);
        put_int(&s, 0, 3, false);
        put_float(&s, i ? 5.0f : -2.0f, false);
    }
    return s;
}

// The same points with LZF: plain bytes, and a reference into itself of both lengths for the field of 9 zeros each.
static inline sample pcd_compressed_sample(const char* name) {
    sample s = text_sample(name, SAP_FORMAT_PCD,
                           "VERSION .7\nFIELDS z x _ y\nSIZE 4 4 1 4\nTYPE F F U F\nCOUNT 1 1 9 1\n"
                           "WIDTH 2\nHEIGHT 1\nPOINTS 2\nDATA binary_compressed\n");
    put_int(&s, 17 + 2 + 3 + 2 + 9, 4, false);
    put_int(&s, 42, 4, false);
    put_int(&s, 15, 1, false);
    for (int i = 0; i < 4; i++) put_float(&s, (float[]){3.5f, 6, 1, 4}[i], false);
    put_int(&s, 0, 2, false);      // one zero
    put_int(&s, 0xe0, 1, false);   // a long reference, one byte back
    put_int(&s, 1, 2, false);      // 7 + 1 + 2 = 10 bytes
    put_int(&s, 5 << 5, 2, false); // a short one of 7
    put_int(&s, 7, 1, false);
    for (int i = 0; i < 2; i++) put_float(&s, (float[]){-2, 5}[i], false);
    return s;
}

enum { SAMPLES = 14 };

// One sample of each kind of file; all hold the points (1, -2, 3.5) and (4, 5, 6).
static inline sample sample_number(int number) {
    sample s;
    switch (number) {
    case 0:
        return text_sample("ply ascii", SAP_FORMAT_PLY,
                           "ply\r\nformat ascii 1.0\r\ncomment made by hand\r\nobj_info nothing\r\nelement tag 1\r\n"
                           "property int a\r\nelement vertex 2\r\nproperty list uchar int n\r\nproperty float x\r\n"
                           "property float y\r\nproperty float z\r\nelement face 1\r\n"
                           "property list uchar int vertex_indices\r\nend_header\r\n17\r\n2 8 9 1 -2 3.5\r\n\r\n"
                           "0 4 5e0 6.0\r\n3 0 1 1\r\n");
    case 1: return ply_sample("ply little endian", false);
    case 2: return ply_sample("ply big endian", true);
    case 3: return text_sample("xyz", SAP_FORMAT_XYZ, "# two points\n 1 -2\t3.5 # the first\n\n//x y z\n4 5 6\n");
    case 4: return text_sample("csv", SAP_FORMAT_CSV, "1,-2,3.5\r\n4, 5 ,6\r\n");
    case 5:
        return text_sample("csv with names", SAP_FORMAT_CSV,
                           "name;\"Z\";\"x\" ;Y\n\"a;b\";3.5;\"1\";-2\n# note\n\"say \"\"c\"\"\";6;4;5\n");
    case 6:
        s = npy_sample("npy 1.0", 1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n");
        for (int i = 0; i < 6; i++) put_float(&s, (float[]){1, -2, 3.5f, 4, 5, 6}[i], false);
        return s;
    case 7:
        s = npy_sample("npy 2.0", 2, "{\"shape\": (2, 3), \"fortran_order\": True, \"descr\": \">f8\"}");
        for (int i = 0; i < 6; i++) put_double(&s, (double[]){1, 4, -2, 5, 3.5, 6}[i], true);
        return s;
    case 8:
        s = npy_sample("npy 3.0", 3, "{'descr':'<f2','fortran_order':False,'shape':(2,3)}   \n");
        for (int i = 0; i < 6; i++)
            put_int(&s, (uint64_t[]){0x3c00, 0xc000, 0x4300, 0x4400, 0x4500, 0x4600}[i], 2, false);
        return s;
    case 9: return pcd_sample("pcd binary");
    case 10: return pcd_compressed_sample("pcd compressed");
    case 11: return text_sample("points with their number", SAP_FORMAT_XYZ, "2\r\n1 -2 3.5\r\n4 5 6\r\n\x1a");
    case 12: return text_sample("csv with tabs", SAP_FORMAT_CSV, "z\tname\tx\ty\n3.5\t\t1\t-2\n6\tb c\t4\t5\n");
    default:
        return text_sample("pcd ascii", SAP_FORMAT_PCD,
                           "VERSION 0.7\nFIELDS x y z\nSIZE 4 4 4\nTYPE F F F\nWIDTH 2\nHEIGHT 1\nDATA ascii\n"
                           "1 -2 3.5\n4 5 6\n");
    }
}

#endif
