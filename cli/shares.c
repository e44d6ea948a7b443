// Each rank's share of a file, and the tree over the shares of all.
#include "ranks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int64_t sap_cli_share_of(const sap_cli* cli, int64_t all, int64_t* first) {
    const int64_t each = all / cli->ranks->size, more = all % cli->ranks->size, rank = cli->ranks->rank;
    *first = each * rank + (rank < more ? rank : more);
    return each + (rank < more);
}

int32_t sap_cli_share_owner(const sap_cli* cli, int64_t all, int64_t row) {
    const int64_t each = all / cli->ranks->size, more = all % cli->ranks->size, longer = more * (each + 1);
    return (int32_t)(row < longer ? row / (each + 1) : more + (row - longer) / each);
}

static void take_set(sap_point_set* set, sap_cli_points* points) {
    const void* coords = set->real_bits == 64 ? (const void*)set->coords_f64 : (const void*)set->coords;
    *points = (sap_cli_points){
        .coords = coords, .count = set->count, .dims = set->dims, .real_bits = set->real_bits, .set = set};
}

// Each rank reads its rows. *whole: the file cannot be read so.
static sap_cli_exit read_part(sap_cli* cli, const char* path, sap_format format, int32_t real_bits,
                              const sap_points_read_options* how, sap_cli_points* points, bool* whole) {
    sap_point_set* set = NULL;
    int64_t first = 0, all = 0;
    const sap_cli_ranks* ranks = cli->ranks;
    const sap_status status =
        sap_points_read_part(cli->device, path, format, real_bits, how, ranks->rank, ranks->size, &first, &all, &set);
    *whole = sap_cli_ranks_most(cli, status != SAP_ERROR_UNSUPPORTED) == 0;
    if (*whole) return SAP_EXIT_OK;
    if (status == SAP_OK) take_set(set, points);
    points->first = first;
    points->all = all;
    return sap_cli_agree(cli, status == SAP_OK ? SAP_EXIT_OK : sap_cli_failed(cli, status, path));
}

// Sends each rank its rows of what rank 0 has read, which is freed.
static sap_cli_exit send_rows(sap_cli* cli, sap_cli_points* read, sap_cli_points* points) {
    const int32_t size = cli->ranks->size;
    const int64_t all = (int64_t)sap_cli_ranks_hear(cli, (uint64_t)read->count);
    const int32_t dims = (int32_t)sap_cli_ranks_hear(cli, (uint64_t)read->dims);
    const int32_t real_bits = (int32_t)sap_cli_ranks_hear(cli, (uint64_t)read->real_bits);
    const int64_t row = (int64_t)dims * real_bits / 8;
    int64_t first, *bytes = sap_cli_allocate(cli, 2 * (int64_t)size, sizeof *bytes);
    const int64_t count = sap_cli_share_of(cli, all, &first);
    void* mine = bytes ? sap_cli_allocate(cli, count, (size_t)row) : NULL;
    const sap_cli_exit result = sap_cli_agree(cli, mine ? SAP_EXIT_OK : SAP_EXIT_FAILED);
    if (result == SAP_EXIT_OK) {
        for (int32_t r = 0; r < size; r++) {
            bytes[r] = cli->ranks->rank ? 0 : (all / size + (r < all % size)) * row;
            bytes[size + r] = r ? 0 : count * row;
        }
        sap_comm_all_to_all(cli->ranks->comm, read->coords, bytes, mine, bytes + size);
        *points = (sap_cli_points){.coords = mine,
                                   .count = count,
                                   .dims = dims,
                                   .real_bits = real_bits,
                                   .owned = mine,
                                   .first = first,
                                   .all = all};
    } else {
        free(mine);
    }
    free(bytes);
    return result;
}

static sap_cli_exit read_whole(sap_cli* cli, const char* path, sap_format format, int32_t real_bits,
                               const sap_points_read_options* how, sap_cli_points* points) {
    sap_point_set* set = NULL;
    sap_cli_points read = {.coords = NULL};
    sap_cli_exit result = SAP_EXIT_OK;
    if (sap_cli_is_first(cli)) {
        const sap_status status =
            sap_points_read_with(cli->device, sap_cli_bytes_of(cli, path), format, real_bits, how, &set);
        if (status == SAP_ERROR_UNSUPPORTED && sap_cli_is_pipe(path) && strstr(cli->reason, "this is a saved tree"))
            result = sap_cli_tree_from_pipe(cli);
        else if (status != SAP_OK)
            result = sap_cli_failed(cli, status, path);
        else
            take_set(set, &read);
    }
    result = sap_cli_agree(cli, result);
    if (result == SAP_EXIT_OK) result = send_rows(cli, &read, points);
    sap_cli_points_free(&read);
    return result;
}

// Parts may judge their integers differently: one that needs doubles decides for all.
static sap_cli_exit agree_on_precision(sap_cli* cli, sap_cli_points* points) {
    const int32_t real_bits = (int32_t)sap_cli_ranks_most(cli, (uint64_t)points->real_bits);
    return sap_cli_agree(cli, sap_cli_points_convert(cli, points, real_bits));
}

sap_cli_exit sap_cli_share_read(sap_cli* cli, const char* path, sap_format format, int32_t real_bits,
                                const sap_points_read_options* how, sap_cli_points* points) {
    struct stat about;
    const bool regular =
        sap_cli_is_first(cli) && sap_cli_bytes_of(cli, path) == path && !stat(path, &about) && S_ISREG(about.st_mode);
    bool whole = !sap_cli_ranks_hear(cli, regular);
    *points = (sap_cli_points){.coords = NULL};
    sap_cli_exit result = whole ? SAP_EXIT_OK : read_part(cli, path, format, real_bits, how, points, &whole);
    if (whole) result = read_whole(cli, path, format, real_bits, how, points);
    if (result == SAP_EXIT_OK) result = agree_on_precision(cli, points);
    if (result == SAP_EXIT_OK)
        sap_cli_detail(cli, "%s: %lld x %d %s, read %s %d %s", path, (long long)points->all, (int)points->dims,
                       sap_cli_precision_name(points->real_bits), whole ? "for" : "by", (int)cli->ranks->size,
                       cli->ranks->devices ? "GPUs" : "ranks");
    else
        sap_cli_points_free(points);
    return result;
}

// The library counts the points of this rank; the user those of the file.
static void count_from_start(sap_cli* cli, int64_t first) {
    static const char of_point[] = "of point ";
    char *at = strstr(cli->reason, of_point), *end, rest[sizeof cli->reason];
    if (!at) return;
    at += sizeof of_point - 1;
    const long long row = strtoll(at, &end, 10);
    snprintf(rest, sizeof rest, "%s", end);
    snprintf(at, sizeof cli->reason - (size_t)(at - cli->reason), "%lld%s", row + (long long)first, rest);
}

// ---- Copies, where ranks are threads: all of them read the points where the first has put them together.

// Whether each GPU gets all points: where there is more than one query to share out. Building everywhere costs little then,
// and answers are where they are to be written, while those of a part come in the order of the part's points.
static bool is_to_copy(const sap_cli* cli, const sap_cli_points* points) {
    const int64_t most_bytes = (int64_t)1 << 30, bytes = points->all * points->dims * (points->real_bits / 8);
    const bool is_shared = cli->options->operands[1] || cli->options->verb != SAP_VERB_BOX;
    if (cli->ranks->is_copied) return true;
    return cli->ranks->devices && cli->options->spread == SAP_SPREAD_AUTO && is_shared && bytes <= most_bytes;
}

static sap_cli_exit build_copies(sap_cli* cli, sap_cli_reference* reference) {
    const sap_cli_points* points = &reference->points;
    const size_t row = (size_t)points->dims * (size_t)points->real_bits / 8;
    sap_cli_points whole = {.count = points->all, .dims = points->dims, .real_bits = points->real_bits};
    if (sap_cli_is_first(cli)) whole.owned = sap_cli_allocate(cli, whole.count, row);
    sap_cli_exit result = sap_cli_agree(cli, sap_cli_is_first(cli) && !whole.owned ? SAP_EXIT_FAILED : SAP_EXIT_OK);
    if (result == SAP_EXIT_OK) {
        unsigned char* all = (unsigned char*)(uintptr_t)sap_cli_ranks_hear(cli, (uint64_t)(uintptr_t)whole.owned);
        whole.coords = all;
        if (points->count && !cli->ranks->is_broken)
            memcpy(all + (size_t)points->first * row, points->coords, (size_t)points->count * row);
        result = sap_cli_agree(cli, SAP_EXIT_OK); // all of them are there
    }
    if (result == SAP_EXIT_OK) {
        result = sap_cli_tree_build(cli, &whole, reference->path, &reference->tree);
        result = sap_cli_agree(cli, result); // none needs them any more
    }
    if (cli->ranks->is_broken)
        cli->ranks->left = whole.owned; // others may still read them
    else
        free(whole.owned);
    cli->ranks->is_copied = true;
    return result;
}

// ---- The tree.

sap_cli_exit sap_cli_share_build(sap_cli* cli, sap_cli_reference* reference) {
    const sap_cli_points* points = &reference->points;
    if (is_to_copy(cli, points)) return build_copies(cli, reference);
    sap_comm* comm = cli->ranks->comm;
    const sap_tree_options* options = &cli->options->tree;
    sap_cluster_info info;
    sap_cli_stage_begin(cli, "building");
    const sap_status status =
        points->real_bits == 64
            ? sap_cluster_build_f64(comm, cli->device, sap_cli_f64(points), NULL, options, &reference->cluster)
            : sap_cluster_build(comm, cli->device, sap_cli_f32(points), NULL, options, &reference->cluster);
    sap_cli_stage_end(cli);
    if (status == SAP_ERROR_NOT_FINITE) count_from_start(cli, points->first);
    const sap_cli_exit result =
        sap_cli_agree(cli, status == SAP_OK ? SAP_EXIT_OK : sap_cli_failed(cli, status, reference->path));
    if (result != SAP_EXIT_OK) return result;
    sap_cluster_describe(reference->cluster, &info);
    reference->info = (sap_tree_info){.count = info.count,
                                      .source_count = info.source_count,
                                      .not_finite = info.not_finite,
                                      .leaves = info.leaves,
                                      .depth = info.depth,
                                      .dims = info.dims,
                                      .real_bits = info.real_bits};
    memcpy(reference->info.lower, info.lower, sizeof info.lower);
    memcpy(reference->info.upper, info.upper, sizeof info.upper);
    return SAP_EXIT_OK;
}

void sap_cli_share_not_finite(sap_cli* cli, sap_cli_points* points) {
    if (!cli->ranks) return;
    const int64_t first = points->not_finite ? points->first + points->first_not_finite : INT64_MAX;
    points->first_not_finite = (int64_t)sap_cli_ranks_least(cli, (uint64_t)first);
    points->not_finite = (int64_t)sap_cli_ranks_sum(cli, (uint64_t)points->not_finite);
}
