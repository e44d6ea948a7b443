// Which format a file has, and its reader.
#include "device/device.h"
#include "files/gzip.h"
#include "files/npz.h"
#include "files/precise.h"
#include <string.h>

sap_span sap_path_suffix(const char* path) {
    const char *first = path ? path : "", *last = first + strlen(first);
    if (path && sap_path_is_packed(path)) last -= strlen(".gz");
    for (const char* at = last; at > first; at--)
        if (at[-1] == '.') return (sap_span){at, last};
    return (sap_span){last, last};
}

bool sap_path_is_packed(const char* path) {
    const size_t length = strlen(path), end = strlen(".gz");
    return length > end && sap_span_equal_any_case((sap_span){path + length - end, path + length}, ".gz");
}

sap_status sap_path_check(const sap_device* device, const char* path) {
    if (!sap_path_is_packed(path)) return SAP_OK;
    return sap_fail(device, SAP_ERROR_UNSUPPORTED, "'%s': gzip is read but not written; write without .gz", path);
}

sap_format sap_format_of(const char* path) {
    static const struct {
        const char* suffix;
        sap_format format;
    } known[] = {{"ply", SAP_FORMAT_PLY},  {"xyz", SAP_FORMAT_XYZ},    {"txt", SAP_FORMAT_XYZ},
                 {"csv", SAP_FORMAT_CSV},  {"npy", SAP_FORMAT_NPY},    {"pcd", SAP_FORMAT_PCD},
                 {"obj", SAP_FORMAT_OBJ},  {"stl", SAP_FORMAT_STL},    {"off", SAP_FORMAT_OFF},
                 {"tsv", SAP_FORMAT_CSV},  {"pts", SAP_FORMAT_XYZ},    {"asc", SAP_FORMAT_XYZ},
                 {"xyzn", SAP_FORMAT_XYZ}, {"xyzrgb", SAP_FORMAT_XYZ}, {"las", SAP_FORMAT_LAS},
                 {"laz", SAP_FORMAT_LAZ},  {"gltf", SAP_FORMAT_GLTF},  {"glb", SAP_FORMAT_GLTF}};
    const sap_span suffix = sap_path_suffix(path);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (sap_span_equal_any_case(suffix, known[i].suffix)) return known[i].format;
    return SAP_FORMAT_AUTO;
}

const char* sap_format_name(sap_format format) {
    static const char* const names[] = {"auto", "PLY", "XYZ", "CSV", "NPY", "PCD",
                                        "OBJ",  "STL", "OFF", "LAS", "LAZ", "glTF"};
    return names[format];
}

sap_status sap_format_check(const sap_device* device, sap_format format) {
    if (format >= SAP_FORMAT_AUTO && format <= SAP_FORMAT_GLTF) return SAP_OK;
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

// Whether the first line that is neither empty nor a comment has a separator of CSV, or names with tabs between.
static bool looks_like_csv(const sap_source* source) {
    sap_lines lines = sap_text_begin(source);
    for (sap_span line; sap_line_next(&lines, &line);) {
        line = sap_span_trim(line);
        if (line.first == line.last || *line.first == '#') continue;
        size_t length = (size_t)(line.last - line.first);
        if (memchr(line.first, ',', length) || memchr(line.first, ';', length)) return true;
        sap_decimal decimal;
        sap_span word;
        const bool tabs = memchr(line.first, '\t', length) && *line.first != '/';
        return tabs && sap_word_next(&line, &word) && !sap_span_number(word, &decimal);
    }
    return false;
}

static sap_format detect(const sap_source* source, sap_format suffix) {
    static const char* const pcd_starts[] = {"# .PCD", "VERSION ", "FIELDS ", "COLUMNS "};
    if (sap_npy_begins(source)) return SAP_FORMAT_NPY;
    if (sap_ply_begins(source)) return SAP_FORMAT_PLY;
    if (sap_source_begins(source, "LASF")) return SAP_FORMAT_LAS;
    for (size_t i = 0; i < sizeof pcd_starts / sizeof *pcd_starts; i++)
        if (sap_source_begins(source, pcd_starts[i])) return SAP_FORMAT_PCD;
    // A binary suffix without its first bytes is a broken file, which its reader explains best. Nor are a mesh's lines
    // of numbers a table.
    bool table = suffix == SAP_FORMAT_AUTO || suffix == SAP_FORMAT_XYZ || suffix == SAP_FORMAT_CSV;
    if (!table) return suffix;
    if (looks_like_csv(source)) return SAP_FORMAT_CSV;
    return suffix == SAP_FORMAT_CSV ? SAP_FORMAT_CSV : SAP_FORMAT_XYZ;
}

int64_t sap_part_take(const sap_source* source, int64_t rows, int64_t* first) {
    sap_part* part = source->part;
    *first = 0;
    if (!part) return rows;
    const int64_t each = rows / part->parts, more = rows % part->parts; // the first parts have one row more
    *first = each * part->part + (part->part < more ? part->part : more);
    part->first = *first;
    part->all = rows;
    return each + (part->part < more);
}

sap_status sap_part_refuse(const sap_source* source, const char* what) {
    if (!source->part) return SAP_OK;
    return sap_bad_byte(source, SAP_ERROR_UNSUPPORTED, -1, "%s is read from its start to its end, not in parts", what);
}

sap_status sap_foreign_check(const sap_source* source) {
    const bool tree = sap_source_begins(source, "SAPTREE\n"), mesh_tree = sap_source_begins(source, "SAPMESH\n");
    if (tree || mesh_tree)
        return sap_bad_byte(source, SAP_ERROR_UNSUPPORTED, -1,
                            "this is a saved tree over %s, which is used from a file of its own, as it was saved%s",
                            tree ? "points" : "triangles", *source->within ? "; unpack it first" : "");
    if (!*source->within || !(sap_source_begins(source, "\x1f\x8b\x08") || sap_npz_begins(source))) return SAP_OK;
    return sap_bad_byte(source, SAP_ERROR_UNSUPPORTED, -1,
                        "what gzip had packed is packed itself; unpack the file once, with gunzip");
}

sap_status sap_unpack_limit_check(const sap_device* device, int64_t limit) {
    if (limit >= 0) return SAP_OK;
    return sap_fail(device, SAP_ERROR_ARGUMENT, "options.unpack_limit: %lld is negative", (long long)limit);
}

static sap_status parse(const sap_source* source, sap_format format, sap_format suffix, sap_point_set** set) {
    static const sap_reader readers[] = {NULL, sap_read_ply, sap_read_xyz, sap_read_csv, sap_read_npy, sap_read_pcd,
                                         NULL, NULL,         NULL,         sap_read_las, sap_read_las, NULL};
    if (source->size == 0) return sap_bad_byte(source, SAP_ERROR_FORMAT, 0, "the file is empty; give one with points");
    if (format == SAP_FORMAT_AUTO) format = detect(source, suffix);
    if (!readers[format])
        return sap_bad_byte(source, SAP_ERROR_UNSUPPORTED, -1, "%s holds a mesh, not points; convert it to PLY first",
                            sap_format_name(format));
    sap_point_set* made = NULL;
    sap_status status = SAP_OK;
    if (format == SAP_FORMAT_XYZ || format == SAP_FORMAT_CSV) status = sap_part_refuse(source, "text");
    if (status == SAP_OK) status = readers[format](source, &made);
    // Other formats say of which type their numbers are.
    const bool by_digits = source->real_bits == 0 && (format == SAP_FORMAT_XYZ || format == SAP_FORMAT_CSV);
    if (status == SAP_OK && by_digits && made->real_bits == 32 && source->float_error > 0)
        status = sap_precise_set(source, readers[format], &made);
    if (status == SAP_OK)
        *set = made;
    else
        sap_point_set_free(made);
    return status;
}

sap_status sap_source_parse(const sap_source* source, sap_format format, sap_format suffix, sap_point_set** set) {
    static const char* const usual[] = {"points", "xyz", "coords", NULL};
    sap_source plain = *source;
    sap_file_bytes unpacked;
    const bool archive = sap_npz_begins(source) && (format == SAP_FORMAT_AUTO || format == SAP_FORMAT_NPY);
    sap_status status = archive ? sap_part_refuse(source, "an archive") : SAP_OK;
    if (sap_source_begins(source, "\x1f\x8b\x08")) status = sap_part_refuse(source, "what gzip has packed");
    if (status != SAP_OK) return status;
    status = archive ? sap_npz_take(&plain, source->member, usual, &unpacked) : sap_gzip_unpack(&plain, &unpacked);
    if (status == SAP_OK) status = sap_foreign_check(&plain);
    if (status == SAP_OK && source->member && !archive) status = sap_member_refuse(source);
    if (status == SAP_OK) status = parse(&plain, archive ? SAP_FORMAT_NPY : format, suffix, set);
    sap_file_release(source->device, &unpacked);
    return status;
}

bool sap_path_has_more_columns(const char* path) {
    static const char* const suffixes[] = {"pts", "asc", "xyzn", "xyzrgb"};
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
        if (sap_span_equal_any_case(sap_path_suffix(path), suffixes[i])) return true;
    return false;
}

sap_status sap_points_parse(sap_device* device, const void* bytes, size_t size, sap_format format, int32_t real_bits,
                            sap_point_set** set) {
    return sap_points_parse_with(device, bytes, size, format, real_bits, NULL, set);
}

sap_status sap_points_parse_with(sap_device* device, const void* bytes, size_t size, sap_format format,
                                 int32_t real_bits, const sap_points_read_options* options, sap_point_set** set) {
    if (!device) return SAP_ERROR_ARGUMENT;
    if (!bytes && size) return sap_fail(device, SAP_ERROR_ARGUMENT, "bytes: is NULL, but size is %zu", size);
    sap_status status = sap_format_check(device, format);
    if (status != SAP_OK) return status;
    if (!set) return sap_fail(device, SAP_ERROR_ARGUMENT, "set: is NULL");
    status = sap_real_bits_check(device, real_bits);
    if (status != SAP_OK) return status;
    sap_chosen chosen;
    status = sap_chosen_take(device, options, &chosen);
    if (status != SAP_OK) return status;
    sap_source source = {.device = device, .bytes = bytes, .size = size, .real_bits = real_bits, .chosen = &chosen};
    status = sap_reading_take(options, &source);
    if (status != SAP_OK) return status;
    return sap_source_parse(&source, format, SAP_FORMAT_AUTO, set);
}
