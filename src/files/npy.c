// NPY 1.0, 2.0 and 3.0: a line of Python (a dictionary of three entries), then the numbers.
#include "files/npy.h"
#include "base/assert.h"
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

static sap_status take_type(npy_text* text, sap_npy_header* header) {
    const char* start = text->at;
    sap_span type;
    if (!take_quoted(text, &type))
        return bad_text(text, SAP_ERROR_UNSUPPORTED, "the array has named fields; save a plain matrix of numbers");
    static const char* const orders = "<>|=";
    const char* c = type.first;
    bool big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
    if (c < type.last && *c && strchr(orders, *c)) {
        if (*c == '<' || *c == '>') big = *c == '>';
        c++;
    }
    int64_t bytes = 0;
    char kind = 0;
    if (c < type.last) kind = *c;
    bool known = kind && sap_span_count((sap_span){c + 1, type.last}, &bytes);
    if (kind == 'b' && bytes == 1) kind = 'u'; // False and True are 0 and 1
    if (kind != 'f' && kind != 'i' && kind != 'u') known = false;
    if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8) known = false;
    if (kind == 'f' && bytes == 1) known = false;
    text->at = known ? text->at : start;
    if (!known)
        return bad_text(text, SAP_ERROR_UNSUPPORTED,
                        "the numbers are not plain integers or floats of up to 64 bits; save them as '<f4' or '<f8'");
    header->cell = (sap_cell){kind, (uint8_t)bytes, big};
    return SAP_OK;
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

sap_status sap_read_npy(const sap_source* source, sap_point_set** set) {
    sap_npy_header h = {.axes = 0};
    sap_status status = sap_npy_header_read(source, 2, &h);
    if (status != SAP_OK) return status;
    const int64_t rows = h.sides[0], width = h.sides[1];
    if (width < 1 || width > SAP_MAX_DIMS)
        return sap_bad_byte(source, SAP_ERROR_UNSUPPORTED, VERSION_BYTES,
                            "%lld columns, but points have 1 to %d coordinates", (long long)width, SAP_MAX_DIMS);
    size_t left = source->size - h.data, row = (size_t)width * h.cell.bytes;
    if ((uint64_t)rows > left / row)
        return sap_bad_byte(
            source, SAP_ERROR_FORMAT, (int64_t)source->size,
            "the file ends too early: its header says there are %lld rows of %zu bytes; it is truncated; get it again",
            (long long)rows, row);
    sap_column columns[SAP_MAX_DIMS];
    int32_t dims = (int32_t)width;
    bool fits = true;
    for (int32_t axis = 0; axis < dims; axis++) {
        size_t cells_before = (size_t)axis * (h.fortran_order ? (size_t)rows : 1);
        columns[axis].first = source->bytes + h.data + cells_before * h.cell.bytes;
        columns[axis].stride = h.fortran_order ? h.cell.bytes : row;
        columns[axis].cell = h.cell;
        fits = fits && sap_column_fits_float(&columns[axis], rows);
    }
    sap_point_set* made;
    sap_sink sink;
    status = sap_columns_check(source, columns, dims, rows);
    if (status != SAP_OK) return status;
    status = sap_point_set_make(source, rows, dims, fits, &made, &sink);
    if (status != SAP_OK) return status;
    sap_columns_store(columns, dims, rows, &sink);
    *set = made;
    return SAP_OK;
}
