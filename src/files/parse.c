// Which format a file has, and its reader.
#include "device/device.h"
#include "files/source.h"
#include <string.h>

sap_format sap_format_of(const char* path) {
    static const struct {
        const char* suffix;
        sap_format format;
    } known[] = {{"ply", SAP_FORMAT_PLY}, {"xyz", SAP_FORMAT_XYZ}, {"txt", SAP_FORMAT_XYZ}, {"csv", SAP_FORMAT_CSV},
                 {"npy", SAP_FORMAT_NPY}, {"pcd", SAP_FORMAT_PCD}, {"obj", SAP_FORMAT_OBJ}, {"stl", SAP_FORMAT_STL}};
    const char* dot = path ? strrchr(path, '.') : NULL;
    if (!dot) return SAP_FORMAT_AUTO;
    sap_span suffix = {dot + 1, dot + strlen(dot)};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (sap_span_equal_any_case(suffix, known[i].suffix)) return known[i].format;
    return SAP_FORMAT_AUTO;
}

const char* sap_format_name(sap_format format) {
    static const char* const names[] = {"auto", "PLY", "XYZ", "CSV", "NPY", "PCD", "OBJ", "STL"};
    return names[format];
}

sap_status sap_format_check(const sap_device* device, sap_format format) {
    if (format >= SAP_FORMAT_AUTO && format <= SAP_FORMAT_STL) return SAP_OK;
    return sap_fail(device, SAP_ERROR_ARGUMENT, "format: unknown format %d", (int)format);
}

bool sap_source_begins(const sap_source* source, const char* text) {
    size_t length = strlen(text);
    return source->size >= length && !memcmp(source->bytes, text, length);
}

bool sap_ply_begins(const sap_source* source) {
    return sap_source_begins(source, "ply\n") || sap_source_begins(source, "ply\r") ||
           sap_source_begins(source, "ply ");
}

// Whether the first line that is neither empty nor a comment has a separator of CSV.
static bool looks_like_csv(const sap_source* source) {
    sap_lines lines = sap_text_begin(source);
    for (sap_span line; sap_line_next(&lines, &line);) {
        line = sap_span_trim(line);
        if (line.first == line.last || *line.first == '#') continue;
        size_t length = (size_t)(line.last - line.first);
        return memchr(line.first, ',', length) || memchr(line.first, ';', length);
    }
    return false;
}

static sap_format detect(const sap_source* source, sap_format suffix) {
    static const char* const pcd_starts[] = {"# .PCD", "VERSION ", "FIELDS ", "COLUMNS "};
    if (sap_npy_begins(source)) return SAP_FORMAT_NPY;
    if (sap_ply_begins(source)) return SAP_FORMAT_PLY;
    for (size_t i = 0; i < sizeof pcd_starts / sizeof *pcd_starts; i++)
        if (sap_source_begins(source, pcd_starts[i])) return SAP_FORMAT_PCD;
    // A binary suffix without its first bytes is a broken file, which its reader explains best. Nor are a mesh's lines
    // of numbers a table.
    bool table = suffix == SAP_FORMAT_AUTO || suffix == SAP_FORMAT_XYZ || suffix == SAP_FORMAT_CSV;
    if (!table) return suffix;
    if (looks_like_csv(source)) return SAP_FORMAT_CSV;
    return suffix == SAP_FORMAT_CSV ? SAP_FORMAT_CSV : SAP_FORMAT_XYZ;
}

sap_status sap_source_parse(const sap_source* source, sap_format format, sap_format suffix, sap_point_set** set) {
    static const sap_reader readers[] = {NULL,         sap_read_ply, sap_read_xyz, sap_read_csv,
                                         sap_read_npy, sap_read_pcd, NULL,         NULL};
    if (source->size == 0) return sap_bad_byte(source, SAP_ERROR_FORMAT, 0, "the file is empty; give one with points");
    if (format == SAP_FORMAT_AUTO) format = detect(source, suffix);
    if (readers[format]) return readers[format](source, set);
    return sap_bad_byte(source, SAP_ERROR_UNSUPPORTED, -1, "%s holds a mesh, not points; convert it to PLY first",
                        sap_format_name(format));
}

sap_status sap_points_parse(sap_device* device, const void* bytes, size_t size, sap_format format, int32_t real_bits,
                            sap_point_set** set) {
    if (!device) return SAP_ERROR_ARGUMENT;
    if (!bytes && size) return sap_fail(device, SAP_ERROR_ARGUMENT, "bytes: is NULL, but size is %zu", size);
    sap_status status = sap_format_check(device, format);
    if (status != SAP_OK) return status;
    if (!set) return sap_fail(device, SAP_ERROR_ARGUMENT, "set: is NULL");
    status = sap_real_bits_check(device, real_bits);
    if (status != SAP_OK) return status;
    sap_source source = {device, NULL, bytes, size, real_bits};
    return sap_source_parse(&source, format, SAP_FORMAT_AUTO, set);
}
