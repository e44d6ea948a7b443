// The public functions that make, describe and free trees over all ranks.
#include "cluster/cluster.h"
#include "cluster/ops.h"
#include "tree/queries.h"
#include <math.h>
#include <string.h>

// What each rank tells the others of its share.
typedef struct told {
    int64_t given, not_finite;
    int64_t with_ids, without_ids; // points
    int64_t ordinal;               // of the device, if it has memory of its own
    uint64_t reached;              // devices of other ranks, as bits, that it can copy from
} told;

// A build under way.
typedef struct building {
    sap_comm* comm;
    sap_device* device;
    sap_cluster_tree *tree, *into; // the latter: memory that the former takes, or NULL
    const int64_t* ids;
    sap_rows rows;
    sap_tree_options options; // defaults filled in
    sap_cut cut;
    told own;
    sap_scratch shares;
} building;

static sap_status check_arguments(building* b, const sap_tree_options* options, sap_cluster_tree* const* tree) {
    sap_device* device = b->device;
    if (!device) return SAP_ERROR_ARGUMENT;
    if (!tree) return sap_fail(device, SAP_ERROR_ARGUMENT, "tree: is NULL");
    sap_status status = sap_rows_check(device, &b->rows, "share");
    if (status == SAP_OK) status = sap_tree_options_read(device, &b->rows, options, &b->options);
    if (status != SAP_OK) return status;
    if (device->table->kind != SAP_CPU && !device->rooms.cluster)
        return sap_unsupported(device, "hold a part of a tree over ranks");
    if (b->options.split != SAP_SPLIT_MEDIAN)
        return sap_fail(device, SAP_ERROR_UNSUPPORTED, "options.split: trees over ranks are cut at medians only");
    if (b->options.drop_duplicates)
        return sap_fail(device, SAP_ERROR_UNSUPPORTED, "options.drop_duplicates: not with trees over ranks");
    for (int32_t a = 0; a < SAP_MAX_DIMS; a++)
        if (b->options.period[a] != 0)
            return sap_fail(device, SAP_ERROR_UNSUPPORTED, "options.period: not with trees over ranks");
    for (int64_t i = 0; i < b->rows.count && b->ids && !device->rooms.cluster; i++) // a device looks at its own
        if (b->ids[i] < 0)
            return sap_fail(device, SAP_ERROR_ARGUMENT, "ids: that of row %lld is %lld, which is negative",
                            (long long)i, (long long)b->ids[i]);
    return SAP_OK;
}

static double coordinate(const sap_rows* rows, int64_t at) {
    return rows->real_bits == 64 ? ((const double*)rows->coords)[at] : (double)((const float*)rows->coords)[at];
}

// Lists the rows that the tree is made of, and refuses those that no tree takes.
static sap_status list_rows(building* b) {
    const sap_rows own = b->rows, *rows = &own; // a copy, which nothing that the loop writes can change
    int32_t* order = b->cut.order;
    int64_t given = 0;
    const double most = sap_largest_coordinate(rows->real_bits, rows->dims);
    b->cut.is_whole = sap_cut_look(b->device->options.threads, rows, most, b->cut.box);
    b->cut.given = rows->count;
    if (b->cut.is_whole) return SAP_OK;
    for (int64_t i = 0; i < rows->count; i++) {
        const int64_t at = i * rows->stride;
        bool good = true, finite = true;
        for (int32_t a = 0; a < rows->dims; a++) good &= fabs(coordinate(rows, at + a)) <= most;
        if (good) {
            order[given++] = (int32_t)i;
            continue;
        }
        for (int32_t a = 0; a < rows->dims; a++) finite &= isfinite(coordinate(rows, at + a)) != 0;
        if (b->options.drop_nonfinite && !finite) {
            b->own.not_finite++;
        } else {
            const unsigned char* point = (const unsigned char*)rows->coords + (size_t)at * (size_t)rows->real_bits / 8;
            return sap_point_refuse(b->device, point, rows->dims, rows->real_bits, i);
        }
    }
    b->cut.given = given;
    return SAP_OK;
}

// The same on a device with memory of its own.
static sap_status take_up(building* b) {
    return b->device->rooms.cluster->open(b->device, &b->rows, b->ids, b->options.drop_nonfinite, &b->cut.share,
                                          &b->cut.given, &b->own.not_finite);
}

bool sap_cluster_make_ids(const sap_device* device, sap_cluster_piece* piece, int64_t count) {
    if (piece->ids && piece->ids_room >= count) return true;
    sap_memory_release(device, piece->ids, (size_t)piece->ids_room * sizeof *piece->ids);
    piece->ids = sap_memory_allocate(device, (size_t)count * sizeof *piece->ids);
    piece->ids_room = piece->ids ? count : 0;
    return piece->ids != NULL;
}

static void release_pieces(sap_cluster_tree* tree) {
    const sap_device* device = tree->device;
    for (int32_t i = 0; i < tree->most_pieces && tree->pieces; i++) {
        sap_cluster_piece* piece = &tree->pieces[i];
        sap_tree_free(piece->tree);
        sap_memory_release(device, piece->ids, (size_t)piece->ids_room * sizeof *piece->ids);
        if (piece->there)
            device->rooms.cluster->release(tree->device, piece->there, (size_t)piece->there_room * sizeof(int64_t));
    }
    sap_memory_release(device, tree->pieces, (size_t)tree->most_pieces * sizeof *tree->pieces);
    sap_memory_release(device, tree->planes, (size_t)tree->most_pieces * sizeof *tree->planes);
    tree->pieces = NULL;
    tree->planes = NULL;
}

bool sap_cluster_make_lists(sap_cluster_tree* tree, const sap_cut* cut) {
    const size_t all = (size_t)cut->piece_count;
    if (tree->most_pieces < cut->piece_count || !tree->pieces || !tree->planes) {
        release_pieces(tree);
        tree->most_pieces = cut->piece_count;
        tree->pieces = sap_memory_allocate_zero(tree->device, all * sizeof *tree->pieces);
        tree->planes = sap_memory_allocate(tree->device, all * sizeof *tree->planes); // one less would do
    }
    return tree->pieces && tree->planes;
}

// Takes up a tree's memory for another one.
static void renew(building* b) {
    sap_cluster_tree* tree = b->into;
    tree->count_here = tree->moved = 0;
    tree->piece_count = tree->plane_count = 0;
    b->tree = tree;
}

static sap_status begin(building* b, const sap_tree_options* options, sap_cluster_tree* const* tree) {
    sap_status status = check_arguments(b, options, tree);
    if (status != SAP_OK) return status;
    b->cut.rows = &b->rows;
    b->cut.options = &b->options;
    b->cut.on_device = b->device->rooms.cluster != NULL;
    status = sap_cut_open(b->device, b->comm, &b->cut);
    if (status == SAP_OK) status = b->cut.on_device ? take_up(b) : list_rows(b);
    if (status != SAP_OK) return status;
    b->own.given = b->rows.count;
    if (b->cut.on_device) b->own.ordinal = b->device->rooms.cluster->ordinal(b->device, &b->own.reached);
    b->own.with_ids = b->ids ? b->rows.count : 0;
    b->own.without_ids = b->rows.count - b->own.with_ids;
    if (b->into)
        renew(b);
    else
        b->tree = sap_memory_allocate_zero(b->device, sizeof *b->tree);
    const size_t bytes = (size_t)b->comm->size * (sizeof(told) + sizeof(int64_t)) + sizeof(int64_t);
    if (b->tree && sap_scratch_take(b->device, bytes, &b->shares)) return SAP_OK;
    return sap_fail(b->device, SAP_ERROR_MEMORY, "no memory for a tree over ranks");
}

// Devices of one process are made to reach one another, unless they were before: one after another.
static sap_status reach_others(const building* b, const told* all) {
    sap_status status = SAP_OK;
    uint64_t wanted = 0, reached = UINT64_MAX;
    if (!b->cut.on_device || !b->comm->of_engine) return SAP_OK;
    for (int32_t r = 0; r < b->comm->size; r++) wanted |= UINT64_C(1) << (all[r].ordinal & 63);
    for (int32_t r = 0; r < b->comm->size; r++) reached &= all[r].reached;
    if (!(wanted & ~reached)) return SAP_OK;
    for (int32_t turn = 0; turn < b->comm->size && status == SAP_OK; turn++) {
        for (int32_t r = 0; r < b->comm->size && turn == b->comm->rank; r++)
            b->device->rooms.cluster->reach(b->device, (int32_t)all[r].ordinal);
        status = sap_comm_agree(b->comm, b->device, SAP_OK, NULL, 0);
    }
    return status;
}

// What all shares are together, and which ids this rank's points have if none were given.
static sap_status add_shares(building* b) {
    told* all = (told*)(void*)b->shares.memory;
    int64_t* first_ids = (int64_t*)(void*)(all + b->comm->size);
    told sum = {0};
    const sap_status status = sap_comm_gather(b->comm, b->device, &b->own, (int64_t)sizeof b->own, all);
    if (status != SAP_OK) return status;
    for (int32_t r = 0; r < b->comm->size; r++) {
        first_ids[r] = sum.given;
        sum.given += all[r].given;
        sum.not_finite += all[r].not_finite;
        sum.with_ids += all[r].with_ids;
        sum.without_ids += all[r].without_ids;
    }
    first_ids[b->comm->size] = sum.given;
    if (sum.with_ids && sum.without_ids)
        return sap_fail(b->device, SAP_ERROR_ARGUMENT, "ids: some ranks give them for their points, others do not");
    if (reach_others(b, all) != SAP_OK) return b->comm->failed;
    b->cut.first_ids = first_ids;
    b->tree->source_count = sum.given;
    b->tree->not_finite = sum.not_finite;
    b->cut.count = sum.given - sum.not_finite;
    // All ranks look at ids, or none does; one without points may have given none.
    static const int64_t none = 0;
    b->cut.ids = sum.with_ids ? b->rows.count ? b->ids : &none : NULL;
    return SAP_OK;
}

static sap_status build_tree(building* b) {
    sap_cluster_tree* tree = b->tree;
    sap_status status = add_shares(b);
    if (status != SAP_OK) return status;
    status = sap_cut_find(b->comm, b->device, &b->cut);
    if (status != SAP_OK) return status;
    tree->comm = b->comm;
    tree->device = b->device;
    tree->options = b->options;
    tree->count = b->cut.count;
    tree->dims = b->rows.dims;
    tree->real_bits = b->rows.real_bits;
    tree->depth = b->cut.depth;
    status = sap_cluster_move(tree, &b->cut);
    return status == SAP_OK ? sap_cluster_top_open(tree, &b->cut) : status;
}

// `last`: a tree over points that lay near where these lie, whose spare memory is taken, or NULL; `early`: how this rank has
// fared already.
static sap_status build(sap_comm* comm, sap_device* device, const sap_rows* points, const int64_t* ids,
                        const sap_tree_options* options, const sap_cluster_tree* last, sap_status early,
                        sap_cluster_tree** tree) {
    if (!comm) return SAP_ERROR_ARGUMENT;
    building b = {.comm = comm, .device = device, .ids = ids, .rows = *points};
    if (last) {
        b.into = last->spare;
        b.cut.last = last->planes;
        b.cut.last_count = last->plane_count;
    }
    sap_status status = early == SAP_OK ? begin(&b, options, tree) : early;
    const uint64_t same[] = {(uint64_t)points->dims,   (uint64_t)points->real_bits, (uint64_t)b.options.leaf_size,
                             (uint64_t)b.options.axis, b.options.drop_nonfinite,    b.cut.on_device};
    status = sap_comm_agree(comm, device, status, same, (int32_t)(sizeof same / sizeof *same));
    if (status == SAP_OK) status = build_tree(&b);
    if (device) {
        sap_scratch_give(device, &b.shares);
        if (b.cut.share) device->rooms.cluster->close(b.cut.share);
        sap_cut_close(device, &b.cut);
        if (b.tree) b.tree->device = device;
    }
    if (status == SAP_OK)
        *tree = b.tree;
    else if (!b.into)
        sap_cluster_free(b.tree);
    return status;
}

sap_status sap_cluster_build(sap_comm* comm, sap_device* device, sap_points share, const int64_t* ids,
                             const sap_tree_options* options, sap_cluster_tree** tree) {
    const sap_rows rows = sap_rows_f32(share);
    return build(comm, device, &rows, ids, options, NULL, SAP_OK, tree);
}

sap_status sap_cluster_build_f64(sap_comm* comm, sap_device* device, sap_points_f64 share, const int64_t* ids,
                                 const sap_tree_options* options, sap_cluster_tree** tree) {
    const sap_rows rows = sap_rows_f64(share);
    return build(comm, device, &rows, ids, options, NULL, SAP_OK, tree);
}

// The new tree takes the old one's place once all ranks have theirs; the old one's memory is that of the next. So a rebuild
// that fails on some rank leaves all of them what they had, and one that does not takes no memory from the third on.
static sap_status rebuild(sap_cluster_tree* tree, const sap_rows* points, const int64_t* ids) {
    if (!tree) return SAP_ERROR_ARGUMENT;
    sap_status status = SAP_OK;
    sap_cluster_tree* made = NULL;
    if (points->real_bits != tree->real_bits || points->dims != tree->dims)
        status = sap_fail(tree->device, SAP_ERROR_ARGUMENT, "share: the tree holds %d-bit points of %d dimensions",
                          (int)tree->real_bits, (int)tree->dims);
    status = build(tree->comm, tree->device, points, ids, &tree->options, tree, status, &made);
    if (status != SAP_OK) return status;
    const sap_cluster_tree old = *tree;
    *tree = *made;
    *made = old;
    made->spare = NULL;
    tree->spare = made;
    return SAP_OK;
}

sap_status sap_cluster_rebuild(sap_cluster_tree* tree, sap_points share, const int64_t* ids) {
    const sap_rows rows = sap_rows_f32(share);
    return rebuild(tree, &rows, ids);
}

sap_status sap_cluster_rebuild_f64(sap_cluster_tree* tree, sap_points_f64 share, const int64_t* ids) {
    const sap_rows rows = sap_rows_f64(share);
    return rebuild(tree, &rows, ids);
}

void sap_cluster_free(sap_cluster_tree* tree) {
    if (!tree) return;
    sap_device* device = tree->device;
    sap_cluster_free(tree->spare); // which has none itself
    release_pieces(tree);
    sap_cluster_top_close(device, &tree->top);
    sap_memory_release(device, tree, sizeof *tree);
}

sap_status sap_cluster_describe(const sap_cluster_tree* tree, sap_cluster_info* info) {
    if (!tree) return SAP_ERROR_ARGUMENT;
    if (!info) return sap_fail(tree->device, SAP_ERROR_ARGUMENT, "info: is NULL");
    sap_cluster_info i = {.count = tree->count,
                          .source_count = tree->source_count,
                          .not_finite = tree->not_finite,
                          .leaves = (int64_t)1 << tree->depth,
                          .depth = tree->depth,
                          .dims = tree->dims,
                          .real_bits = tree->real_bits,
                          .subtrees = tree->piece_count,
                          .count_here = tree->count_here,
                          .moved = tree->moved};
    const double* box = tree->top.boxes + 2 * tree->dims; // of the root
    for (int32_t a = 0; a < tree->dims; a++) {
        i.lower[a] = box[a];
        i.upper[a] = box[tree->dims + a];
    }
    *info = i;
    return SAP_OK;
}
