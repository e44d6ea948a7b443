// Scenes of glTF that tests write: JSON, and accessors over the bytes of one buffer. For test programs only.
#ifndef SAPWOOD_TESTS_GLTF_MAKING_H
#define SAPWOOD_TESTS_GLTF_MAKING_H

#include "test.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A GLB: JSON, and bytes that its first buffer is.
static inline size_t make_glb(const char* json, const void* bin, size_t bin_size, unsigned char* glb) {
    const size_t length = strlen(json), padded = (length + 3) / 4 * 4;
    const uint32_t head[5] = {0x46546C67, 2, (uint32_t)(28 + padded + bin_size), (uint32_t)padded, 0x4E4F534A};
    const uint32_t chunk[2] = {(uint32_t)bin_size, 0x004E4942};
    memcpy(glb, head, sizeof head);
    memset(glb + 20, ' ', padded);
    for (size_t i = 0; i < length; i++) glb[20 + i] = (unsigned char)json[i];
    memcpy(glb + 20 + padded, chunk, sizeof chunk);
    memcpy(glb + 28 + padded, bin, bin_size);
    return 28 + padded + bin_size;
}

// How numbers of accessors are stored, as glTF says it.
enum { GLTF_I8 = 5120, GLTF_U8, GLTF_I16, GLTF_U16, GLTF_U32 = 5125, GLTF_FLOAT };

// Accessors, views and bytes that are put together one after another.
typedef struct gltf_making {
    char accessors[4096], views[4096];
    unsigned char* bytes;
    size_t used, room;
    int accessor_count, view_count;
} gltf_making;

// Adds bytes, as a view of them; its number.
static inline int gltf_put_view(gltf_making* m, const void* bytes, size_t size) {
    const size_t padded = (size + 3) / 4 * 4, length = strlen(m->views);
    if (m->used + padded > m->room) {
        m->room = 2 * (m->used + padded);
        m->bytes = realloc(m->bytes, m->room);
        if (!m->bytes) abort();
    }
    memset(m->bytes + m->used, 0, padded);
    memcpy(m->bytes + m->used, bytes, size);
    CHECK(snprintf(m->views + length, sizeof m->views - length,
                   "%s{\"buffer\":0,\"byteOffset\":%zu,\"byteLength\":%zu}", length ? "," : "", m->used,
                   size) < (int)(sizeof m->views - length));
    m->used += padded;
    return m->view_count++;
}

// Adds an accessor to a view (below 0: none), with more members, such as ",\"normalized\":true"; its number.
static inline int gltf_put_accessor(gltf_making* m, int view, int component, const char* type, int count,
                                    const char* more) {
    const size_t length = strlen(m->accessors);
    char where[32] = "";
    if (view >= 0) snprintf(where, sizeof where, "\"bufferView\":%d,", view);
    CHECK(snprintf(m->accessors + length, sizeof m->accessors - length,
                   "%s{%s\"componentType\":%d,\"type\":\"%s\",\"count\":%d%s}", length ? "," : "", where, component,
                   type, count, more) < (int)(sizeof m->accessors - length));
    return m->accessor_count++;
}

// An accessor of its own bytes.
static inline int gltf_put(gltf_making* m, const void* bytes, size_t size, int component, const char* type, int count,
                           const char* more) {
    return gltf_put_accessor(m, gltf_put_view(m, bytes, size), component, type, count, more);
}

// An accessor of floats.
static inline int gltf_put_floats(gltf_making* m, const float* values, size_t floats, const char* type, int count) {
    return gltf_put(m, values, floats * sizeof *values, GLTF_FLOAT, type, count, "");
}

// The GLB of them and of the rest of the JSON, its size; to be freed. The making begins anew.
static inline unsigned char* gltf_finish(gltf_making* m, const char* rest, size_t* size) {
    const size_t room = strlen(rest) + sizeof m->accessors + sizeof m->views + 256;
    char* json = malloc(room);
    unsigned char* glb = malloc(room + m->used + 64);
    if (!json || !glb) abort();
    snprintf(json, room,
             "{\"asset\":{\"version\":\"2.0\"},%s,\"buffers\":[{\"byteLength\":%zu}],\"bufferViews\":[%s],"
             "\"accessors\":[%s]}",
             rest, m->used, m->views, m->accessors);
    *size = make_glb(json, m->bytes, m->used, glb);
    free(json);
    free(m->bytes);
    memset(m, 0, sizeof *m);
    return glb;
}

#endif
