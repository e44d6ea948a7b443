// Reads or maps a whole file and parses it.
#include "files/read.h"
#include "base/assert.h"
#include "device/device.h"
#include "files/array.h"
#include "files/mesh/mesh_draft.h"
#include "files/precise.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static sap_status cannot_read(const sap_device* device, const char* path) {
    return sap_fail(device, SAP_ERROR_IO, "cannot read '%s': %s", path, strerror(errno));
}

// Maps a regular file that is read from its start; false if this is none, or cannot be mapped.
static bool map_file(int descriptor, sap_file_bytes* file) {
    struct stat about;
    if (fstat(descriptor, &about) || !S_ISREG(about.st_mode) || about.st_size <= 0) return false;
    if ((uintmax_t)about.st_size > SIZE_MAX || lseek(descriptor, 0, SEEK_CUR) != 0) return false;
    void* memory = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (memory == MAP_FAILED) return false;
    *file = (sap_file_bytes){memory, (size_t)about.st_size, 0};
    return true;
}

// Doubles the room for bytes to come.
static bool grow(const sap_device* device, sap_file_bytes* file) {
    const size_t least = (size_t)1 << 16;
    sap_array array = {file->memory, file->size, file->allocated};
    if (!sap_array_grow(device, &array, least)) return false;
    *file = (sap_file_bytes){array.memory, array.used, array.allocated};
    return true;
}

// Reads to the end, be it a pipe or anything else.
static sap_status drain(const sap_device* device, int descriptor, const char* path, sap_file_bytes* file) {
    const size_t most = (size_t)1 << 30; // one read of more than 2 GiB is refused by some systems
    for (;;) {
        if (file->size == file->allocated && !grow(device, file))
            return sap_fail(device, SAP_ERROR_MEMORY, "no memory for the bytes of '%s' after the first %zu", path,
                            file->size);
        SAP_ASSERT(file->size < file->allocated);
        size_t room = file->allocated - file->size;
        ssize_t taken = read(descriptor, (unsigned char*)file->memory + file->size, room < most ? room : most);
        if (taken == 0) return SAP_OK;
        if (taken > 0)
            file->size += (size_t)taken;
        else if (errno != EINTR)
            return cannot_read(device, path);
    }
}

sap_status sap_file_load(const sap_device* device, const char* path, const char** name, sap_file_bytes* file) {
    bool standard = !strcmp(path, "-");
    *file = (sap_file_bytes){NULL, 0, 0};
    *name = standard ? "standard input" : path;
    int descriptor = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return cannot_read(device, path);
    sap_status status = map_file(descriptor, file) ? SAP_OK : drain(device, descriptor, *name, file);
    if (!standard) close(descriptor);
    return status;
}

bool sap_file_map(const char* path, sap_file_bytes* file) {
    struct stat about;
    *file = (sap_file_bytes){NULL, 0, 0};
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0) return false;
    bool known = !fstat(descriptor, &about), regular = known && S_ISREG(about.st_mode);
    bool mapped = regular && (about.st_size == 0 || map_file(descriptor, file));
    int error = regular ? errno : known && S_ISDIR(about.st_mode) ? EISDIR : EINVAL;
    close(descriptor);
    errno = error;
    return mapped;
}

void sap_file_release(const sap_device* device, sap_file_bytes* file) {
    if (file->allocated)
        sap_memory_release(device, file->memory, file->allocated);
    else if (file->memory)
        munmap(file->memory, file->size);
    *file = (sap_file_bytes){NULL, 0, 0};
}

sap_status sap_points_read(sap_device* device, const char* path, sap_format format, int32_t real_bits,
                           sap_point_set** set) {
    return sap_points_read_with(device, path, format, real_bits, NULL, set);
}

static sap_status read_points(sap_device* device, const char* path, sap_format format, int32_t real_bits,
                              const sap_points_read_options* options, sap_part* part, sap_point_set** set) {
    if (!device) return SAP_ERROR_ARGUMENT;
    if (!path) return sap_fail(device, SAP_ERROR_ARGUMENT, "path: is NULL");
    sap_status status = sap_format_check(device, format);
    if (status != SAP_OK) return status;
    if (!set) return sap_fail(device, SAP_ERROR_ARGUMENT, "set: is NULL");
    status = sap_real_bits_check(device, real_bits);
    if (status != SAP_OK) return status;
    sap_chosen chosen;
    status = sap_chosen_take(device, options, &chosen);
    if (status != SAP_OK) return status;
    sap_file_bytes file;
    sap_source source = {.device = device,
                         .real_bits = real_bits,
                         .chosen = &chosen,
                         .part = part,
                         .more_columns = sap_path_has_more_columns(path),
                         .nameless = sap_format_of(path) == SAP_FORMAT_AUTO};
    status = sap_reading_take(options, &source);
    if (status != SAP_OK) return status;
    status = sap_file_load(device, path, &source.name, &file);
    source.bytes = file.memory;
    source.size = file.size;
    if (status == SAP_OK) status = sap_source_parse(&source, format, sap_format_of(path), set);
    sap_file_release(device, &file);
    return status;
}

sap_status sap_points_read_with(sap_device* device, const char* path, sap_format format, int32_t real_bits,
                                const sap_points_read_options* options, sap_point_set** set) {
    return read_points(device, path, format, real_bits, options, NULL, set);
}

sap_status sap_points_read_part(sap_device* device, const char* path, sap_format format, int32_t real_bits,
                                const sap_points_read_options* options, int32_t part, int32_t parts, int64_t* first,
                                int64_t* all, sap_point_set** set) {
    if (!device) return SAP_ERROR_ARGUMENT;
    if (part < 0 || part >= parts)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "part: %d is none of %d parts, which count from 0", (int)part,
                        (int)parts);
    if (options && options->with_fields)
        return sap_fail(device, SAP_ERROR_UNSUPPORTED, "options.with_fields: parts of files have coordinates alone");
    sap_part wanted = {.part = part, .parts = parts};
    const sap_status status = read_points(device, path, format, real_bits, options, &wanted, set);
    if (status != SAP_OK) return status;
    if (first) *first = wanted.first;
    if (all) *all = wanted.all;
    return SAP_OK;
}

sap_status sap_mesh_read(sap_device* device, const char* path, sap_format format, const sap_mesh_read_options* options,
                         sap_mesh_file** file) {
    if (!device) return SAP_ERROR_ARGUMENT;
    if (!path) return sap_fail(device, SAP_ERROR_ARGUMENT, "path: is NULL");
    sap_status status = sap_format_check(device, format);
    if (status != SAP_OK) return status;
    if (!file) return sap_fail(device, SAP_ERROR_ARGUMENT, "file: is NULL");
    sap_file_bytes bytes;
    sap_source source = {.device = device, .real_bits = 32};
    status = sap_file_load(device, path, &source.name, &bytes);
    source.bytes = bytes.memory;
    source.size = bytes.size;
    sap_mesh_job job = {.format = format, .suffix = sap_format_of(path), .options = options, .path = path};
    if (status == SAP_OK) status = sap_mesh_source_parse(&source, &job, file);
    sap_file_release(device, &bytes);
    return status;
}
