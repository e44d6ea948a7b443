// Pictures as PNG, where the build has zlib: 8 bits a channel, sRGB.
#include "file.h"

#if defined(SAP_HAVE_ZLIB)
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { FILTERS = 5, AT_ONCE = 1 << 16 };

static void put_number(uint8_t to[4], uint32_t number) {
    for (int i = 0; i < 4; i++) to[i] = (uint8_t)(number >> (24 - 8 * i));
}

// A chunk: its length, its name and what is in it, and a check of both.
static bool put_chunk(FILE* stream, const char name[4], const uint8_t* content, uint32_t length) {
    uint8_t before[8], after[4];
    put_number(before, length);
    memcpy(before + 4, name, 4);
    uLong check = crc32(crc32(0, NULL, 0), before + 4, 4);
    if (length) check = crc32(check, content, length);
    put_number(after, (uint32_t)check);
    return fwrite(before, 1, sizeof before, stream) == sizeof before &&
           (!length || fwrite(content, 1, length, stream) == length) &&
           fwrite(after, 1, sizeof after, stream) == sizeof after;
}

// What PNG's fourth filter takes a byte to be, by those to the left, above, and above that to the left.
static int paeth(int left, int above, int corner) {
    const int from_left = abs(above - corner), from_above = abs(left - corner),
              from_corner = abs(left + above - 2 * corner);
    if (from_left <= from_above && from_left <= from_corner) return left;
    return from_above <= from_corner ? above : corner;
}

static int expected(int filter, int left, int above, int corner) {
    switch (filter) {
    case 1: return left;
    case 2: return above;
    case 3: return (left + above) / 2;
    case 4: return paeth(left, above, corner);
    default: return 0;
    }
}

// A row by the filter that leaves the smallest numbers, after the filter's own; `line` has room for two.
static const uint8_t* filtered(const uint8_t* row, const uint8_t* previous, size_t bytes, uint8_t* line) {
    uint8_t *best = line, *tried = line + bytes + 1;
    uint64_t least = UINT64_MAX;
    for (int filter = 0; filter < FILTERS; filter++) {
        uint64_t sum = 0;
        tried[0] = (uint8_t)filter;
        for (size_t i = 0; i < bytes; i++) {
            const int left = i < 3 ? 0 : row[i - 3], above = previous ? previous[i] : 0;
            const int corner = i < 3 || !previous ? 0 : previous[i - 3];
            tried[i + 1] = (uint8_t)(row[i] - expected(filter, left, above, corner));
            sum += (uint64_t)abs((int8_t)tried[i + 1]);
        }
        if (sum >= least) continue;
        least = sum;
        uint8_t* swap = best;
        best = tried;
        tried = swap;
    }
    return best;
}

// Packs what the packer was given, and writes each part that is full, or, with Z_FINISH, all that is left.
static bool put_packed(FILE* stream, z_stream* packer, uint8_t* part, int flush) {
    int result;
    do {
        result = deflate(packer, flush);
        if (packer->avail_out == 0 || result == Z_STREAM_END) {
            if (!put_chunk(stream, "IDAT", part, AT_ONCE - packer->avail_out)) return false;
            packer->next_out = part;
            packer->avail_out = AT_ONCE;
        }
    } while (packer->avail_in || (flush == Z_FINISH && result == Z_OK));
    return result == (flush == Z_FINISH ? Z_STREAM_END : Z_OK);
}

bool sap_cli_png_write(FILE* stream, const uint8_t* pixels, int32_t width, int32_t height) {
    static const uint8_t first[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
    uint8_t header[13] = {[8] = 8, [9] = 2}; // bits; red, green and blue
    put_number(header, (uint32_t)width);
    put_number(header + 4, (uint32_t)height);
    if (fwrite(first, 1, sizeof first, stream) != sizeof first || !put_chunk(stream, "IHDR", header, sizeof header) ||
        !put_chunk(stream, "sRGB", (const uint8_t[]){0}, 1))
        return false;
    const size_t bytes = 3 * (size_t)width;
    uint8_t* memory = malloc(2 * (bytes + 1) + AT_ONCE);
    if (!memory) return false;
    uint8_t* part = memory + 2 * (bytes + 1);
    z_stream packer = {.next_out = part, .avail_out = AT_ONCE};
    bool written = deflateInit(&packer, Z_DEFAULT_COMPRESSION) == Z_OK;
    if (written) {
        for (int32_t y = 0; y < height && written; y++) {
            const uint8_t* row = pixels + (size_t)y * bytes;
            packer.next_in = (z_const Bytef*)filtered(row, y ? row - bytes : NULL, bytes, memory);
            packer.avail_in = (uInt)(bytes + 1);
            written = put_packed(stream, &packer, part, Z_NO_FLUSH);
        }
        written = written && put_packed(stream, &packer, part, Z_FINISH);
        deflateEnd(&packer);
    }
    free(memory);
    return written && put_chunk(stream, "IEND", NULL, 0);
}
#endif
