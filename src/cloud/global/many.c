// Many clouds aligned with one another: the trees and normals of all, pair after pair, then the motions of all.
#include "cloud/global/poses.h"
#include "cloud/ops.h"
#include "device/reserved.h"
#include <math.h>
#include <string.h>

enum { MOST_CLOUDS = 1000 };

typedef struct many {
    sap_device* device;
    const sap_points* clouds;
    int32_t count;
    sap_many_options options;
    int64_t pair_count;
    sap_tree** trees;   // [count]
    float** normals;    // [count] where they are needed, else NULL
    sap_scratch* rooms; // [count] of the normals
    sap_poses poses;
    sap_scratch memory;
} many;

// ---- What is asked

static sap_status check_pairs(const many* m) {
    const sap_many_options* o = &m->options;
    if (o->pair_count < 0 || (o->pair_count > 0 && !o->pairs))
        return sap_fail(m->device, SAP_ERROR_ARGUMENT, "options.pairs: is NULL, or pair_count is negative");
    for (int64_t i = 0; o->pairs && i < o->pair_count; i++) {
        const int32_t *pair = o->pairs + 2 * i, most = m->count;
        if (pair[0] < 0 || pair[0] >= most || pair[1] < 0 || pair[1] >= most || pair[0] == pair[1])
            return sap_fail(m->device, SAP_ERROR_ARGUMENT, "options.pairs: pair %lld, %d and %d, is not of two clouds",
                            (long long)i, (int)pair[0], (int)pair[1]);
    }
    return SAP_OK;
}

static sap_status check(many* m) {
    const sap_many_options* o = &m->options;
    const sap_align_options* a = &o->align;
    sap_status status = sap_reserved_check(m->device, o->reserved, "options");
    if (status != SAP_OK) return status;
    if (m->count < 0 || (m->count > 0 && !m->clouds))
        return sap_fail(m->device, SAP_ERROR_ARGUMENT, "clouds: is NULL, or count is negative");
    if (m->count > MOST_CLOUDS)
        return sap_fail(m->device, SAP_ERROR_RANGE, "clouds: %d; at most %d", (int)m->count, MOST_CLOUDS);
    for (int i = 0; i < 16; i++)
        if (a->start[i] != 0)
            return sap_fail(m->device, SAP_ERROR_ARGUMENT, "options.align.start: give options.starts");
    if (a->source_normals || a->target_normals)
        return sap_fail(m->device, SAP_ERROR_ARGUMENT, "options.align: normals are found, not given, for many clouds");
    if (o->global && o->starts)
        return sap_fail(m->device, SAP_ERROR_ARGUMENT, "options.starts: with options.global none are needed");
    if (!(o->least_overlap >= 0 && o->least_overlap <= 1))
        return sap_fail(m->device, SAP_ERROR_ARGUMENT, "options.least_overlap: %g is not between 0 and 1",
                        o->least_overlap);
    if (!(o->scale >= 0 && isfinite(o->scale)))
        return sap_fail(m->device, SAP_ERROR_ARGUMENT, "options.scale: %g is negative or not finite", o->scale);
    if (!SAP_CAN(m->device, cloud, global)) return sap_unsupported(m->device, "align clouds");
    return check_pairs(m);
}

// ---- Memory

static sap_status take_memory(many* m) {
    const size_t n = (size_t)m->count, pairs = (size_t)m->pair_count;
    const size_t matrix = 36 * n * n * sizeof(double);
    size_t bytes = 0, all;
    const size_t parts[] = {matrix, 22 * n * sizeof(double), n * (sizeof(sap_tree*) + sizeof(float*)),
                            n * (sizeof(sap_scratch) + sizeof(int32_t))};
    bool fits = sap_size_multiply(pairs, sizeof(sap_many_pair) + sizeof(double), &all);
    for (int i = 0; i < 4; i++) bytes += sap_align(parts[i]);
    if (!fits || !sap_size_add(bytes, all, &bytes) || !sap_scratch_take(m->device, bytes + 64, &m->memory))
        return sap_fail(m->device, SAP_ERROR_MEMORY, "no memory for the motions of %d clouds", (int)m->count);
    unsigned char* at = m->memory.memory;
    memset(at, 0, bytes);
    m->poses.matrix = (double*)(void*)at;
    m->poses.transforms = (double*)(void*)(at += sap_align(parts[0]));
    m->poses.right = m->poses.transforms + 16 * n;
    m->trees = (sap_tree**)(void*)(at += sap_align(parts[1]));
    m->normals = (float**)(void*)(m->trees + n);
    m->rooms = (sap_scratch*)(void*)(at += sap_align(parts[2]));
    m->poses.groups = (int32_t*)(void*)(m->rooms + n);
    m->poses.pairs = (sap_many_pair*)(void*)(at + sap_align(parts[3]));
    m->poses.sorted = (double*)(void*)(m->poses.pairs + pairs);
    return SAP_OK;
}

static sap_status take_starts(many* m) {
    const double none[16] = {0};
    for (int32_t i = 0; i < m->count; i++) {
        double* to = m->poses.transforms + 16 * (int64_t)i;
        const sap_status status =
            sap_cloud_check_start(m->device, m->options.starts ? m->options.starts + 16 * (int64_t)i : none, to);
        if (status != SAP_OK) return status;
        to[15] = 1;
    }
    return SAP_OK;
}

static void name_pairs(many* m) {
    int64_t at = 0;
    for (int64_t i = 0; m->options.pairs && i < m->pair_count; i++) {
        m->poses.pairs[i].source = m->options.pairs[2 * i];
        m->poses.pairs[i].target = m->options.pairs[2 * i + 1];
    }
    for (int32_t source = 1; !m->options.pairs && source < m->count; source++)
        for (int32_t target = 0; target < source; target++) {
            m->poses.pairs[at].source = source;
            m->poses.pairs[at++].target = target;
        }
}

// ---- Progress: a part of all for each cloud, for each pair, and for what follows

static double part_of(const many* m, double done) { return done / (double)(m->count + m->pair_count + 1); }

// What the next call reports is one of this part of a cloud or pair.
static void begin_part(const many* m, int64_t done, double from, double to) {
    sap_progress_part(part_of(m, (double)done + from), part_of(m, (double)done + to));
}

// Tells how much is done.
static sap_status report(const many* m, int64_t done) {
    sap_progress_mute(false);
    const bool goes_on = sap_progress_report(m->device, part_of(m, (double)done));
    sap_progress_mute(true);
    return goes_on ? SAP_OK : sap_fail(m->device, SAP_ERROR_CANCELLED, "the progress callback asked to stop");
}

// ---- Clouds

static bool needs_normals(const sap_align_options* o) { return o->method != SAP_ALIGN_POINT || o->max_angle > 0; }

static sap_status open_cloud(many* m, int32_t i) {
    const sap_align_options* a = &m->options.align;
    const sap_tree_options options = {.drop_nonfinite = a->drop_nonfinite};
    const sap_points* cloud = &m->clouds[i];
    size_t bytes;
    begin_part(m, i, 0, needs_normals(a) ? 0.5 : 1);
    sap_status status = cloud->dims == 3 ? sap_tree_build(m->device, *cloud, &options, &m->trees[i])
                                         : sap_fail(m->device, SAP_ERROR_ARGUMENT,
                                                    "clouds: the points of cloud %d have %d dimensions, not 3", (int)i,
                                                    (int)cloud->dims);
    if (status != SAP_OK || !needs_normals(a)) return status;
    if (!sap_size_multiply((uint64_t)cloud->count, 3 * sizeof(float), &bytes) ||
        !sap_scratch_take(m->device, bytes + 1, &m->rooms[i]))
        return sap_fail(m->device, SAP_ERROR_MEMORY, "no memory for %lld normals", (long long)cloud->count);
    m->normals[i] = (float*)(void*)m->rooms[i].memory;
    const sap_normals_options normals = {.k = a->normals_k};
    begin_part(m, i, 0.5, 1);
    return sap_cloud_normals(m->trees[i], &normals, m->normals[i], NULL);
}

// ---- Pairs

// Where the source of a pair lies on its target; *found stays false if nobody can say.
static sap_status find_start(const many* m, sap_many_pair* pair, double start[16], bool* found) {
    const sap_global_options options = {.drop_nonfinite = m->options.align.drop_nonfinite,
                                        .least_overlap = m->options.least_overlap};
    sap_global_motion motion;
    if (m->options.global) {
        const sap_status status =
            sap_cloud_align_global(m->trees[pair->target], m->clouds[pair->source], &options, &motion);
        if (status != SAP_OK) return status;
        memcpy(start, motion.transform, sizeof motion.transform);
        pair->rivals = motion.rivals;
        *found = motion.found;
        return SAP_OK;
    }
    double back[16];
    sap_motion_inverse(m->poses.transforms + 16 * (int64_t)pair->target, back);
    sap_motion_product(back, m->poses.transforms + 16 * (int64_t)pair->source, start);
    *found = true;
    return SAP_OK;
}

static sap_status align_pair(const many* m, sap_many_pair* pair) {
    const int64_t done = m->count + (pair - m->poses.pairs);
    sap_align_options o = m->options.align;
    sap_alignment found;
    bool has_start = false;
    begin_part(m, done, 0, 0.5);
    sap_status status = find_start(m, pair, o.start, &has_start);
    if (status != SAP_OK || !has_start) return status;
    if (m->options.global && o.max_distance == 0 && o.overlap == 0) o.find_overlap = true;
    o.source_normals = m->normals[pair->source];
    o.target_normals = m->normals[pair->target];
    begin_part(m, done, m->options.global ? 0.5 : 0, 1);
    status = sap_cloud_align(m->trees[pair->target], m->clouds[pair->source], &o, &found);
    if (status != SAP_OK) return status;
    const double least = m->options.least_overlap > 0 ? m->options.least_overlap : 0.1;
    pair->found = found.reason != SAP_ALIGN_NO_PAIRS && found.fitness >= least;
    if (pair->found) pair->alignment = found;
    return SAP_OK;
}

static sap_status run(many* m) {
    sap_status status = take_starts(m);
    name_pairs(m);
    for (int32_t i = 0; status == SAP_OK && i < m->count; i++) {
        status = open_cloud(m, i);
        if (status == SAP_OK) status = report(m, i + 1);
    }
    for (int64_t i = 0; status == SAP_OK && i < m->pair_count; i++) {
        status = align_pair(m, &m->poses.pairs[i]);
        if (status == SAP_OK) status = report(m, m->count + i + 1);
    }
    if (status != SAP_OK) return status;
    m->poses.count = m->count;
    m->poses.pair_count = m->pair_count;
    m->poses.scale2 = m->options.scale * m->options.scale;
    sap_poses_solve(&m->poses);
    return report(m, m->count + m->pair_count + 1);
}

static void close(many* m) {
    for (int32_t i = 0; m->trees && i < m->count; i++) {
        sap_tree_free(m->trees[i]);
        sap_scratch_give(m->device, &m->rooms[i]);
    }
    sap_scratch_give(m->device, &m->memory);
}

sap_status sap_cloud_align_many(sap_device* device, const sap_points* clouds, int32_t count,
                                const sap_many_options* options, double* transforms, int32_t* groups,
                                sap_many_pair* pairs) {
    if (!device) return SAP_ERROR_ARGUMENT;
    many m = {.device = device, .clouds = clouds, .count = count};
    if (options) m.options = *options;
    sap_status status = check(&m);
    if (status != SAP_OK) return status;
    if (!transforms && count) return sap_fail(device, SAP_ERROR_ARGUMENT, "transforms: is NULL");
    m.pair_count = m.options.pairs ? m.options.pair_count : (int64_t)count * (count - 1) / 2;
    status = take_memory(&m);
    if (status != SAP_OK) return status;
    sap_progress_mute(true);
    status = run(&m);
    sap_progress_mute(false);
    if (status == SAP_OK && count) memcpy(transforms, m.poses.transforms, 16 * (size_t)count * sizeof *transforms);
    if (status == SAP_OK && count && groups) memcpy(groups, m.poses.groups, (size_t)count * sizeof *groups);
    if (status == SAP_OK && m.pair_count && pairs) memcpy(pairs, m.poses.pairs, (size_t)m.pair_count * sizeof *pairs);
    close(&m);
    return status;
}
