// What all readers share: the bytes of a file, its lines and words, error messages about them, and new point sets.
#ifndef SAPWOOD_FILES_SOURCE_H
#define SAPWOOD_FILES_SOURCE_H

#include "files/text.h"
#include "sapwood/files.h"
#include <math.h>

// A piece of text, not terminated.
typedef struct sap_span {
    const char *first, *last;
} sap_span;

// Columns that the user chose, in the order of the coordinates: names, or numbers from 1.
typedef struct sap_chosen {
    int32_t count; // 0: none
    sap_span columns[SAP_MAX_DIMS];
} sap_chosen;

enum { SAP_SHOWN_BYTES = 28 }; // room for text that is shown in a sentence

// Which rows of a file are wanted, and, once a reader has seen how many there are, where they begin.
typedef struct sap_part {
    int32_t part, parts;
    int64_t first, all;
} sap_part;

typedef struct sap_source {
    const sap_device* device;
    const char* name;             // the path, for error messages, or NULL
    char within[SAP_SHOWN_BYTES]; // which part of the file these bytes are; "": all of it
    const unsigned char* bytes;
    size_t size;
    int32_t real_bits;        // what is wanted: 32, 64, or 0 for what suits the file
    const sap_chosen* chosen; // NULL: none
    const char* member;       // of an archive; NULL: the usual one
    int64_t unpack_limit;     // bytes that packed ones may become; 0: as many as is usual
    bool more_columns;        // XYZ: those after the third are no coordinates
    bool nameless;            // no suffix says what the columns are
    double float_error;       // real_bits is 0: how far floats may move the points of a text, as a part of
    double extent;            // this, or, if it is 0, of the largest side of their bounds; float_error 0: any way
    bool again;               // what the log tells of the file has been told
    bool with_fields;         // all else that points have is wanted, too
    sap_part* part;           // NULL: all rows
} sap_source;

// A reader of one format: parses all of the source.
typedef sap_status (*sap_reader)(const sap_source* source, sap_point_set** set);

sap_status sap_read_ply(const sap_source* source, sap_point_set** set);
sap_status sap_read_pcd(const sap_source* source, sap_point_set** set);
sap_status sap_read_npy(const sap_source* source, sap_point_set** set);
// Whether the bytes are the first ones of a PLY file.
bool sap_ply_begins(const sap_source* source);
// Whether the bytes, as many as there are, are the first ones of an NPY file.
bool sap_npy_begins(const sap_source* source);
sap_status sap_read_xyz(const sap_source* source, sap_point_set** set);
sap_status sap_read_csv(const sap_source* source, sap_point_set** set);
sap_status sap_read_las(const sap_source* source, sap_point_set** set);

// Reads a source of any format. `suffix` is the format that its path names, or SAP_FORMAT_AUTO.
sap_status sap_source_parse(const sap_source* source, sap_format format, sap_format suffix, sap_point_set** set);

// Refuses what no reader of a foreign format takes, in a sentence: a saved tree, and bytes that are still packed after
// they have been unpacked.
sap_status sap_foreign_check(const sap_source* source);
// Refuses a negative limit of what packed bytes may become.
sap_status sap_unpack_limit_check(const sap_device* device, int64_t limit);

// Whether a path ends with .gz. Such files are read, but not written.
bool sap_path_is_packed(const char* path);
// Refuses to write to such a path.
sap_status sap_path_check(const sap_device* device, const char* path);
// What stands behind the last dot of a path (NULL: none), or, before .gz, behind the last but one; empty if nothing does.
sap_span sap_path_suffix(const char* path);
// Whether a path's suffix says that other numbers than coordinates follow the first three.
bool sap_path_has_more_columns(const char* path);

// How many of a file's rows are wanted; *first is the row with which they begin.
int64_t sap_part_take(const sap_source* source, int64_t rows, int64_t* first);
// Where a part is wanted, refuses a file that is read from its start to its end; `what` it is.
sap_status sap_part_refuse(const sap_source* source, const char* what);

// Takes the columns out of options, which may be NULL. Errors: SAP_ERROR_ARGUMENT.
sap_status sap_chosen_take(const sap_device* device, const sap_points_read_options* options, sap_chosen* chosen);
// How many columns the user chose; 0: the reader is to choose.
int32_t sap_chosen_count(const sap_source* source);
// Which coordinate the column of this name (empty: none) and number, from 1, is; -1: none.
int32_t sap_chosen_axis(const sap_source* source, sap_span name, int64_t number);
// The error message about a chosen column that the file has not; `there` are those that it has, if they have names.
sap_status sap_chosen_missing(const sap_source* source, int32_t axis, sap_span there);

// Whether the source begins with this text.
bool sap_source_begins(const sap_source* source, const char* text);
// What a format is called.
const char* sap_format_name(sap_format format);

// Error messages (printf style): "PATH, byte N: …", "PATH, line N: …", and without a place when N is negative.
__attribute__((format(printf, 4, 5))) sap_status sap_bad_byte(const sap_source* source, sap_status status, int64_t byte,
                                                              const char* format, ...);
__attribute__((format(printf, 4, 5))) sap_status sap_bad_line(const sap_source* source, sap_status status, int64_t line,
                                                              const char* format, ...);

// The same of a text without counted lines: "PATH, line N, byte M: …".
__attribute__((format(printf, 4, 5))) sap_status sap_bad_text(const sap_source* source, sap_status status,
                                                              const char* at, const char* format, ...);

// How a line ends.
typedef enum sap_line_end {
    SAP_LINE_END_NONE, // with the source
    SAP_LINE_END_FEED, // LF
    SAP_LINE_END_RETURN,
    SAP_LINE_END_BOTH // CR LF
} sap_line_end;

// A place in the text of a source.
typedef struct sap_lines {
    const sap_source* source;
    size_t offset;  // of the next line
    int64_t number; // of the last line taken, from 1
    sap_line_end line_end;
    size_t behind_feed; // the last line feed found stands just before this
} sap_lines;

// The start of a text, after a byte order mark if there is one.
sap_lines sap_text_begin(const sap_source* source);

// Where a text ends: before a Ctrl-Z that is the last byte, as programs of DOS and Windows leave it.
size_t sap_text_size(const sap_source* source);

// Takes the next line, without its end (LF, CR or CR LF), and without a Ctrl-Z that ends the source; false at the end
// of the source.
bool sap_line_next(sap_lines* lines, sap_span* line);

// To be called after the last line of a header whose lines end with CR alone: an LF after it is the first byte of data.
void sap_lines_end_at_return(sap_lines* lines);

// Takes the next word (what lies between blanks) off the front of the text; false if there is none.
bool sap_word_next(sap_span* text, sap_span* word);
bool sap_span_equal(sap_span span, const char* text);
// The same for text in lower case, whatever the case of the span.
bool sap_span_equal_any_case(sap_span span, const char* text);
enum { SAP_AXIS_BYTES = SAP_TEXT_BYTES };
// The coordinate of a name: x, y, z, then c3, c4, … up to SAP_MAX_DIMS, which is one too many; -1 for other names.
int32_t sap_axis_named(sap_span name, bool any_case);
// The name of a coordinate; `name` is memory for one that is made.
const char* sap_axis_name(int64_t axis, char name[SAP_AXIS_BYTES]);
// Without the blanks at both ends.
sap_span sap_span_trim(sap_span span);
// A number that is all of the span.
bool sap_span_number(sap_span span, sap_decimal* decimal);
// The same for a whole number from 0 to INT64_MAX, digits only.
bool sap_span_count(sap_span span, int64_t* count);

// The span as it can be shown in a sentence: cut when long, with blanks for tabs and '?' for what is not plain
// ASCII. Returns `shown`.
const char* sap_span_show(sap_span span, char shown[SAP_SHOWN_BYTES]);

// What the user can do about a text that is not a number: "; …", or "" if that cannot be guessed.
const char* sap_number_remedy(const sap_source* source, sap_span text);
// Whether a point for the comma would make the text a number.
bool sap_span_decimal_comma(sap_span span);

// Where numbers go as they are read: to coordinates of one precision, or, in a first pass, only into the answer whether
// floats would hold them all.
typedef struct sap_sink {
    float* coords;
    double* coords_f64;
    bool fits_float;
    int32_t real_bits; // as in the source
} sap_sink;

// False for a number that is beyond the floats which are wanted.
static inline bool sap_sink_put(sap_sink* sink, const sap_decimal* decimal, int64_t index) {
    if (sink->coords) {
        sink->coords[index] = sap_decimal_float(decimal);
        return sink->real_bits != 32 || !isinf(sink->coords[index]) || decimal->kind != SAP_DECIMAL_NUMBER;
    }
    if (sink->coords_f64)
        sink->coords_f64[index] = sap_decimal_double(decimal);
    else if (sink->real_bits == 32)
        return sap_decimal_in_float_range(decimal);
    else if (sink->fits_float && sink->real_bits == 0)
        sink->fits_float = sap_decimal_fits_float(decimal);
    return true;
}

// The error message about a number that sap_sink_put refuses.
sap_status sap_beyond_float(const sap_source* source, int64_t line, sap_span word);

// Refuses an unknown format.
sap_status sap_format_check(const sap_device* device, sap_format format);
// Refuses a number of real bits other than 0, 32 and 64.
sap_status sap_real_bits_check(const sap_device* device, int32_t real_bits);

// Allocates a point set and a sink into it, of floats if these are wanted, or if they fit and nothing is wanted. The
// caller has checked count against the bytes present.
sap_status sap_point_set_make(const sap_source* source, int64_t count, int32_t dims, bool fits_float,
                              sap_point_set** set, sap_sink* sink);

#endif
