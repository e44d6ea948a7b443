// CSV: fields separated by commas, semicolons or tabs, with or without a line of names. Two passes: the first checks and
// counts, the second stores.
#include "base/assert.h"
#include "device/memory.h"
#include "files/fields.h"
#include <string.h>

// How the lines of a file are to be taken.
typedef struct csv_plan {
    char separator;
    bool named;                   // the first line holds names
    bool names_x;                 // one of which is x
    sap_span told;                // the line of names, if they do not say which are coordinates
    int32_t axes;                 // how many of the names are coordinates
    int32_t fields;               // in every line
    int32_t dims;                 // fields that are coordinates
    int32_t column[SAP_MAX_DIMS]; // which ones, if not all
    bool all;
} csv_plan;

// Takes the next field off the line, without blanks at its ends; false behind the last one. A line begins with
// *more true, and has at least one field.
static bool next_raw_field(sap_span* line, char separator, bool* more, sap_span* field) {
    if (!*more) return false;
    const char *at = line->first, *last = line->last;
    while (at < last && (*at == ' ' || *at == '\t') && *at != separator) at++;
    const char* end = at;
    if (at < last && *at == '"') {
        // A quote inside is doubled, so quotes come in pairs up to the separator.
        for (bool inside = false; end < last && (inside || *end != separator); end++) inside ^= *end == '"';
    } else {
        end = memchr(at, separator, (size_t)(last - at));
        if (!end) end = last;
    }
    *field = sap_span_trim((sap_span){at, end});
    *more = end < last;
    line->first = end + *more;
    return true;
}

// The same without quotes.
static bool next_field(sap_span* line, char separator, bool* more, sap_span* field) {
    if (!next_raw_field(line, separator, more, field)) return false;
    if (field->last - field->first >= 2 && *field->first == '"' && field->last[-1] == '"')
        *field = sap_span_trim((sap_span){field->first + 1, field->last - 1});
    return true;
}

// The next line that is neither empty nor a comment.
static bool next_row(sap_lines* lines, sap_span* line) {
    while (sap_line_next(lines, line)) {
        sap_span trimmed = sap_span_trim(*line); // tabs at its ends may separate empty fields
        if (trimmed.first < trimmed.last && *trimmed.first != '#') return true;
    }
    return false;
}

// Whether a field is meant as numbers: one, or several with blanks between, with a decimal point or comma.
static bool is_numeric(sap_span field) {
    sap_span word;
    sap_decimal decimal;
    bool any = false;
    for (; sap_word_next(&field, &word); any = true)
        if (!sap_span_number(word, &decimal) && !sap_span_decimal_comma(word)) return false;
    return any;
}

// Whether a character that may separate fields stands outside of quotes. Only a quote that begins a field quotes.
static bool stands_unquoted(sap_span text, char wanted) {
    bool begins = true, quoted = false, inside = false;
    for (const char* at = text.first; at < text.last; at++) {
        if (begins && *at == '"') quoted = true;
        if (quoted && *at == '"') inside = !inside;
        if (!inside && *at == wanted) return true;
        const bool separates = !inside && (*at == ',' || *at == ';' || *at == '\t');
        if (separates) quoted = false;
        begins = separates || (begins && *at == ' ');
    }
    return false;
}

// Whether a tab stands within what lies between commas: such commas belong to names, as in "Frankfurt, Oder".
static bool tabs_separate(sap_span line) {
    bool more = true;
    for (sap_span field; next_raw_field(&line, ',', &more, &field);)
        if (stands_unquoted(field, '\t')) return true;
    return false;
}

// Looks at the first line: separator, fields, and whether they are names. A line with a number is none of names: its
// words are complained about when it is taken.
static bool plan_fields(sap_span line, csv_plan* plan) {
    bool more = true, numbers = false;
    sap_span field, rest = line;
    plan->separator = ',';
    if (tabs_separate(line)) plan->separator = '\t';
    if (stands_unquoted(line, ';')) plan->separator = ';';
    while (next_field(&rest, plan->separator, &more, &field)) {
        if (plan->fields == INT32_MAX) return false;
        plan->fields++;
        bool numeric = is_numeric(field);
        numbers |= numeric;
        plan->named |= field.first < field.last && !numeric;
    }
    plan->named &= !numbers;
    return true;
}

// The columns that the user chose.
static sap_status plan_chosen(const sap_source* source, sap_span line, csv_plan* plan) {
    bool more = true;
    sap_span rest = line, field;
    plan->all = false;
    plan->dims = sap_chosen_count(source);
    for (int32_t axis = 0; axis < plan->dims; axis++) plan->column[axis] = -1;
    for (int32_t index = 0; next_field(&rest, plan->separator, &more, &field); index++) {
        sap_span name = plan->named ? field : (sap_span){NULL, NULL};
        int32_t axis = sap_chosen_axis(source, name, (int64_t)index + 1);
        if (axis >= 0 && plan->column[axis] < 0) plan->column[axis] = index;
    }
    for (int32_t axis = 0; axis < plan->dims; axis++)
        if (plan->column[axis] < 0)
            return sap_chosen_missing(source, axis, plan->named ? line : (sap_span){NULL, NULL});
    return SAP_OK;
}

// Chooses the fields named x, y, z, c3, c4, … without a gap, or x and y, or all.
static void plan_columns(sap_span line, csv_plan* plan) {
    int32_t place[SAP_MAX_DIMS + 1], index = 0;
    bool more = true;
    for (int32_t axis = 0; axis <= SAP_MAX_DIMS; axis++) place[axis] = -1;
    for (sap_span field; plan->named && next_field(&line, plan->separator, &more, &field); index++) {
        while (field.first < field.last && *field.first == '/') field.first++; // some programs write "//X,Y,Z"
        int32_t axis = sap_axis_named(field, true);
        plan->axes += axis >= 0;
        if (axis >= 0 && place[axis] < 0) place[axis] = index;
    }
    plan->names_x = place[0] >= 0;
    plan->all = place[0] < 0 || place[1] < 0;
    plan->dims = plan->all ? plan->fields : place[2] < 0 ? 2 : 3;
    while (!plan->all && plan->dims >= 3 && plan->dims <= SAP_MAX_DIMS && place[plan->dims] >= 0) plan->dims++;
    memcpy(plan->column, place, sizeof plan->column);
}

// Whether a field says that there is no number.
static bool is_missing(sap_span field) {
    static const char* const words[] = {"", "na", "n/a", "null"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (sap_span_equal_any_case(field, words[i])) return true;
    return false;
}

static int32_t coordinate_of(const csv_plan* plan, int32_t field) {
    if (plan->all) return field;
    for (int32_t axis = 0; axis < plan->dims; axis++)
        if (plan->column[axis] == field) return axis;
    return -1;
}

// `first`: in a first line that holds numbers too.
static sap_status bad_number(const sap_lines* lines, sap_span field, int32_t number, bool first) {
    char shown[SAP_SHOWN_BYTES];
    const char* remedy = sap_number_remedy(lines->source, field);
    size_t length = (size_t)(field.last - field.first);
    if (!*remedy && memchr(field.first, '\t', length))
        remedy = "; separate by commas, or name the file .xyz";
    else if (!*remedy && is_numeric(field))
        remedy = "; separate by commas alone, or name the file .xyz, and write decimals with a point";
    else if (!*remedy && first && length)
        remedy = "; a line of names holds no numbers, and a line of points nothing else";
    return sap_bad_line(lines->source, SAP_ERROR_FORMAT, lines->number, "field %d, '%s', is not a number%s",
                        (int)number, sap_span_show(field, shown), remedy);
}

static sap_status take_row(const sap_lines* lines, sap_span line, const csv_plan* plan, sap_sink* sink, int64_t index) {
    bool more = true;
    int32_t fields = 0;
    for (sap_span field; next_field(&line, plan->separator, &more, &field); fields++) {
        if (fields == plan->fields)
            return sap_bad_line(lines->source, SAP_ERROR_FORMAT, lines->number,
                                "more than the %d fields of the first line; give all lines the same fields",
                                (int)plan->fields);
        int32_t axis = coordinate_of(plan, fields);
        sap_decimal decimal;
        if (axis < 0) continue;
        SAP_ASSERT(axis < plan->dims);
        const bool first = index == 0 && !plan->named;
        if (!first && is_missing(field))
            decimal = (sap_decimal){.kind = SAP_DECIMAL_NAN};
        else if (!sap_span_number(field, &decimal))
            return bad_number(lines, field, fields + 1, first);
        if (!sap_sink_put(sink, &decimal, index + axis)) return sap_beyond_float(lines->source, lines->number, field);
    }
    if (fields < plan->fields)
        return sap_bad_line(lines->source, SAP_ERROR_FORMAT, lines->number,
                            "%d fields, but %d in the first line; give all lines the same fields", (int)fields,
                            (int)plan->fields);
    return SAP_OK;
}

// One pass over all rows.
static sap_status pass(const sap_source* source, const csv_plan* plan, sap_sink* sink, int64_t* rows) {
    SAP_ASSERT(plan->dims >= 1 && plan->dims <= SAP_MAX_DIMS && plan->dims <= plan->fields);
    sap_lines lines = sap_text_begin(source);
    int64_t row = 0;
    sap_span line;
    if (plan->named) next_row(&lines, &line);
    for (; next_row(&lines, &line); row++) {
        sap_status status = take_row(&lines, line, plan, sink, row * plan->dims);
        if (status != SAP_OK) return status;
    }
    *rows = row;
    return SAP_OK;
}

static sap_status no_numbers(const sap_source* source) {
    const char* first = (const char*)source->bytes;
    const char* remedy = sap_number_remedy(source, (sap_span){first, first + source->size});
    return sap_bad_byte(source, SAP_ERROR_FORMAT, 0, "no line holds numbers%s",
                        *remedy ? remedy : "; give one point per line");
}

static sap_status make_plan(const sap_source* source, csv_plan* plan) {
    sap_lines lines = sap_text_begin(source);
    sap_span line;
    if (!next_row(&lines, &line)) return no_numbers(source);
    if (!plan_fields(line, plan))
        return sap_bad_line(source, SAP_ERROR_RANGE, lines.number, "more than %d fields", INT32_MAX);
    if (sap_chosen_count(source)) return plan_chosen(source, line, plan);
    plan_columns(line, plan);
    if (plan->dims > SAP_MAX_DIMS)
        return sap_bad_line(
            source, SAP_ERROR_UNSUPPORTED, lines.number,
            "%d fields, but points have at most %d coordinates; name the wanted ones x, y, z, c3, c4 and so on",
            (int)plan->dims, SAP_MAX_DIMS);
    if (plan->named && plan->all && plan->axes < plan->fields) plan->told = sap_span_trim(line);
    return SAP_OK;
}

// Tells that all columns are taken, though their names do not say so.
static void tell_columns(const sap_source* source, const csv_plan* plan) {
    char shown[SAP_SHOWN_BYTES];
    if (plan->told.first)
        (void)sap_bad_byte(source, SAP_OK, -1,
                           "no columns are named x and y, so all %d (%s) are taken as coordinates; choose columns if "
                           "some are not",
                           (int)plan->dims, sap_span_show(plan->told, shown));
}

// ---- What is no coordinate.

// Which column is which field: those with text in them are none.
typedef struct csv_fields {
    sap_field_drafts drafts;
    sap_text_column* columns; // of each draft
    size_t bytes;
} csv_fields;

static sap_status draft_fields(const sap_source* source, const csv_plan* plan, csv_fields* f) {
    sap_lines lines = sap_text_begin(source);
    sap_span line, field;
    bool more = true, there = next_row(&lines, &line);
    SAP_ASSERT(there);
    sap_status status = SAP_OK;
    for (int32_t i = 0; next_field(&line, plan->separator, &more, &field) && status == SAP_OK; i++) {
        while (plan->named && field.first < field.last && *field.first == '/') field.first++;
        const sap_field_draft draft = {
            .name = plan->named ? field : (sap_span){NULL, NULL}, .number = (int64_t)i + 1, .part = -1};
        if (coordinate_of(plan, i) < 0) status = sap_field_drafts_add(source, &f->drafts, &draft);
    }
    return status;
}

// Goes over the fields of one row: looks at them, or, in `fields`, stores them.
static void take_fields(const csv_plan* plan, sap_span line, csv_fields* f, const sap_field* fields, int64_t row) {
    bool more = true;
    sap_span field;
    int64_t next = 0;
    for (int32_t i = 0; next_field(&line, plan->separator, &more, &field) && next < f->drafts.count; i++) {
        if (f->drafts.list[next].number != (int64_t)i + 1) continue;
        sap_decimal decimal = {.kind = SAP_DECIMAL_NAN};
        const bool missing = is_missing(field), number = !missing && sap_span_number(field, &decimal);
        if (fields) {
            sap_field_put(&fields[next], row, &decimal);
        } else {
            f->columns[next].has_text |= !number && !missing;
            if (number || missing) sap_text_column_look(&f->columns[next], &decimal);
        }
        next++;
    }
}

static void walk_fields(const sap_source* source, const csv_plan* plan, csv_fields* f, const sap_field* fields) {
    sap_lines lines = sap_text_begin(source);
    sap_span line;
    if (plan->named) next_row(&lines, &line);
    for (int64_t row = 0; next_row(&lines, &line); row++) take_fields(plan, line, f, fields, row);
}

// Keeps the fields that are numbers, and gives them types.
static void choose_types(const sap_source* source, csv_fields* f) {
    int64_t kept = 0, color_most = -1;
    SAP_ASSERT(f->drafts.list && f->columns);
    for (int64_t i = 0; i < f->drafts.count; i++)
        if (sap_is_color(f->drafts.list[i].name) && f->columns[i].most > color_most) color_most = f->columns[i].most;
    for (int64_t i = 0; i < f->drafts.count; i++) {
        sap_field_draft draft = f->drafts.list[i];
        draft.column.cell = sap_text_column_cell(&f->columns[i], draft.name, color_most);
        if (!f->columns[i].has_text) f->drafts.list[kept++] = draft;
    }
    if (kept < f->drafts.count) (void)sap_bad_byte(source, SAP_OK, -1, "columns that hold text are left out");
    f->drafts.count = kept;
}

static sap_status read_fields(const sap_source* source, const csv_plan* plan, sap_point_set* set) {
    csv_fields f = {.columns = NULL};
    sap_status status = draft_fields(source, plan, &f);
    f.bytes = (size_t)f.drafts.count * sizeof *f.columns;
    if (status == SAP_OK && f.drafts.count) {
        f.columns = sap_memory_allocate_zero(source->device, f.bytes);
        if (!f.columns) status = sap_bad_byte(source, SAP_ERROR_MEMORY, -1, "no memory for the list of columns");
    }
    if (status == SAP_OK && f.drafts.count) {
        walk_fields(source, plan, &f, NULL);
        choose_types(source, &f);
        status = sap_fields_make(source, &f.drafts, set);
        if (status == SAP_OK && f.drafts.count) walk_fields(source, plan, &f, set->fields);
    }
    sap_memory_release(source->device, f.columns, f.bytes);
    sap_field_drafts_release(source, &f.drafts);
    return status;
}

sap_status sap_read_csv(const sap_source* source, sap_point_set** set) {
    csv_plan plan = {.fields = 0};
    sap_sink sink = {NULL, NULL, true, source->real_bits};
    int64_t rows = 0;
    sap_point_set* made = NULL;
    sap_status status = make_plan(source, &plan);
    if (status == SAP_OK) status = pass(source, &plan, &sink, &rows);
    if (status == SAP_OK && rows == 0 && !plan.names_x) status = no_numbers(source);
    if (status == SAP_OK) status = sap_point_set_make(source, rows, plan.dims, sink.fits_float, &made, &sink);
    if (status != SAP_OK) return status;
    pass(source, &plan, &sink, &rows);
    tell_columns(source, &plan);
    if (source->with_fields && !plan.all) status = read_fields(source, &plan, made);
    if (status == SAP_OK)
        *set = made;
    else
        sap_point_set_free(made);
    return status;
}
