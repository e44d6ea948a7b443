// XYZ: numbers separated by blanks, one point a line. Two passes: the first checks and counts, the second stores.
#include "base/assert.h"
#include "device/memory.h"
#include "files/fields.h"
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
        if (axis_of(source, columns) >= SAP_MAX_DIMS || !sap_span_equal(word, sap_axis_name(columns, name))) return 0;
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

// ---- What is no coordinate.

// What the columns behind the first three are in a file of this suffix, if there are so many.
static const char* const* names_of(const sap_source* source, int32_t columns) {
    static const struct {
        const char* suffix;
        int32_t columns;
        const char* names[4];
    } known[] = {{"xyzrgb", 6, {"red", "green", "blue"}},
                 {"xyzn", 6, {"nx", "ny", "nz"}},
                 {"pts", 4, {"intensity"}},
                 {"pts", 6, {"red", "green", "blue"}},
                 {"pts", 7, {"intensity", "red", "green", "blue"}}};
    for (size_t i = 0; source->name && i < sizeof known / sizeof *known; i++)
        if (known[i].columns == columns && sap_span_equal_any_case(sap_path_suffix(source->name), known[i].suffix))
            return known[i].names;
    return NULL;
}

// Goes over all lines: looks at the columns of the drafts, or, in `fields`, stores them.
static void walk_fields(const sap_source* source, const sap_field_drafts* drafts, sap_text_column* columns,
                        const sap_field* fields) {
    sap_lines start = sap_text_begin(source), lines = start;
    if (counted_points(&lines) < 0) lines = start;
    int64_t row = 0;
    for (sap_span line; sap_line_next(&lines, &line);) {
        int64_t next = 0, number = 0;
        line = without_comment(line);
        for (sap_span word; sap_word_next(&line, &word);) {
            sap_decimal decimal;
            if (++number == 1) row++;
            if (next == drafts->count || drafts->list[next].number != number) continue;
            const bool read = sap_span_number(word, &decimal);
            SAP_ASSERT(read);
            if (fields)
                sap_field_put(&fields[next], row - 1, &decimal);
            else
                sap_text_column_look(&columns[next], &decimal);
            next++;
        }
    }
}

static sap_status draft_fields(const sap_source* source, sap_field_drafts* drafts) {
    enum { LEADING = 3 };
    sap_lines start = sap_text_begin(source), lines = start;
    if (counted_points(&lines) < 0) lines = start;
    sap_span line, word;
    int32_t columns = 0;
    while (!columns && sap_line_next(&lines, &line))
        for (line = without_comment(line); sap_word_next(&line, &word);) columns++;
    if (!columns) columns = named_columns(source);
    const char* const* names = sap_chosen_count(source) ? NULL : names_of(source, columns);
    sap_status status = SAP_OK;
    for (int32_t c = 0; c < columns && status == SAP_OK; c++) {
        const char* name = names ? names[c < LEADING ? 0 : c - LEADING] : "";
        const sap_field_draft draft = {.name = {name, name + strlen(name)}, .number = (int64_t)c + 1, .part = -1};
        if (axis_of(source, c) < 0) status = sap_field_drafts_add(source, drafts, &draft);
    }
    return status;
}

static sap_status read_fields(const sap_source* source, sap_point_set* set) {
    sap_field_drafts drafts = {NULL, 0, 0};
    sap_text_column* columns = NULL;
    sap_status status = draft_fields(source, &drafts);
    const size_t bytes = (size_t)drafts.count * sizeof *columns;
    if (status == SAP_OK && drafts.count) {
        columns = sap_memory_allocate_zero(source->device, bytes);
        if (!columns) status = sap_bad_byte(source, SAP_ERROR_MEMORY, -1, "no memory for the list of columns");
    }
    if (status == SAP_OK && drafts.count) {
        int64_t color_most = -1;
        SAP_ASSERT(drafts.list && columns);
        walk_fields(source, &drafts, columns, NULL);
        for (int64_t i = 0; i < drafts.count; i++)
            if (sap_is_color(drafts.list[i].name) && columns[i].most > color_most) color_most = columns[i].most;
        for (int64_t i = 0; i < drafts.count; i++)
            drafts.list[i].column.cell = sap_text_column_cell(&columns[i], drafts.list[i].name, color_most);
        status = sap_fields_make(source, &drafts, set);
        if (status == SAP_OK) walk_fields(source, &drafts, NULL, set->fields);
    }
    sap_memory_release(source->device, columns, bytes);
    sap_field_drafts_release(source, &drafts);
    return status;
}

sap_status sap_read_xyz(const sap_source* source, sap_point_set** set) {
    sap_sink sink = {NULL, NULL, true, source->real_bits};
    int64_t rows = 0;
    int32_t dims = 0;
    sap_status status = pass(source, &sink, &rows, &dims);
    const int32_t named = rows == 0 ? named_columns(source) : 0;
    if (status == SAP_OK && named) status = count_dims(source, named, &dims);
    if (status == SAP_OK && dims == 0)
        status = sap_bad_byte(source, SAP_ERROR_FORMAT, 0, "no line holds numbers; give one point per line");
    sap_point_set* made = NULL;
    if (status == SAP_OK) status = sap_point_set_make(source, rows, dims, sink.fits_float, &made, &sink);
    if (status != SAP_OK) return status;
    pass(source, &sink, &rows, &dims);
    tell_columns(source, dims);
    if (source->with_fields) status = read_fields(source, made);
    if (status == SAP_OK)
        *set = made;
    else
        sap_point_set_free(made);
    return status;
}
