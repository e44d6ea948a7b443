// XYZ: numbers separated by blanks, one point a line. Two passes: the first checks and counts, the second stores.
#include "base/assert.h"
#include "files/source.h"
#include <string.h>

// Cuts a comment off: '#' and what follows it, and all of a line that begins with "//".
static sap_span without_comment(sap_span line) {
    line = sap_span_trim(line);
    if (line.last - line.first >= 2 && line.first[0] == '/' && line.first[1] == '/') line.last = line.first;
    const char* comment = memchr(line.first, '#', (size_t)(line.last - line.first));
    if (comment) line.last = comment;
    return line;
}

static bool is_letter(char c) { return (c | 0x20) >= 'a' && (c | 0x20) <= 'z'; }

// `first`: of the first line that is not empty.
static sap_status bad_number(const sap_lines* lines, sap_span word, int32_t column, bool first) {
    char shown[SAP_SHOWN_BYTES];
    const char* remedy = sap_number_remedy(lines->source, word);
    if (sap_span_decimal_comma(word))
        remedy = "; write decimals with a point, or read the file as CSV if the comma separates columns";
    else if (memchr(word.first, ',', (size_t)(word.last - word.first)) ||
             memchr(word.first, ';', (size_t)(word.last - word.first)))
        remedy = "; read the file as CSV if commas or semicolons separate its columns";
    else if (!*remedy && first && column == 1 && (is_letter(*word.first) || *word.first == '"'))
        remedy = "; if this is a line of names, begin it with # or remove it";
    return sap_bad_line(lines->source, SAP_ERROR_FORMAT, lines->number, "value %d, '%s', is not a number%s",
                        (int)column, sap_span_show(word, shown), remedy);
}

// Which coordinate a column is, -1: none.
static int32_t axis_of(const sap_source* source, int32_t column) {
    enum { LEADING = 3 };
    if (sap_chosen_count(source)) return sap_chosen_axis(source, (sap_span){NULL, NULL}, (int64_t)column + 1);
    return source->more_columns && column >= LEADING ? -1 : column;
}

// Takes the numbers of one line; `columns` is how many there must be, 0 for the first line that has any.
static sap_status take_line(const sap_lines* lines, sap_span line, int32_t columns, sap_sink* sink, int64_t index,
                            int32_t* taken) {
    int32_t column = 0;
    for (sap_span word; sap_word_next(&line, &word); column++) {
        sap_decimal decimal;
        if (!sap_span_number(word, &decimal)) return bad_number(lines, word, column + 1, !columns);
        if (columns && column == columns)
            return sap_bad_line(lines->source, SAP_ERROR_FORMAT, lines->number,
                                "more than the %d numbers of the lines before; give all lines the same columns",
                                (int)columns);
        int32_t axis = axis_of(lines->source, column);
        if (axis < 0 && column < INT32_MAX - 1) continue;
        if (axis == SAP_MAX_DIMS || axis < 0)
            return sap_bad_line(lines->source, SAP_ERROR_UNSUPPORTED, lines->number,
                                "more than %d numbers; points have at most that many coordinates, so leave some out",
                                SAP_MAX_DIMS);
        if (!sap_sink_put(sink, &decimal, index + axis)) return sap_beyond_float(lines->source, lines->number, word);
    }
    if (column && column < columns)
        return sap_bad_line(lines->source, SAP_ERROR_FORMAT, lines->number,
                            "%d numbers, but %d in the lines before; give all lines the same columns", (int)column,
                            (int)columns);
    *taken = column;
    return SAP_OK;
}

// The number of points, if that is the first line and a line of more numbers follows; else -1. `behind` is the start of
// the text, then what follows the number.
static int64_t counted_points(sap_lines* behind) {
    sap_lines lines = *behind;
    sap_span line, word;
    int64_t count = -1;
    while (sap_line_next(&lines, &line)) {
        line = without_comment(line);
        if (!sap_word_next(&line, &word)) continue;
        bool alone = sap_span_trim(line).first == line.last;
        if (count >= 0) return alone ? -1 : count;
        if (!alone || !sap_span_count(word, &count)) return -1;
        *behind = lines;
    }
    return -1;
}

// How many coordinates points have in lines of so many numbers; a chosen column must be among them.
static sap_status count_dims(const sap_source* source, int32_t columns, int32_t* dims) {
    bool found[SAP_MAX_DIMS] = {false};
    *dims = 0;
    for (int32_t column = 0; column < columns; column++) {
        int32_t axis = axis_of(source, column);
        if (axis < 0) continue;
        SAP_ASSERT(axis < SAP_MAX_DIMS);
        found[axis] = true;
        if (axis >= *dims) *dims = axis + 1;
    }
    for (int32_t axis = 0; axis < sap_chosen_count(source); axis++)
        if (!found[axis]) return sap_chosen_missing(source, axis, (sap_span){NULL, NULL});
    return SAP_OK;
}

// One pass over all lines.
static sap_status pass(const sap_source* source, sap_sink* sink, int64_t* rows, int32_t* dims) {
    sap_lines start = sap_text_begin(source), lines = start;
    const int64_t counted = counted_points(&lines);
    if (counted < 0) lines = start;
    int64_t row = 0;
    int32_t columns = 0, taken = 0;
    *dims = 0;
    for (sap_span line; sap_line_next(&lines, &line);) {
        sap_status status = take_line(&lines, without_comment(line), columns, sink, row * *dims, &taken);
        if (status == SAP_OK && taken && !columns) status = count_dims(source, taken, dims);
        if (status != SAP_OK) return status;
        if (!taken) continue;
        columns = taken;
        row++;
    }
    SAP_ASSERT(*dims <= SAP_MAX_DIMS && (*dims > 0) == (row > 0));
    *rows = row;
    if (counted < 0 || counted == row) return SAP_OK;
    return sap_bad_byte(source, SAP_ERROR_FORMAT, (int64_t)source->size,
                        "the first line says %lld points, but %lld follow; the file is truncated, or correct the line",
                        (long long)counted, (long long)row);
}

// The columns that the first line names, if it is "# x y z c3 …", as a table without rows is written; else 0.
static int32_t named_columns(const sap_source* source) {
    sap_lines lines = sap_text_begin(source);
    sap_span line, word;
    int32_t columns = 0;
    if (!sap_line_next(&lines, &line) || !sap_word_next(&line, &word) || !sap_span_equal(word, "#")) return 0;
    while (sap_word_next(&line, &word)) {
        char name[SAP_AXIS_BYTES];
        if (columns == SAP_MAX_DIMS || !sap_span_equal(word, sap_axis_name(columns, name))) return 0;
        columns++;
    }
    return columns;
}

// Tells that all columns are taken where the suffix, or the number of points, speaks for normals, colours or an intensity.
static void tell_columns(const sap_source* source, int32_t dims) {
    enum { LEADING = 3 };
    sap_lines lines = sap_text_begin(source);
    if (dims <= LEADING || sap_chosen_count(source) || (!source->nameless && counted_points(&lines) < 0)) return;
    (void)sap_bad_byte(source, SAP_OK, -1,
                       "all %d columns are taken as coordinates; choose columns if some are normals, colours or others",
                       (int)dims);
}

sap_status sap_read_xyz(const sap_source* source, sap_point_set** set) {
    sap_sink sink = {NULL, NULL, true, source->real_bits};
    int64_t rows;
    int32_t dims;
    sap_status status = pass(source, &sink, &rows, &dims);
    if (status == SAP_OK && rows == 0) dims = named_columns(source);
    if (status == SAP_OK && dims == 0)
        status = sap_bad_byte(source, SAP_ERROR_FORMAT, 0, "no line holds numbers; give one point per line");
    sap_point_set* made = NULL;
    if (status == SAP_OK) status = sap_point_set_make(source, rows, dims, sink.fits_float, &made, &sink);
    if (status != SAP_OK) return status;
    pass(source, &sink, &rows, &dims);
    tell_columns(source, dims);
    *set = made;
    return SAP_OK;
}
