// Ranks: who started them, what carries their messages, and how they agree.
#include "ranks.h"

#include <dlfcn.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// ---- Launchers tell each process by its environment which one it is.

static bool number_of(const char* name, int32_t* number) {
    const char* text = getenv(name);
    char* end;
    if (!text || *text < '0' || *text > '9') return false;
    const long value = strtol(text, &end, 10);
    *number = value < INT32_MAX ? (int32_t)value : INT32_MAX;
    return !*end;
}

bool sap_cli_ranks_started(int32_t* rank, int32_t* size) {
    // Open MPI; MPICH, Intel MPI and others with its launcher; MVAPICH; srun --mpi=pmix.
    static const char* const names[][2] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                           {"PMI_RANK", "PMI_SIZE"},
                                           {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"},
                                           {"PMIX_RANK", "SLURM_NTASKS"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (number_of(names[i][0], rank) && number_of(names[i][1], size)) return true;
    return false;
}

// ---- Opening.

// How many threads a rank gets by default: its part of the machine, and no more than it may run on.
static int32_t threads_of(const sap_cli_ranks* ranks) {
    enum { NAME = 64 };
    char mine[NAME] = "", *names = malloc((size_t)ranks->size * NAME);
    int32_t beside = 0;
    gethostname(mine, sizeof mine - 1);
    const sap_status status = sap_comm_all_gather(ranks->comm, mine, names ? NAME : -1, names);
    for (int32_t r = 0; names && status == SAP_OK && r < ranks->size; r++)
        beside += !memcmp(names + (size_t)r * NAME, mine, NAME);
    free(names);
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    long may = cores;
#if defined(__linux__)
    cpu_set_t allowed;
    if (!sched_getaffinity(0, sizeof allowed, &allowed)) may = CPU_COUNT(&allowed);
#endif
    const long each = beside ? cores / beside : 1;
    const long threads = each < may ? each : may;
    return threads < 1 ? 1 : threads > 1024 ? 1024 : (int32_t)threads;
}

enum { SENTENCE = 512 };

// Writes down why there are no ranks, if so.
static void open_world(const char* library, int32_t started, sap_cli_ranks* ranks, char why[SENTENCE]) {
    if (!library) {
        snprintf(why, SENTENCE,
                 "this program cannot load libsapwood_mpi: only one that is linked to the shared library can");
        return;
    }
    // Open MPI's own plug-ins look for its symbols among those of the program.
    void* loaded = dlopen(library, RTLD_NOW | RTLD_GLOBAL);
    if (!loaded) {
        snprintf(why, SENTENCE, "MPI cannot be loaded: %s", dlerror());
        return;
    }
    sap_status (*open)(const sap_allocator*, sap_comm**);
    void* const symbol = dlsym(loaded, "sap_comm_open_world");
    memcpy(&open, &symbol, sizeof open);
    const sap_status status = symbol ? open(NULL, &ranks->comm) : SAP_ERROR_UNSUPPORTED;
    if (status != SAP_OK) {
        snprintf(why, SENTENCE, "MPI does not start: %s", sap_status_string(status));
        return;
    }
    ranks->rank = sap_comm_rank(ranks->comm);
    ranks->size = sap_comm_size(ranks->comm);
    if (started > 1 && ranks->size != started)
        snprintf(why, SENTENCE, "%s is linked to another MPI, which sees %d; use the mpirun of that one", library,
                 (int)ranks->size);
}

static bool is_for_ranks(sap_cli_verb verb) {
    return verb == SAP_VERB_NEAREST || verb == SAP_VERB_RADIUS || verb == SAP_VERB_BOX;
}

sap_cli_exit sap_cli_ranks_open(const sap_cli_options* options, const char* library, sap_cli_ranks* ranks) {
    int32_t rank = 0, size = 1;
    *ranks = (sap_cli_ranks){.comm = NULL};
    sap_cli_ranks_started(&rank, &size);
    if (options->mpi == SAP_MPI_NEVER || (options->mpi == SAP_MPI_AUTO && size <= 1)) return SAP_EXIT_OK;
    char why[SENTENCE] = "";
    const char* const verb = sap_cli_verb_table[options->verb].name;
    if (!is_for_ranks(options->verb))
        snprintf(why, sizeof why, "one process does this; nearest, radius and box are for many");
    else if (options->devices.count)
        snprintf(why, sizeof why, "--devices is for one process");
    else
        open_world(library, size, ranks, why);
    if (*why) {
        if (!rank && size > 1)
            fprintf(
                stderr,
                "sapwood %s: a launcher of MPI started %d processes, but %s; with --mpi never each of them works for "
                "itself\n",
                verb, (int)size, why);
        else if (!rank)
            fprintf(stderr, "sapwood %s: %s\n", verb, why);
        if (rank) sleep(1); // launchers end all processes when one fails: rank 0 says why before
        sap_cli_ranks_close(ranks);
        return SAP_EXIT_FAILED;
    }
    ranks->threads = threads_of(ranks);
    return SAP_EXIT_OK;
}

void sap_cli_ranks_close(sap_cli_ranks* ranks) {
    sap_comm_close(ranks->comm); // which ends MPI, too
    ranks->comm = NULL;
}

// ---- Agreeing.

static uint64_t reduce(sap_cli* cli, sap_reduction how, uint64_t value) {
    if (cli->ranks && sap_comm_all_reduce(cli->ranks->comm, how, &value, 1) != SAP_OK) cli->ranks->is_broken = true;
    return value;
}

uint64_t sap_cli_ranks_sum(sap_cli* cli, uint64_t value) { return reduce(cli, SAP_REDUCE_SUM, value); }
uint64_t sap_cli_ranks_most(sap_cli* cli, uint64_t value) { return reduce(cli, SAP_REDUCE_MAX, value); }
uint64_t sap_cli_ranks_least(sap_cli* cli, uint64_t value) { return reduce(cli, SAP_REDUCE_MIN, value); }
uint64_t sap_cli_ranks_hear(sap_cli* cli, uint64_t value) {
    return reduce(cli, SAP_REDUCE_SUM, sap_cli_is_first(cli) ? value : 0);
}

double sap_cli_ranks_most_real(sap_cli* cli, double value) {
    uint64_t bits; // which ascend as the numbers do
    memcpy(&bits, &value, sizeof bits);
    bits = sap_cli_ranks_most(cli, bits);
    memcpy(&value, &bits, sizeof bits);
    return value;
}

// Doubles as numbers that ascend as they do, and back.
static uint64_t ordered(double value) {
    const uint64_t sign = UINT64_C(1) << 63;
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits & sign ? ~bits : bits | sign;
}
static double real_of(uint64_t bits) {
    const uint64_t sign = UINT64_C(1) << 63;
    double value;
    bits = bits & sign ? bits & ~sign : ~bits;
    memcpy(&value, &bits, sizeof value);
    return value;
}

double sap_cli_ranks_bounds(sap_cli* cli, int32_t dims, double* lower, double* upper) {
    double extent = 0;
    for (int32_t a = 0; a < dims; a++) {
        lower[a] = real_of(sap_cli_ranks_least(cli, ordered(lower[a])));
        upper[a] = real_of(sap_cli_ranks_most(cli, ordered(upper[a])));
        extent = fmax(extent, upper[a] - lower[a]); // -inf without any
    }
    return extent;
}

// Memory for a few numbers of each rank. Without it, nothing that the ranks do together can be told of.
static int64_t* numbers_of(sap_cli_ranks* ranks, int32_t each) {
    int64_t* numbers = calloc((size_t)each * (size_t)ranks->size, sizeof *numbers);
    if (!numbers) sap_comm_abort(ranks->comm, SAP_ERROR_MEMORY);
    return numbers;
}

int64_t sap_cli_ranks_before(sap_cli* cli, int64_t mine, int64_t* all) {
    sap_cli_ranks* ranks = cli->ranks;
    int64_t before = 0, *of_each = numbers_of(ranks, 1);
    *all = 0;
    sap_comm_all_gather(ranks->comm, &mine, sizeof mine, of_each);
    for (int32_t r = 0; of_each && r < ranks->size; r++) {
        if (r < ranks->rank) before += of_each[r];
        *all += of_each[r];
    }
    free(of_each);
    return before;
}

// Brings what a rank has said to rank 0.
static void hear_from(sap_cli_ranks* ranks, int32_t from) {
    int64_t* sends = numbers_of(ranks, 2);
    if (!sends) return;
    int64_t* comes = sends + ranks->size;
    char heard[sizeof ranks->said] = "";
    if (ranks->rank == from) sends[0] = sizeof ranks->said;
    if (ranks->rank == 0) comes[from] = sizeof heard;
    sap_comm_all_to_all(ranks->comm, ranks->said, sends, heard, comes);
    if (ranks->rank == 0) memcpy(ranks->said, heard, sizeof heard);
    free(sends);
}

void sap_cli_ranks_tell(const sap_cli_options* options, const sap_cli_ranks* ranks, int32_t from, sap_cli_exit result) {
    const char* verb = sap_cli_verb_table[options->verb].name;
    for (const char* line = ranks->said; *line;) {
        const size_t length = strcspn(line, "\n");
        fprintf(stderr, "sapwood %s: ", verb);
        if (from && ranks->devices)
            fprintf(stderr, "cuda:%d: ", (int)ranks->devices->ordinals[from]);
        else if (from)
            fprintf(stderr, "rank %d: ", (int)from);
        fprintf(stderr, "%.*s\n", (int)length, line);
        line += length + (line[length] == '\n');
    }
    if (*ranks->said && result == SAP_EXIT_USAGE) fprintf(stderr, "Try 'sapwood %s --help'.\n", verb);
}

sap_cli_exit sap_cli_ranks_vote(sap_cli* cli, sap_cli_exit own) {
    sap_cli_ranks* ranks = cli->ranks;
    // Who knows why it failed comes before who was told so, and the lowest rank first.
    const uint64_t word = (uint64_t)ranks->of_another << 48 | (uint64_t)ranks->rank << 8 | (uint64_t)own;
    const uint64_t first = sap_cli_ranks_least(cli, own == SAP_EXIT_OK ? UINT64_MAX : word);
    if (ranks->is_broken) return SAP_EXIT_FAILED;
    if (first == UINT64_MAX) return SAP_EXIT_OK;
    const int32_t from = (int32_t)(first >> 8 & INT32_MAX);
    const sap_cli_exit result = (sap_cli_exit)(first & 255);
    hear_from(ranks, from);
    if (ranks->rank == 0) sap_cli_ranks_tell(cli->options, ranks, from, result);
    ranks->said[0] = 0;
    ranks->of_another = false;
    return result;
}

// The first of some options that was given, or NULL.
static const char* given_of(const sap_cli_options* options, const char* const* names, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (sap_cli_given(options, names[i])) return names[i];
    return NULL;
}

// GPUs that have the whole tree do more than those that have a part of it.
static sap_cli_exit check_spread(sap_cli* cli, const char* whole, bool saved) {
    const sap_cli_options* o = cli->options;
    const bool is_needed = whole || saved;
    if (is_needed && o->spread == SAP_SPREAD_SPLIT && saved)
        return sap_cli_usage(cli, "%s is a saved tree, which cannot be split; take --spread copied", o->operands[0]);
    if (is_needed && o->spread == SAP_SPREAD_SPLIT)
        return sap_cli_usage(cli, "--%s needs the whole tree; take --spread copied", whole);
    cli->ranks->is_copied = is_needed || o->spread == SAP_SPREAD_COPIED;
    return SAP_EXIT_OK;
}

sap_cli_exit sap_cli_ranks_check(sap_cli* cli) {
    static const char* const alone[] = {"verify",  "mask", "radii", "eps",          "metric",
                                        "weights", "box",  "split", "query-radius", "drop-duplicates",
                                        "period"};
    enum { ALWAYS = 4, ALL = sizeof alone / sizeof *alone }; // the rest needs no more than the whole tree on each GPU
    if (!cli->ranks) return SAP_EXIT_OK;
    const sap_cli_options* o = cli->options;
    const bool of_devices = cli->ranks->devices != NULL, copies_do = of_devices && o->operands[1];
    const bool saved = sap_cli_is_tree(cli, o->operands[0]);
    const char* which = of_devices ? "device" : "process";
    char instead[48] = "start sapwood without mpirun";
    if (of_devices) snprintf(instead, sizeof instead, "use --device cuda:%d", (int)cli->ranks->devices->ordinals[0]);
    const char* refused = given_of(o, alone, copies_do ? ALWAYS : ALL);
    if (refused) return sap_cli_usage(cli, "--%s is for one %s; leave it out, or %s", refused, which, instead);
    if (saved && !copies_do)
        return sap_cli_usage(cli, "%s is a saved tree, which one %s searches; give points, or %s", o->operands[0],
                             which, instead);
    return of_devices ? check_spread(cli, given_of(o, alone, ALL), saved) : SAP_EXIT_OK;
}
