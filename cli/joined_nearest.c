// The nearest points of this rank's queries, or of its rows of the reference.
#include "ranks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static size_t id_bytes(sap_number number) { return number == SAP_INT32 ? sizeof(int32_t) : sizeof(int64_t); }
static size_t distance_bytes(bool wide) { return wide ? sizeof(double) : sizeof(float); }

// Memory for what the library finds.
static sap_cli_exit allocate(sap_cli* cli, sap_number number, bool wide, bool measured, sap_cli_answers* answers) {
    answers->number = number;
    answers->ids = sap_cli_allocate_neighbors(cli, answers->rows, id_bytes(number));
    if (answers->ids && measured)
        answers->distance2 = sap_cli_allocate_neighbors(cli, answers->rows, distance_bytes(wide));
    return sap_cli_agree(cli, answers->ids && (answers->distance2 || !measured) ? SAP_EXIT_OK : SAP_EXIT_FAILED);
}

// Counts the ids and makes them as short as one process has them.
static void take_ids(const sap_cli_reference* reference, int64_t k, sap_cli_answers* answers) {
    const int64_t count = answers->rows * k;
    for (int64_t i = 0; i < count; i++) answers->found += ((const int64_t*)answers->ids)[i] >= 0;
    answers->number = sap_cli_joined_ids(reference, answers->ids, count);
    if (answers->number == SAP_INT64 || !count) return;
    void* less = realloc(answers->ids, (size_t)count * sizeof(int32_t));
    if (less) answers->ids = less;
}

static sap_cli_exit ask(sap_cli* cli, const sap_cli_reference* reference, const sap_cli_points* queries,
                        const sap_search* search, bool measured, sap_cli_answers* answers) {
    const sap_cli_exit result = allocate(cli, SAP_INT64, queries->real_bits == 64, measured, answers);
    if (result != SAP_EXIT_OK) return result;
    const sap_status status =
        queries->real_bits == 64
            ? sap_cluster_nearest_f64(reference->cluster, sap_cli_f64(queries), search, answers->ids,
                                      answers->distance2)
            : sap_cluster_nearest(reference->cluster, sap_cli_f32(queries), search, answers->ids, answers->distance2);
    if (status == SAP_OK) take_ids(reference, search->k, answers);
    return sap_cli_agree(cli, status == SAP_OK ? SAP_EXIT_OK : sap_cli_nearest_failed(cli, status));
}

// ---- Of a tree that each rank has.

// This rank's points that ask do not find themselves, unless the user wants that.
static sap_cli_exit ask_copy(sap_cli* cli, const sap_cli_reference* reference, const sap_cli_points* asking, bool self,
                             const sap_search* search, bool measured, sap_cli_answers* answers) {
    const bool wide = asking->real_bits == 64, leaves_out = self && !search->with_self;
    int32_t* own = leaves_out ? sap_cli_allocate(cli, answers->rows, sizeof *own) : NULL;
    sap_search wanted = *search;
    wanted.with_self = false;
    wanted.without_ids = own;
    sap_cli_exit result = sap_cli_agree(cli, own || !leaves_out ? SAP_EXIT_OK : SAP_EXIT_FAILED);
    if (result == SAP_EXIT_OK) result = allocate(cli, SAP_INT32, wide, measured, answers);
    if (result == SAP_EXIT_OK) {
        for (int64_t i = 0; own && i < answers->rows; i++) own[i] = (int32_t)(answers->first + i);
        const sap_status status =
            wide ? sap_nearest_f64(reference->tree, sap_cli_f64(asking), &wanted, answers->ids, answers->distance2)
                 : sap_nearest(reference->tree, sap_cli_f32(asking), &wanted, answers->ids, answers->distance2);
        result = sap_cli_agree(cli, status == SAP_OK ? SAP_EXIT_OK : sap_cli_nearest_failed(cli, status));
    }
    free(own);
    for (int64_t i = 0; result == SAP_EXIT_OK && i < answers->rows * search->k; i++)
        answers->found += ((const int32_t*)answers->ids)[i] >= 0;
    return result;
}

// ---- Where the points ask, answers are where the points are in the tree. They go to the ranks that have their rows.

typedef struct journey {
    int64_t *sends, *comes;     // bytes, for and from each rank
    int64_t *counts, *received; // rows
    int64_t *order, *targets;   // the rows in the order of their ranks; where those that come belong
    int64_t here, coming;
} journey;

static void free_journey(journey* j) {
    free(j->counts);
    free(j->order);
    free(j->targets);
}

static sap_cli_exit plan(sap_cli* cli, const int64_t* points, int64_t all, journey* j) {
    const int32_t size = cli->ranks->size;
    j->counts = sap_cli_allocate(cli, 4 * (int64_t)size, sizeof *j->counts);
    j->order = j->counts ? sap_cli_allocate(cli, 2 * j->here, sizeof *j->order) : NULL;
    sap_cli_exit result = sap_cli_agree(cli, j->order ? SAP_EXIT_OK : SAP_EXIT_FAILED);
    if (result != SAP_EXIT_OK) return result;
    j->received = j->counts + size;
    j->sends = j->received + size;
    j->comes = j->sends + size;
    memset(j->counts, 0, (size_t)size * sizeof *j->counts);
    for (int64_t i = 0; i < j->here; i++) j->counts[sap_cli_share_owner(cli, all, points[i])]++;
    int64_t at = 0;
    for (int32_t r = 0; r < size; r++) {
        j->sends[r] = at; // where its rows begin, for now
        at += j->counts[r];
    }
    for (int64_t i = 0; i < j->here; i++) j->order[j->sends[sap_cli_share_owner(cli, all, points[i])]++] = i;
    for (int32_t r = 0; r < size; r++) j->sends[r] = j->comes[r] = sizeof *j->counts;
    sap_comm_all_to_all(cli->ranks->comm, j->counts, j->sends, j->received, j->comes);
    for (int32_t r = 0; r < size; r++) j->coming += j->received[r];
    // The rows' numbers go first.
    int64_t* numbers = j->order + j->here;
    for (int64_t i = 0; i < j->here; i++) numbers[i] = points[j->order[i]];
    j->targets = sap_cli_allocate(cli, j->coming, sizeof *j->targets);
    result = sap_cli_agree(cli, j->targets ? SAP_EXIT_OK : SAP_EXIT_FAILED);
    if (result != SAP_EXIT_OK) return result;
    for (int32_t r = 0; r < size; r++) {
        j->sends[r] = j->counts[r] * (int64_t)sizeof *numbers;
        j->comes[r] = j->received[r] * (int64_t)sizeof *numbers;
    }
    sap_comm_all_to_all(cli->ranks->comm, numbers, j->sends, j->targets, j->comes);
    return SAP_EXIT_OK;
}

// Where block t of some blocks of rows begins.
static int64_t begin_of(int64_t rows, int64_t t, int64_t blocks) {
    return rows / blocks * t + rows % blocks * t / blocks;
}

// Sends block t of the rows for each rank.
static void travel_block(sap_cli* cli, const journey* j, int64_t t, int64_t blocks, const unsigned char* from,
                         unsigned char* to, int64_t first, size_t row, unsigned char* packed, unsigned char* came) {
    const int32_t size = cli->ranks->size;
    int64_t base = 0, at = 0;
    for (int32_t r = 0; r < size; r++) {
        const int64_t begin = begin_of(j->counts[r], t, blocks), end = begin_of(j->counts[r], t + 1, blocks);
        for (int64_t i = base + begin; i < base + end; i++, at++)
            memcpy(packed + (size_t)at * row, from + (size_t)j->order[i] * row, row);
        base += j->counts[r];
        j->sends[r] = (end - begin) * (int64_t)row;
        j->comes[r] = (begin_of(j->received[r], t + 1, blocks) - begin_of(j->received[r], t, blocks)) * (int64_t)row;
    }
    sap_comm_all_to_all(cli->ranks->comm, packed, j->sends, came, j->comes);
    base = at = 0;
    for (int32_t r = 0; r < size; r++) {
        const int64_t begin = begin_of(j->received[r], t, blocks), end = begin_of(j->received[r], t + 1, blocks);
        for (int64_t i = base + begin; i < base + end; i++, at++)
            memcpy(to + (size_t)(j->targets[i] - first) * row, came + (size_t)at * row, row);
        base += j->received[r];
    }
}

// Sends rows of so many bytes to where they belong, from row `first` on: in blocks, so that they are not all there twice.
static sap_cli_exit travel(sap_cli* cli, const journey* j, const void* from, void* to, int64_t first, size_t row) {
    const uint64_t most = (uint64_t)(j->here > j->coming ? j->here : j->coming) * row, block = (uint64_t)1 << 24;
    const int64_t blocks = 1 + (int64_t)sap_cli_ranks_most(cli, most / block), beside = cli->ranks->size;
    unsigned char* packed =
        sap_cli_allocate(cli, j->here / blocks + beside, row); // each rank's block may be one row longer
    unsigned char* came = packed ? sap_cli_allocate(cli, j->coming / blocks + beside, row) : NULL;
    const sap_cli_exit result = sap_cli_agree(cli, came ? SAP_EXIT_OK : SAP_EXIT_FAILED);
    for (int64_t t = 0; result == SAP_EXIT_OK && t < blocks; t++)
        travel_block(cli, j, t, blocks, from, to, first, row, packed, came);
    free(packed);
    free(came);
    return result;
}

// Points that are left out are in no tree, and find nothing: -1, all bits of which are set, at infinite distance.
static void find_no_ids(sap_cli_answers* answers, int64_t k) {
    memset(answers->ids, 0xff, (size_t)(answers->rows * k) * id_bytes(answers->number));
}
static void find_no_distances(sap_cli_answers* answers, bool wide, int64_t k) {
    for (int64_t i = 0; i < answers->rows * k; i++)
        if (wide)
            ((double*)answers->distance2)[i] = HUGE_VAL;
        else
            ((float*)answers->distance2)[i] = HUGE_VALF;
}

static sap_status search_self(const sap_cli_reference* reference, const sap_search* search, int64_t* points,
                              sap_cli_answers* answers) {
    const sap_cluster_tree* tree = reference->cluster;
    if (reference->info.real_bits == 64) {
        const sap_status status = sap_cluster_nearest_self_f64(tree, search, answers->ids, answers->distance2);
        return status == SAP_OK ? sap_cluster_points_f64(tree, points, NULL) : status;
    }
    const sap_status status = sap_cluster_nearest_self(tree, search, answers->ids, answers->distance2);
    return status == SAP_OK ? sap_cluster_points(tree, points, NULL) : status;
}

// Sends what the points of this rank have found, `held`, to their rows.
static sap_cli_exit send_home(sap_cli* cli, const journey* j, int64_t k, bool wide, sap_cli_answers* held,
                              sap_cli_answers* answers) {
    const size_t ids = id_bytes(held->number), distances = distance_bytes(wide);
    answers->number = held->number;
    answers->found = held->found;
    answers->ids = sap_cli_allocate_neighbors(cli, answers->rows, ids);
    sap_cli_exit result = sap_cli_agree(cli, answers->ids ? SAP_EXIT_OK : SAP_EXIT_FAILED);
    if (result != SAP_EXIT_OK) return result;
    find_no_ids(answers, k);
    result = travel(cli, j, held->ids, answers->ids, answers->first, (size_t)k * ids);
    free(held->ids);
    held->ids = NULL;
    if (result != SAP_EXIT_OK || !held->distance2) return result;
    answers->distance2 = sap_cli_allocate_neighbors(cli, answers->rows, distances);
    result = sap_cli_agree(cli, answers->distance2 ? SAP_EXIT_OK : SAP_EXIT_FAILED);
    if (result != SAP_EXIT_OK) return result;
    find_no_distances(answers, wide, k);
    return travel(cli, j, held->distance2, answers->distance2, answers->first, (size_t)k * distances);
}

static sap_cli_exit ask_self(sap_cli* cli, const sap_cli_reference* reference, const sap_search* search, bool measured,
                             sap_cli_answers* answers) {
    const bool wide = reference->info.real_bits == 64;
    sap_cluster_info info;
    sap_cluster_describe(reference->cluster, &info);
    sap_cli_answers held = {.rows = info.count_here};
    journey j = {.here = info.count_here};
    sap_cli_exit result = allocate(cli, SAP_INT64, wide, measured, &held);
    int64_t* points = result == SAP_EXIT_OK ? sap_cli_allocate(cli, info.count_here, sizeof *points) : NULL;
    if (result == SAP_EXIT_OK) result = sap_cli_agree(cli, points ? SAP_EXIT_OK : SAP_EXIT_FAILED);
    if (result == SAP_EXIT_OK) {
        const sap_status status = search_self(reference, search, points, &held);
        if (status == SAP_OK) take_ids(reference, search->k, &held);
        result = sap_cli_agree(cli, status == SAP_OK ? SAP_EXIT_OK : sap_cli_nearest_failed(cli, status));
    }
    if (result == SAP_EXIT_OK) result = plan(cli, points, reference->info.source_count, &j);
    free(points);
    if (result == SAP_EXIT_OK) result = send_home(cli, &j, search->k, wide, &held, answers);
    free_journey(&j);
    sap_cli_answers_free(&held);
    return result;
}

sap_cli_exit sap_cli_joined_nearest(sap_cli* cli, const sap_cli_reference* reference, const sap_cli_points* queries,
                                    const sap_search* search, bool measured, sap_cli_answers* answers) {
    const sap_cli_points* asking = queries ? queries : &reference->points;
    *answers = (sap_cli_answers){.first = asking->first, .rows = asking->count, .all = asking->all};
    if (reference->tree) return ask_copy(cli, reference, asking, !queries, search, measured, answers);
    return queries ? ask(cli, reference, queries, search, measured, answers)
                   : ask_self(cli, reference, search, measured, answers);
}

void sap_cli_answers_free(sap_cli_answers* answers) {
    free(answers->ids);
    free(answers->distance2);
    *answers = (sap_cli_answers){.ids = NULL};
}
