// What the program says: errors and notes on stderr, the progress bar, text and JSON on stdout.
#ifndef SAPWOOD_CLI_OUTPUT_H
#define SAPWOOD_CLI_OUTPUT_H

#include "options.h"

#include <stdio.h>

// An output that is complete, or being written, under another name. See together.c.
typedef struct sap_cli_waiting {
    const char* path; // as the user names it
    char *target, *temporary;
} sap_cli_waiting;
enum { SAP_CLI_MOST_WAITING = SAP_CLI_MOST_OPERANDS + 4 };

typedef struct sap_cli_ranks sap_cli_ranks; // ranks.h

// One run of the program.
typedef struct sap_cli {
    const sap_cli_options* options;
    sap_device* device;
    sap_device_info info; // of the device
    char reason[1024];    // the library's last sentence about a failure, or ""
    int reason_errno;     // the system's error when it was said
    const char* stage;    // what the progress bar says; NULL: no bar
    double stage_start, bar_time;
    bool bar_drawn;
    const char* pipe;   // a pipe whose bytes are in a file, as the user names it; NULL: none
    char pipe_file[32]; // the file's name
    bool hushed;        // what the library tells of files that it reads is left out
    int pipe_error;     // why the bytes of a pipe could not be kept; 0: they could
    bool together;      // outputs wait for one another
    sap_cli_waiting waiting[SAP_CLI_MOST_WAITING];
    int waiting_count;
    sap_cli_ranks* ranks; // NULL: this process works alone
} sap_cli;

// Opens the device that the options ask for, with its log and progress leading here. `ranks`: NULL: this process is alone.
sap_cli_exit sap_cli_open(sap_cli* cli, const sap_cli_options* options, sap_cli_ranks* ranks);
void sap_cli_close(sap_cli* cli);
// The device as it is said: "cpu, avx2, threads 4" or "cuda:0, threads 4".
typedef struct sap_cli_place {
    char text[64];
} sap_cli_place;
sap_cli_place sap_cli_where(const sap_cli* cli);

double sap_cli_seconds(void); // of a steady clock

// ---- shown.c
// Bytes of the well-formed UTF-8 character at `at`, or 0.
int sap_cli_utf8_length(const char* at);
// Prints text with '?' for each control character and each byte that is no UTF-8.
void sap_cli_show(FILE* stream, const char* text);
// Cuts the middle out of a long path (NULL: none) wherever the sentence names it.
void sap_cli_shorten(char* sentence, const char* path);

// ---- output.c
// "sapwood VERB: …" on stderr. Returns SAP_EXIT_FAILED / SAP_EXIT_USAGE.
__attribute__((format(printf, 2, 3))) sap_cli_exit sap_cli_error(sap_cli* cli, const char* format, ...);
__attribute__((format(printf, 2, 3))) sap_cli_exit sap_cli_usage(sap_cli* cli, const char* format, ...);
// Says why the library failed, naming the file (NULL: none) unless its own sentence does.
sap_cli_exit sap_cli_failed(sap_cli* cli, sap_status status, const char* path);
// ---- hints.c
// " (--option VALUE)", the option of the verb that answers a sentence of the library about a file, or "".
typedef struct sap_cli_hint {
    char text[64];
} sap_cli_hint;
sap_cli_hint sap_cli_hint_of(const sap_cli* cli, const char* sentence, const char* path);

// ---- output.c
// One line on stderr; not with --quiet. The second: only with --verbose.
__attribute__((format(printf, 2, 3))) void sap_cli_note(sap_cli* cli, const char* format, ...);
__attribute__((format(printf, 2, 3))) void sap_cli_detail(sap_cli* cli, const char* format, ...);

// Work that a progress bar shows: begin, any number of reports of what is done (0 … 1), end, which gives the seconds.
void sap_cli_stage_begin(sap_cli* cli, const char* stage);
bool sap_cli_stage_report(void* cli, double done);
double sap_cli_stage_end(sap_cli* cli);

// count * bytes of memory, or NULL after saying so.
void* sap_cli_allocate(sap_cli* cli, int64_t count, size_t bytes);
// -k values for each of `rows` queries, or NULL after saying so.
void* sap_cli_allocate_neighbors(sap_cli* cli, int64_t rows, size_t bytes);
// As sap_cli_failed, of a search for -k neighbours.
sap_cli_exit sap_cli_nearest_failed(sap_cli* cli, sap_status status);

// The shortest decimals that read back as the same float (bits 32) or double.
typedef struct sap_cli_number {
    char text[32];
} sap_cli_number;
sap_cli_number sap_cli_real(double value, int bits);
// Bytes as they are said: "54 kB".
sap_cli_number sap_cli_size(double bytes);

// Flushes stdout; SAP_EXIT_FAILED if anything written there was lost.
sap_cli_exit sap_cli_flush(sap_cli* cli);

// ---- written.c
// The format in which a path (NULL: none given) is written; whether it holds nothing but meshes.
sap_format sap_cli_format_of(const sap_cli* cli, const char* path);
static inline bool sap_cli_holds_meshes_only(sap_format format) {
    return format == SAP_FORMAT_OBJ || format == SAP_FORMAT_STL || format == SAP_FORMAT_OFF ||
           format == SAP_FORMAT_GLTF;
}

// Whether the verb writes points with all that they have beside their coordinates.
bool sap_cli_writes_points(const sap_cli* cli);

// Writes a table to a path named by an option (NULL: text on stdout). Column names are prefix0, prefix1, … (a lone
// column: prefix).
sap_cli_exit sap_cli_write(sap_cli* cli, const char* path, const sap_table* table, const char* prefix);
// An output: the option that names it, as the user writes it, and its path (NULL: not given).
typedef struct sap_cli_output {
    const char *option, *path;
} sap_cli_output;

// ---- replace.c
// Checks, before work begins, that outputs are files of their own: none is another or an input, or a file that an input
// names; one stdout at most.
sap_cli_exit sap_cli_check_distinct(sap_cli* cli, const sap_cli_output* outputs, int count);
// Of one output, that it is no input and none that an input names.
sap_cli_exit sap_cli_check_replaced(sap_cli* cli, const sap_cli_output* output);
// Checks that each can be written, as far as can be known before.
sap_cli_exit sap_cli_check_writable(sap_cli* cli, const sap_cli_output* outputs, int count);

// ---- written.c
// Checks that a table can be written in the format of a path (NULL: not given).
sap_cli_exit sap_cli_check_table(sap_cli* cli, const char* path);
// sap_cli_check_distinct, that outputs are tables in a known format, and sap_cli_check_writable.
sap_cli_exit sap_cli_check_outputs(sap_cli* cli, const sap_cli_output* outputs, int count);

// JSON on stdout, two blanks of indent a level. key NULL: an element of an array.
typedef struct sap_json {
    int depth;
    bool filled; // the innermost open object has members already
} sap_json;
void sap_json_open(sap_json* json, const char* key, char bracket);      // '{' or '['
void sap_json_close(sap_json* json, char bracket);                      // '}' or ']'
void sap_json_text(sap_json* json, const char* key, const char* value); // NULL: null
void sap_json_int(sap_json* json, const char* key, int64_t value);
void sap_json_real(sap_json* json, const char* key, double value, int bits); // not finite: null
void sap_json_bool(sap_json* json, const char* key, bool value);
void sap_json_processor(sap_json* json, const sap_cli* cli); // where the work ran
// Where the work ran and how many seconds it took: reading, building a tree, and what the verb is for, as it calls it.
void sap_json_effort(sap_json* json, const sap_cli* cli, double read, double build, const char* work, double seconds);

// Names as the user writes them.
const char* sap_cli_split_name(sap_split split);
const char* sap_cli_axis_name(sap_axis axis);
const char* sap_cli_simd_name(sap_simd simd);
const char* sap_cli_precision_name(int32_t real_bits);
const char* sap_cli_processor_name(sap_processor processor);

#endif
