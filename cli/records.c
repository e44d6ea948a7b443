// Writing rows of named fields.
#include "records.h"
#include "file.h"

#include <stdio.h>
#include <string.h>

static size_t bytes_of(const sap_cli_field* field) { return (size_t)(field->type[1] - '0'); }

static size_t row_bytes(const sap_cli_records* records) {
    size_t bytes = 0;
    for (int f = 0; f < records->field_count; f++) bytes += bytes_of(&records->fields[f]);
    return bytes;
}

sap_cli_exit sap_cli_check_records(sap_cli* cli, const char* path, const char* what) {
    const sap_format format = sap_cli_format_of(cli, path);
    if (format == SAP_FORMAT_NPY || format == SAP_FORMAT_CSV || format == SAP_FORMAT_XYZ) return SAP_EXIT_OK;
    return sap_cli_usage(cli, "%s: %s are written as .npy, .csv or .xyz; give one of these, or --format", path, what);
}

static bool is_little_endian(void) {
    const uint16_t one = 1;
    return *(const unsigned char*)&one == 1;
}

// What NumPy calls a row: a type, or a list of names and types.
static int put_type(char* text, size_t room, const sap_cli_records* records) {
    const char order = is_little_endian() ? '<' : '>';
    const sap_cli_field* fields = records->fields;
    if (records->field_count == 1)
        return snprintf(text, room, "'%c%s'", bytes_of(fields) == 1 ? '|' : order, fields->type);
    int length = snprintf(text, room, "[");
    for (int f = 0; f < records->field_count; f++)
        length += snprintf(text + length, room - (size_t)length, "%s('%s', '%c%s')", f ? ", " : "", fields[f].name,
                           order, fields[f].type);
    return length + snprintf(text + length, room - (size_t)length, "]");
}

// The numbers lie in the file as they lie in the rows.
static void put_npy(FILE* stream, const sap_cli_records* records) {
    char type[1024], header[1280];
    put_type(type, sizeof type, records);
    const int length = snprintf(header, sizeof header, "{'descr': %s, 'fortran_order': False, 'shape': (%lld,), }",
                                type, (long long)records->count);
    const int padded = (10 + length + 1 + 63) / 64 * 64 - 10; // the numbers begin at a multiple of 64
    const unsigned char start[10] = {
        0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, (unsigned char)(padded & 255), (unsigned char)(padded >> 8)};
    fwrite(start, 1, sizeof start, stream);
    fprintf(stream, "%-*s\n", padded - 1, header);
    if (records->count) fwrite(records->rows, row_bytes(records), (size_t)records->count, stream);
}

// PLY has no integers of eight bytes; no verb writes such rows as PLY.
static void put_ply(FILE* stream, const sap_cli_records* records) {
    fprintf(stream, "ply\nformat binary_%s_endian 1.0\nelement vertex %lld\n", is_little_endian() ? "little" : "big",
            (long long)records->count);
    for (int f = 0; f < records->field_count; f++) {
        const char* type = records->fields[f].type;
        fprintf(stream, "property %s %s\n",
                type[0] == 'u'   ? "uchar"
                : type[0] == 'i' ? "int"
                : type[1] == '4' ? "float"
                                 : "double",
                records->fields[f].name);
    }
    fputs("end_header\n", stream);
    if (records->count) fwrite(records->rows, row_bytes(records), (size_t)records->count, stream);
}

static void put_number(FILE* stream, const char* type, const unsigned char* at) {
    int32_t narrow;
    int64_t wide;
    float single;
    double real;
    if (type[0] == 'u') {
        fprintf(stream, "%d", at[0]);
    } else if (!strcmp(type, "i4")) {
        memcpy(&narrow, at, sizeof narrow);
        fprintf(stream, "%d", (int)narrow);
    } else if (!strcmp(type, "i8")) {
        memcpy(&wide, at, sizeof wide);
        fprintf(stream, "%lld", (long long)wide);
    } else if (!strcmp(type, "f4")) {
        memcpy(&single, at, sizeof single);
        fputs(sap_cli_real((double)single + 0.0, 32).text, stream); // adding 0 makes 0 of -0
    } else {
        memcpy(&real, at, sizeof real);
        fputs(sap_cli_real(real + 0.0, 64).text, stream);
    }
}

static void put_text(FILE* stream, const sap_cli_records* records, char between) {
    const unsigned char* at = records->rows;
    for (int64_t i = 0; i < records->count && !ferror(stream); i++)
        for (int f = 0; f < records->field_count; f++) {
            put_number(stream, records->fields[f].type, at);
            putc(f + 1 < records->field_count ? between : '\n', stream);
            at += bytes_of(&records->fields[f]);
        }
}

sap_cli_exit sap_cli_write_records(sap_cli* cli, const char* path, const sap_cli_records* records) {
    const sap_format format = sap_cli_format_of(cli, path);
    sap_cli_file file;
    if (!path && cli->options->json) return SAP_EXIT_OK;
    const sap_cli_exit result = sap_cli_file_open(cli, path ? path : "-", &file);
    if (result != SAP_EXIT_OK) return result;
    if (format == SAP_FORMAT_NPY) put_npy(file.stream, records);
    if (format == SAP_FORMAT_PLY) put_ply(file.stream, records);
    for (int f = 0; format == SAP_FORMAT_CSV && f < records->field_count; f++)
        fprintf(file.stream, "%s%c", records->fields[f].name, f + 1 < records->field_count ? ',' : '\n');
    if (format != SAP_FORMAT_NPY && format != SAP_FORMAT_PLY)
        put_text(file.stream, records, format == SAP_FORMAT_CSV ? ',' : ' ');
    return sap_cli_file_close(cli, &file);
}
