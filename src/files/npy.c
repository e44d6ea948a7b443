// NPY 1.0, 2.0 and 3.0: a line of Python (a dictionary of three entries), then the numbers.
#include "files/npy.h"
#include "base/assert.h"
#include "device/memory.h"
#include <stdio.h>
#include <string.h>

enum { MAGIC_BYTES = 6, VERSION_BYTES = 8 };

// Reads the dictionary; `at` moves along, and stays where the text is not as it must be.
typedef struct npy_text {
    const sap_source* source;
    const char *at, *last;
} npy_text;

static void skip_blanks(npy_text* text) {
    while (text->at < text->last && (*text->at == ' ' || *text->at == '\n' || *text->at == '\t')) text->at++;
}

static sap_status bad_text(const npy_text* text, sap_status status, const char* what) {
    int64_t byte = (const unsigned char*)text->at - text->source->bytes;
    return sap_bad_byte(text->source, status, byte, "%s", what);
}

// Takes one character (after blanks); false if another stands there.
static bool take(npy_text* text, char wanted) {
    skip_blanks(text);
    if (text->at == text->last || *text->at != wanted) return false;
    text->at++;
    return true;
}

static bool take_word(npy_text* text, const char* word) {
    skip_blanks(text);
    size_t length = strlen(word);
    if ((size_t)(text->last - text->at) < length || memcmp(text->at, word, length) != 0) return false;
    text->at += length;
    return true;
}

// A text in single or double quotes.
static bool take_quoted(npy_text* text, sap_span* value) {
    skip_blanks(text);
    if (text->at == text->last || (*text->at != '\'' && *text->at != '"')) return false;
    const char* end = memchr(text->at + 1, *text->at, (size_t)(text->last - text->at - 1));
    if (!end) return false;
    *value = (sap_span){text->at + 1, end};
    text->at = end + 1;
    return true;
}

// Reads a type such as "<f4": its kind, and how many bytes a value has.
static bool type_of(sap_span type, char* kind, int64_t* bytes, bool* big) {
    static const char* const orders = "<>|=";
    const char* c = type.first;
    *big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
    if (c < type.last && *c && strchr(orders, *c)) {
        if (*c == '<' || *c == '>') *big = *c == '>';
        c++;
    }
    *kind = 0;
    if (c < type.last) *kind = *c;
    if (!*kind || !sap_span_count((sap_span){c + 1, type.last}, bytes) || *bytes > INT32_MAX) return false;
    if (*kind == 'U') *bytes *= 4;                // characters
    if (*kind == 'b' && *bytes == 1) *kind = 'u'; // False and True are 0 and 1
    return true;
}

// A plain number that cells can hold.
static bool cell_of(char kind, int64_t bytes, bool big, sap_cell* cell) {
    if (kind != 'f' && kind != 'i' && kind != 'u') return false;
    if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8) return false;
    *cell = (sap_cell){kind, (uint8_t)bytes, big};
    return kind != 'f' || bytes > 1;
}

static const char not_plain[] =
    "the numbers are not plain integers or floats of up to 64 bits; save them as '<f4' or '<f8'";

// Takes a field, and notes it if it is a coordinate.
static sap_status take_field(npy_text* text, sap_npy_fields* fields) {
    const char* start = text->at;
    sap_span name, type;
    char kind;
    int64_t bytes;
    bool big;
    if (!take(text, '(') || !take_quoted(text, &name) || !take(text, ',') || !take_quoted(text, &type) ||
        !type_of(type, &kind, &bytes, &big) || !take(text, ')')) {
        text->at = start;
        return bad_text(text, SAP_ERROR_UNSUPPORTED,
                        "a field of the array is more than a name and a number; save a plain matrix of numbers");
    }
    char shown[SAP_SHOWN_BYTES];
    size_t length = strlen(fields->names);
    snprintf(fields->names + length, sizeof fields->names - length, "%s%s", fields->count ? ", " : "",
             sap_span_show(name, shown));
    fields->count++;
    const sap_source* source = text->source;
    int32_t axis = sap_chosen_count(source) ? sap_chosen_axis(source, name, fields->count) : sap_axis_named(name, true);
    if (axis >= 0 && (axis < 3 || sap_chosen_count(source)) && !fields->found[axis]) {
        text->at = start;
        if (!cell_of(kind, bytes, big, &fields->cell[axis])) return bad_text(text, SAP_ERROR_UNSUPPORTED, not_plain);
        text->at = type.last + 1;
        take(text, ')');
        fields->found[axis] = true;
        fields->offset[axis] = fields->row_bytes;
    } else if (fields->others) {
        sap_field_draft other = {.name = name, .part = -1, .column.stride = fields->row_bytes};
        const bool plain = cell_of(kind, bytes, big, &other.column.cell);
        const sap_status status = plain ? sap_field_drafts_add(source, fields->others, &other) : SAP_OK;
        if (status != SAP_OK) return status;
        fields->left_out |= !plain;
    }
    if ((uint64_t)bytes > SIZE_MAX - fields->row_bytes)
        return bad_text(text, SAP_ERROR_RANGE, "the fields of a row are more bytes than memory can hold");
    fields->row_bytes += (size_t)bytes;
    return SAP_OK;
}

static sap_status take_fields(npy_text* text, sap_npy_fields* fields) {
    sap_status status = SAP_OK;
    while (status == SAP_OK && !take(text, ']')) {
        status = take_field(text, fields);
        if (status != SAP_OK || take(text, ',')) continue;
        if (take(text, ']')) break;
        return bad_text(text, SAP_ERROR_FORMAT, "the header is truncated or damaged; save the array again");
    }
    if (status == SAP_OK && fields->count == 0)
        return bad_text(text, SAP_ERROR_UNSUPPORTED, "the array has no fields; save a plain matrix of numbers");
    return status;
}

static sap_status take_type(npy_text* text, sap_npy_header* header) {
    const char* start = text->at;
    sap_span type;
    char kind;
    int64_t bytes;
    bool big;
    if (header->most_axes < SAP_NPY_AXES && take(text, '[')) return take_fields(text, &header->fields);
    if (!take_quoted(text, &type))
        return bad_text(text, SAP_ERROR_UNSUPPORTED, "the array has named fields; save a plain matrix of numbers");
    if (type_of(type, &kind, &bytes, &big) && cell_of(kind, bytes, big, &header->cell)) return SAP_OK;
    text->at = start;
    return bad_text(text, SAP_ERROR_UNSUPPORTED, not_plain);
}

// "(rows,)", "(rows, columns)" and so on.
static sap_status take_shape(npy_text* text, sap_npy_header* header) {
    int count = 0;
    for (int i = 0; i < SAP_NPY_AXES; i++) header->sides[i] = i > 0;
    if (!take(text, '(')) return bad_text(text, SAP_ERROR_FORMAT, "the shape is not a tuple; save the array again");
    while (!take(text, ')')) {
        skip_blanks(text);
        sap_span number = {text->at, text->at};
        while (number.last < text->last && *number.last >= '0' && *number.last <= '9') number.last++;
        int64_t side;
        if (!sap_span_count(number, &side))
            return bad_text(text, SAP_ERROR_FORMAT,
                            "the shape has an entry that is not a whole number; save the array again");
        text->at = number.last;
        if (count == header->most_axes)
            return bad_text(text, SAP_ERROR_UNSUPPORTED,
                            count == 2 ? "the array has more than two axes; reshape it to a matrix"
                                       : "the array has more than three axes; save one volume of it");
        header->sides[count++] = side;
        if (take(text, ',')) continue;
        if (take(text, ')')) break;
        return bad_text(text, SAP_ERROR_FORMAT, "the shape does not end; save the array again");
    }
    if (count == 0)
        return bad_text(text, SAP_ERROR_UNSUPPORTED, "the array is a single number; reshape it to a matrix");
    SAP_ASSERT(count <= SAP_NPY_AXES && text->at <= text->last);
    header->axes = count;
    return SAP_OK;
}

static sap_status take_order(npy_text* text, sap_npy_header* header) {
    header->fortran_order = take_word(text, "True");
    if (!header->fortran_order && !take_word(text, "False"))
        return bad_text(text, SAP_ERROR_FORMAT, "fortran_order is neither True nor False; save the array again");
    return SAP_OK;
}

static sap_status take_dictionary(npy_text* text, sap_npy_header* header) {
    static const struct {
        const char* key;
        sap_status (*take)(npy_text* text, sap_npy_header* header);
    } entries[] = {{"descr", take_type}, {"fortran_order", take_order}, {"shape", take_shape}};
    unsigned found = 0;
    if (!take(text, '{'))
        return bad_text(text, SAP_ERROR_FORMAT, "the header is not a dictionary; save the array again");
    while (!take(text, '}')) {
        sap_span key;
        skip_blanks(text);
        const char* start = text->at;
        if (!take_quoted(text, &key) || !take(text, ':'))
            return bad_text(text, SAP_ERROR_FORMAT, "the header is truncated or damaged; save the array again");
        unsigned entry = 0;
        while (entry < 3 && !sap_span_equal(key, entries[entry].key)) entry++;
        if (entry == 3 || found & 1u << entry) {
            text->at = start;
            return bad_text(text, SAP_ERROR_FORMAT, "the header has an entry too many; save the array again");
        }
        found |= 1u << entry;
        skip_blanks(text);
        sap_status status = entries[entry].take(text, header);
        if (status != SAP_OK) return status;
        if (take(text, ',')) continue;
        if (take(text, '}')) break;
        return bad_text(text, SAP_ERROR_FORMAT, "the header is truncated or damaged; save the array again");
    }
    if (found != 7)
        return bad_text(text, SAP_ERROR_FORMAT, "the header lacks descr, fortran_order or shape; save the array again");
    return SAP_OK;
}

bool sap_npy_begins(const sap_source* source) {
    size_t shown = source->size < MAGIC_BYTES ? source->size : MAGIC_BYTES;
    return shown && !memcmp(source->bytes, "\x93NUMPY", shown);
}

sap_status sap_npy_header_read(const sap_source* source, int most_axes, sap_npy_header* header) {
    const unsigned char* bytes = source->bytes;
    if (!sap_npy_begins(source))
        return sap_bad_byte(source, SAP_ERROR_FORMAT, 0, "this is not an NPY file: its first bytes are not \\x93NUMPY");
    if (source->size < VERSION_BYTES + 2)
        return sap_bad_byte(source, SAP_ERROR_FORMAT, (int64_t)source->size,
                            "the file ends within its first 10 bytes; it is truncated; get it again");
    unsigned version = bytes[MAGIC_BYTES];
    if (version < 1 || version > 3 || bytes[MAGIC_BYTES + 1] != 0)
        return sap_bad_byte(source, SAP_ERROR_UNSUPPORTED, MAGIC_BYTES, "NPY version %u.%u is not one of 1.0, 2.0, 3.0",
                            version, (unsigned)bytes[MAGIC_BYTES + 1]);
    size_t length_bytes = version == 1 ? 2 : 4, start = VERSION_BYTES + length_bytes, length = 0;
    if (source->size >= start)
        for (size_t i = length_bytes; i-- > 0;) length = length << 8 | bytes[VERSION_BYTES + i];
    if (source->size < start || length > source->size - start)
        return sap_bad_byte(source, SAP_ERROR_FORMAT, VERSION_BYTES,
                            "the header is longer than the file; the file is truncated; get it again");
    header->data = start + length;
    SAP_ASSERT(header->data <= source->size && most_axes <= SAP_NPY_AXES);
    header->most_axes = most_axes;
    npy_text text = {source, (const char*)bytes + start, (const char*)bytes + header->data};
    return take_dictionary(&text, header);
}

// Checks the columns of `rows` rows and makes points of them.
static sap_status take_columns(const sap_source* source, sap_column* columns, int32_t dims, int64_t rows,
                               const sap_field_drafts* others, sap_point_set** set) {
    bool fits = true;
    int64_t first;
    rows = sap_part_take(source, rows, &first);
    for (int32_t axis = 0; axis < dims; axis++) columns[axis].first += (size_t)first * columns[axis].stride;
    for (int32_t axis = 0; axis < dims; axis++) fits = fits && sap_column_fits_float(&columns[axis], rows);
    sap_point_set* made;
    sap_sink sink;
    sap_status status = sap_columns_check(source, columns, dims, rows);
    if (status == SAP_OK) status = sap_point_set_make(source, rows, dims, fits, &made, &sink);
    if (status != SAP_OK) return status;
    sap_columns_store(columns, dims, rows, &sink);
    status = sap_fields_take(source, others, made);
    if (status == SAP_OK)
        *set = made;
    else
        sap_point_set_free(made);
    return status;
}

static sap_status too_short(const sap_source* source, int64_t rows) {
    return sap_bad_byte(source, SAP_ERROR_FORMAT, (int64_t)source->size,
                        "the file ends too early: its header says there are %lld rows; it is truncated; get it again",
                        (long long)rows);
}

// Points in fields of a structured array.
static sap_status read_fields(const sap_source* source, const sap_npy_header* h, sap_field_drafts* others,
                              sap_point_set** set) {
    const sap_npy_fields* fields = &h->fields;
    const int32_t chosen = sap_chosen_count(source);
    const int32_t dims = chosen ? chosen : fields->found[2] ? 3 : fields->found[1] ? 2 : 1;
    for (int32_t axis = 0; axis < dims; axis++) {
        if (fields->found[axis]) continue;
        if (chosen)
            return sap_chosen_missing(source, axis, (sap_span){fields->names, fields->names + strlen(fields->names)});
        return sap_bad_byte(source, SAP_ERROR_UNSUPPORTED, VERSION_BYTES,
                            "the array has the fields %s, but none is '%c'; choose columns, or save a plain matrix",
                            fields->names, "xyz"[axis]);
    }
    const int64_t rows = h->sides[0];
    if (h->sides[1] != 1)
        return sap_bad_byte(source, SAP_ERROR_UNSUPPORTED, VERSION_BYTES,
                            "the array has named fields and two axes; reshape it to one");
    SAP_ASSERT(fields->row_bytes > 0);
    if ((uint64_t)rows > (source->size - h->data) / fields->row_bytes) return too_short(source, rows);
    sap_column columns[SAP_MAX_DIMS];
    for (int32_t axis = 0; axis < dims; axis++) {
        const unsigned char* first = source->bytes + h->data + (rows ? fields->offset[axis] : 0);
        columns[axis] = (sap_column){first, fields->row_bytes, fields->cell[axis]};
    }
    for (int64_t i = 0; i < others->count; i++) {
        sap_column* column = &others->list[i].column;
        *column = (sap_column){source->bytes + h->data + (rows ? column->stride : 0), fields->row_bytes, column->cell};
    }
    if (fields->left_out) (void)sap_bad_byte(source, SAP_OK, -1, "fields that are no plain numbers are left out");
    return take_columns(source, columns, dims, rows, others, set);
}

// The columns of a plain array that are not chosen.
static sap_status draft_columns(const sap_source* source, const sap_npy_header* h, sap_field_drafts* others) {
    const int64_t rows = h->sides[0], width = h->sides[1];
    const size_t bytes = h->cell.bytes;
    sap_status status = SAP_OK;
    for (int64_t c = 0; c < width && status == SAP_OK; c++) {
        const size_t before = rows ? (size_t)c * (h->fortran_order ? (size_t)rows : 1) : 0;
        const sap_field_draft other = {.number = c + 1,
                                       .part = -1,
                                       .column = {source->bytes + h->data + before * bytes,
                                                  h->fortran_order ? bytes : (size_t)width * bytes, h->cell}};
        if (sap_chosen_axis(source, (sap_span){NULL, NULL}, c + 1) < 0)
            status = sap_field_drafts_add(source, others, &other);
    }
    return status;
}

static sap_status read_matrix(const sap_source* source, const sap_npy_header* header, sap_field_drafts* others,
                              sap_point_set** set) {
    const sap_npy_header h = *header;
    const int64_t rows = h.sides[0], width = h.sides[1];
    const int32_t chosen = sap_chosen_count(source);
    if (width < 1 || (width > SAP_MAX_DIMS && !chosen))
        return sap_bad_byte(source, SAP_ERROR_UNSUPPORTED, VERSION_BYTES,
                            "%lld columns, but points have 1 to %d coordinates", (long long)width, SAP_MAX_DIMS);
    size_t left = source->size - h.data, row;
    if (!sap_size_multiply((uint64_t)width, h.cell.bytes, &row) || (uint64_t)rows > left / row)
        return too_short(source, rows);
    sap_column columns[SAP_MAX_DIMS];
    int64_t places[SAP_MAX_DIMS];
    int32_t dims = chosen ? chosen : (int32_t)width;
    for (int32_t axis = 0; axis < dims; axis++) {
        places[axis] = axis;
        sap_span column = chosen ? source->chosen->columns[axis] : (sap_span){NULL, NULL};
        if (chosen && (!sap_span_count(column, &places[axis]) || --places[axis] < 0 || places[axis] >= width))
            return sap_chosen_missing(source, axis, (sap_span){NULL, NULL});
        size_t cells_before = rows ? (size_t)places[axis] * (h.fortran_order ? (size_t)rows : 1) : 0;
        columns[axis].first = source->bytes + h.data + cells_before * h.cell.bytes;
        columns[axis].stride = h.fortran_order ? h.cell.bytes : row;
        columns[axis].cell = h.cell;
    }
    const sap_status status = chosen && source->with_fields ? draft_columns(source, &h, others) : SAP_OK;
    return status == SAP_OK ? take_columns(source, columns, dims, rows, others, set) : status;
}

sap_status sap_read_npy(const sap_source* source, sap_point_set** set) {
    sap_field_drafts others = {NULL, 0, 0};
    sap_npy_header h = {.fields.others = source->with_fields ? &others : NULL};
    sap_status status = sap_npy_header_read(source, 2, &h);
    if (status == SAP_OK)
        status = h.fields.count ? read_fields(source, &h, &others, set) : read_matrix(source, &h, &others, set);
    sap_field_drafts_release(source, &others);
    return status;
}
