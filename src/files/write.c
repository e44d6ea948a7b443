// Tables of numbers as NPY, PLY, CSV and XYZ.
#include "files/write.h"
#include "base/assert.h"
#include "device/device.h"
#include "saved/output.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A table as it is written: values in its own type, at least one column.
typedef struct writing {
    sap_output* output;
    const sap_table* table;
    int64_t columns;
    size_t value_bytes;
    char separator; // of CSV
} writing;

size_t sap_number_bytes(sap_number number) { return number == SAP_INT32 || number == SAP_FLOAT32 ? 4 : 8; }

static void put_text(const writing* w, const char* text) { sap_output_text(w->output, text); }

// The name of a column; `name` is room for one that is made up.
static const char* column_name(const writing* w, int64_t column, char name[SAP_AXIS_BYTES]) {
    return w->table->names ? w->table->names[column] : sap_axis_name(column, name);
}

// ---- Text.

static int print_value(const writing* w, int64_t index, char text[SAP_TEXT_BYTES]) {
    switch (w->table->number) {
    case SAP_INT32: return sap_print_int(((const int32_t*)w->table->values)[index], text);
    case SAP_INT64: return sap_print_int(((const int64_t*)w->table->values)[index], text);
    case SAP_FLOAT32: return sap_print_float(((const float*)w->table->values)[index], text);
    default: return sap_print_double(((const double*)w->table->values)[index], text);
    }
}

static void put_text_rows(const writing* w, char separator) {
    char text[SAP_TEXT_BYTES];
    for (int64_t row = 0; row < w->table->rows && !w->output->error; row++) {
        for (int64_t column = 0; column < w->columns; column++) {
            int length = print_value(w, row * w->columns + column, text);
            SAP_ASSERT(length < SAP_TEXT_BYTES);
            text[length] = '\n';
            if (column + 1 < w->columns) text[length] = separator;
            sap_output_put(w->output, text, (size_t)length + 1);
        }
    }
}

void sap_csv_name(sap_output* output, const char* name) {
    if (!name[strcspn(name, ",;\t\"\r\n")]) {
        sap_output_text(output, name);
        return;
    }
    sap_output_text(output, "\"");
    for (; *name; name++) {
        if (*name == '"') sap_output_text(output, "\"");
        sap_output_put(output, name, 1);
    }
    sap_output_text(output, "\"");
}

static void write_csv(const writing* w) {
    for (int64_t column = 0; column < w->columns; column++) {
        char made[SAP_AXIS_BYTES];
        const char* name = column_name(w, column, made);
        if (column) sap_output_put(w->output, &w->separator, 1);
        sap_csv_name(w->output, name);
    }
    put_text(w, "\n");
    put_text_rows(w, w->separator);
}

// A table without rows is a comment that tells the columns, or it would read back as no table at all.
static void write_xyz(const writing* w) {
    if (w->table->rows == 0) {
        put_text(w, "#");
        for (int64_t column = 0; column < w->columns; column++) {
            char name[SAP_AXIS_BYTES];
            put_text(w, " ");
            put_text(w, sap_axis_name(column, name));
        }
        put_text(w, "\n");
    }
    put_text_rows(w, ' ');
}

char sap_csv_separator(const char* path) { return sap_span_equal_any_case(sap_path_suffix(path), "tsv") ? '\t' : ','; }

// ---- Numbers.

// Puts all values in little-endian order.
static void put_values(const writing* w) {
    const unsigned char* values = w->table->values;
    size_t count = (size_t)(w->table->rows * w->columns), bytes = w->value_bytes;
    bool little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
    if (little) sap_output_put(w->output, values, count * bytes);
    for (size_t i = 0; i < count && !little; i++) {
        unsigned char turned[8];
        for (size_t j = 0; j < bytes; j++) turned[j] = values[i * bytes + bytes - 1 - j];
        sap_output_put(w->output, turned, bytes);
    }
}

size_t sap_npy_header_make(const sap_table* table, int64_t rows, char header[SAP_NPY_HEADER_BYTES]) {
    static const char* const types[] = {"<i4", "<i8", "<f4", "<f8"};
    char shape[64];
    if (table->columns)
        snprintf(shape, sizeof shape, "(%lld, %lld)", (long long)rows, (long long)table->columns);
    else
        snprintf(shape, sizeof shape, "(%lld,)", (long long)rows);
    // Magic, version 1.0 and a length of two bytes; all of it filled with blanks up to a multiple of 64.
    const size_t start = 10;
    memcpy(header, "\x93NUMPY\x01\x00", start - 2);
    int written = snprintf(header + start, SAP_NPY_HEADER_BYTES - start,
                           "{'descr': '%s', 'fortran_order': False, 'shape': %s, }", types[table->number], shape);
    size_t length = start + (size_t)written, padded = sap_align(length + 1);
    SAP_ASSERT(length < padded && padded <= SAP_NPY_HEADER_BYTES && padded - start <= 0xffff);
    memset(header + length, ' ', padded - length);
    header[padded - 1] = '\n';
    header[start - 2] = (char)((padded - start) & 0xff);
    header[start - 1] = (char)((padded - start) >> 8);
    return padded;
}

static void write_npy(const writing* w) {
    char header[SAP_NPY_HEADER_BYTES];
    sap_output_put(w->output, header, sap_npy_header_make(w->table, w->table->rows, header));
    put_values(w);
}

// PLY has no integers of 64 bits; small ones go as 32.
static void put_narrow(const writing* w) {
    const int64_t* values = w->table->values;
    int64_t count = w->table->rows * w->columns;
    for (int64_t i = 0; i < count; i++) {
        uint32_t bits = (uint32_t)values[i];
        unsigned char bytes[4] = {(unsigned char)bits, (unsigned char)(bits >> 8), (unsigned char)(bits >> 16),
                                  (unsigned char)(bits >> 24)};
        sap_output_put(w->output, bytes, sizeof bytes);
    }
}

static void write_ply(const writing* w) {
    static const char* const types[] = {"int", "int", "float", "double"};
    char text[96], made[SAP_AXIS_BYTES];
    snprintf(text, sizeof text, "ply\nformat binary_little_endian 1.0\nelement vertex %lld\n",
             (long long)w->table->rows);
    put_text(w, text);
    for (int64_t column = 0; column < w->columns; column++) {
        put_text(w, "property ");
        put_text(w, types[w->table->number]);
        put_text(w, " ");
        put_text(w, column_name(w, column, made));
        put_text(w, "\n");
    }
    put_text(w, "end_header\n");
    if (w->table->number == SAP_INT64)
        put_narrow(w);
    else
        put_values(w);
}

// ---- Checks.

static int compare_names(const void* a, const void* b) {
    return strcmp(*(const char* const*)a, *(const char* const*)b);
}

// Refuses names that repeat: readers could not tell the columns apart.
static sap_status check_repeats(sap_device* device, const sap_table* table, int64_t columns) {
    size_t bytes;
    bool fits = sap_size_multiply((uint64_t)columns, sizeof *table->names, &bytes);
    const char** sorted = fits ? sap_memory_allocate(device, bytes) : NULL;
    if (!sorted)
        return sap_fail(device, SAP_ERROR_MEMORY, "no memory to compare %lld column names", (long long)columns);
    memcpy(sorted, table->names, bytes);
    qsort(sorted, (size_t)columns, sizeof *sorted, compare_names);
    sap_status status = SAP_OK;
    for (int64_t i = 1; i < columns && status == SAP_OK; i++)
        if (!strcmp(sorted[i - 1], sorted[i]))
            status = sap_fail(device, SAP_ERROR_ARGUMENT, "table.names: '%.64s' repeats; give each column its own name",
                              sorted[i]);
    sap_memory_release(device, sorted, bytes);
    return status;
}

static sap_status check_names(sap_device* device, sap_format format, const sap_table* table, int64_t columns) {
    for (int64_t column = 0; table->names && column < columns; column++) {
        const char* name = table->names[column];
        if (!name || !*name)
            return sap_fail(device, SAP_ERROR_ARGUMENT, "table.names: column %lld has no name", (long long)column);
        for (const char* c = name; format == SAP_FORMAT_PLY && *c; c++)
            if (*c <= ' ')
                return sap_fail(device, SAP_ERROR_ARGUMENT,
                                "table.names: '%.64s' has a blank, which PLY does not allow in a name", name);
    }
    bool written = table->names && (format == SAP_FORMAT_PLY || format == SAP_FORMAT_CSV);
    return written ? check_repeats(device, table, columns) : SAP_OK;
}

static sap_status check_range(sap_device* device, const sap_table* table, int64_t count) {
    const int64_t* values = table->values;
    for (int64_t i = 0; i < count; i++)
        if (values[i] < INT32_MIN || values[i] > INT32_MAX)
            return sap_fail(device, SAP_ERROR_UNSUPPORTED,
                            "PLY has no integers of 64 bits, but value %lld is %lld; write NPY or CSV", (long long)i,
                            (long long)values[i]);
    return SAP_OK;
}

sap_status sap_table_check(sap_device* device, const sap_table* table) {
    if (table->number < SAP_INT32 || table->number > SAP_FLOAT64)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "table.number: unknown number type %d", (int)table->number);
    if (table->rows < 0) return sap_fail(device, SAP_ERROR_ARGUMENT, "table.rows: is negative");
    if (table->columns < 0) return sap_fail(device, SAP_ERROR_ARGUMENT, "table.columns: is negative");
    int64_t columns = table->columns ? table->columns : 1, values;
    size_t bytes;
    if (__builtin_mul_overflow(table->rows, columns, &values) || (uint64_t)values > SIZE_MAX ||
        !sap_size_multiply((uint64_t)values, sap_number_bytes(table->number), &bytes))
        return sap_fail(device, SAP_ERROR_ARGUMENT, "table.rows: times columns does not fit the address space");
    if (!table->values && values) return sap_fail(device, SAP_ERROR_ARGUMENT, "table.values: is NULL");
    return SAP_OK;
}

sap_status sap_write_format(sap_device* device, const char* path, bool of_points, sap_format* format) {
    const char* things = of_points ? "points" : "tables";
    const char* choice = of_points ? ".ply, .las, .npy or .csv" : ".ply, .npy, .csv or .xyz";
    sap_status status = sap_format_check(device, *format);
    if (status == SAP_OK) status = sap_path_check(device, path);
    if (status != SAP_OK) return status;
    if (*format == SAP_FORMAT_AUTO) *format = sap_format_of(path);
    const bool holds_points = *format == SAP_FORMAT_PCD || *format == SAP_FORMAT_LAS || *format == SAP_FORMAT_LAZ;
    const bool holds_meshes = *format == SAP_FORMAT_OBJ || *format == SAP_FORMAT_STL || *format == SAP_FORMAT_OFF ||
                              *format == SAP_FORMAT_GLTF;
    if (holds_meshes || (holds_points && !of_points))
        return sap_fail(device, SAP_ERROR_UNSUPPORTED, "%s holds %s, not %s; choose %s", sap_format_name(*format),
                        holds_meshes ? "meshes" : "points", things, choice);
    if (*format == SAP_FORMAT_AUTO)
        return sap_fail(device, SAP_ERROR_UNSUPPORTED, "'%s' names no known format; give one, or end the name in %s",
                        path, choice);
    return SAP_OK;
}

sap_status sap_table_write(sap_device* device, const char* path, sap_format format, sap_table table) {
    if (!device) return SAP_ERROR_ARGUMENT;
    if (!path) return sap_fail(device, SAP_ERROR_ARGUMENT, "path: is NULL");
    sap_status status = sap_table_check(device, &table);
    if (status == SAP_OK) status = sap_write_format(device, path, false, &format);
    if (status != SAP_OK) return status;
    int64_t columns = table.columns ? table.columns : 1;
    status = check_names(device, format, &table, columns);
    if (status == SAP_OK && format == SAP_FORMAT_PLY && table.number == SAP_INT64)
        status = check_range(device, &table, table.rows * columns);
    if (status != SAP_OK) return status;
    sap_output output;
    status = sap_output_open(&output, device, path);
    if (status != SAP_OK) return status;
    writing w = {&output, &table, columns, sap_number_bytes(table.number), sap_csv_separator(path)};
    if (format == SAP_FORMAT_PLY)
        write_ply(&w);
    else if (format == SAP_FORMAT_NPY)
        write_npy(&w);
    else if (format == SAP_FORMAT_CSV)
        write_csv(&w);
    else
        write_xyz(&w);
    return sap_output_close(&output);
}
