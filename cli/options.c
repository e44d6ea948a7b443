// The table, and parsing by it.
#include "options.h"
#include "output.h"

#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define V(verb)   (1u << SAP_VERB_##verb)
#define AT(field) offsetof(sap_cli_options, field)

enum {
    ON_ALL = V(INFO) | V(BUILD) | V(NEAREST) | V(RADIUS) | V(VERIFY) | V(CONVERT) | V(BENCH),
    ON_DEVICE = V(BUILD) | V(NEAREST) | V(RADIUS) | V(VERIFY) | V(BENCH),
    ON_FILES = V(INFO) | V(CONVERT),
    ON_READ = V(INFO) | V(BUILD) | V(NEAREST) | V(RADIUS) | V(CONVERT) | V(BENCH),
    ON_READ_TWO = V(NEAREST) | V(RADIUS) | V(BENCH),
    ON_TREE = V(BUILD) | V(NEAREST) | V(RADIUS) | V(BENCH),
    ON_SEARCH = V(NEAREST) | V(RADIUS)
};

static const sap_cli_choice splits[] = {
    {"median", SAP_SPLIT_MEDIAN}, {"sliding-midpoint", SAP_SPLIT_SLIDING_MIDPOINT}, {0}};
static const sap_cli_choice axes[] = {{"widest", SAP_AXIS_WIDEST}, {"cycle", SAP_AXIS_CYCLE}, {0}};
static const sap_cli_choice walks[] = {{"auto", SAP_WALK_AUTO},           {"stack", SAP_WALK_STACK},
                                       {"stackless", SAP_WALK_STACKLESS}, {"warp", SAP_WALK_WARP},
                                       {"packet", SAP_WALK_PACKET},       {0}};
static const sap_cli_choice simds[] = {{"auto", SAP_SIMD_AUTO},
                                       {"portable", SAP_SIMD_PORTABLE},
                                       {"avx2", SAP_SIMD_AVX2},
                                       {"avx512", SAP_SIMD_AVX512},
                                       {0}};
static const sap_cli_choice formats_read[] = {{"ply", SAP_FORMAT_PLY}, {"xyz", SAP_FORMAT_XYZ}, {"csv", SAP_FORMAT_CSV},
                                              {"npy", SAP_FORMAT_NPY}, {"pcd", SAP_FORMAT_PCD}, {0}};
static const sap_cli_choice formats_read_with_meshes[] = {
    {"ply", SAP_FORMAT_PLY}, {"xyz", SAP_FORMAT_XYZ}, {"csv", SAP_FORMAT_CSV}, {"npy", SAP_FORMAT_NPY},
    {"pcd", SAP_FORMAT_PCD}, {"obj", SAP_FORMAT_OBJ}, {"stl", SAP_FORMAT_STL}, {0}};
static const sap_cli_choice formats_written_with_meshes[] = {{"npy", SAP_FORMAT_NPY},
                                                             {"csv", SAP_FORMAT_CSV},
                                                             {"ply", SAP_FORMAT_PLY},
                                                             {"xyz", SAP_FORMAT_XYZ},
                                                             {"obj", SAP_FORMAT_OBJ},
                                                             {"stl", SAP_FORMAT_STL},
                                                             {0}};
static const sap_cli_choice formats_written[] = {
    {"npy", SAP_FORMAT_NPY}, {"csv", SAP_FORMAT_CSV}, {"ply", SAP_FORMAT_PLY}, {"xyz", SAP_FORMAT_XYZ}, {0}};
static const sap_cli_choice precisions[] = {{"float32", 32}, {"float64", 64}, {0}};
static const sap_cli_choice progresses[] = {
    {"auto", SAP_PROGRESS_AUTO}, {"always", SAP_PROGRESS_ALWAYS}, {"never", SAP_PROGRESS_NEVER}, {0}};
static const sap_cli_choice documents[] = {
    {"man", SAP_MAN}, {"bash", SAP_BASH}, {"zsh", SAP_ZSH}, {"fish", SAP_FISH}, {0}};

#define FLAG(field)                SAP_KIND_FLAG, AT(field), 0, 0, NULL, NULL
#define PATH(field)                SAP_KIND_FILE, AT(field), 0, 0, "FILE", NULL
#define INT32(field, low, high)    SAP_KIND_INT32, AT(field), low, high, "N", NULL
#define INT64(field, low, high)    SAP_KIND_INT64, AT(field), low, high, "N", NULL
#define REAL(field)                SAP_KIND_REAL, AT(field), 0, HUGE_VAL, "R", NULL
#define DEVICE                     SAP_KIND_DEVICE, AT(processor), 0, 0, "auto|cpu|cuda[:N]", NULL
#define CHOICE(field, name, table) SAP_KIND_CHOICE, AT(field), 0, 0, name, table

const sap_cli_option sap_cli_option_table[] = {
    {"output", 'o', V(BUILD), PATH(output),
     "the saved tree (.sap); an older file is replaced when it is complete; '-' is standard output", true},
    {"output", 'o', V(NEAREST), PATH(output),
     "ids of the neighbours, int32[queries][k], -1 where there are fewer; '-' is standard output (NPY unless --format "
     "says otherwise); without -o, --distances and --json they go to standard output as text",
     false},
    {"output", 'o', V(RADIUS), PATH(output),
     "where each query's row begins, int64[queries+1], or with --count how many points it has, int64[queries]; '-' is "
     "standard output (NPY unless --format says otherwise); with no output named and no --json the ids (or counts) go "
     "to standard output as text, a line a query",
     false},
    {"output", 'o', V(CONVERT), PATH(output),
     "what is written; '-' is standard output (NPY unless --format says otherwise); without it points as text on "
     "standard output",
     false},
    {"neighbors", 'k', V(NEAREST) | V(BENCH), INT32(k, 1, INT32_MAX), "neighbours a query (default 1)", false},
    {"radius", 'r', V(NEAREST), REAL(radius), "only neighbours at most this far away, above 0", false},
    {"radius", 'r', V(RADIUS), REAL(radius), "how far points may be away: 0 finds equal points, inf finds all", true},
    {"radius", 'r', V(BENCH), REAL(radius), "time counting and collecting within this radius too", false},
    {"ids", 0, V(RADIUS), PATH(ids), "ids of the points found, row after row, int32", false},
    {"distances", 0, V(NEAREST), PATH(distances),
     "squared distances, [queries][k], float32 (float64 for double points), inf where there are fewer", false},
    {"distances", 0, V(RADIUS), PATH(distances), "their squared distances, float32 (float64 for double points)", false},
    {"count", 0, V(RADIUS), FLAG(count), "only count the points", false},
    {"pairs", 0, V(RADIUS), FLAG(pairs), "without QUERIES: each pair once, in the row of its smaller id", false},
    {"sorted", 0, V(RADIUS), FLAG(sorted), "each row ascending by distance, then id", false},
    {"with-self", 0, ON_SEARCH, FLAG(with_self), "without QUERIES: a point is its own neighbour", false},
    {"verify", 0, ON_SEARCH, FLAG(verify),
     "check the answers against brute force (a sample of the queries above 10^9 distances); needs the points, not a "
     "saved tree",
     false},
    {"format", 0, ON_SEARCH, CHOICE(format, "FORMAT", formats_written),
     "format of what is written (default: by suffix)", false},
    {"format", 0, V(CONVERT), CHOICE(format, "FORMAT", formats_written_with_meshes),
     "format of what is written (default: by suffix)", false},
    {"input-format", 0, V(BUILD), CHOICE(input_format, "FORMAT", formats_read),
     "format of what is read (default: by the first bytes, then by suffix)", false},
    {"input-format", 0, ON_FILES, CHOICE(input_format, "FORMAT", formats_read_with_meshes),
     "format of what is read (default: by the first bytes, then by suffix)", false},
    {"input-format", 0, ON_READ_TWO, CHOICE(input_format, "FORMAT", formats_read),
     "format of what is read, of REFERENCE (unless it is a saved tree) and QUERIES both (default: by the first bytes, "
     "then by suffix)",
     false},
    {"precision", 0, V(INFO) | V(BUILD), CHOICE(precision, "TYPE", precisions),
     "read the coordinates as this type (default: the file's; text as float32 if that keeps its numbers)", false},
    {"precision", 0, ON_SEARCH, CHOICE(precision, "TYPE", precisions),
     "read the coordinates of REFERENCE and QUERIES as this type (default: the file's; text as float32 if that keeps "
     "its numbers)",
     false},
    {"precision", 0, V(CONVERT), CHOICE(precision, "TYPE", precisions),
     "read, and write, the coordinates of points as this type (default: the file's; text as float32 if that keeps its "
     "numbers)",
     false},
    {"precision", 0, V(BENCH), CHOICE(precision, "TYPE", precisions), "of generated points (default float32)", false},
    {"split", 0, ON_TREE, CHOICE(tree.split, "RULE", splits), "how a tree divides space (default median)", false},
    {"axis", 0, ON_TREE, CHOICE(tree.axis, "RULE", axes), "which axis a node divides (default widest)", false},
    {"leaf-size", 0, ON_TREE, INT32(tree.leaf_size, 1, 1024), "points a leaf should hold (default 32)", false},
    {"drop-duplicates", 0, V(BUILD) | V(BENCH), FLAG(tree.drop_duplicates),
     "of equal points keep the one with the smallest id", false},
    {"drop-duplicates", 0, ON_SEARCH, FLAG(tree.drop_duplicates),
     "of equal points keep the one with the smallest id; without QUERIES the rows of the others are empty", false},
    {"walk", 0, V(NEAREST) | V(BENCH), CHOICE(walk, "WALK", walks),
     "how a search goes through the tree; the answers are the same; warp and packet need a GPU (default auto)", false},
    {"ordered", 0, V(NEAREST), FLAG(ordered), "QUERIES lie close to their neighbours in the file: do not order them",
     false},
    {"ordered", 0, V(BENCH), FLAG(ordered), "take the queries as they come: do not order them", false},
    {"points", 0, V(BENCH), INT64(points, 0, INT32_MAX), "points to generate (default 1000000)", false},
    {"queries", 0, V(BENCH), INT64(queries, 0, INT32_MAX), "queries to generate (default 1000000)", false},
    {"dims", 0, V(BENCH), INT32(dims, 1, SAP_MAX_DIMS), "coordinates of a generated point (default 3)", false},
    {"repeat", 0, V(BENCH), INT32(repeat, 7, 1000000), "times each work is measured, 7 or more (default 7)", false},
    {"seed", 0, ON_SEARCH, INT64(seed, 0, 9007199254740992.0), "chooses the queries that --verify samples (default 1)",
     false},
    {"seed", 0, V(BENCH), INT64(seed, 0, 9007199254740992.0), "of generated points and queries (default 1)", false},
    {"device", 0, ON_DEVICE, DEVICE,
     "where the work runs; N counts the GPUs from 0 (default auto: a GPU where this build and machine have one, else "
     "the CPU)",
     false},
    {"device", 0, ON_FILES, DEVICE,
     "the device that is opened; N counts the GPUs from 0 (default auto: the CPU, since files alone are no work for a "
     "GPU)",
     false},
    {"threads", 0, ON_ALL, INT32(threads, 1, 1024), "CPU threads to use (default: all)", false},
    {"simd", 0, ON_DEVICE, CHOICE(simd, "WIDTH", simds), "vector instructions of the CPU (default auto)", false},
    {"progress", 0, ON_ALL, CHOICE(progress, "WHEN", progresses),
     "a progress bar on standard error (default auto: on a terminal, for work over a second)", false},
    {"json", 0, ON_ALL, FLAG(json), "say what was done as one JSON object on standard output", false},
    {"quiet", 'q', ON_ALL, FLAG(quiet), "nothing on standard error but errors, no progress bar either", false},
    {"verbose", 'v', ON_ALL, FLAG(verbose), "more on standard error", false},
    {"help", 'h', V(NONE) | ON_ALL, FLAG(help), "print this help and exit", false},
    {"version", 0, V(NONE), FLAG(version), "print version, features and devices and exit", false},
    {"generate", 0, V(NONE), CHOICE(generate, "DOCUMENT", documents), NULL, false},
};
_Static_assert(sizeof sap_cli_option_table / sizeof *sap_cli_option_table <= 64, "one bit of `given` for each");
const size_t sap_cli_option_count = sizeof sap_cli_option_table / sizeof *sap_cli_option_table;

const sap_cli_verb_text sap_cli_verb_table[SAP_VERB_COUNT] = {
    [SAP_VERB_NONE] = {"", "VERB", 0, 0, "build k-d trees over points and search them", ""},
    [SAP_VERB_INFO] = {"info", "FILE", 1, 1, "describe a file of points, a mesh or a saved tree",
                       "Prints how many points FILE holds, their dimensions, precision, bounds and duplicates; of a "
                       "mesh (OBJ, STL, PLY with faces) its vertices, triangles and materials; of a saved tree also "
                       "how it was built, its depth and its size."},
    [SAP_VERB_BUILD] = {"build", "POINTS", 1, 1, "build a tree over points and save it",
                        "Builds a k-d tree over POINTS and saves it, so that later searches map it instead of building "
                        "it again."},
    [SAP_VERB_NEAREST] =
        {"nearest", "REFERENCE [QUERIES]", 1, 2, "find the nearest points of each query",
         "Finds the k points of REFERENCE (points or a saved tree) that are nearest to each of QUERIES. "
         "Neighbours ascend by squared distance, then id; ids count the points of REFERENCE from 0. "
         "Without QUERIES every point of REFERENCE asks, itself left out unless --with-self. "
         "QUERIES are rounded to the precision of REFERENCE if that is float32."},
    [SAP_VERB_RADIUS] =
        {"radius", "REFERENCE [QUERIES]", 1, 2, "find or count the points within a radius of each query",
         "Finds the points of REFERENCE (points or a saved tree) within a radius of each of QUERIES. "
         "Row i of the answer is ids[offsets[i]] up to ids[offsets[i+1]-1]. Without QUERIES every point "
         "of REFERENCE asks, itself left out unless --with-self. QUERIES are rounded to the precision of "
         "REFERENCE if that is float32."},
    [SAP_VERB_VERIFY] = {"verify", "TREE", 1, 1, "check a saved tree completely",
                         "Checks checksum, sizes, permutation, order, boxes and depth of a saved tree. Exit status 3 "
                         "when anything is wrong."},
    [SAP_VERB_CONVERT] =
        {"convert", "FILE", 1, 1, "convert points or a mesh from one format to another",
         "Reads points as PLY, XYZ, CSV, NPY or PCD and writes PLY, XYZ, CSV or NPY; reads meshes as "
         "PLY, OBJ or STL and writes PLY, OBJ or STL. Polygons become triangles. An OBJ with materials "
         "comes with an MTL. Of a mesh the vertices are written as points where the format holds no "
         "meshes; a PLY with faces stays a mesh unless --precision is given."},
    [SAP_VERB_BENCH] =
        {"bench", "[REFERENCE [QUERIES]]", 0, 2, "measure building and searching",
         "Times the build of a tree and searches in it, over generated points (uniform in the unit cube) "
         "or over files; medians after a warm-up. A REFERENCE without QUERIES is asked about its own "
         "points."},
};

const char sap_cli_columns_text[] =
    "Points are read from PLY, XYZ, CSV, NPY and PCD files; '-' is standard input. PLY, PCD and CSV with a line of "
    "names give the columns x, y and z; XYZ, NPY and other CSV give all columns, 1 to 16: the XYZ line '1 2 3 255 0 0' "
    "is a point of 6 dimensions.";

bool sap_cli_given(const sap_cli_options* options, const char* name) {
    for (size_t i = 0; i < sap_cli_option_count; i++)
        if ((options->given >> i & 1u) && !strcmp(sap_cli_option_table[i].name, name)) return true;
    return false;
}

bool sap_cli_option_shown(const sap_cli_option* option, sap_cli_verb verb) {
    return option->help && (option->verbs >> verb & 1u);
}

static sap_cli_exit usage_error(sap_cli_verb verb) {
    const char* name = sap_cli_verb_table[verb].name;
    fprintf(stderr, "Try 'sapwood %s%s--help'.\n", name, *name ? " " : "");
    return SAP_EXIT_USAGE;
}

// The start of an error line: "sapwood nearest: ".
static void begin_error(sap_cli_verb verb) {
    const char* name = sap_cli_verb_table[verb].name;
    fprintf(stderr, "sapwood%s%s: ", *name ? " " : "", name);
}

static void show_word(const char* before, const char* word, const char* after) {
    fputs(before, stderr);
    sap_cli_show(stderr, word);
    fputs(after, stderr);
}

static bool parse_number(const char* text, bool whole, double lowest, double highest, double* value) {
    char* end;
    if (*text == ' ' || *text == '\t' || *text == '\n' || !*text) return false;
    if (whole && text[strspn(text, "0123456789")]) return false;
    *value = strtod(text, &end);
    return !*end && *value >= lowest && *value <= highest;
}

static bool parse_device(const char* text, sap_cli_options* options) {
    double ordinal = 0;
    if (!strcmp(text, "auto"))
        options->processor = SAP_AUTO;
    else if (!strcmp(text, "cpu"))
        options->processor = SAP_CPU;
    else if (!strcmp(text, "cuda") || (!strncmp(text, "cuda:", 5) && parse_number(text + 5, true, 0, 1023, &ordinal)))
        options->processor = SAP_CUDA;
    else
        return false;
    options->ordinal = (int32_t)ordinal;
    return true;
}

static bool parse_choice(const char* text, const sap_cli_choice* choices, void* field) {
    _Static_assert(sizeof(sap_format) == sizeof(int), "choices are stored as int");
    for (; choices->name; choices++) {
        if (strcmp(text, choices->name)) continue;
        memcpy(field, &choices->value, sizeof(int));
        return true;
    }
    return false;
}

static bool store(const sap_cli_option* option, const char* text, sap_cli_options* options) {
    void* field = (char*)options + option->offset;
    double number = 0;
    bool whole = option->kind != SAP_KIND_REAL;
    switch (option->kind) {
    case SAP_KIND_FLAG: *(bool*)field = true; return true;
    case SAP_KIND_FILE: *(const char**)field = text; return *text != 0;
    case SAP_KIND_CHOICE: return parse_choice(text, option->choices, field);
    case SAP_KIND_DEVICE: return parse_device(text, options);
    default: break;
    }
    if (!parse_number(text, whole, option->lowest, option->highest, &number)) return false;
    if (option->kind == SAP_KIND_INT32)
        *(int32_t*)field = (int32_t)number;
    else if (option->kind == SAP_KIND_INT64)
        *(int64_t*)field = (int64_t)number;
    else
        *(double*)field = number;
    return true;
}

static sap_cli_exit bad_value(const sap_cli_option* option, const char* text, sap_cli_verb verb) {
    begin_error(verb);
    show_word("'", text, "' is no value for");
    fprintf(stderr, " --%s; it takes ", option->name);
    if (option->choices) {
        for (const sap_cli_choice* c = option->choices; c->name; c++)
            fprintf(stderr, "%s%s", c == option->choices ? "" : c[1].name ? ", " : " or ", c->name);
        fputs("\n", stderr);
    } else if (option->kind == SAP_KIND_INT32 || option->kind == SAP_KIND_INT64) {
        fprintf(stderr, "a whole number from %.0f to %.0f, in digits\n", option->lowest, option->highest);
    } else if (option->kind == SAP_KIND_REAL) {
        fputs("a number that is not negative\n", stderr);
    } else {
        fprintf(stderr, "%s\n",
                option->kind == SAP_KIND_DEVICE ? "auto, cpu, cuda or cuda:N, where N counts the GPUs from 0"
                                                : "the path of a file");
    }
    return usage_error(verb);
}

enum { LONG_CODE = 256 }; // getopt's code of table entry i is LONG_CODE + i

static const sap_cli_option* option_of_code(int code, sap_cli_verb verb) {
    if (code >= LONG_CODE) return &sap_cli_option_table[code - LONG_CODE];
    for (size_t i = 0; i < sap_cli_option_count; i++) {
        const sap_cli_option* option = &sap_cli_option_table[i];
        if (code && option->letter == code && (option->verbs >> verb & 1u)) return option;
    }
    return NULL;
}

// Whether "--text" is short for more than one option.
static bool starts_several(const char* text, sap_cli_verb verb) {
    int found = 0;
    if (strncmp(text, "--", 2)) return false;
    for (size_t i = 0; i < sap_cli_option_count; i++) {
        const sap_cli_option* option = &sap_cli_option_table[i];
        found += (option->verbs >> verb & 1u) && !strncmp(option->name, text + 2, strcspn(text + 2, "="));
    }
    return found > 1;
}

static sap_cli_exit bad_option(int code, const char* text, sap_cli_verb verb) {
    const sap_cli_option* option = option_of_code(optopt, verb);
    begin_error(verb);
    if (code == ':' && option)
        fprintf(stderr, "option --%s needs a value\n", option->name);
    else if (option)
        fprintf(stderr, "option --%s takes no value\n", option->name);
    else if (optopt)
        show_word("unknown option -", (char[]){(char)optopt, 0}, "\n");
    else
        show_word(starts_several(text, verb) ? "more than one option begins with " : "unknown option ", text, "\n");
    return usage_error(verb);
}

// Reads the options of one verb (or those before any verb). What is left begins at argv[optind].
static sap_cli_exit parse_options(int argc, char** argv, sap_cli_verb verb, sap_cli_options* options) {
    struct option names[sizeof sap_cli_option_table / sizeof *sap_cli_option_table + 1];
    char letters[2 * (sizeof sap_cli_option_table / sizeof *sap_cli_option_table) + 3];
    size_t count = 0, length = 0;
    if (verb == SAP_VERB_NONE) letters[length++] = '+'; // stop at the verb
    letters[length++] = ':';
    for (size_t i = 0; i < sap_cli_option_count; i++) {
        const sap_cli_option* option = &sap_cli_option_table[i];
        int argument = option->kind == SAP_KIND_FLAG ? no_argument : required_argument;
        if (!(option->verbs >> verb & 1u)) continue;
        names[count++] = (struct option){option->name, argument, NULL, LONG_CODE + (int)i};
        if (!option->letter) continue;
        letters[length++] = option->letter;
        if (argument == required_argument) letters[length++] = ':';
    }
    names[count] = (struct option){0};
    letters[length] = 0;
    opterr = 0;
    optind = 0;
    for (int code; (code = getopt_long(argc, argv, letters, names, NULL)) != -1;) {
        if (code == ':' || code == '?') return bad_option(code, argv[optind - 1], verb);
        const sap_cli_option* option = option_of_code(code, verb);
        if (!store(option, optarg, options)) return bad_value(option, optarg, verb);
        options->given |= UINT64_C(1) << (option - sap_cli_option_table);
    }
    return SAP_EXIT_OK;
}

static sap_cli_exit parse_operands(int argc, char** argv, sap_cli_options* options) {
    const sap_cli_verb_text* verb = &sap_cli_verb_table[options->verb];
    int given = argc - optind;
    if (given < verb->fewest || given > verb->most) {
        begin_error(options->verb);
        fprintf(stderr, "%s operands; expected %s\n", given < verb->fewest ? "too few" : "too many", verb->operands);
        return usage_error(options->verb);
    }
    for (int i = 0; i < given; i++) options->operands[i] = argv[optind + i];
    for (size_t i = 0; i < sap_cli_option_count; i++) {
        const sap_cli_option* option = &sap_cli_option_table[i];
        const void* field = (const char*)options + option->offset;
        if (!option->required || !(option->verbs >> options->verb & 1u)) continue;
        if (option->kind == SAP_KIND_REAL ? *(const double*)field >= 0 : *(const char* const*)field != NULL) continue;
        begin_error(options->verb);
        fprintf(stderr, "option --%s %s is needed\n", option->name, option->argument);
        return usage_error(options->verb);
    }
    return SAP_EXIT_OK;
}

static sap_cli_verb verb_named(const char* name) {
    for (int v = SAP_VERB_NONE + 1; v < SAP_VERB_COUNT; v++)
        if (!strcmp(name, sap_cli_verb_table[v].name)) return (sap_cli_verb)v;
    return SAP_VERB_NONE;
}

static sap_cli_exit unknown_verb(const char* name) {
    begin_error(SAP_VERB_NONE);
    show_word("unknown verb '", name, "'\n");
    return usage_error(SAP_VERB_NONE);
}

// "sapwood help" and "sapwood help VERB", with argv[0] the "help".
static sap_cli_exit parse_help(int argc, char** argv, sap_cli_options* options) {
    options->help = true;
    if (argc > 2) {
        begin_error(SAP_VERB_NONE);
        fputs("too many operands; expected help [VERB]\n", stderr);
        return usage_error(SAP_VERB_NONE);
    }
    if (argc < 2 || !strcmp(argv[1], "help") || !strcmp(argv[1], "--help")) return SAP_EXIT_OK;
    options->verb = verb_named(argv[1]);
    return options->verb == SAP_VERB_NONE ? unknown_verb(argv[1]) : SAP_EXIT_OK;
}

sap_cli_exit sap_cli_parse(int argc, char** argv, sap_cli_options* options) {
    *options = (sap_cli_options){.k = 1, .radius = -1, .seed = 1, .points = -1, .queries = -1, .repeat = 7};
    sap_cli_exit result = parse_options(argc, argv, SAP_VERB_NONE, options);
    if (result != SAP_EXIT_OK || options->help || options->version || options->generate) return result;
    if (optind >= argc) {
        begin_error(SAP_VERB_NONE);
        fputs("no verb given\n", stderr);
        return usage_error(SAP_VERB_NONE);
    }
    const char* name = argv[optind];
    if (!strcmp(name, "help")) return parse_help(argc - optind, argv + optind, options);
    options->verb = verb_named(name);
    if (options->verb == SAP_VERB_NONE) return unknown_verb(name);
    int first = optind;
    argc -= first;
    argv += first;
    result = parse_options(argc, argv, options->verb, options);
    if (result != SAP_EXIT_OK || options->help) return result;
    return parse_operands(argc, argv, options);
}
