// The benchmark: what every group of rows shares. One process, fixed seeds, a warm-up pass, then passes of Sapwood and
// of its rivals in turn; a row quotes medians.
#ifndef SAPWOOD_BENCH_H
#define SAPWOOD_BENCH_H

#include "rivals/rival.h"
#include "sapwood/sapwood.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    BENCH_MAX_REPS = 99,
    BENCH_MAX_SIDES = 6, // of one comparison: Sapwood, the rivals
    BENCH_OTHERS = 3,    // rivals that stand beside, without a target
    BENCH_MAX_ROWS = 320
};

typedef struct bench_options {
    bool quick;                       // smaller sizes and fewer passes: for a look, not for a record
    int reps;                         // passes a side
    int threads;                      // of the scaling rows, over one
    bool cpu_time;                    // one-thread passes are timed by the processor time they used: for busy machines
    const char* only;                 // comma-separated beginnings of row keys; NULL: all rows
    const char* data;                 // folder of real data, or NULL
    const char* out;                  // folder for CSV files
    const char* scipy;                // times of scipy, measured beforehand, or NULL
    const char* export_folder;        // instead of a benchmark, clouds are written there
    const char* program;              // this program's path, for fresh processes
    const char* rival;                // what the rows stand beside
    const char* others[BENCH_OTHERS]; // and what stands beside them without a target
} bench_options;

// ---- options.c: the command line.

// Reads the words into options. Ends the program where they are wrong or ask for help.
void bench_read_options(bench_options* options, int argc, char** argv, const char* usage);
// Ends the program with a sentence if the text is no such number.
int bench_whole_number(const char* text, int least, int most);

// ---- clock.c: time, and passes in turn.

double bench_seconds(void);
// Seconds of processor time that this process has used.
double bench_cpu_seconds(void);

// One contender of a comparison: `pass` does the whole work once; its wall time is a sample.
typedef struct bench_side {
    void (*pass)(void* state);
    void* state;
    double (*timed)(void* state); // instead of pass: a pass that reports its own seconds
    double scale;                 // seconds are multiplied by this (a part of the work was done); 0 means 1
    int most;                     // samples at most; 0: as many as asked
    int count;
    double samples[BENCH_MAX_REPS];
} bench_side;

// Warms every side up once, then takes options->reps samples of each, the sides in turn.
void bench_take_turns(bench_side* sides, int count, const bench_options* options);
// The same without the warm-up, for sides that begin in fresh processes.
void bench_take_cold_turns(bench_side* sides, int count, const bench_options* options);
double bench_median(const bench_side* side);

// ---- report.c: rows.

// How a row's numbers are shown. Rates show more-is-better numbers made from seconds and `operations`.
typedef enum bench_unit {
    BENCH_RATE,         // seconds of a pass, shown in millions of operations a second
    BENCH_LEAST_RATE,   // the same; the target is a rate at least, not a ratio
    BENCH_SECONDS,      // seconds of a pass
    BENCH_MICROSECONDS, // seconds an operation, shown in microseconds; no rival: the target is an upper limit
    BENCH_NANOSECONDS,  // seconds an operation, shown in nanoseconds
    BENCH_MEGABYTES,    // bytes, shown in 10^6; the target is an upper limit
    BENCH_COUNT,        // a number; the target is an upper limit
    BENCH_NUMBER        // the same, with decimals; 0: no target
} bench_unit;

typedef struct bench_row {
    const char* key;    // for --only and the CSV
    const char* work;   // for people
    const char* versus; // what stands in the rival's column; NULL: the main rival
    bench_unit unit;
    double operations;           // of one pass
    double subject;              // Sapwood: seconds, bytes or a count
    double rival;                // seconds; 0: none
    double target;               // least ratio rival/subject, or an upper limit in the shown unit; 0: none
    double floor;                // seconds or bytes; 0: not known
    double others[BENCH_OTHERS]; // seconds of the rivals beside; 0: none
} bench_row;

typedef struct bench_report bench_report;

bench_report* bench_report_open(const bench_options* options);
// Adds a row, and prints it at once.
void bench_report_row(bench_report* report, const bench_row* given);
// Adds the samples of a comparison's side to samples.csv.
void bench_report_samples(bench_report* report, const char* key, const char* who, const bench_side* side);
// A line between rows: what was skipped and why.
void bench_report_note(bench_report* report, const char* format, ...) __attribute__((format(printf, 2, 3)));
// Counts a wrong answer: the program will fail.
void bench_report_wrong(bench_report* report, const char* key, const char* format, ...)
    __attribute__((format(printf, 3, 4)));
// Prints the rivals beside, the sums of verdicts; writes the CSV files. Returns the number of wrong answers.
int bench_report_close(bench_report* report);
// Column of a rival beside, or -1.
int bench_report_other(const bench_report* report, const char* name);

// ---- data.c: points, always the same.

typedef struct bench_random {
    uint64_t state;
} bench_random;
uint64_t bench_random_next(bench_random* random);
double bench_random_unit(bench_random* random);
float bench_random_float(bench_random* random);

// Memory or the end of the program with a sentence: a benchmark has no use for less.
void* bench_memory(size_t count, size_t bytes);
float* bench_uniform(int64_t count, int dims, uint64_t seed);
// A scene of ground, walls, spheres and poles as eight scanner stops of 64 beams see it, with 4 mm of noise.
float* bench_scan(int64_t count, uint64_t seed);
float* bench_equal(int64_t count);
float* bench_line(int64_t count, uint64_t seed);    // y = z = 0, x whole numbers in order (seed 0) or anywhere
float* bench_lattice(int64_t count, uint64_t seed); // 100 x 100 x 100 in order (seed 0) or random lattice points
float* bench_shell(int64_t count, uint64_t seed);   // the unit sphere
float* bench_caustic(int64_t count, uint64_t seed); // photons that a ring has reflected to a floor and walls
float* bench_outlier(int64_t count, uint64_t seed); // uniform, and one point a million away
float* bench_sorted(int64_t count, uint64_t seed);  // uniform, ascending in x
void bench_shuffle(float* points, int64_t count, int dims, uint64_t seed);

// ---- rates.c: what the machine can do at best, for floors.

typedef struct bench_rates {
    double memory_bytes; // a second, copied between large arrays, read and written together
    double cache_bytes;  // the same in half of the second-level cache
    double leaves;       // leaves of 32 3-D float points, in cache, scanned for their nearest a second
} bench_rates;

bench_rates bench_measure_rates(void);

// ---- device.c: the library's device, and the machine.

// Opens a device; ends the program with a sentence when that fails, but returns NULL for SAP_ERROR_NO_DEVICE.
sap_device* bench_device(int threads, sap_simd simd, const sap_allocator* allocator);
// Ends the program with a sentence unless status is SAP_OK.
void bench_check(sap_status status, const char* what);
// Prints a line about the library, the processor and the compiler.
void bench_print_machine(void);

// ---- folder.c: real data.

typedef struct bench_file {
    char path[1280], name[48]; // name: without folders and suffix
} bench_file;

typedef struct bench_folder {
    bench_file* files; // to be freed
    int count;
} bench_folder;

// The files *.ply and *.ply.xz of FOLDER/meshes, or of FOLDER if that is no folder, by name.
bench_folder bench_mesh_files(const char* folder);
// The bytes of a file, unpacked by the xz program if xz has compressed it, or NULL.
unsigned char* bench_unpack(const char* path, size_t* size);

// ---- first.c: first builds in processes of their own.

// What the process builds: the words after --first-build.
typedef struct bench_first {
    const bench_options* options;
    const char* words[3];
} bench_first;

// Starts this program again for one first build; returns the seconds that it measured.
double bench_first_pass(void* state);
// In that process: builds, and prints the seconds that it took.
void bench_first_timed(void (*build)(void* state), void* state);

// ---- work.c: one cloud, its queries, and an index of each library.

typedef struct bench_work {
    float *points, *queries;
    int64_t count, query_count;
    int dims;
    double radius;
    sap_device* device;
    sap_tree* tree;
    void* indexes[BENCH_MAX_SIDES]; // by place in bench_rivals; NULL: not built
    int32_t* ids;                   // [query_count * 16]
    float* distance2;
    uint32_t* rival_ids;
    int64_t* counts;
    int64_t other_queries; // how many queries the rivals beside answer
} bench_work;

enum { BENCH_MAX_K = 50 };

sap_points bench_points(const bench_work* work);
sap_points bench_queries(const bench_work* work);
// Takes points and queries over, builds the tree (one thread) and the main rival's index, and all others' on request.
void bench_work_open(bench_work* work, float* points, int64_t count, float* queries, int64_t query_count, int dims,
                     bool others);
void bench_work_close(bench_work* work);
// Sum of squared distances, in double, from queries to what ids name; NaN if an id is out of range.
double bench_checksum(const bench_work* work, int k, const uint32_t* ids, int64_t queries);

// ---- The groups of rows.

typedef struct bench_run {
    const bench_options* options;
    bench_report* report;
    bench_rates rates;
} bench_run;

// Whether --only asks for the row of this key, or for one of those whose keys begin with it.
bool bench_wanted(const bench_run* run, const char* key);

void bench_nearest_row(bench_run* run, bench_work* work, const char* key, const char* text, int k, double target);
void bench_radius_row(bench_run* run, bench_work* work, const char* key, const char* text, bool collect, double target);
// Rebuilds work->tree over its own points, beside the main rival.
void bench_rebuild_row(bench_run* run, bench_work* work, const char* key, const char* text, double target);
// Seconds in which the bytes of a build of one pass a level can move at best.
double bench_build_floor(const bench_run* run, int64_t count, int dims);

void bench_search_group(bench_run* run);   // search.c: uniform, scan-like and large clouds; nearest and radius
void bench_box_group(bench_run* run);      // box.c: points in boxes
void bench_pairs_group(bench_run* run);    // pairs.c: counts of pairs at many radii
void bench_build_group(bench_run* run);    // build.c: rebuilds and first builds
void bench_single_group(bench_run* run);   // single.c: one query a call
void bench_sets_group(bench_run* run);     // sets.c: points that come and go
void bench_load_group(bench_run* run);     // load.c: loading a saved tree beside building it
void bench_own_group(bench_run* run);      // own.c: a tree's own points as queries
void bench_splits_group(bench_run* run);   // splits.c: trees of both split rules
void bench_ways_group(bench_run* run);     // ways.c: threads, vector widths, metrics
void bench_busy_group(bench_run* run);     // busy.c: calls beside busy processes
void bench_memory_group(bench_run* run);   // memory.c: bytes kept, scratch, allocations
void bench_families_group(bench_run* run); // families.c: equal points, lines, lattices …
void bench_surface_group(bench_run* run);  // surface.c: isosurfaces of volumes
void bench_real_group(bench_run* run);     // real.c: LiDAR points and meshes
// build.c: one first build in this process, timed and printed; what a fresh process runs.
int bench_first_build(const char* who, int64_t count, int dims);
// export.c: writes the clouds that scipy is measured on, as NPY files.
int bench_export(const char* folder, bool quick);

#endif
