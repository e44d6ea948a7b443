// The command line: one table of verbs and options. Parsing, --help, the man page and the completions of three shells
// are all made from it.
#ifndef SAPWOOD_CLI_OPTIONS_H
#define SAPWOOD_CLI_OPTIONS_H

#include "sapwood/sapwood.h"

#include <stdio.h>

typedef enum sap_cli_exit {
    SAP_EXIT_OK = 0,
    SAP_EXIT_FAILED = 1,
    SAP_EXIT_USAGE = 2,
    SAP_EXIT_UNSOUND = 3,     // a verification failed
    SAP_EXIT_UNDETERMINED = 4 // several answers are as right; one may have been written
} sap_cli_exit;

typedef enum sap_cli_verb {
    SAP_VERB_NONE = 0,
    SAP_VERB_INFO,
    SAP_VERB_BUILD,
    SAP_VERB_NEAREST,
    SAP_VERB_RADIUS,
    SAP_VERB_BOX,
    SAP_VERB_CORRELATE,
    SAP_VERB_PAIRS,
    SAP_VERB_NORMALS,
    SAP_VERB_DENSITY,
    SAP_VERB_OUTLIERS,
    SAP_VERB_THIN,
    SAP_VERB_CLUSTER,
    SAP_VERB_DISTANCE,
    SAP_VERB_RELAX,
    SAP_VERB_PROJECT,
    SAP_VERB_ALIGN,
    SAP_VERB_ASSEMBLE,
    SAP_VERB_VERIFY,
    SAP_VERB_CONVERT,
    SAP_VERB_BENCH,
    SAP_VERB_RENDER,
    SAP_VERB_TRACE,
    SAP_VERB_CLOSEST,
    SAP_VERB_ISOSURFACE,
    SAP_VERB_COMPACT,
    SAP_VERB_SUBDIVIDE,
    SAP_VERB_VORONOI,
    SAP_VERB_PICTURE,
    SAP_VERB_COUNT
} sap_cli_verb;

typedef enum sap_cli_progress { SAP_PROGRESS_AUTO, SAP_PROGRESS_ALWAYS, SAP_PROGRESS_NEVER } sap_cli_progress;
typedef enum sap_cli_mpi { SAP_MPI_AUTO, SAP_MPI_ALWAYS, SAP_MPI_NEVER } sap_cli_mpi;
typedef enum sap_cli_spread { SAP_SPREAD_AUTO, SAP_SPREAD_SPLIT, SAP_SPREAD_COPIED } sap_cli_spread;
typedef enum sap_cli_document { SAP_NO_DOCUMENT, SAP_MAN, SAP_BASH, SAP_ZSH, SAP_FISH } sap_cli_document;

typedef enum sap_cli_style { SAP_STYLE_CELLS, SAP_STYLE_DISTANCES, SAP_STYLE_EDGES, SAP_STYLE_DEPTH } sap_cli_style;

enum {
    SAP_CLI_MOST_OPERANDS = 1000,
    SAP_CLI_MOST_LIGHTS = 64,
    SAP_CLI_MOST_NUMBERS = 64,
    SAP_CLI_MOST_DEVICES = 64,
    SAP_CLI_GIVEN_WORDS = 5
};
typedef struct sap_cli_light {
    double position[3];
    float side, color[3]; // side 0: a point light
} sap_cli_light;

typedef struct sap_cli_corner {
    int32_t count; // 0: not given
    double at[SAP_MAX_DIMS];
} sap_cli_corner;

typedef struct sap_cli_numbers {
    int32_t count; // 0: not given
    double at[SAP_CLI_MOST_NUMBERS];
} sap_cli_numbers;

typedef struct sap_cli_devices {
    int32_t count; // 0: not given
    int32_t ordinals[SAP_CLI_MOST_DEVICES];
} sap_cli_devices;

// What the user asked for, with defaults filled in.
typedef struct sap_cli_options {
    sap_cli_verb verb;
    const char* operands[SAP_CLI_MOST_OPERANDS]; // NULL where not given
    int operand_count;
    bool help, version;
    sap_cli_document generate;
    const char *output, *ids, *distances; // paths, NULL where not given
    const char *columns, *member;         // NULL: not given
    const char *query_columns, *query_member;
    sap_format format, input_format, query_format;
    int64_t unpack_limit; // bytes that packed ones may become; 0: not given
    double origin[3];     // of meshes
    bool find_origin;
    int32_t k;
    double radius; // negative: not given
    sap_cli_corner lower, upper;
    const char *metric, *weights, *mask, *radii; // NULL: not given
    sap_cli_numbers box;                         // the lower corner of --box, then the upper one
    double eps;
    int64_t limit; // of neighbours; negative: not given
    sap_cli_numbers many_radii;
    const char *point_weights, *query_weights; // NULL: not given
    bool bins;
    int32_t jackknife; // blocks; 0: not given
    const char *cells, *blocks;
    int32_t hits; // a ray; 0: all
    double ratio; // 0: not given
    double view[3];
    sap_orient orient;
    bool shapes, kernel, surface, invert, kinds, counts_too, both, is_signed, is_free;
    int32_t steps;      // 0: not given
    int64_t more, made; // made 0: not given
    double push;        // 0: not given
    bool by_density, to_median;
    double quantile;        // 0: not given
    int32_t fewest, chosen; // fewest 0: not given; chosen: a sap_voxels_point
    int64_t least;
    double cell_size, disks; // negative: not given
    sap_align_method method;
    sap_align_kernel weighting;
    const char *start, *transform;                             // NULL: not given
    double max_distance, overlap, max_angle, scale, tolerance; // 0: not given
    double least_overlap;                                      // 0: not given
    int32_t levels, iterations;                                // 0: not given
    bool find_overlap, one_to_one, global;
    int64_t farthest; // 0: not given
    bool all, occluded, inside;
    bool count, full, pairs, sorted, with_self, ordered, verify, drop_nonfinite;
    sap_tree_options tree;
    const char* period; // NULL: not given
    sap_walk walk;
    sap_processor processor;
    sap_simd simd;
    int32_t ordinal, threads;
    sap_cli_devices devices; // GPUs that share the work; the first is `ordinal`, too
    sap_cli_spread spread;
    int64_t seed, points, queries;
    int32_t dims, repeat, precision; // precision 0: as in the file
    sap_cli_progress progress;
    bool json, quiet, verbose;
    sap_cli_mpi mpi;
    int32_t size[2], samples, bounces, orbit; // pixels; samples and orbit 0: not given
    double refit;         // render: most times that rays may cost before the tree is built anew; 0: it always is
    int32_t frames[2];    // the first, and the one after the last; 0, 0: not given
    double fps;           // 0: not given
    const char* clip;     // NULL: not given
    double eye[3], at[3]; // where the file's coordinates say
    float up[3], background[3];
    double fov, ambient, exposure;
    int64_t photons, caustics; // 0: not given
    int32_t passes;            // 0: not given
    double until_error;        // 0: not given
    sap_tone tone;
    sap_photon_filter filter;
    bool gather, progressive, next_event;
    const char* photon_cloud;
    bool flat, heat, triangles, to_limit, keep_tips;
    double creases;          // degrees
    int32_t style;           // a sap_cli_style
    double slice, extent[4]; // of the plane: x0, y0, x1, y1
    sap_quality quality;
    sap_cost cost;
    double reach;
    sap_cli_light lights[SAP_CLI_MOST_LIGHTS];
    int32_t light_count;
    int64_t sides[3], skip; // of a volume
    sap_voxel voxel;
    sap_axis_order order;
    float spacing[3];
    double level;
    bool big_endian, low_inside;
    const char* picture;
    const char* color;                   // NULL: not given
    double point_size;                   // negative: not given
    uint64_t given[SAP_CLI_GIVEN_WORDS]; // bit i: entry i of the table was among the arguments
} sap_cli_options;

typedef enum sap_cli_kind {
    SAP_KIND_FLAG,    // bool
    SAP_KIND_FILE,    // const char*
    SAP_KIND_TEXT,    // const char*, not a file
    SAP_KIND_COLUMNS, // const char*, names or numbers with commas between
    SAP_KIND_INT32,   // int32_t
    SAP_KIND_INT64,   // int64_t
    SAP_KIND_REAL,    // double
    SAP_KIND_CHOICE,  // an enum or int32_t, one of `choices`
    SAP_KIND_DEVICE,  // processor and ordinal
    SAP_KIND_DEVICES, // devices, and with them processor and ordinal
    SAP_KIND_SIZE,    // int32_t[2]
    SAP_KIND_RANGE,   // int32_t[2]
    SAP_KIND_VECTOR,  // float[3]
    SAP_KIND_PLACE,   // double[3]
    SAP_KIND_ORIGIN,  // origin and find_origin
    SAP_KIND_BYTES,   // int64_t
    SAP_KIND_SIDES,   // int64_t[3]
    SAP_KIND_CORNER,  // sap_cli_corner
    SAP_KIND_BOX,     // sap_cli_numbers, those of two corners
    SAP_KIND_EXTENT,  // double[4]
    SAP_KIND_RADII,   // sap_cli_numbers, none negative, none less than the one before
    SAP_KIND_LIGHT    // one more of `lights`; `lowest` numbers are needed
} sap_cli_kind;

typedef struct sap_cli_choice {
    const char* name; // NULL ends a list
    int value;
} sap_cli_choice;

typedef struct sap_cli_option {
    const char* name; // without the dashes
    char letter;      // 0: none
    unsigned verbs;   // bit v: belongs to verb v
    sap_cli_kind kind;
    size_t offset;          // of its field in sap_cli_options
    double lowest, highest; // of numbers
    const char* argument;   // what --help calls its value; NULL for flags
    const sap_cli_choice* choices;
    const char* help; // NULL: hidden
    bool required;
} sap_cli_option;

typedef struct sap_cli_verb_text {
    const char* name;
    const char* operands; // as --help shows them
    int fewest, most;     // operands
    const char* summary;  // one line
    const char* description;
} sap_cli_verb_text;

extern const sap_cli_option sap_cli_option_table[];
extern const size_t sap_cli_option_count;
extern const sap_cli_verb_text sap_cli_verb_table[SAP_VERB_COUNT];

// Whether --help of the verb (SAP_VERB_NONE: of the program) shows the option.
bool sap_cli_option_shown(const sap_cli_option* option, sap_cli_verb verb);

// Whether an option of the verb was given, be it with its default.
bool sap_cli_given(const sap_cli_options* options, const char* name);

// Reads the arguments. SAP_EXIT_OK, or SAP_EXIT_USAGE after saying on stderr what is wrong.
sap_cli_exit sap_cli_parse(int argc, char** argv, sap_cli_options* options);

// Which columns of a file are coordinates, for --help and the man page.
extern const char sap_cli_columns_text[];

// ---- values.c
// Takes an option's value into its field; false if it is none.
bool sap_cli_take_value(const sap_cli_option* option, const char* text, sap_cli_options* options);
// Prints what an option takes.
void sap_cli_show_wanted(FILE* stream, const sap_cli_option* option);

// ---- help.c
// Prints the --help of a verb, or of the program, on stdout.
void sap_cli_print_help(sap_cli_verb verb);

// ---- documents.c
// Prints the man page or a shell's completion on stdout.
void sap_cli_print_document(sap_cli_document document);

#endif
