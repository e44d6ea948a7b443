// Bytes as gzip and NumPy's archives pack them, made without zlib. For test programs only.
#ifndef SAPWOOD_TESTS_PACKING_H
#define SAPWOOD_TESTS_PACKING_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// Bytes that grow; to be freed.
typedef struct packing {
    unsigned char* at;
    size_t size, allocated;
} packing;

static inline void put_bytes(packing* p, const void* bytes, size_t size) {
    if (p->size + size > p->allocated) {
        p->allocated = 2 * (p->size + size) + 64;
        p->at = realloc(p->at, p->allocated);
        if (!p->at) abort();
    }
    if (size) memcpy(p->at + p->size, bytes, size);
    p->size += size;
}

static inline void put_number(packing* p, uint64_t value, int bytes) {
    for (int i = 0; i < bytes; i++) {
        const unsigned char byte = i < 8 ? (unsigned char)(value >> 8 * i) : 0;
        put_bytes(p, &byte, 1);
    }
}

static inline uint32_t crc_of(const void* bytes, size_t size, uint32_t crc) {
    const unsigned char* at = bytes;
    crc = ~crc;
    for (size_t i = 0; i < size; i++) {
        crc ^= at[i];
        for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    }
    return ~crc;
}

// Deflate's blocks of bytes that are not packed.
static inline void put_deflated(packing* p, const void* bytes, size_t size) {
    const size_t most = 65535;
    for (size_t at = 0, more; at == 0 || at < size; at += more) {
        more = size - at < most ? size - at : most;
        put_number(p, at + more == size, 1);
        put_number(p, more, 2);
        put_number(p, ~more & 0xffff, 2);
        put_bytes(p, (const unsigned char*)bytes + at, more);
        if (!size) break;
    }
}

// A member of gzip.
static inline void put_gzip(packing* p, const void* bytes, size_t size) {
    put_bytes(p, "\x1f\x8b\x08\0\0\0\0\0\0\xff", 10);
    put_deflated(p, bytes, size);
    put_number(p, crc_of(bytes, size, 0), 4);
    put_number(p, size, 4);
}

// A member of gzip that stands for 1 + 258 * count zeros, in 13 bits for each 258 of them. If these are
// 10000 or more, the checksum is wrong: it would take long.
static inline void put_gzip_of_zeros(packing* p, size_t count) {
    uint64_t bits = 0;
    int held = 0;
    put_bytes(p, "\x1f\x8b\x08\0\0\0\0\0\0\xff", 10);
#define PUT_BITS(value, length)                                                                                        \
    do {                                                                                                               \
        bits |= (uint64_t)(value) << held;                                                                             \
        for (held += (length); held >= 8; held -= 8, bits >>= 8) put_number(p, bits & 255, 1);                         \
    } while (0)
    PUT_BITS(3, 3);    // the last block, with the fixed codes
    PUT_BITS(0x0c, 8); // a zero
    for (size_t i = 0; i < count; i++) {
        PUT_BITS(0xa3, 8); // 258 bytes,
        PUT_BITS(0, 5);    // from one byte back
    }
    PUT_BITS(0, 7); // the end
    PUT_BITS(0, 7);
#undef PUT_BITS
    uint32_t crc = 0;
    static const unsigned char zeros[258];
    crc = crc_of(zeros, 1, 0);
    for (size_t i = 0; i < count && count < 10000; i++) crc = crc_of(zeros, 258, crc);
    put_number(p, crc, 4);
    put_number(p, 1 + 258 * count, 4);
}

// ---- Archives: members one after another, then a directory of them.

typedef struct archive {
    packing bytes, entries; // entries: of the directory
    int count;
} archive;

// How a member is written.
enum { OF_32_BITS = 0, OF_64_BITS = 1, SIZES_BEHIND = 2, PACKED = 4 };

static inline void put_member(archive* a, const char* name, const void* bytes, size_t size, int how) {
    const size_t local = a->bytes.size;
    const uint32_t crc = crc_of(bytes, size, 0);
    const bool wide = how & OF_64_BITS, behind = how & SIZES_BEHIND;
    packing data = {NULL, 0, 0};
    if (how & PACKED)
        put_deflated(&data, bytes, size);
    else
        put_bytes(&data, bytes, size);
    for (int directory = 0; directory < 2; directory++) {
        packing* to = directory ? &a->entries : &a->bytes;
        const bool told = directory || !behind;
        put_bytes(to, directory ? "PK\1\2\x2d\0" : "PK\3\4", directory ? 6 : 4);
        put_number(to, 45, 2);
        put_number(to, behind ? 8 : 0, 2);
        put_number(to, how & PACKED ? 8 : 0, 2);
        put_number(to, 0, 4);
        put_number(to, told ? crc : 0, 4);
        put_number(to, wide ? UINT32_MAX : told ? data.size : 0, 4);
        put_number(to, wide ? UINT32_MAX : told ? size : 0, 4);
        put_number(to, strlen(name), 2);
        put_number(to, wide ? 5 + 20 + (directory ? 8 : 0) : 0, 2);
        if (directory) put_number(to, 0, 10);
        if (directory) put_number(to, wide ? UINT32_MAX : local, 4);
        put_bytes(to, name, strlen(name));
        if (!wide) continue;
        put_bytes(to, "\x99\0\1\0x", 5); // a field that nobody knows
        put_number(to, 1, 2);
        put_number(to, directory ? 24 : 16, 2);
        put_number(to, told ? size : 0, 8);
        put_number(to, told ? data.size : 0, 8);
        if (directory) put_number(to, local, 8);
    }
    put_bytes(&a->bytes, data.at, data.size);
    free(data.at);
    if (behind) {
        put_bytes(&a->bytes, "PK\7\10", 4);
        put_number(&a->bytes, crc, 4);
        put_number(&a->bytes, 0, wide ? 16 : 8); // nobody looks here
    }
    a->count++;
}

// Ends the archive. Its bytes are to be freed.
static inline packing end_archive(archive* a, bool wide) {
    packing* p = &a->bytes;
    const size_t at = p->size, bytes = a->entries.size;
    put_bytes(p, a->entries.at, bytes);
    free(a->entries.at);
    const size_t end = p->size;
    if (wide) {
        put_bytes(p, "PK\6\6", 4);
        put_number(p, 44, 8);
        put_bytes(p, "\x2d\0\x2d\0\0\0\0\0\0\0\0\0", 12);
        put_number(p, (uint64_t)a->count, 8);
        put_number(p, (uint64_t)a->count, 8);
        put_number(p, bytes, 8);
        put_number(p, at, 8);
        put_bytes(p, "PK\6\7\0\0\0\0", 8);
        put_number(p, end, 8);
        put_number(p, 1, 4);
    }
    put_bytes(p, "PK\5\6\0\0\0\0", 8);
    put_number(p, (uint64_t)a->count, 2);
    put_number(p, (uint64_t)a->count, 2);
    put_number(p, wide ? UINT32_MAX : bytes, 4);
    put_number(p, wide ? UINT32_MAX : at, 4);
    put_number(p, 3, 2);
    put_bytes(p, "end", 3);
    return *p;
}

#endif
