#include "files/fields.h"
#include "base/assert.h"
#include "device/device.h"
#include "files/set.h"
#include <stdio.h>
#include <string.h>

sap_status sap_field_drafts_add(const sap_source* source, sap_field_drafts* drafts, const sap_field_draft* draft) {
    enum { LEAST = 16 };
    if (drafts->count == SAP_MOST_FIELDS)
        return sap_bad_byte(source, SAP_ERROR_UNSUPPORTED, -1,
                            "points have more than %d fields beside their coordinates; leave some out",
                            SAP_MOST_FIELDS);
    const size_t used = (size_t)drafts->count * sizeof *draft;
    if (used == drafts->allocated) {
        const size_t bytes = used ? 2 * used : LEAST * sizeof *draft;
        sap_field_draft* list = sap_memory_allocate(source->device, bytes);
        if (!list) return sap_bad_byte(source, SAP_ERROR_MEMORY, -1, "no memory for the list of fields");
        if (used) memcpy(list, drafts->list, used);
        sap_memory_release(source->device, drafts->list, drafts->allocated);
        drafts->list = list;
        drafts->allocated = bytes;
    }
    drafts->list[drafts->count++] = *draft;
    return SAP_OK;
}

void sap_field_drafts_release(const sap_source* source, sap_field_drafts* drafts) {
    sap_memory_release(source->device, drafts->list, drafts->allocated);
    *drafts = (sap_field_drafts){NULL, 0, 0};
}

// ---- Types.

static const sap_cell cells[] = {{'u', 1, false}, {'i', 1, false}, {'u', 2, false}, {'i', 2, false}, {'u', 4, false},
                                 {'i', 4, false}, {'u', 8, false}, {'i', 8, false}, {'f', 4, false}, {'f', 8, false}};

size_t sap_field_bytes(sap_field_type type) { return cells[type].bytes; }

sap_cell sap_field_cell(sap_field_type type) {
    sap_cell cell = cells[type];
    cell.big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
    return cell;
}

sap_field_type sap_field_type_of(sap_cell cell) {
    for (int type = SAP_FIELD_U8; type < SAP_FIELD_F64; type++)
        if (cells[type].kind == cell.kind && cells[type].bytes == cell.bytes) return (sap_field_type)type;
    return cell.kind == 'f' && cell.bytes < 4 ? SAP_FIELD_F32 : SAP_FIELD_F64;
}

// ---- Names and memory.

// Room for what follows a name, as well as for one that is made.
enum { MORE_BYTES = 32, LONGEST_NAME = 200 };

static size_t name_bytes(sap_span name) {
    const size_t length = (size_t)(name.last - name.first);
    return (length < LONGEST_NAME ? length : LONGEST_NAME) + MORE_BYTES;
}

static bool is_taken(const sap_field* fields, int64_t count, const char* name) {
    for (int64_t i = 0; i < count; i++)
        if (!strcmp(fields[i].name, name)) return true;
    return false;
}

// Names of a file that are not there twice; control characters become '?'.
static void name_field(const sap_field_draft* draft, const sap_field* before, int64_t count, char* name) {
    size_t length = name_bytes(draft->name) - MORE_BYTES;
    if (length) memcpy(name, draft->name.first, length);
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)name[i] < ' ' || name[i] == 0x7f) name[i] = '?';
    name[length] = 0;
    if (!length) length = (size_t)snprintf(name, MORE_BYTES, "column%lld", (long long)draft->number);
    if (draft->part >= 0) length += (size_t)snprintf(name + length, MORE_BYTES / 2, "_%lld", (long long)draft->part);
    for (int again = 2; is_taken(before, count, name); again++) snprintf(name + length, MORE_BYTES / 2, "_%d", again);
}

sap_status sap_fields_make(const sap_source* source, const sap_field_drafts* drafts, sap_point_set* set) {
    sap_owned_set* owned = (sap_owned_set*)set;
    SAP_ASSERT(!owned->fields && drafts->count <= SAP_MOST_FIELDS);
    if (!drafts->count) return SAP_OK;
    size_t names = (size_t)drafts->count * sizeof(sap_field), bytes = names;
    bool fits = true;
    for (int64_t i = 0; i < drafts->count; i++) bytes += name_bytes(drafts->list[i].name);
    bytes = sap_align(bytes);
    size_t at = bytes;
    for (int64_t i = 0; i < drafts->count && fits; i++) {
        size_t values;
        const size_t one = sap_field_bytes(sap_field_type_of(drafts->list[i].column.cell));
        fits = sap_size_multiply((uint64_t)set->count, one, &values) && sap_size_add(bytes, sap_align(values), &bytes);
    }
    unsigned char* memory = fits ? sap_memory_allocate(source->device, bytes) : NULL;
    if (!memory)
        return sap_bad_byte(source, SAP_ERROR_MEMORY, -1, "no memory for %lld fields of %lld points",
                            (long long)drafts->count, (long long)set->count);
    owned->fields = memory;
    owned->fields_bytes = bytes;
    sap_field* fields = (sap_field*)(void*)memory;
    for (int64_t i = 0; i < drafts->count; i++) {
        const sap_field_type type = sap_field_type_of(drafts->list[i].column.cell);
        char* name = (char*)memory + names;
        name_field(&drafts->list[i], fields, i, name);
        names += name_bytes(drafts->list[i].name);
        fields[i] = (sap_field){name, type, memory + at};
        at += sap_align((size_t)set->count * sap_field_bytes(type));
    }
    SAP_ASSERT(at == bytes);
    set->fields = fields;
    set->field_count = (int32_t)drafts->count;
    return SAP_OK;
}

static void* values_of(const sap_field* field) { return (void*)(uintptr_t)field->values; }

// Whether a cell's bytes are those of a value, but for their order.
static bool is_value(sap_cell cell) { return cell.kind != 'f' || cell.bytes >= 4; }

sap_status sap_fields_take(const sap_source* source, const sap_field_drafts* drafts, sap_point_set* set) {
    const sap_status status = sap_fields_make(source, drafts, set);
    const bool big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
    for (int64_t f = 0; status == SAP_OK && f < drafts->count; f++) {
        const sap_column* column = &drafts->list[f].column;
        const size_t bytes = column->cell.bytes;
        const bool turned = column->cell.big_endian != big, plain = is_value(column->cell);
        unsigned char* to = values_of(&set->fields[f]);
        for (int64_t i = 0; i < set->count; i++) {
            const unsigned char* from = column->first + (size_t)i * column->stride;
            if (!plain)
                ((float*)(void*)to)[i] = (float)sap_cell_double(from, column->cell);
            else if (!turned)
                memcpy(to + (size_t)i * bytes, from, bytes);
            for (size_t b = 0; plain && turned && b < bytes; b++) to[(size_t)i * bytes + b] = from[bytes - 1 - b];
        }
    }
    return status;
}

sap_status sap_fields_keep_las(const sap_source* source, const void* bytes, size_t size, size_t more,
                               sap_point_set* set) {
    sap_owned_set* owned = (sap_owned_set*)set;
    SAP_ASSERT(!owned->las);
    owned->las = sap_memory_allocate(source->device, size + more);
    if (!owned->las)
        return sap_bad_byte(source, SAP_ERROR_MEMORY, -1, "no memory for the %zu bytes of a header", size + more);
    memcpy(owned->las, bytes, size);
    set->las = owned->las;
    set->las_size = size + more;
    return SAP_OK;
}

// ---- Values.

sap_value sap_field_value(const sap_field* field, int64_t row) {
    const unsigned char* at = (const unsigned char*)field->values + (size_t)row * sap_field_bytes(field->type);
    const sap_cell cell = sap_field_cell(field->type);
    sap_value value = {.kind = cell.kind};
    if (cell.kind == 'f') {
        value.real = sap_cell_double(at, cell);
        return value;
    }
    uint64_t bits = 0;
    for (size_t b = cell.bytes; b-- > 0;) bits = bits << 8 | at[cell.big_endian ? cell.bytes - 1U - b : b];
    const int unused = 64 - 8 * cell.bytes;
    value.whole = cell.kind == 'i' ? (int64_t)(bits << unused) >> unused : (int64_t)bits;
    if (value.whole >= 0 || cell.kind == 'i') value.kind = 'i';
    return value;
}

double sap_value_double(const sap_value* value) {
    return value->kind == 'f'   ? value->real
           : value->kind == 'u' ? (double)(uint64_t)value->whole
                                : (double)value->whole;
}

const sap_field* sap_field_named(const sap_point_set* set, const char* name) {
    for (int32_t i = 0; i < set->field_count; i++)
        if (!strcmp(set->fields[i].name, name)) return &set->fields[i];
    return NULL;
}

// ---- Text.

bool sap_decimal_whole(const sap_decimal* decimal, int64_t* value) {
    if (decimal->kind != SAP_DECIMAL_NUMBER || !decimal->exact || decimal->exponent < 0) return false;
    for (const char* at = decimal->first; at < decimal->last; at++)
        if (*at == '.' || *at == 'e' || *at == 'E') return false;
    uint64_t whole = decimal->mantissa;
    for (int64_t i = 0; whole && i < decimal->exponent; i++)
        if (__builtin_mul_overflow(whole, 10, &whole)) return false;
    if (whole > INT64_MAX) return false;
    *value = decimal->negative ? -(int64_t)whole : (int64_t)whole;
    return true;
}

void sap_text_column_look(sap_text_column* column, const sap_decimal* decimal) {
    int64_t whole;
    if (!sap_decimal_whole(decimal, &whole)) {
        column->has_reals = true;
        column->has_doubles = column->has_doubles || !sap_decimal_fits_float(decimal);
        return;
    }
    if (whole < column->least) column->least = whole;
    if (whole > column->most) column->most = whole;
    if (column->has_doubles || sap_decimal_fits_float(decimal)) return;
    column->has_longs = true; // no float, if others are real
}

bool sap_is_color(sap_span name) {
    return sap_span_equal(name, "red") || sap_span_equal(name, "green") || sap_span_equal(name, "blue") ||
           sap_span_equal(name, "alpha");
}

sap_cell sap_text_column_cell(const sap_text_column* column, sap_span name, int64_t color_most) {
    if (column->has_reals)
        return sap_field_cell(column->has_doubles || column->has_longs ? SAP_FIELD_F64 : SAP_FIELD_F32);
    if (sap_is_color(name) && column->least >= 0 && color_most <= UINT8_MAX) return sap_field_cell(SAP_FIELD_U8);
    return sap_field_cell(column->least < INT32_MIN || column->most > INT32_MAX ? SAP_FIELD_I64 : SAP_FIELD_I32);
}

// The whole number nearest to a double within the bounds of a type of so many bits; 0 for what is no number.
static int64_t rounded(double value, int bits, bool with_sign) {
    const double low = with_sign ? -ldexp(1, bits - 1) : 0, high = ldexp(1, with_sign ? bits - 1 : bits);
    if (isnan(value)) return 0;
    value = nearbyint(value);
    if (value <= low) return with_sign ? (int64_t)(UINT64_MAX << (bits - 1)) : 0;
    if (value >= high) return (int64_t)(UINT64_MAX >> (64 - bits + with_sign));
    return with_sign || value < 0x1p63 ? (int64_t)value : (int64_t)(uint64_t)value;
}

void sap_field_put(const sap_field* field, int64_t row, const sap_decimal* decimal) {
    if (field->type == SAP_FIELD_F32) {
        ((float*)values_of(field))[row] = sap_decimal_float(decimal);
    } else if (field->type == SAP_FIELD_F64) {
        ((double*)values_of(field))[row] = sap_decimal_double(decimal);
    } else {
        const size_t bytes = sap_field_bytes(field->type);
        const sap_cell cell = sap_field_cell(field->type);
        const int bits = (int)(8 * bytes);
        int64_t whole, low = cell.kind == 'i' ? (int64_t)(UINT64_MAX << (bits - 1)) : 0;
        const bool fits = sap_decimal_whole(decimal, &whole) && whole >= low &&
                          (bits == 64 || whole < (int64_t)1 << (cell.kind == 'i' ? bits - 1 : bits));
        if (!fits) whole = rounded(sap_decimal_double(decimal), bits, cell.kind == 'i');
        unsigned char* at = (unsigned char*)values_of(field) + (size_t)row * bytes;
        for (size_t b = 0; b < bytes; b++)
            at[cell.big_endian ? bytes - 1 - b : b] = (unsigned char)((uint64_t)whole >> 8 * b);
    }
}
