// LAZ: LASzip, looked for when it is needed, makes LAS of it and it of LAS, in files without a name.
#include "base/assert.h"
#include "device/device.h"
#include "files/las/las.h"
#include <stdio.h>
#include <string.h>
#if !defined(__EMSCRIPTEN__)
#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

// The functions of LASzip 3 that are called; 0 is success.
typedef struct laszip {
    void* library;
    int32_t (*create)(void** pointer);
    int32_t (*destroy)(void* pointer);
    int32_t (*get_error)(void* pointer, char** error);
    int32_t (*open_reader)(void* pointer, const char* path, int32_t* packed);
    int32_t (*get_header)(void* pointer, void** header);
    int32_t (*get_point)(void* pointer, void** point);
    int32_t (*read_point)(void* pointer);
    int32_t (*close_reader)(void* pointer);
    int32_t (*set_header)(void* pointer, const void* header);
    int32_t (*request_native)(void* pointer, int32_t wanted);
    int32_t (*preserve_software)(void* pointer, int32_t wanted);
    int32_t (*open_writer)(void* pointer, const char* path, int32_t packed);
    int32_t (*set_point)(void* pointer, const void* point);
    int32_t (*write_point)(void* pointer);
    int32_t (*close_writer)(void* pointer);
} laszip;

#if defined(__APPLE__)
#define LIBRARY "liblaszip.8.dylib"
static const char* const libraries[] = {LIBRARY, "liblaszip.dylib"};
#else
#define LIBRARY "liblaszip.so.8"
static const char* const libraries[] = {LIBRARY, "liblaszip.so"};
#endif

static bool find(laszip* lz) {
    const struct {
        const char* name;
        void* to;
    } functions[] = {{"laszip_create", &lz->create},
                     {"laszip_destroy", &lz->destroy},
                     {"laszip_get_error", &lz->get_error},
                     {"laszip_open_reader", &lz->open_reader},
                     {"laszip_get_header_pointer", &lz->get_header},
                     {"laszip_get_point_pointer", &lz->get_point},
                     {"laszip_read_point", &lz->read_point},
                     {"laszip_close_reader", &lz->close_reader},
                     {"laszip_set_header", &lz->set_header},
                     {"laszip_request_native_extension", &lz->request_native},
                     {"laszip_preserve_generating_software", &lz->preserve_software},
                     {"laszip_open_writer", &lz->open_writer},
                     {"laszip_set_point", &lz->set_point},
                     {"laszip_write_point", &lz->write_point},
                     {"laszip_close_writer", &lz->close_writer}};
    *lz = (laszip){.library = NULL};
    for (size_t i = 0; !lz->library && i < sizeof libraries / sizeof *libraries; i++)
        lz->library = dlopen(libraries[i], RTLD_NOW | RTLD_LOCAL);
    for (size_t i = 0; lz->library && i < sizeof functions / sizeof *functions; i++) {
        void* function = dlsym(lz->library, functions[i].name);
        if (function) {
            memcpy(functions[i].to, &function, sizeof function);
        } else {
            dlclose(lz->library);
            lz->library = NULL;
        }
    }
    return lz->library != NULL;
}

sap_status sap_laszip_check(const sap_device* device) {
    laszip lz;
    if (!find(&lz))
        return sap_fail(device, SAP_ERROR_UNSUPPORTED,
                        "LAZ needs the library LASzip, and there is no " LIBRARY
                        "; install it (conda-forge, Fedora and Homebrew call it laszip), or use LAS");
    dlclose(lz.library);
    return SAP_OK;
}

// ---- Files without a name.

typedef struct nameless {
    FILE* stream;
    char path[32];
} nameless;

static bool make_nameless(nameless* file) {
#if defined(__linux__)
    const int descriptor = memfd_create("sapwood", MFD_CLOEXEC);
    file->stream = descriptor >= 0 ? fdopen(descriptor, "w+b") : NULL;
    if (descriptor >= 0 && !file->stream) close(descriptor);
#else
    file->stream = tmpfile();
#endif
    if (file->stream) snprintf(file->path, sizeof file->path, "/dev/fd/%d", fileno(file->stream));
    return file->stream != NULL;
}

static bool map_nameless(const nameless* file, sap_file_bytes* bytes) {
    struct stat about;
    if (fstat(fileno(file->stream), &about) || about.st_size <= 0) return false;
    void* memory = mmap(NULL, (size_t)about.st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fileno(file->stream), 0);
    if (memory == MAP_FAILED) return false;
    *bytes = (sap_file_bytes){memory, (size_t)about.st_size, 0};
    return true;
}

// ---- From one to the other.

// LASzip's own words about what went wrong.
static sap_status failed(const sap_source* source, const laszip* lz, void* pointer, const char* what) {
    char* error = NULL;
    char shown[SAP_SHOWN_BYTES] = "";
    if (pointer && !lz->get_error(pointer, &error) && error)
        sap_span_show((sap_span){error, error + strlen(error)}, shown);
    return sap_bad_byte(source, SAP_ERROR_FORMAT, -1, "LASzip cannot %s the points%s%s; the file is damaged", what,
                        *shown ? ": " : "", shown);
}

static sap_status copy_points(const sap_source* source, const laszip* lz, void* reader, void* writer, int64_t count) {
    void* point = NULL;
    if (lz->get_point(reader, &point)) return failed(source, lz, reader, "read");
    for (int64_t i = 0; i < count; i++) {
        if (lz->read_point(reader)) return failed(source, lz, reader, "read");
        if (lz->set_point(writer, point) || lz->write_point(writer)) return failed(source, lz, writer, "write");
    }
    return SAP_OK;
}

static sap_status copy_file(const sap_source* source, const laszip* lz, const sap_las_header* h, const char* from,
                            const char* to, bool pack) {
    void *reader = NULL, *writer = NULL, *header = NULL;
    int32_t packed = 0;
    const int32_t native = h->format > 5;
    bool reading = false, writing = false;
    sap_status status = SAP_OK;
    if (lz->create(&reader) || lz->create(&writer))
        status = sap_bad_byte(source, SAP_ERROR_MEMORY, -1, "LASzip cannot begin");
    if (status == SAP_OK) {
        reading = !lz->open_reader(reader, from, &packed) && !lz->get_header(reader, &header);
        if (!reading) status = failed(source, lz, reader, "read");
    }
    if (reading) {
        writing = !lz->set_header(writer, header) && !lz->request_native(writer, native) &&
                  !lz->preserve_software(writer, 1) && !lz->open_writer(writer, to, pack);
        status = writing ? copy_points(source, lz, reader, writer, h->count) : failed(source, lz, writer, "write");
    }
    if (writing && lz->close_writer(writer) && status == SAP_OK) status = failed(source, lz, writer, "write");
    if (reading) lz->close_reader(reader);
    if (reader) lz->destroy(reader);
    if (writer) lz->destroy(writer);
    return status;
}

static sap_status turn(const sap_source* source, const sap_las_header* header, bool pack, sap_file_bytes* made) {
    laszip lz;
    nameless from = {NULL, ""}, to = {NULL, ""};
    sap_status status = sap_laszip_check(source->device);
    if (status != SAP_OK || !find(&lz)) return status == SAP_OK ? SAP_ERROR_UNSUPPORTED : status;
    const bool good = make_nameless(&from) && make_nameless(&to) &&
                      fwrite(source->bytes, 1, source->size, from.stream) == source->size && !fflush(from.stream);
    if (!good) status = sap_bad_byte(source, SAP_ERROR_MEMORY, -1, "no memory for what LASzip reads and writes");
    if (status == SAP_OK) status = copy_file(source, &lz, header, from.path, to.path, pack);
    if (status == SAP_OK && !map_nameless(&to, made))
        status = sap_bad_byte(source, SAP_ERROR_MEMORY, -1, "no memory for what LASzip has written");
    if (from.stream) fclose(from.stream);
    if (to.stream) fclose(to.stream);
    dlclose(lz.library);
    return status;
}

#else

sap_status sap_laszip_check(const sap_device* device) {
    return sap_fail(device, SAP_ERROR_UNSUPPORTED, "LAZ cannot be used here; convert it to LAS");
}

static sap_status turn(const sap_source* source, const sap_las_header* header, bool pack, sap_file_bytes* made) {
    (void)header;
    (void)pack;
    (void)made;
    return sap_laszip_check(source->device);
}

#endif

sap_status sap_laszip_unpack(const sap_source* source, const sap_las_header* header, sap_file_bytes* las) {
    const int64_t usual = 100, least = (int64_t)64 << 20, size = (int64_t)source->size;
    int64_t most = source->unpack_limit ? source->unpack_limit : size > least / usual ? usual * size : least;
    *las = (sap_file_bytes){NULL, 0, 0};
    if (header->count > most / (int64_t)header->record_size)
        return sap_bad_byte(source, SAP_ERROR_RANGE, SAP_LAS_COUNT,
                            "%zu packed bytes become %lld points of %zu bytes; if that is meant to be, allow as many "
                            "bytes",
                            source->size, (long long)header->count, header->record_size);
    return turn(source, header, false, las);
}

sap_status sap_laszip_pack(const sap_source* source, sap_file_bytes* laz) {
    sap_las_header header;
    *laz = (sap_file_bytes){NULL, 0, 0};
    const sap_status status = sap_las_header_read(source, &header);
    return status == SAP_OK ? turn(source, &header, true, laz) : status;
}
