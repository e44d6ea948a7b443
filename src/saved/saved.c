#include "saved/saved.h"
#include "base/assert.h"
#include "device/device.h"
#include "saved/output.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LANES = 8, BYTE_ORDER_MARK = 0x01020304, VERSION_AT = 8, BYTE_ORDER_AT = 12, SUM_AT = SAP_SAVED_HEADER - 8 };

static const size_t longest_read = (size_t)1 << 30; // some systems give no more at once

typedef unsigned char header_bytes[SAP_SAVED_HEADER];

uint64_t sap_saved_sum(const void* bytes, size_t size) {
    const uint64_t odd = UINT64_C(0x9E3779B97F4A7C15);
    const unsigned char* at = bytes;
    uint64_t lanes[LANES], words[LANES];
    for (int i = 0; i < LANES; i++) lanes[i] = odd * (uint64_t)(i + 1);
    size_t left = size;
    for (; left >= sizeof words; left -= sizeof words, at += sizeof words) {
        memcpy(words, at, sizeof words);
        for (int i = 0; i < LANES; i++) lanes[i] = (lanes[i] ^ words[i]) * odd;
    }
    for (int i = 0; left >= sizeof words[0]; i++, left -= sizeof words[0], at += sizeof words[0]) {
        memcpy(words, at, sizeof words[0]);
        lanes[i] = (lanes[i] ^ words[0]) * odd;
    }
    uint64_t sum = size;
    for (int i = 0; i < LANES; i++) {
        sum = (sum ^ lanes[i]) * odd;
        sum ^= sum >> 29;
    }
    return sum;
}

// ---- Memory

sap_status sap_tree_memory_grow(const sap_device* device, sap_tree_memory* memory, unsigned char** arrays,
                                size_t bytes) {
    const size_t need = bytes + SAP_ALIGNMENT;
    SAP_ASSERT(need > bytes);
    if (need <= memory->allocated) return SAP_OK;
    unsigned char* grown = sap_memory_allocate(device, need);
    if (!grown) return sap_fail(device, SAP_ERROR_MEMORY, "no memory for a tree of %zu bytes", need);
    sap_tree_memory_release(device, memory, arrays);
    *arrays = grown;
    memory->allocated = need;
    return SAP_OK;
}

void sap_tree_memory_release(const sap_device* device, sap_tree_memory* memory, unsigned char** arrays) {
    SAP_ASSERT(memory->mapping || !memory->mapping_bytes);
    SAP_ASSERT(!memory->mapping || !memory->allocated);
    if (memory->mapping_bytes)
        munmap(memory->mapping, memory->mapping_bytes);
    else if (!memory->mapping)
        sap_memory_release(device, *arrays, memory->allocated);
    *memory = (sap_tree_memory){0};
    *arrays = NULL;
}

// ---- Saving

sap_status sap_saved_place_check(const sap_device* device, const sap_saved_place* place) {
    if (place->path) return SAP_OK;
    if (!place->bytes) return sap_fail(device, SAP_ERROR_ARGUMENT, "bytes: is NULL");
    if (place->size < 0) return sap_fail(device, SAP_ERROR_ARGUMENT, "size: %lld is negative", (long long)place->size);
    if ((uintptr_t)place->bytes % SAP_ALIGNMENT)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "bytes: do not begin at a multiple of %d", SAP_ALIGNMENT);
    return SAP_OK;
}

static void make_header(header_bytes header, const sap_saved_form* form, const void* facts, const void* arrays,
                        size_t bytes) {
    const uint32_t byte_order = BYTE_ORDER_MARK;
    const uint64_t sizes[2] = {bytes, sap_saved_sum(arrays, bytes)};
    const size_t later_at = SAP_SAVED_FACTS + form->facts + sizeof sizes;
    SAP_ASSERT(form->facts % 8 == 0 && form->later % 8 == 0 && later_at + form->later <= SUM_AT);
    memset(header, 0, SAP_SAVED_HEADER);
    memcpy(header, form->magic, sizeof form->magic);
    memcpy(header + VERSION_AT, &form->version, sizeof form->version);
    memcpy(header + BYTE_ORDER_AT, &byte_order, sizeof byte_order);
    memcpy(header + SAP_SAVED_FACTS, facts, form->facts);
    memcpy(header + SAP_SAVED_FACTS + form->facts, sizes, sizeof sizes);
    memcpy(header + later_at, (const unsigned char*)facts + form->facts, form->later);
    const uint64_t sum = sap_saved_sum(header, SUM_AT);
    memcpy(header + SUM_AT, &sum, sizeof sum);
}

static sap_status write_file(const sap_device* device, const char* path, const header_bytes header, const void* arrays,
                             size_t bytes) {
    static const unsigned char end[SAP_ALIGNMENT] = {0};
    sap_output output;
    sap_status status = sap_output_open(&output, device, path);
    if (status != SAP_OK) return status;
    sap_output_put(&output, header, SAP_SAVED_HEADER);
    sap_output_put(&output, arrays, bytes);
    sap_output_put(&output, end, sizeof end);
    return sap_output_close(&output);
}

sap_status sap_saved_write(const sap_device* device, const sap_saved_place* place, const sap_saved_form* form,
                           const void* facts, const void* arrays, size_t bytes) {
    header_bytes header;
    if (!place->path && place->size != sap_saved_size(bytes))
        return sap_fail(device, SAP_ERROR_ARGUMENT, "size: is %lld, but the saved tree has %lld bytes",
                        (long long)place->size, (long long)sap_saved_size(bytes));
    make_header(header, form, facts, arrays, bytes);
    if (place->path) return write_file(device, place->path, header, arrays, bytes);
    unsigned char* to = place->bytes;
    if (bytes) memmove(to + SAP_SAVED_HEADER, arrays, bytes); // first: they may be those that were loaded from here
    memcpy(to, header, sizeof header);
    memset(to + SAP_SAVED_HEADER + bytes, 0, SAP_ALIGNMENT);
    return SAP_OK;
}

// ---- Loading

sap_status sap_saved_refuse(const sap_saved_file* file, size_t byte, const char* what) {
    return sap_fail(file->device, SAP_ERROR_FORMAT, "'%s': byte %zu: %s", file->name, byte, what);
}

static sap_status unreadable(const sap_saved_file* file, const char* why) {
    return sap_fail(file->device, SAP_ERROR_IO, "cannot read '%s': %s", file->name, why);
}

// Reads exactly `size` bytes. `byte` and `missing` say what is wrong, and where, if the file ends before.
static sap_status read_all(const sap_saved_file* file, void* bytes, size_t size, size_t byte, const char* missing) {
    unsigned char* at = bytes;
    while (size > 0) {
        ssize_t got = read(file->descriptor, at, size < longest_read ? size : longest_read);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return unreadable(file, strerror(errno));
        if (got == 0) return sap_saved_refuse(file, byte, missing);
        at += got;
        size -= (size_t)got;
    }
    return SAP_OK;
}

// Checks what the header says of itself and of the file's size, and takes the arrays' size and checksum from it.
static sap_status check_header(sap_saved_file* file, const sap_saved_form* form, const header_bytes header,
                               uint64_t file_size) {
    uint32_t version, byte_order;
    uint64_t sizes[2], sum;
    const size_t zero_at = SAP_SAVED_FACTS + form->facts + sizeof sizes + form->later;
    SAP_ASSERT(zero_at <= SUM_AT);
    memcpy(&version, header + VERSION_AT, sizeof version);
    memcpy(&byte_order, header + BYTE_ORDER_AT, sizeof byte_order);
    memcpy(sizes, header + SAP_SAVED_FACTS + form->facts, sizeof sizes);
    memcpy(&sum, header + SUM_AT, sizeof sum);
    if (memcmp(header, form->magic, sizeof form->magic) != 0)
        return sap_fail(file->device, SAP_ERROR_FORMAT, "'%s': byte 0: this is not %s", file->name, form->what);
    if (byte_order != BYTE_ORDER_MARK)
        return sap_saved_refuse(file, BYTE_ORDER_AT,
                                "the tree was saved on a machine of another byte order; build it anew");
    if (version != form->version)
        return sap_saved_refuse(file, VERSION_AT, "the tree was saved by another version of Sapwood; build it anew");
    if (sap_saved_sum(header, SUM_AT) != sum) return sap_saved_refuse(file, SUM_AT, "the header is damaged");
    if (sizes[0] > SIZE_MAX / 2 || file_size != SAP_SAVED_HEADER + sizes[0] + SAP_ALIGNMENT)
        return sap_fail(file->device, SAP_ERROR_FORMAT,
                        "'%s': byte %llu: the file ends here, but should have %llu bytes", file->name,
                        (unsigned long long)file_size, SAP_SAVED_HEADER + (unsigned long long)sizes[0] + SAP_ALIGNMENT);
    for (size_t i = zero_at; i < SUM_AT; i++)
        if (header[i]) return sap_saved_refuse(file, zero_at, "reserved bytes are not zero");
    file->bytes = (size_t)sizes[0];
    file->sum = sizes[1];
    return SAP_OK;
}

static sap_status read_header(sap_saved_file* file, int64_t size, header_bytes header, uint64_t* whole) {
    static const char missing[] = "the file ends within the header of a saved tree";
    if (file->start) {
        *whole = (uint64_t)size;
        if (size < SAP_SAVED_HEADER) return sap_saved_refuse(file, (size_t)size, missing);
        memcpy(header, file->start, SAP_SAVED_HEADER);
        return SAP_OK;
    }
    struct stat target;
    if (fstat(file->descriptor, &target) != 0) return unreadable(file, strerror(errno));
    if (!S_ISREG(target.st_mode)) return unreadable(file, "not a regular file");
    *whole = (uint64_t)target.st_size;
    return read_all(file, header, SAP_SAVED_HEADER, (size_t)target.st_size, missing);
}

sap_status sap_saved_open(sap_saved_file* file, const sap_device* device, const sap_saved_place* place,
                          const sap_saved_form* form, void* facts) {
    *file = (sap_saved_file){.device = device, .name = "(memory)", .start = place->bytes, .descriptor = -1};
    if (place->path) {
        file->name = place->path;
        file->descriptor = open(place->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); // a pipe's writer is not waited for
        if (file->descriptor < 0) return unreadable(file, strerror(errno));
    }
    header_bytes header;
    uint64_t whole = 0;
    sap_status status = read_header(file, place->size, header, &whole);
    if (status == SAP_OK) status = check_header(file, form, header, whole);
    if (status == SAP_OK) {
        const unsigned char* later = header + SAP_SAVED_FACTS + form->facts + 2 * sizeof(uint64_t);
        memcpy(facts, header + SAP_SAVED_FACTS, form->facts);
        memcpy((unsigned char*)facts + form->facts, later, form->later);
    }
    if (status != SAP_OK) sap_saved_close(file);
    return status;
}

// Maps the file; where it cannot be mapped, reads the arrays, at whose first byte the descriptor stands.
static sap_status map_or_read(const sap_saved_file* file, sap_tree_memory* memory, unsigned char** arrays) {
    if (file->start) {
        unsigned char* start = (unsigned char*)(uintptr_t)file->start;
        *memory = (sap_tree_memory){.mapping = start};
        *arrays = start + SAP_SAVED_HEADER;
        return SAP_OK;
    }
    const size_t size = (size_t)sap_saved_size(file->bytes);
    void* mapping = mmap(NULL, size, PROT_READ, MAP_PRIVATE, file->descriptor, 0);
    if (mapping != MAP_FAILED) {
        *memory = (sap_tree_memory){.mapping = mapping, .mapping_bytes = size};
        *arrays = (unsigned char*)mapping + SAP_SAVED_HEADER;
        return SAP_OK;
    }
    sap_status status = sap_tree_memory_grow(file->device, memory, arrays, file->bytes);
    if (status != SAP_OK) return status;
    return read_all(file, *arrays, file->bytes + SAP_ALIGNMENT, SAP_SAVED_HEADER, "the file became shorter");
}

static sap_status check_arrays(const sap_saved_file* file, const unsigned char* arrays) {
    const size_t end = SAP_SAVED_HEADER + file->bytes;
    if (sap_saved_sum(arrays, file->bytes) != file->sum)
        return sap_fail(file->device, SAP_ERROR_FORMAT, "'%s': bytes %d to %zu: the arrays are damaged", file->name,
                        SAP_SAVED_HEADER, end - 1);
    for (size_t i = 0; i < SAP_ALIGNMENT; i++)
        // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): the analyzer takes a successful mapping for none
        if (arrays[file->bytes + i]) return sap_saved_refuse(file, end + i, "the last bytes are not zero");
    return SAP_OK;
}

sap_status sap_saved_load(const sap_saved_file* file, sap_tree_memory* memory, unsigned char** arrays) {
    SAP_ASSERT(file->start || file->descriptor >= 0);
    *memory = (sap_tree_memory){0};
    *arrays = NULL;
    sap_status status = map_or_read(file, memory, arrays);
    if (status == SAP_OK) status = check_arrays(file, *arrays);
    if (status != SAP_OK) sap_tree_memory_release(file->device, memory, arrays);
    return status;
}

void sap_saved_close(sap_saved_file* file) {
    if (!file->start) close(file->descriptor);
}
