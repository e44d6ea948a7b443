// sapwood pairs: all pairs of points within a radius of one another, or how many they are.
#include "input.h"
#include "records.h"
#include "verbs.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// A pair as it is written, in either precision.
typedef struct near_pair {
    int32_t i, j;
    float distance2;
} near_pair;
typedef struct near_pair_f64 {
    int32_t i, j;
    double distance2;
} near_pair_f64;

// The run of the verb. All zero can be freed.
typedef struct pairs_run {
    sap_cli_reference reference;
    bool wide;            // double precision
    int64_t total;        // pairs, with --full in both directions
    sap_neighbors* found; // each pair once
    void* pairs;          // near_pair or near_pair_f64
    double search_seconds;
} pairs_run;

static sap_cli_exit check_usage(sap_cli* cli) {
    const sap_cli_options* o = cli->options;
    const sap_cli_output output = {"-o", o->output};
    if (o->count && o->limit >= 0)
        return sap_cli_usage(cli, "--limit is for pairs that are listed; --count lists none");
    if (o->format && o->json && !o->output) return sap_cli_usage(cli, "--format is for what -o writes; name a file");
    sap_cli_exit result = sap_cli_check_distinct(cli, &output, 1);
    if (result == SAP_EXIT_OK) result = sap_cli_check_records(cli, o->output, "pairs");
    return result == SAP_EXIT_OK ? sap_cli_check_writable(cli, &output, 1) : result;
}

// ---- Counting. What would be listed is counted before, so that memory for it is not asked for blindly.

static sap_status count_pairs(const sap_cli* cli, pairs_run* run) {
    const sap_tree* tree = run->reference.tree;
    double ordered = 0; // both directions, and each point with itself
    const sap_status status = sap_tree_count_pairs(tree, tree, &cli->options->radius, 1, NULL, NULL, true, &ordered);
    run->total = (int64_t)ordered - run->reference.info.count;
    if (!cli->options->full) run->total /= 2;
    return status;
}

static sap_cli_exit check_limit(sap_cli* cli, pairs_run* run) {
    const sap_cli_options* o = cli->options;
    const double points = (double)run->reference.info.count;
    const double memory = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    // What the library finds, each pair once, is kept besides the rows that are made of it.
    const double found = (double)(sizeof(int32_t) + (run->wide ? sizeof(double) : sizeof(float)));
    const double bytes = (double)(run->wide ? sizeof(near_pair_f64) : sizeof(near_pair)) + (o->full ? 0.5 : 1) * found;
    const int64_t limit = o->limit >= 0 ? o->limit : (int64_t)(0.5 * memory / bytes);
    if (points * (points - 1) * (o->full ? 1 : 0.5) <= (double)limit) return SAP_EXIT_OK;
    const sap_status status = count_pairs(cli, run);
    if (status != SAP_OK) return sap_cli_failed(cli, status, NULL);
    if (run->total <= limit) return SAP_EXIT_OK;
    return sap_cli_error(cli,
                         "%lld pairs would be listed, in %s of memory, and the limit is %lld%s; take a smaller "
                         "--radius, --count, or a larger --limit",
                         (long long)run->total, sap_cli_size((double)run->total * bytes).text, (long long)limit,
                         o->limit < 0 ? ", which fit into half of this machine's memory" : "");
}

// ---- Listing.

static int compare_pairs(const void* left, const void* right) {
    const near_pair *a = left, *b = right;
    return a->j < b->j ? -1 : a->j > b->j;
}

static int compare_pairs_f64(const void* left, const void* right) {
    const near_pair_f64 *a = left, *b = right;
    return a->j < b->j ? -1 : a->j > b->j;
}

static void put_pair(pairs_run* run, int64_t at, int32_t i, int32_t j, int64_t entry) {
    if (run->wide)
        ((near_pair_f64*)run->pairs)[at] = (near_pair_f64){i, j, run->found->distance2_f64[entry]};
    else
        ((near_pair*)run->pairs)[at] = (near_pair){i, j, run->found->distance2[entry]};
}

// Where the pairs of each first point begin: first[count + 1].
static void lay_out(const sap_neighbors* found, bool full, int64_t* first) {
    memset(first, 0, ((size_t)found->count + 1) * sizeof *first);
    for (int64_t i = 0; i < found->count; i++) first[i + 1] = found->offsets[i + 1] - found->offsets[i];
    for (int64_t e = 0; full && e < found->offsets[found->count]; e++) first[found->ids[e] + 1]++;
    for (int64_t i = 0; i < found->count; i++) first[i + 1] += first[i];
}

// Afterwards next[i] is where the pairs of i end.
static void fill(pairs_run* run, bool full, int64_t* next) {
    const sap_neighbors* found = run->found;
    for (int64_t i = 0; i < found->count; i++)
        for (int64_t e = found->offsets[i]; e < found->offsets[i + 1]; e++) {
            put_pair(run, next[i]++, (int32_t)i, found->ids[e], e);
            if (full) put_pair(run, next[found->ids[e]]++, found->ids[e], (int32_t)i, e);
        }
}

static void sort_rows(pairs_run* run, const int64_t* ends) {
    const size_t bytes = run->wide ? sizeof(near_pair_f64) : sizeof(near_pair);
    int64_t first = 0;
    for (int64_t i = 0; i < run->found->count; i++) {
        if (ends[i] - first > 1)
            qsort((char*)run->pairs + (size_t)first * bytes, (size_t)(ends[i] - first), bytes,
                  run->wide ? compare_pairs_f64 : compare_pairs);
        first = ends[i];
    }
}

static sap_cli_exit list_pairs(sap_cli* cli, pairs_run* run) {
    const bool full = cli->options->full;
    const sap_status status = sap_pairs(run->reference.tree, cli->options->radius, &run->found);
    if (status != SAP_OK) return sap_cli_failed(cli, status, NULL);
    run->total = run->found->offsets[run->found->count] * (full ? 2 : 1);
    int64_t* next = sap_cli_allocate(cli, run->found->count + 1, sizeof *next);
    if (!next) return SAP_EXIT_FAILED;
    run->pairs = sap_cli_allocate(cli, run->total, run->wide ? sizeof(near_pair_f64) : sizeof(near_pair));
    if (run->pairs) {
        lay_out(run->found, full, next);
        fill(run, full, next);
        sort_rows(run, next);
    }
    free(next);
    return run->pairs ? SAP_EXIT_OK : SAP_EXIT_FAILED;
}

static sap_cli_exit search(sap_cli* cli, pairs_run* run) {
    sap_cli_exit result = SAP_EXIT_OK;
    run->wide = run->reference.info.real_bits == 64;
    sap_cli_stage_begin(cli, "searching");
    if (cli->options->count) {
        const sap_status status = count_pairs(cli, run);
        if (status != SAP_OK) result = sap_cli_failed(cli, status, NULL);
    } else {
        result = check_limit(cli, run);
        if (result == SAP_EXIT_OK) result = list_pairs(cli, run);
    }
    run->search_seconds = sap_cli_stage_end(cli);
    return result;
}

// ---- Answers.

static sap_cli_exit write_pairs(sap_cli* cli, const pairs_run* run) {
    static const sap_cli_field narrow[] = {{"i", "i4"}, {"j", "i4"}, {"distance2", "f4"}};
    static const sap_cli_field wide[] = {{"i", "i4"}, {"j", "i4"}, {"distance2", "f8"}};
    static const sap_cli_field count[] = {{"pairs", "i8"}};
    sap_cli_records records = {run->pairs, run->total, run->wide ? wide : narrow, 3};
    if (cli->options->count) records = (sap_cli_records){&run->total, 1, count, 1};
    return sap_cli_write_records(cli, cli->options->output, &records);
}

static void report(sap_cli* cli, const pairs_run* run) {
    const sap_cli_reference* reference = &run->reference;
    sap_json json = {0};
    sap_json_open(&json, NULL, '{');
    sap_json_text(&json, "verb", "pairs");
    sap_json_int(&json, "points", reference->info.count);
    sap_json_int(&json, "dims", reference->info.dims);
    sap_json_text(&json, "precision", sap_cli_precision_name(reference->info.real_bits));
    sap_cli_not_finite_json(&json, &reference->points);
    sap_json_real(&json, "radius", cli->options->radius, 64);
    sap_json_int(&json, "found", run->total);
    sap_json_text(&json, "output", cli->options->output);
    sap_json_effort(&json, cli, reference->read_seconds, reference->build_seconds, "search", run->search_seconds);
    sap_json_close(&json, '}');
}

static void free_run(pairs_run* run) {
    free(run->pairs);
    sap_neighbors_free(run->found);
    sap_cli_reference_close(&run->reference);
}

sap_cli_exit sap_cli_pairs(sap_cli* cli) {
    const sap_cli_options* o = cli->options;
    pairs_run run = {0};
    sap_cli_exit result = check_usage(cli);
    if (result == SAP_EXIT_OK) result = sap_cli_reference_open(cli, o->operands[0], &run.reference);
    if (result == SAP_EXIT_OK) result = search(cli, &run);
    if (result == SAP_EXIT_OK) result = write_pairs(cli, &run);
    if (result == SAP_EXIT_OK && o->json) report(cli, &run);
    if (result == SAP_EXIT_OK && o->output && strcmp(o->output, "-") != 0)
        sap_cli_note(cli, "%lld pairs within %s among %lld points, searched in %.3g s", (long long)run.total,
                     sap_cli_real(o->radius, 64).text, (long long)run.reference.info.count, run.search_seconds);
    free_run(&run);
    return result;
}
