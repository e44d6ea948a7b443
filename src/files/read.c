// Brings a whole file into memory, mapped where that can be done, and has it parsed.
#include "device/device.h"
#include "files/source.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct file_bytes {
    void* memory;
    size_t size;
    size_t allocated; // 0: mapped
} file_bytes;

static sap_status cannot_read(const sap_device* device, const char* path) {
    return sap_fail(device, SAP_ERROR_IO, "cannot read '%s': %s", path, strerror(errno));
}

// Maps a regular file that is read from its start; false if this is none, or cannot be mapped.
static bool map_file(int descriptor, file_bytes* file) {
    struct stat about;
    if (fstat(descriptor, &about) || !S_ISREG(about.st_mode) || about.st_size <= 0) return false;
    if ((uintmax_t)about.st_size > SIZE_MAX || lseek(descriptor, 0, SEEK_CUR) != 0) return false;
    void* memory = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (memory == MAP_FAILED) return false;
    *file = (file_bytes){memory, (size_t)about.st_size, 0};
    return true;
}

// Doubles the room for bytes to come.
static bool grow(const sap_device* device, file_bytes* file) {
    size_t first = (size_t)1 << 16, bytes = first;
    if (file->allocated && !sap_size_multiply(file->allocated, 2, &bytes)) return false;
    void* memory = sap_memory_allocate(device, bytes);
    if (!memory) return false;
    if (file->size) memcpy(memory, file->memory, file->size);
    sap_memory_release(device, file->memory, file->allocated);
    file->memory = memory;
    file->allocated = bytes;
    return true;
}

// Reads to the end, be it a pipe or anything else.
static sap_status drain(const sap_device* device, int descriptor, const char* path, file_bytes* file) {
    const size_t most = (size_t)1 << 30; // one read of more than 2 GiB is refused by some systems
    for (;;) {
        if (file->size == file->allocated && !grow(device, file))
            return sap_fail(device, SAP_ERROR_MEMORY, "no memory for the bytes of '%s' after the first %zu", path,
                            file->size);
        size_t room = file->allocated - file->size;
        ssize_t taken = read(descriptor, (unsigned char*)file->memory + file->size, room < most ? room : most);
        if (taken == 0) return SAP_OK;
        if (taken > 0)
            file->size += (size_t)taken;
        else if (errno != EINTR)
            return cannot_read(device, path);
    }
}

static void let_go(const sap_device* device, file_bytes* file) {
    if (file->allocated)
        sap_memory_release(device, file->memory, file->allocated);
    else if (file->memory)
        munmap(file->memory, file->size);
}

sap_status sap_points_read(sap_device* device, const char* path, sap_format format, int32_t real_bits,
                           sap_point_set** set) {
    if (!device) return SAP_ERROR_ARGUMENT;
    if (!path) return sap_fail(device, SAP_ERROR_ARGUMENT, "path: is NULL");
    if (format < SAP_FORMAT_AUTO || format > SAP_FORMAT_PCD)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "format: unknown format %d", (int)format);
    if (!set) return sap_fail(device, SAP_ERROR_ARGUMENT, "set: is NULL");
    sap_status status = sap_real_bits_check(device, real_bits);
    if (status != SAP_OK) return status;
    bool standard = !strcmp(path, "-");
    int descriptor = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return cannot_read(device, path);
    file_bytes file = {NULL, 0, 0};
    const char* name = standard ? "standard input" : path;
    if (!map_file(descriptor, &file)) status = drain(device, descriptor, name, &file);
    if (!standard) close(descriptor);
    sap_source source = {device, name, file.memory, file.size, real_bits};
    if (status == SAP_OK) status = sap_source_parse(&source, format, sap_format_of(path), set);
    let_go(device, &file);
    return status;
}
