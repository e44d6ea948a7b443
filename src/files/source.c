#include "files/source.h"
#include "base/assert.h"
#include "device/device.h"
#include "device/reserved.h"
#include "files/set.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { SENTENCE_BYTES = 320 };

static sap_status complain(const sap_source* source, sap_status status, const char* unit, int64_t place,
                           const char* between, const char* sentence) {
    char where[SAP_SHOWN_BYTES + 40];
    if (status == SAP_OK && source->again) return status;
    int length = snprintf(where, sizeof where, "%s", source->within);
    if (place >= 0)
        snprintf(where + length, sizeof where - (size_t)length, "%s%s %lld", length ? ", " : "", unit,
                 (long long)place);
    const char* name = source->name ? source->name : "";
    return sap_fail(source->device, status, "%s%s%s%s%s", name, *name && *where ? ", " : "", where,
                    *name || *where ? between : "", sentence);
}

sap_status sap_bad_byte(const sap_source* source, sap_status status, int64_t byte, const char* format, ...) {
    char sentence[SENTENCE_BYTES];
    va_list values;
    va_start(values, format);
    vsnprintf(sentence, sizeof sentence, format, values);
    va_end(values);
    return complain(source, status, "byte", byte, ": ", sentence);
}

sap_status sap_bad_line(const sap_source* source, sap_status status, int64_t line, const char* format, ...) {
    char sentence[SENTENCE_BYTES];
    va_list values;
    va_start(values, format);
    vsnprintf(sentence, sizeof sentence, format, values);
    va_end(values);
    return complain(source, status, "line", line, ": ", sentence);
}

// Lines are counted only when an error message needs their number.
sap_status sap_bad_text(const sap_source* source, sap_status status, const char* at, const char* format, ...) {
    char sentence[SENTENCE_BYTES];
    int64_t byte = at - (const char*)source->bytes;
    SAP_ASSERT(byte >= 0 && (size_t)byte <= source->size);
    int length = snprintf(sentence, sizeof sentence, "byte %lld: ", (long long)byte);
    va_list values;
    va_start(values, format);
    vsnprintf(sentence + length, sizeof sentence - (size_t)length, format, values);
    va_end(values);
    sap_source before = *source;
    before.size = (size_t)byte;
    sap_lines lines = sap_text_begin(&before);
    for (sap_span line; sap_line_next(&lines, &line);) {}
    int64_t line = lines.number + (lines.number == 0 || lines.line_end != SAP_LINE_END_NONE);
    return complain(source, status, "line", line, ", ", sentence);
}

static bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

sap_lines sap_text_begin(const sap_source* source) {
    bool mark = source->size >= 3 && !memcmp(source->bytes, "\xef\xbb\xbf", 3);
    return (sap_lines){.source = source, .offset = mark ? 3 : 0};
}

size_t sap_text_size(const sap_source* source) {
    const unsigned char ctrl_z = 0x1a;
    return source->size - (source->size && source->bytes[source->size - 1] == ctrl_z);
}

// Where the next line feed is, or the size of the source. It is searched for only once the last one found has been
// passed, so that lines that end with CR alone cost one pass over the bytes, too.
static size_t next_feed(sap_lines* lines) {
    const sap_source* source = lines->source;
    const size_t from = lines->offset;
    SAP_ASSERT(from < source->size);
    if (lines->behind_feed <= from) {
        const unsigned char* found = memchr(source->bytes + from, '\n', source->size - from);
        lines->behind_feed = (found ? (size_t)(found - source->bytes) : source->size) + 1;
    }
    return lines->behind_feed - 1;
}

bool sap_line_next(sap_lines* lines, sap_span* line) {
    const sap_source* source = lines->source;
    if (lines->offset >= source->size) return false;
    const char* text = (const char*)source->bytes;
    const size_t first = lines->offset, feed = next_feed(lines);
    const char* found = memchr(text + first, '\r', feed - first); // what follows the line stays untouched
    const size_t turn = found ? (size_t)(found - text) : feed, end = turn;
    size_t shown = end == source->size ? sap_text_size(source) : end;
    *line = (sap_span){text + first, text + shown};
    lines->number++;
    lines->line_end = SAP_LINE_END_NONE;
    if (turn < feed)
        lines->line_end = feed == turn + 1 && feed < source->size ? SAP_LINE_END_BOTH : SAP_LINE_END_RETURN;
    else if (feed < source->size)
        lines->line_end = SAP_LINE_END_FEED;
    static const size_t end_bytes[] = {0, 1, 1, 2};
    lines->offset = end + end_bytes[lines->line_end];
    SAP_ASSERT(lines->offset > first && lines->offset <= source->size);
    return true;
}

void sap_lines_end_at_return(sap_lines* lines) {
    if (lines->line_end == SAP_LINE_END_BOTH) lines->offset--;
}

bool sap_word_next(sap_span* text, sap_span* word) {
    const char *at = text->first, *last = text->last;
    while (at < last && is_blank(*at)) at++;
    word->first = at;
    while (at < last && !is_blank(*at)) at++;
    word->last = text->first = at;
    return word->first < word->last;
}

bool sap_span_equal(sap_span span, const char* text) {
    size_t length = strlen(text);
    return (size_t)(span.last - span.first) == length && !memcmp(span.first, text, length);
}

bool sap_span_equal_any_case(sap_span span, const char* text) {
    for (; span.first < span.last && *text; span.first++, text++) {
        char c = *span.first;
        if ((c >= 'A' && c <= 'Z' ? c | 0x20 : c) != *text) return false;
    }
    return span.first == span.last && !*text;
}

sap_span sap_span_trim(sap_span span) {
    while (span.first < span.last && is_blank(*span.first)) span.first++;
    while (span.first < span.last && is_blank(span.last[-1])) span.last--;
    return span;
}

int32_t sap_axis_named(sap_span name, bool any_case) {
    if (name.first == name.last) return -1;
    char c = *name.first;
    if (any_case && c >= 'A' && c <= 'Z') c |= 0x20;
    if (name.last - name.first == 1) return c >= 'x' && c <= 'z' ? c - 'x' : -1;
    int64_t axis;
    sap_span digits = {name.first + 1, name.last};
    if (c != 'c' || *digits.first == '0' || !sap_span_count(digits, &axis)) return -1;
    return axis >= 3 && axis <= SAP_MAX_DIMS ? (int32_t)axis : -1;
}

const char* sap_axis_name(int64_t axis, char name[SAP_AXIS_BYTES]) {
    static const char* const axes[] = {"x", "y", "z"};
    SAP_ASSERT(axis >= 0);
    if (axis < 3) return axes[axis];
    name[0] = 'c';
    sap_print_int(axis, name + 1);
    return name;
}

bool sap_span_number(sap_span span, sap_decimal* decimal) {
    return sap_decimal_scan(span.first, span.last, decimal) == span.last;
}

bool sap_span_decimal_comma(sap_span span) {
    enum { LONGEST = 64 };
    char text[LONGEST];
    size_t length = (size_t)(span.last - span.first);
    char* comma = length && length <= LONGEST ? memchr(memcpy(text, span.first, length), ',', length) : NULL;
    if (!comma) return false;
    *comma = '.';
    sap_decimal decimal;
    return sap_span_number((sap_span){text, text + length}, &decimal);
}

const char* sap_number_remedy(const sap_source* source, sap_span text) {
    const unsigned char* bytes = source->bytes;
    bool wide = source->size >= 2 && ((bytes[0] == 0xff && bytes[1] == 0xfe) || (bytes[0] == 0xfe && bytes[1] == 0xff));
    if (wide || memchr(text.first, 0, (size_t)(text.last - text.first))) return "; save the file as UTF-8 text";
    if (sap_span_decimal_comma(text)) return "; write decimals with a point, not with a decimal comma";
    return "";
}

bool sap_span_count(sap_span span, int64_t* count) {
    int64_t value = 0;
    if (span.first == span.last) return false;
    for (const char* at = span.first; at < span.last; at++) {
        if (*at < '0' || *at > '9' || __builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, *at - '0', &value))
            return false;
    }
    *count = value;
    return true;
}

const char* sap_span_show(sap_span span, char shown[SAP_SHOWN_BYTES]) {
    size_t length = (size_t)(span.last - span.first), most = SAP_SHOWN_BYTES - 4;
    bool cut = length > most;
    if (cut) length = most;
    for (size_t i = 0; i < length; i++) {
        char c = span.first[i];
        shown[i] = '?';
        if (c >= ' ' && c <= '~') shown[i] = c;
        if (c == '\t') shown[i] = ' ';
    }
    memcpy(shown + length, cut ? "..." : "", cut ? 4 : 1);
    return shown;
}

sap_status sap_beyond_float(const sap_source* source, int64_t line, sap_span word) {
    char shown[SAP_SHOWN_BYTES];
    return sap_bad_line(source, SAP_ERROR_RANGE, line,
                        "'%s' is beyond the range of a float; points can be read as double",
                        sap_span_show(word, shown));
}

// ---- Chosen columns.

sap_status sap_chosen_take(const sap_device* device, const sap_points_read_options* options, sap_chosen* chosen) {
    *chosen = (sap_chosen){.count = 0};
    sap_status status = options ? sap_reserved_check(device, options->reserved, "options") : SAP_OK;
    if (status != SAP_OK || !options || !options->columns) return status;
    for (const char *at = options->columns, *end = at; *end; at = end + 1) {
        end = at + strcspn(at, ",");
        sap_span column = sap_span_trim((sap_span){at, end});
        if (column.first == column.last)
            return sap_fail(device, SAP_ERROR_ARGUMENT,
                            "options.columns: '%.40s' has nothing where a column should stand between commas",
                            options->columns);
        if (chosen->count == SAP_MAX_DIMS)
            return sap_fail(
                device, SAP_ERROR_ARGUMENT,
                "options.columns: '%.40s' are more than %d columns; points have at most that many coordinates",
                options->columns, SAP_MAX_DIMS);
        chosen->columns[chosen->count++] = column;
        if (*end && !end[1])
            return sap_fail(device, SAP_ERROR_ARGUMENT, "options.columns: '%.40s' ends with a comma", options->columns);
    }
    if (chosen->count) return SAP_OK;
    return sap_fail(device, SAP_ERROR_ARGUMENT, "options.columns: is empty");
}

int32_t sap_chosen_count(const sap_source* source) { return source->chosen ? source->chosen->count : 0; }

int32_t sap_chosen_axis(const sap_source* source, sap_span name, int64_t number) {
    size_t length = (size_t)(name.last - name.first);
    for (int32_t axis = 0; axis < sap_chosen_count(source); axis++) {
        sap_span column = source->chosen->columns[axis];
        int64_t wanted;
        if (sap_span_count(column, &wanted)
                ? wanted == number
                : (size_t)(column.last - column.first) == length && !memcmp(column.first, name.first, length))
            return axis;
    }
    return -1;
}

static bool same_text(sap_span a, sap_span b) {
    return a.last - a.first == b.last - b.first && !memcmp(a.first, b.first, (size_t)(a.last - a.first));
}

static bool is_chosen_before(const sap_source* source, int32_t axis) {
    const sap_span* columns = source->chosen->columns;
    int64_t number, other;
    for (int32_t before = 0; before < axis; before++) {
        if (same_text(columns[before], columns[axis])) return true;
        if (sap_span_count(columns[axis], &number) && sap_span_count(columns[before], &other) && number == other)
            return true;
    }
    return false;
}

// Whether some columns are chosen by their names and others by their numbers.
static bool has_both_kinds(const sap_chosen* chosen) {
    int64_t number;
    int32_t numbers = 0;
    for (int32_t axis = 0; axis < chosen->count; axis++) numbers += sap_span_count(chosen->columns[axis], &number);
    return numbers && numbers < chosen->count;
}

sap_status sap_chosen_missing(const sap_source* source, int32_t axis, sap_span there) {
    char wanted[SAP_SHOWN_BYTES], shown[SAP_SHOWN_BYTES];
    bool names = there.first < there.last;
    sap_span_show(source->chosen->columns[axis], wanted);
    if (is_chosen_before(source, axis))
        return sap_bad_byte(source, SAP_ERROR_ARGUMENT, -1, "column '%s' is chosen twice; choose each once", wanted);
    const char* again = has_both_kinds(source->chosen) ? ", or is chosen by its name and by its number" : "";
    return sap_bad_byte(source, SAP_ERROR_ARGUMENT, -1, "there is no column '%s'%s%s%s%s", wanted, again,
                        names ? "; the columns are " : "", names ? sap_span_show(there, shown) : "",
                        names ? "" : "; choose by numbers from 1");
}

sap_status sap_real_bits_check(const sap_device* device, int32_t real_bits) {
    if (real_bits == 0 || real_bits == 32 || real_bits == 64) return SAP_OK;
    return sap_fail(device, SAP_ERROR_ARGUMENT, "real_bits: is %d; give 32, 64, or 0 for as in the file",
                    (int)real_bits);
}

sap_status sap_point_set_make(const sap_source* source, int64_t count, int32_t dims, bool fits_float,
                              sap_point_set** set, sap_sink* sink) {
    if (count > INT32_MAX)
        return sap_bad_byte(source, SAP_ERROR_RANGE, -1, "%lld points are more than the 2147483647 that ids can number",
                            (long long)count);
    SAP_ASSERT(count >= 0 && dims >= 1 && dims <= SAP_MAX_DIMS);
    if (source->real_bits) fits_float = source->real_bits == 32;
    size_t bytes, start = sap_align(sizeof(sap_owned_set));
    if (!sap_size_multiply((uint64_t)count, (size_t)dims * (fits_float ? sizeof(float) : sizeof(double)), &bytes) ||
        !sap_size_add(bytes, start, &bytes))
        return sap_bad_byte(source, SAP_ERROR_RANGE, -1, "%lld points do not fit the address space", (long long)count);
    sap_owned_set* owned = sap_memory_allocate(source->device, bytes);
    if (!owned) return sap_bad_byte(source, SAP_ERROR_MEMORY, -1, "no memory for %lld points", (long long)count);
    void* coords = (unsigned char*)owned + start;
    *sink = (sap_sink){fits_float ? coords : NULL, fits_float ? NULL : coords, fits_float, source->real_bits};
    *owned = (sap_owned_set){.device = source->device, .bytes = bytes};
    owned->set = (sap_point_set){.count = count,
                                 .dims = dims,
                                 .real_bits = fits_float ? 32 : 64,
                                 .coords = sink->coords,
                                 .coords_f64 = sink->coords_f64};
    *set = &owned->set;
    return SAP_OK;
}

void sap_point_set_free(sap_point_set* set) {
    if (!set) return;
    sap_owned_set* owned = (sap_owned_set*)set;
    sap_memory_release(owned->device, owned->fields, owned->fields_bytes);
    sap_memory_release(owned->device, owned->las, set->las_size);
    sap_memory_release(owned->device, owned, owned->bytes);
}
