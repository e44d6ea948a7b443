// Points with all of their fields as NPY, PLY, CSV, XYZ and PCD.
#include "base/assert.h"
#include "device/device.h"
#include "device/reserved.h"
#include "files/fields.h"
#include "files/las/las.h"
#include "files/write.h"
#include <stdio.h>
#include <string.h>

enum { NAME_BYTES = 256 };

// A column of the file: a field, or a coordinate as one.
typedef struct column {
    char name[NAME_BYTES];
    sap_field field;
    size_t stride, bytes;
    sap_cell cell;              // as it is written, little endian
    bool as_real;               // an integer that is written as a double
    const sap_field* packed[4]; // PCD: the bytes of a colour, blue first; alpha may be NULL
} column;

typedef struct writing {
    sap_output* output;
    const sap_point_set* set;
    column* columns;
    int64_t count;
    size_t bytes;
} writing;

static void put_text(const writing* w, const char* text) { sap_output_text(w->output, text); }

// ---- Columns.

static void add_axes(writing* w) {
    const sap_point_set* set = w->set;
    const sap_field_type type = set->real_bits == 64 ? SAP_FIELD_F64 : SAP_FIELD_F32;
    const size_t bytes = sap_field_bytes(type);
    const unsigned char* coords = set->real_bits == 64 ? (const void*)set->coords_f64 : (const void*)set->coords;
    for (int32_t axis = 0; axis < set->dims; axis++) {
        char made[SAP_AXIS_BYTES];
        column* c = &w->columns[w->count++];
        snprintf(c->name, sizeof c->name, "%s", sap_axis_name(axis, made));
        c->field = (sap_field){c->name, type, set->count ? coords + (size_t)axis * bytes : NULL};
        c->stride = bytes * (size_t)set->dims;
        c->cell = sap_field_cell(type);
    }
}

static void add_field(writing* w, const sap_field* field) {
    column* c = &w->columns[w->count++];
    snprintf(c->name, sizeof c->name, "%s", field->name);
    c->field = *field;
    c->stride = sap_field_bytes(field->type);
    c->cell = sap_field_cell(field->type);
}

// The colours of 8 bits become one column where they can.
static bool add_packed_colors(writing* w) {
    static const char* const names[] = {"blue", "green", "red", "alpha"};
    column* c = &w->columns[w->count];
    for (int i = 0; i < 4; i++) {
        c->packed[i] = sap_field_named(w->set, names[i]);
        if (c->packed[i] && c->packed[i]->type != SAP_FIELD_U8) c->packed[i] = NULL;
        if (!c->packed[i] && i < 3) {
            memset(c->packed, 0, sizeof c->packed);
            return false;
        }
    }
    snprintf(c->name, sizeof c->name, "%s", c->packed[3] ? "rgba" : "rgb");
    c->cell = (sap_cell){c->packed[3] ? 'u' : 'f', 4, false};
    w->count++;
    return true;
}

static bool is_packed(const writing* w, const sap_field* field) {
    for (int64_t i = 0; i < w->count; i++)
        for (int j = 0; j < 4; j++)
            if (w->columns[i].packed[j] == field) return true;
    return false;
}

static void rename_for_pcd(column* c) {
    static const char* const names[3][2] = {{"nx", "normal_x"}, {"ny", "normal_y"}, {"nz", "normal_z"}};
    for (int a = 0; a < 3; a++)
        if (!strcmp(c->name, names[a][0])) snprintf(c->name, sizeof c->name, "%s", names[a][1]);
}

// Whether every integer of a field of 64 bits lies between these.
static bool lies_within(const writing* w, const sap_field* field, int64_t low, int64_t high) {
    for (int64_t row = 0; row < w->set->count; row++) {
        const sap_value value = sap_field_value(field, row);
        if (value.kind == 'u' || value.whole < low || value.whole > high) return false;
    }
    return true;
}

// PLY has no integers of 64 bits.
static sap_status narrow_for_ply(const writing* w, column* c) {
    const int64_t exact = (int64_t)1 << 53;
    if (c->cell.kind == 'f' || c->cell.bytes < 8) return SAP_OK;
    if (lies_within(w, &c->field, INT32_MIN, INT32_MAX)) {
        c->cell = (sap_cell){'i', 4, false};
    } else if (lies_within(w, &c->field, 0, UINT32_MAX)) {
        c->cell = (sap_cell){'u', 4, false};
    } else if (lies_within(w, &c->field, -exact, exact)) {
        c->cell = (sap_cell){'f', 8, false};
        c->as_real = true;
    } else {
        return sap_fail(w->output->device, SAP_ERROR_UNSUPPORTED,
                        "PLY has no integers of 64 bits, but %.64s needs them; write NPY or CSV", c->name);
    }
    return SAP_OK;
}

static void keep_words(column* c, bool quoted) {
    for (char* at = c->name; *at; at++)
        if ((unsigned char)*at < ' ' || (*at == ' ' && !quoted) ||
            (quoted && (*at == '\'' || *at == '\\' || (unsigned char)*at > '~')))
            *at = '_';
}

static sap_status check_names(const writing* w) {
    for (int64_t i = 0; i < w->count; i++)
        for (int64_t j = 0; j < i; j++)
            if (!strcmp(w->columns[i].name, w->columns[j].name))
                return sap_fail(w->output->device, SAP_ERROR_ARGUMENT,
                                "points.fields: '%.64s' repeats; give each field its own name", w->columns[i].name);
    return SAP_OK;
}

static sap_status lay_out(writing* w, sap_format format) {
    const bool pcd = format == SAP_FORMAT_PCD, ply = format == SAP_FORMAT_PLY, npy = format == SAP_FORMAT_NPY;
    sap_status status = SAP_OK;
    add_axes(w);
    bool colored = false;
    for (int32_t f = 0; f < w->set->field_count; f++) {
        const sap_field* field = &w->set->fields[f];
        const sap_span name = {field->name, field->name + strlen(field->name)};
        if (pcd && !colored && sap_is_color(name)) colored = add_packed_colors(w);
        if (!is_packed(w, field)) add_field(w, field);
    }
    for (int64_t i = 0; i < w->count && status == SAP_OK; i++) {
        column* c = &w->columns[i];
        if (pcd) rename_for_pcd(c);
        if (pcd || ply || npy) keep_words(c, npy);
        if (ply) status = narrow_for_ply(w, c);
        c->bytes = sap_field_bytes(c->field.type);
    }
    return status == SAP_OK ? check_names(w) : status;
}

// ---- Rows.

static sap_value value_of(const column* c, int64_t row) {
    const sap_field one = {NULL, c->field.type, (const unsigned char*)c->field.values + (size_t)row * c->stride};
    return sap_field_value(&one, 0);
}

static uint32_t packed_color(const column* c, int64_t row) {
    uint32_t color = 0;
    for (int i = 0; i < 4 && c->packed[i]; i++) color |= (uint32_t)((const uint8_t*)c->packed[i]->values)[row] << 8 * i;
    return color;
}

// Numbers as they lie in memory, but little endian, and at times narrower or as doubles.
static void put_bytes(const writing* w, const column* c, int64_t row) {
    unsigned char bytes[8];
    const bool big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
    if (c->packed[0]) {
        sap_las_store(bytes, packed_color(c, row), 4);
    } else if (c->as_real) {
        const sap_value value = value_of(c, row);
        sap_las_store_double(bytes, sap_value_double(&value));
    } else {
        const unsigned char* at = (const unsigned char*)c->field.values + (size_t)row * c->stride;
        for (size_t b = 0; b < c->cell.bytes; b++) bytes[b] = at[big ? c->bytes - 1 - b : b];
    }
    sap_output_put(w->output, bytes, c->cell.bytes);
}

static void put_rows(const writing* w) {
    for (int64_t row = 0; row < w->set->count && !w->output->error; row++)
        for (int64_t i = 0; i < w->count; i++) put_bytes(w, &w->columns[i], row);
}

static int print_value(const column* c, int64_t row, char text[SAP_TEXT_BYTES]) {
    const sap_value value = value_of(c, row);
    if (c->field.type == SAP_FIELD_F32) return sap_print_float((float)value.real, text);
    if (value.kind == 'f') return sap_print_double(value.real, text);
    if (value.kind == 'i') return sap_print_int(value.whole, text);
    return snprintf(text, SAP_TEXT_BYTES, "%llu", (unsigned long long)value.whole);
}

static void put_text_rows(const writing* w, char separator) {
    char text[SAP_TEXT_BYTES];
    for (int64_t row = 0; row < w->set->count && !w->output->error; row++)
        for (int64_t i = 0; i < w->count; i++) {
            const int length = print_value(&w->columns[i], row, text);
            SAP_ASSERT(length < SAP_TEXT_BYTES);
            text[length] = '\n';
            if (i + 1 < w->count) text[length] = separator;
            sap_output_put(w->output, text, (size_t)length + 1);
        }
}

// ---- Formats.

// Without rows the columns are counted in a comment, by the names that the reader gives them.
static void write_xyz(const writing* w) {
    for (int64_t i = 0; i < w->count && !w->set->count; i++) {
        char made[SAP_AXIS_BYTES];
        put_text(w, i ? " " : "# ");
        put_text(w, sap_axis_name(i, made));
    }
    if (!w->set->count) put_text(w, "\n");
    put_text_rows(w, ' ');
}

static void write_csv(const writing* w, char separator) {
    for (int64_t i = 0; i < w->count; i++) {
        if (i) sap_output_put(w->output, &separator, 1);
        sap_csv_name(w->output, w->columns[i].name);
    }
    put_text(w, "\n");
    put_text_rows(w, separator);
}

static void describe_npy(const column* c, char* text, size_t room) {
    snprintf(text, room, "('%s', '%c%c%d')", c->name, c->cell.bytes == 1 ? '|' : '<', c->cell.kind, (int)c->cell.bytes);
}

// A structured array of one axis: of version 1.0, or, where its header is too long for that, 2.0.
static void write_npy(const writing* w) {
    static const char start[] = "{'descr': [", between[] = ", ";
    const size_t line = 64;
    char text[NAME_BYTES + 32], end[96];
    snprintf(end, sizeof end, "], 'fortran_order': False, 'shape': (%lld,), }", (long long)w->set->count);
    size_t length = strlen(start) + strlen(end) + (size_t)(w->count - 1) * strlen(between) + 1;
    for (int64_t i = 0; i < w->count; i++) {
        describe_npy(&w->columns[i], text, sizeof text);
        length += strlen(text);
    }
    const size_t before = length + 10 + line <= UINT16_MAX ? 10 : 12;
    const size_t padded = (before + length + line - 1) / line * line - before;
    unsigned char magic[12] = "\x93NUMPY";
    magic[6] = before == 10 ? 1 : 2;
    sap_las_store(magic + 8, padded, before - 8);
    sap_output_put(w->output, magic, before);
    put_text(w, start);
    for (int64_t i = 0; i < w->count; i++) {
        describe_npy(&w->columns[i], text, sizeof text);
        if (i) put_text(w, between);
        put_text(w, text);
    }
    put_text(w, end);
    for (size_t i = length; i < padded; i++) put_text(w, " ");
    put_text(w, "\n");
    put_rows(w);
}

static void write_ply(const writing* w) {
    static const char* const integers[2][3] = {{"char", "short", "int"}, {"uchar", "ushort", "uint"}};
    char text[96];
    snprintf(text, sizeof text, "ply\nformat binary_little_endian 1.0\nelement vertex %lld\n",
             (long long)w->set->count);
    put_text(w, text);
    for (int64_t i = 0; i < w->count; i++) {
        const sap_cell cell = w->columns[i].cell;
        put_text(w, "property ");
        put_text(w, cell.kind == 'f' ? cell.bytes == 4 ? "float" : "double"
                                     : integers[cell.kind == 'u'][cell.bytes == 4 ? 2 : cell.bytes - 1]);
        put_text(w, " ");
        put_text(w, w->columns[i].name);
        put_text(w, "\n");
    }
    put_text(w, "end_header\n");
    put_rows(w);
}

static void put_pcd_line(const writing* w, const char* key, char what) {
    char text[16];
    put_text(w, key);
    for (int64_t i = 0; i < w->count; i++) {
        const sap_cell cell = w->columns[i].cell;
        const char* kind = cell.kind == 'f' ? "F" : cell.kind == 'i' ? "I" : "U";
        put_text(w, " ");
        if (what == 'n') put_text(w, w->columns[i].name);
        if (what == 's') snprintf(text, sizeof text, "%d", (int)cell.bytes);
        if (what == 't') snprintf(text, sizeof text, "%s", kind);
        if (what == 'c') snprintf(text, sizeof text, "1");
        if (what != 'n') put_text(w, text);
    }
    put_text(w, "\n");
}

static void write_pcd(const writing* w) {
    char text[160];
    put_text(w, "# .PCD v0.7 - Point Cloud Data file format\nVERSION 0.7\n");
    put_pcd_line(w, "FIELDS", 'n');
    put_pcd_line(w, "SIZE", 's');
    put_pcd_line(w, "TYPE", 't');
    put_pcd_line(w, "COUNT", 'c');
    snprintf(text, sizeof text, "WIDTH %lld\nHEIGHT 1\nVIEWPOINT 0 0 0 1 0 0 0\nPOINTS %lld\nDATA binary\n",
             (long long)w->set->count, (long long)w->set->count);
    put_text(w, text);
    put_rows(w);
}

// Without fields, and in the formats that tables have, they are a table.
static sap_status write_table(sap_device* device, const char* path, sap_format format, const sap_point_set* set) {
    const sap_table table = {.values = set->real_bits == 64 ? (const void*)set->coords_f64 : (const void*)set->coords,
                             .rows = set->count,
                             .columns = set->dims,
                             .number = set->real_bits == 64 ? SAP_FLOAT64 : SAP_FLOAT32};
    return sap_table_write(device, path, format, table);
}

static sap_status write_columns(sap_device* device, const char* path, sap_format format, const sap_point_set* set) {
    sap_output output;
    writing w = {.output = &output, .set = set};
    output.device = device;
    w.bytes = ((size_t)set->dims + (size_t)set->field_count + 1) * sizeof *w.columns;
    w.columns = sap_memory_allocate_zero(device, w.bytes);
    if (!w.columns) return sap_fail(device, SAP_ERROR_MEMORY, "no memory for the list of columns");
    sap_status status = lay_out(&w, format);
    if (status == SAP_OK) status = sap_output_open(&output, device, path);
    if (status == SAP_OK) {
        if (format == SAP_FORMAT_CSV) write_csv(&w, sap_csv_separator(path));
        if (format == SAP_FORMAT_XYZ) write_xyz(&w);
        if (format == SAP_FORMAT_NPY) write_npy(&w);
        if (format == SAP_FORMAT_PLY) write_ply(&w);
        if (format == SAP_FORMAT_PCD) write_pcd(&w);
        status = sap_output_close(&output);
    }
    sap_memory_release(device, w.columns, w.bytes);
    return status;
}

// ---- Checks.

static sap_status check_set(sap_device* device, const sap_point_set* set) {
    if (!set) return sap_fail(device, SAP_ERROR_ARGUMENT, "points: is NULL");
    if (set->count < 0) return sap_fail(device, SAP_ERROR_ARGUMENT, "points.count: is negative");
    if (set->dims < 1 || set->dims > SAP_MAX_DIMS)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "points.dims: is %d; it must be 1 to %d", (int)set->dims,
                        SAP_MAX_DIMS);
    if (set->real_bits != 32 && set->real_bits != 64)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "points.real_bits: is %d; it must be 32 or 64",
                        (int)set->real_bits);
    if (set->count && !(set->real_bits == 64 ? (const void*)set->coords_f64 : (const void*)set->coords))
        return sap_fail(device, SAP_ERROR_ARGUMENT, "points.%s: is NULL",
                        set->real_bits == 64 ? "coords_f64" : "coords");
    if (set->field_count < 0 || set->field_count > SAP_MOST_FIELDS)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "points.field_count: is %d; it must be 0 to %d",
                        (int)set->field_count, SAP_MOST_FIELDS);
    if (set->field_count && !set->fields) return sap_fail(device, SAP_ERROR_ARGUMENT, "points.fields: is NULL");
    for (int32_t f = 0; f < set->field_count; f++) {
        const sap_field* field = &set->fields[f];
        if (!field->name || !*field->name)
            return sap_fail(device, SAP_ERROR_ARGUMENT, "points.fields: field %d has no name", (int)f);
        if ((int)field->type < SAP_FIELD_U8 || field->type > SAP_FIELD_F64)
            return sap_fail(device, SAP_ERROR_ARGUMENT, "points.fields: '%.64s' has the unknown type %d", field->name,
                            (int)field->type);
        if (!field->values && set->count)
            return sap_fail(device, SAP_ERROR_ARGUMENT, "points.fields: '%.64s' has no values", field->name);
    }
    return SAP_OK;
}

sap_status sap_points_write(sap_device* device, const char* path, sap_format format, const sap_point_set* points,
                            const sap_points_write_options* options) {
    if (!device) return SAP_ERROR_ARGUMENT;
    if (!path) return sap_fail(device, SAP_ERROR_ARGUMENT, "path: is NULL");
    const double scale = options ? options->scale : 0;
    sap_status status = check_set(device, points);
    if (status == SAP_OK && options) status = sap_reserved_check(device, options->reserved, "options");
    if (status == SAP_OK && !(scale >= 0 && isfinite(scale)))
        status = sap_fail(device, SAP_ERROR_ARGUMENT, "options.scale: is %g; it must be finite, and at least 0", scale);
    if (status == SAP_OK) status = sap_write_format(device, path, true, &format);
    if (status != SAP_OK) return status;
    if (format == SAP_FORMAT_LAS || format == SAP_FORMAT_LAZ)
        return sap_las_write(device, path, format == SAP_FORMAT_LAZ, points, scale);
    if (format == SAP_FORMAT_PCD && points->dims > 3)
        return sap_fail(device, SAP_ERROR_UNSUPPORTED, "PCD has three coordinates, but points have %d",
                        (int)points->dims);
    if (!points->field_count && format != SAP_FORMAT_PCD) return write_table(device, path, format, points);
    return write_columns(device, path, format, points);
}
