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
        if (column == SAP_MAX_DIMS)
            return sap_bad_line(lines->source, SAP_ERROR_UNSUPPORTED, lines->number,
                                "more than %d numbers; points have at most that many coordinates, so leave some out",
                                SAP_MAX_DIMS);
        if (!sap_sink_put(sink, &decimal, index + column)) return sap_beyond_float(lines->source, lines->number, word);
    }
    if (column && column < columns)
        return sap_bad_line(lines->source, SAP_ERROR_FORMAT, lines->number,
                            "%d numbers, but %d in the lines before; give all lines the same columns", (int)column,
                            (int)columns);
    *taken = column;
    return SAP_OK;
}

// One pass over all lines.
static sap_status pass(const sap_source* source, sap_sink* sink, int64_t* rows, int32_t* dims) {
    sap_lines lines = sap_text_begin(source);
    int64_t row = 0;
    int32_t columns = 0, taken = 0;
    for (sap_span line; sap_line_next(&lines, &line);) {
        sap_status status = take_line(&lines, without_comment(line), columns, sink, row * columns, &taken);
        if (status != SAP_OK) return status;
        if (!taken) continue;
        columns = taken;
        row++;
    }
    SAP_ASSERT(columns <= SAP_MAX_DIMS && (columns > 0) == (row > 0));
    *rows = row;
    *dims = columns;
    return SAP_OK;
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
    *set = made;
    return SAP_OK;
}
