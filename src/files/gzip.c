#include "files/gzip.h"
#include "base/assert.h"
#include "files/array.h"
#include <stdio.h>
#include <string.h>

static bool begins(const unsigned char* bytes, size_t size) {
    return size >= 3 && bytes[0] == 0x1f && bytes[1] == 0x8b && bytes[2] == 8;
}

#if defined(SAP_HAVE_ZLIB)
#include <zlib.h>

// A few bytes may unpack to a thousand times as many, so beyond FREE_BYTES the answer is held to a share of the source,
// unless the user says how many there may be.
enum { FREE_BYTES = 1 << 26, MOST_RATIO = 100 };
enum { OF_GZIP = 16 + MAX_WBITS, OF_ARCHIVES = -MAX_WBITS };

// zlib does not tell how large a block is that it gives back.
static void* allocate(void* device, uInt count, uInt each) {
    const size_t bytes = (size_t)count * each + SAP_ALIGNMENT;
    unsigned char* block = sap_memory_allocate(device, bytes);
    if (!block) return NULL;
    memcpy(block, &bytes, sizeof bytes);
    return block + SAP_ALIGNMENT;
}

static void release(void* device, void* memory) {
    unsigned char* block = (unsigned char*)memory - SAP_ALIGNMENT;
    size_t bytes;
    memcpy(&bytes, block, sizeof bytes);
    sap_memory_release(device, block, bytes);
}

// Bytes that are being unpacked.
typedef struct unpacking {
    const sap_source* source;
    size_t at, end; // of what is left to unpack, in the source
    size_t packed;  // bytes in all
    uint64_t told;  // bytes that they unpack to, if that is told; else 0
    sap_array out;
    z_stream stream;
} unpacking;

static sap_status no_memory(const unpacking* u) {
    return sap_bad_byte(u->source, SAP_ERROR_MEMORY, -1, "no memory to unpack more than the first %zu bytes",
                        u->out.used);
}

static sap_status make_room(unpacking* u) {
    if (u->out.used < u->out.allocated) return SAP_OK;
    return sap_array_grow(u->source->device, &u->out, u->out.used ? 1 : u->packed) ? SAP_OK : no_memory(u);
}

static sap_status check_growth(const unpacking* u) {
    const size_t used = u->out.used;
    const uint64_t limit = (uint64_t)u->source->unpack_limit;
    if (limit ? used <= limit : used <= FREE_BYTES || used / MOST_RATIO < u->packed) return SAP_OK;
    return sap_bad_byte(u->source, SAP_ERROR_RANGE, -1,
                        "%zu packed bytes become %llu%s; if that is meant to be, allow as many bytes", u->packed,
                        (unsigned long long)(u->told > used ? u->told : used), u->told > used ? "" : " or more");
}

// Takes what can be taken at once. The result is zlib's.
static int step(unpacking* u) {
    const size_t most = (size_t)1 << 30, left = u->end - u->at, room = u->out.allocated - u->out.used;
    const uInt given = (uInt)(left < most ? left : most), space = (uInt)(room < most ? room : most);
    u->stream.next_in = (unsigned char*)(uintptr_t)(u->source->bytes + u->at);
    u->stream.avail_in = given;
    u->stream.next_out = (unsigned char*)u->out.memory + u->out.used;
    u->stream.avail_out = space;
    const int result = inflate(&u->stream, Z_NO_FLUSH);
    u->at += given - u->stream.avail_in;
    u->out.used += space - u->stream.avail_out;
    SAP_ASSERT(u->at <= u->end && u->out.used <= u->out.allocated);
    return result;
}

// Goes on to the next member of a gzip file; zeros may fill up what follows the last one.
static sap_status next_member(unpacking* u, bool* whole) {
    const unsigned char* bytes = u->source->bytes;
    size_t at = u->at;
    while (at < u->end && !bytes[at]) at++;
    *whole = at == u->end;
    if (*whole || (at == u->at && begins(bytes + at, u->end - at) && inflateReset(&u->stream) == Z_OK)) return SAP_OK;
    return sap_bad_byte(u->source, SAP_ERROR_FORMAT, (int64_t)at, "what follows the packed bytes is not gzip");
}

static sap_status unpack(unpacking* u, int window) {
    sap_status status = SAP_OK;
    u->packed = u->end - u->at;
    u->stream = (z_stream){.zalloc = allocate, .zfree = release, .opaque = (void*)(uintptr_t)u->source->device};
    if (inflateInit2(&u->stream, window) != Z_OK) return no_memory(u);
    for (bool whole = false; !whole && status == SAP_OK;) {
        status = make_room(u);
        if (status != SAP_OK) break;
        const int result = step(u);
        status = check_growth(u);
        if (status != SAP_OK) break;
        if (result == Z_STREAM_END && window == OF_GZIP)
            status = next_member(u, &whole);
        else if (result == Z_STREAM_END)
            whole = true;
        else if (result == Z_BUF_ERROR)
            status = sap_bad_byte(u->source, SAP_ERROR_FORMAT, (int64_t)u->at,
                                  "the packed bytes end too early; the file is truncated; get it again");
        else if (result == Z_MEM_ERROR)
            status = no_memory(u);
        else if (result != Z_OK)
            status = sap_bad_byte(u->source, SAP_ERROR_FORMAT, (int64_t)u->at,
                                  "the packed bytes are damaged (%s); get the file again",
                                  u->stream.msg ? u->stream.msg : "no sound gzip");
    }
    inflateEnd(&u->stream);
    return status;
}

static sap_status finish(unpacking* u, sap_status status, sap_file_bytes* unpacked) {
    *unpacked = (sap_file_bytes){u->out.memory, u->out.used, u->out.allocated};
    return status;
}

sap_status sap_gzip_unpack(sap_source* source, sap_file_bytes* unpacked) {
    *unpacked = (sap_file_bytes){NULL, 0, 0};
    if (!begins(source->bytes, source->size)) return SAP_OK;
    unpacking u = {.source = source, .end = source->size};
    const sap_status status = finish(&u, unpack(&u, OF_GZIP), unpacked);
    if (status != SAP_OK) return status;
    source->bytes = unpacked->memory;
    source->size = unpacked->size;
    snprintf(source->within, sizeof source->within, "unpacked");
    return SAP_OK;
}

static sap_status check_sum(const sap_source* source, const sap_deflated* from, const void* bytes, size_t size) {
    if (size == from->unpacked && crc32_z(0, bytes, size) == from->crc) return SAP_OK;
    return sap_bad_byte(source, SAP_ERROR_FORMAT, (int64_t)from->at,
                        "the bytes that are packed here are not those that were; get the file again");
}

sap_status sap_deflated_unpack(const sap_source* source, const sap_deflated* deflated, sap_file_bytes* unpacked) {
    unpacking u = {
        .source = source, .at = deflated->at, .end = deflated->at + deflated->size, .told = deflated->unpacked};
    SAP_ASSERT(u.end <= source->size);
    const sap_status status = finish(&u, unpack(&u, OF_ARCHIVES), unpacked);
    if (status != SAP_OK) return status;
    return check_sum(source, deflated, unpacked->memory, unpacked->size);
}

sap_status sap_stored_check(const sap_source* source, const sap_deflated* stored) {
    SAP_ASSERT(stored->at <= source->size && stored->size <= source->size - stored->at);
    return check_sum(source, stored, source->bytes + stored->at, stored->size);
}

#else

static sap_status no_zlib(const sap_source* source, const char* remedy) {
    return sap_bad_byte(source, SAP_ERROR_UNSUPPORTED, -1, "this Sapwood was built without zlib; %s", remedy);
}

sap_status sap_gzip_unpack(sap_source* source, sap_file_bytes* unpacked) {
    *unpacked = (sap_file_bytes){NULL, 0, 0};
    return begins(source->bytes, source->size) ? no_zlib(source, "unpack the file first, with gunzip") : SAP_OK;
}

sap_status sap_deflated_unpack(const sap_source* source, const sap_deflated* deflated, sap_file_bytes* unpacked) {
    (void)deflated;
    *unpacked = (sap_file_bytes){NULL, 0, 0};
    return no_zlib(source, "save with numpy.savez, which does not pack");
}

sap_status sap_stored_check(const sap_source* source, const sap_deflated* stored) {
    (void)source;
    (void)stored;
    return SAP_OK;
}

#endif
