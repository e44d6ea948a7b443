// What the search for the nearest site of one place does, told step by step: the library's walk without a stack, over
// accessors that note what it reads and decides.
#include "math/dialect.h"
#include "scenes/voronoi.h"
#include "tree/layout.h"
#include <float.h>
#include <stdlib.h>
#include <string.h>

#define SAP_REAL_BITS 32
#define SAP_AXES      2
#include "math/specialise.h"

#include "math/distance.h"

#include "tree/access.h"

#include "tree/leaf.h"

#include "nearest/bound.h"

#define SAP_CAPACITY 1
#include "nearest/candidates/candidates.h"

#include "nearest/walk_result.h"

#include "nearest/scan.h"

enum { MOST_NOTES = 4096, MOST_PLANES = 127, SIDE = 24 };

typedef double note[VORONOI_NOTE_FIELDS];

static struct {
    sap_tree* tree; // the picture's, on the CPU
    int version;    // of the sites
    sap_point query;
    note* notes; // [MOST_NOTES]; walks may be longer
    int count;
    bool silent;      // nothing is noted
    int first;        // of the path down that the walk is on
    uint32_t pending; // bits of the walk when it last looked for a sibling
} told;

// ---- What the walk's text calls

static double* next_note(int kind, SAP_BITS node) {
    if (told.silent || told.count == MOST_NOTES) return NULL;
    double* fields = told.notes[told.count++];
    memset(fields, 0, sizeof told.notes[0]);
    fields[VORONOI_NOTE_KIND] = kind;
    fields[VORONOI_NOTE_NODE] = node;
    fields[VORONOI_NOTE_ID] = -1;
    return fields;
}

static sap_inner noted_inner(const sap_tree* tree, SAP_BITS node) {
    const sap_inner inner = sap_inner_at(tree, node);
    double* before = told.count && !told.silent ? told.notes[told.count - 1] : NULL;
    if (before && before[VORONOI_NOTE_KIND] == VORONOI_NOTE_KIND_BACK && before[VORONOI_NOTE_NODE] == node) {
        before[VORONOI_NOTE_ENTERS] = 1;
        told.first = told.count;
    }
    double* fields = inner.is_leaf ? NULL : next_note(VORONOI_NOTE_KIND_DOWN, node);
    if (!fields) return inner;
    fields[VORONOI_NOTE_AXIS] = inner.axis;
    fields[VORONOI_NOTE_SPLIT] = (double)inner.split;
    fields[VORONOI_NOTE_ASIDE] = (double)(sap_point_on(told.query, inner.axis) - inner.split);
    return inner;
}

static sap_nearest_result noted_scan(const sap_tree* tree, SAP_BITS node, sap_point query, int without,
                                     sap_nearest_result result) {
    const int points = result.points;
    result = sap_nearest_scan(tree, node, query, without, result);
    double* fields = next_note(VORONOI_NOTE_KIND_LEAF, node);
    told.pending = 0;
    if (!fields) return result;
    const int32_t id = sap_candidates_limit_id(result.list);
    fields[VORONOI_NOTE_POINTS] = result.points - points;
    fields[VORONOI_NOTE_LIMIT2] = (double)sap_candidates_limit2(result.list);
    fields[VORONOI_NOTE_ID] = id;
    fields[VORONOI_NOTE_X] = (double)voronoi.sites[2 * id];
    fields[VORONOI_NOTE_Y] = (double)voronoi.sites[2 * id + 1];
    return result;
}

// The walk looks for the next sibling on its path. Its bits at the leaf just scanned say which bits each node above
// has left: one for each level.
static uint32_t noted_above_zeros(uint32_t value, uint32_t bits) {
    if (told.silent) return sap_above_zeros(value, bits);
    double* last = told.notes[told.count - 1];
    told.pending = bits;
    for (int i = told.count - 1; last[VORONOI_NOTE_KIND] == VORONOI_NOTE_KIND_LEAF && i >= told.first; i--) {
        const int above = told.count - 1 - i; // the leaf stands behind the last plane of the path
        told.notes[i][VORONOI_NOTE_PENDING] = above ? bits >> (above - 1) : bits;
    }
    return sap_above_zeros(value, bits);
}

static float noted_bound2(const sap_tree* tree, SAP_BITS node, sap_point query) {
    const float bound2 = sap_node_bound2(tree, node, query);
    const double limit2 = told.silent ? 0 : told.notes[told.count - 1][VORONOI_NOTE_LIMIT2];
    double* fields = next_note(VORONOI_NOTE_KIND_BACK, node);
    if (!fields) return bound2;
    fields[VORONOI_NOTE_BOUND2] = (double)bound2;
    fields[VORONOI_NOTE_LIMIT2] = limit2;
    fields[VORONOI_NOTE_PENDING] = sap_above_zeros(told.pending, told.pending) ^ 1u;
    return bound2;
}

#undef sap_inner_at
#undef sap_node_bound2
#undef sap_nearest_scan
#define sap_inner_at     noted_inner
#define sap_node_bound2  noted_bound2
#define sap_nearest_scan noted_scan
#define sap_above_zeros  noted_above_zeros

#define SAP_STACK SAP_MAX_DEPTH
#include "nearest/walk.h"

#undef sap_inner_at
#undef sap_above_zeros
#define sap_inner_at SAP_SPECIAL(sap_inner_at)

// ---- What the page asks

void voronoi_told_stop(void) {
    sap_tree_free(told.tree);
    free(told.notes);
    memset(&told, 0, sizeof told);
}

// The picture's tree, on the CPU.
static sap_status hold_tree(void) {
    if (!voronoi.tree || voronoi.compact || !voronoi.count)
        return page_fail(SAP_ERROR_ARGUMENT, "There is no exact tree over sites yet.");
    if (told.tree && told.version == voronoi.version) return SAP_OK;
    sap_tree_free(told.tree);
    told.tree = NULL;
    if (!told.notes) told.notes = malloc(MOST_NOTES * sizeof *told.notes);
    if (!told.notes || !page_cpu()) return page_fail(SAP_ERROR_MEMORY, "There is no memory here to tell a search.");
    told.version = voronoi.version;
    return sap_tree_copy(voronoi.tree, page_cpu(), &told.tree);
}

// The planes of the upper nodes, in the order of their numbers (voronoi_plane).
static sap_status answer_planes(page_job* job) {
    const sap_tree* tree = told.tree;
    const SAP_BITS behind = tree->shape.depth < 7 ? (SAP_BITS)1 << tree->shape.depth : MOST_PLANES + 1;
    double* row = page_answer(job, (behind - 1) * VORONOI_PLANE_FIELDS * sizeof *row);
    if (!row) return SAP_ERROR_MEMORY;
    for (SAP_BITS node = 1; node < behind; node++, row += VORONOI_PLANE_FIELDS) {
        const sap_inner inner = sap_inner_at(tree, node);
        row[VORONOI_PLANE_AXIS] = inner.axis;
        row[VORONOI_PLANE_SPLIT] = (double)inner.split;
        row[VORONOI_PLANE_LOWER] = sap_count_below(tree, inner.lower);
        row[VORONOI_PLANE_UPPER] = sap_count_below(tree, inner.upper);
    }
    return SAP_OK;
}

// What the picture's own search has found for a pixel, and how many nodes it has looked at, if those were counted.
static void read_picture(const int32_t pixel[2], double* number) {
    uint32_t texel[4] = {0};
    voronoi_aim(voronoi.answers[0]);
    glReadPixels(pixel[0], pixel[1], 1, 1, GL_RGBA_INTEGER, GL_UNSIGNED_INT, texel);
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    number[VORONOI_TOLD_PICTURE_ID] = (int32_t)texel[0];
    number[VORONOI_TOLD_PICTURE_NODES] = texel[2];
}

// Tells the search of a pixel (voronoi_tell; voronoi_told, voronoi_told_buffer).
PAGE_EXPORT sap_status job_voronoi_told(page_job* job) {
    double* number = job->number;
    const int32_t pixel[2] = {(int32_t)number[VORONOI_TELL_X], (int32_t)number[VORONOI_TELL_Y]};
    sap_status status = hold_tree();
    if (status != SAP_OK) return status;
    voronoi_place(pixel[0], pixel[1], told.query.at);
    told.count = told.first = 0;
    told.silent = false;
    const sap_nearest_place start = sap_nearest_from(1, sap_candidates_none(1, FLT_MAX));
    const sap_nearest_result found = sap_nearest_resume(told.tree, start, told.query, -1, SAP_NO_ID).result;
    int32_t id = -1;
    status = sap_nearest(told.tree, (sap_points){told.query.at, 1, 2, 0}, &(sap_search){.k = 1}, &id, NULL);
    if (status == SAP_OK) status = answer_planes(job);
    double* notes = status == SAP_OK ? page_answer(job, (size_t)told.count * sizeof *told.notes) : NULL;
    if (!notes) return status == SAP_OK ? SAP_ERROR_MEMORY : status;
    memcpy(notes, told.notes, (size_t)told.count * sizeof *told.notes);
    number[VORONOI_TOLD_X] = (double)told.query.at[0];
    number[VORONOI_TOLD_Y] = (double)told.query.at[1];
    number[VORONOI_TOLD_LEFT] = voronoi.origin[0];
    number[VORONOI_TOLD_TOP] = voronoi.origin[1];
    number[VORONOI_TOLD_STEP] = voronoi.step;
    number[VORONOI_TOLD_VERSION] = voronoi.version;
    number[VORONOI_TOLD_SITES] = (double)voronoi.count;
    number[VORONOI_TOLD_DEPTH] = told.tree->shape.depth;
    number[VORONOI_TOLD_ID] = sap_candidates_limit_id(found.list);
    number[VORONOI_TOLD_DISTANCE2] = (double)sap_candidates_limit2(found.list);
    number[VORONOI_TOLD_NODES] = found.nodes;
    number[VORONOI_TOLD_LEAVES] = found.leaves;
    number[VORONOI_TOLD_POINTS] = found.points;
    number[VORONOI_TOLD_CALL_ID] = id;
    read_picture(pixel, number);
    return SAP_OK;
}

// What searches from all over the picture take on average, by each walk (voronoi_mean).
PAGE_EXPORT sap_status job_voronoi_mean(page_job* job) {
    sap_status status = hold_tree();
    told.silent = true;
    for (int i = 0; i < SIDE * SIDE && status == SAP_OK; i++) {
        const sap_point query = {
            {(float)(voronoi.origin[0] + voronoi.step * voronoi.width * (i % SIDE + 0.5) / SIDE),
             (float)(voronoi.origin[1] + voronoi.step * voronoi.height * (i / SIDE + 0.5) / SIDE)}};
        const sap_candidates none = sap_candidates_none(1, FLT_MAX);
        const sap_nearest_result found[2] = {sap_nearest_stackless(told.tree, query, -1, none),
                                             sap_nearest_stack(told.tree, query, -1, none)};
        for (int walk = 0; walk < 2; walk++) {
            double* mean = job->number + walk * VORONOI_MEAN_FIELDS;
            mean[VORONOI_MEAN_NODES] += (double)found[walk].nodes / (SIDE * SIDE);
            mean[VORONOI_MEAN_LEAVES] += (double)found[walk].leaves / (SIDE * SIDE);
            mean[VORONOI_MEAN_POINTS] += (double)found[walk].points / (SIDE * SIDE);
        }
    }
    return status;
}
