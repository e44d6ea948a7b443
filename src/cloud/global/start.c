// A start for an alignment: clouds thinned, features matched, motions proposed, each tried out on the thinned
// clouds, the best kept.
#include "cloud/global/global.h"
#include <math.h>
#include <string.h>

// In units of the spacing.
#define PAIRED 1.5 // how near points must come that lie on the other cloud
#define COARSE 1.0 // how far from its tangent planes, of a motion that is not refined
#define FINE   0.1 // and of one that is, beside what both surfaces are rough by

#define ALIKE 0.95 // of the best motion's fit: one that fits so well may be as right
#define APART 4.5  // how far such a one moves points from there, in the root of the mean of squares

#define COSINE 0.8  // of their normals, at least
#define WHOLE  0.85 // of the source on the target: all of it, but for noise
#define LYING  0.65 // of the points that come near, at least: wrong motions have up to 0.6, but on planes

enum {
    MOST_MOTIONS = 96, // that are looked at by every fourth point
    STRIDE = 4,
    MOST_REFINED = 12, // the best of those, which are refined
    AGREEING = 10,     // matches at least: motions of clouds that do not overlap have rarely more
    ENOUGH = 30        // more than so many say nothing more
};

// Room for the points of the source where a motion puts them.
typedef struct placing {
    float* points;    // [3*count]
    int32_t* nearest; // [count]
    float* distance2; // [count] of these
    sap_scratch memory;
} placing;

static sap_status place(const sap_globe* g, const sap_motion* motion, int64_t stride, placing* p, int64_t* count) {
    *count = 0;
    for (int64_t i = 0; i < g->source.count; i += stride) {
        double at[3];
        sap_motion_point(motion, g->source.points + 3 * i, at);
        for (int c = 0; c < 3; c++) p->points[3 * *count + c] = (float)at[c];
        ++*count;
    }
    const sap_search search = {.k = 1, .radius = PAIRED};
    return sap_nearest(g->target.tree, (sap_points){p->points, *count, 3, 0}, &search, p->nearest, p->distance2);
}

static double dot(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

// How a motion does.
typedef struct doing {
    double fit;   // the mean over the source of how well its points lie on the target
    double near;  // the part of them that has a point of the target near
    double lying; // and that lies on its surface
} doing;

// How well a point of the source lies on the target there: 1 on a tangent plane, 0 from the limit on. That of a refined
// motion is as wide as the neighbours of both points are off their own planes, be it by noise or by curvature.
static double fit_of(const sap_globe* g, const sap_motion* motion, int64_t i, const placing* p, int64_t at,
                     bool is_refined) {
    const int64_t j = p->nearest[at];
    double n[3], m[3], d[3], turned[3];
    for (int c = 0; c < 3; c++) {
        n[c] = (double)g->source.normals[3 * i + c];
        m[c] = (double)g->target.normals[3 * j + c];
        d[c] = (double)p->points[3 * at + c] - (double)g->target.points[3 * j + c];
    }
    sap_turn_vector(motion->turn, n, turned);
    if (!(fabs(dot(turned, m)) >= COSINE)) return 0;
    const double rough2 = (double)g->source.spreads[3 * i] + (double)g->target.spreads[3 * j];
    const double limit2 = is_refined ? 2 * rough2 + FINE * FINE : COARSE * COARSE, off = dot(m, d);
    return off * off < limit2 ? 1 - off * off / limit2 : 0;
}

// Points that are like all others say less.
static sap_status look_at(const sap_globe* g, const sap_motion* motion, bool is_refined, placing* p, doing* does) {
    const int64_t stride = is_refined ? 1 : STRIDE;
    int64_t count, lying = 0, near = 0;
    const sap_status status = place(g, motion, stride, p, &count);
    double sum = 0, weights = 0;
    for (int64_t at = 0; status == SAP_OK && at < count; at++) {
        const bool is_near = p->nearest[at] >= 0;
        const double one = is_near ? fit_of(g, motion, at * stride, p, at, is_refined) : 0;
        const double weight = (double)g->source.weights[at * stride];
        sum += weight * one;
        weights += weight;
        near += is_near;
        lying += one > 0;
    }
    does->fit = weights > 0 ? sum / weights : 0;
    does->near = count ? (double)near / (double)count : 0;
    does->lying = count ? (double)lying / (double)count : 0;
    return status;
}

static sap_status refine(const sap_globe* g, sap_motion* motion) {
    sap_align_options o = {.method = SAP_ALIGN_PLANE,
                           .iterations = 30,
                           .tolerance = 1e-4,
                           .max_distance = PAIRED,
                           .max_angle = 0.6,
                           .source_normals = g->source.normals,
                           .target_normals = g->target.normals};
    sap_alignment found;
    for (int r = 0; r < 3; r++) {
        for (int c = 0; c < 3; c++) o.start[4 * r + c] = motion->turn[3 * r + c];
        o.start[4 * r + 3] = motion->shift[r];
    }
    o.start[15] = 1;
    const sap_status status =
        sap_cloud_align(g->target.tree, (sap_points){g->source.points, g->source.count, 3, 0}, &o, &found);
    if (status != SAP_OK) return status;
    for (int r = 0; r < 3; r++) {
        for (int c = 0; c < 3; c++) motion->turn[3 * r + c] = found.transform[4 * r + c];
        motion->shift[r] = found.transform[4 * r + 3];
    }
    return SAP_OK;
}

// From thinned clouds, each from its middle, to those that were given.
static void write_motion(const sap_globe* g, const sap_motion* motion, double transform[16]) {
    const double unit = g->spacing / g->scale;
    double turned[3];
    sap_turn_vector(motion->turn, g->source.middle, turned);
    for (int r = 0; r < 3; r++) {
        for (int c = 0; c < 3; c++) transform[4 * r + c] = motion->turn[3 * r + c];
        transform[4 * r + 3] = g->target.middle[r] + motion->shift[r] * unit - turned[r];
    }
}

// The best of all by a quick look come first.
static sap_status sort_motions(const sap_globe* g, sap_motion* motions, int64_t count, placing* p) {
    double fits[MOST_MOTIONS];
    for (int64_t i = 0; i < count; i++) {
        const sap_motion motion = motions[i];
        doing does;
        const sap_status status = look_at(g, &motion, false, p, &does);
        int64_t at = i;
        if (status != SAP_OK) return status;
        for (; at > 0 && fits[at - 1] < does.fit; at--) {
            fits[at] = fits[at - 1];
            motions[at] = motions[at - 1];
        }
        fits[at] = does.fit;
        motions[at] = motion;
    }
    return SAP_OK;
}

// The matches that a refined motion brings together, with their normals.
static int64_t count_agreeing(const sap_globe* g, const sap_motion* motion) {
    int64_t count = 0;
    for (int64_t i = 0; i < g->match_count; i++) {
        const int64_t s = g->matches[i].source, t = g->matches[i].target;
        double at[3], n[3], m[3], turned[3], squares = 0;
        sap_motion_point(motion, g->source.points + 3 * s, at);
        for (int c = 0; c < 3; c++) {
            const double d = at[c] - (double)g->target.points[3 * t + c];
            squares += d * d;
            n[c] = (double)g->source.normals[3 * s + c];
            m[c] = (double)g->target.normals[3 * t + c];
        }
        sap_turn_vector(motion->turn, n, turned);
        count += squares <= PAIRED * PAIRED && fabs(dot(turned, m)) >= COSINE;
    }
    return count;
}

// The mean square of how far two motions put points from each other.
static double apart2_of(const sap_globe* g, const sap_motion* one, const sap_motion* other) {
    double sum = 0;
    int64_t count = 0;
    for (int64_t i = 0; i < g->source.count; i += STRIDE, count++) {
        double a[3], b[3];
        sap_motion_point(one, g->source.points + 3 * i, a);
        sap_motion_point(other, g->source.points + 3 * i, b);
        for (int c = 0; c < 3; c++) sum += (a[c] - b[c]) * (a[c] - b[c]);
    }
    return count ? sum / (double)count : 0;
}

// How many other motions fit as well as one of them, and put the source elsewhere.
static int64_t count_rivals(const sap_globe* g, const sap_motion* motions, const double* fits, int64_t count,
                            int64_t best) {
    int64_t rivals = 0;
    for (int64_t i = 0; i < count; i++)
        rivals += fits[i] >= ALIKE * fits[best] && apart2_of(g, &motions[i], &motions[best]) > APART * APART;
    return rivals;
}

// Surfaces lie on each other and matches agree where a motion is right: wrong ones have one of both at most. Where all
// looks alike many motions are right and matches are chance, so rivals count by their fit alone.
static sap_status choose(sap_globe* g, sap_motion* motions, int64_t count, placing* p) {
    sap_global_motion* out = &g->job->out;
    double score_of_best = 0, fits[MOST_REFINED];
    int64_t best = -1, best_whole = -1;
    const int64_t tried = count < MOST_REFINED ? count : MOST_REFINED;
    sap_status status = sort_motions(g, motions, count, p);
    for (int64_t i = 0; status == SAP_OK && i < tried; i++) {
        doing does;
        fits[i] = 0;
        status = refine(g, &motions[i]);
        if (status == SAP_OK) status = look_at(g, &motions[i], true, p, &does);
        if (status != SAP_OK) break;
        if (does.lying < g->job->options.least_overlap || does.lying < LYING * does.near) continue;
        fits[i] = does.fit;
        if (does.lying >= WHOLE && (best_whole < 0 || fits[i] > fits[best_whole])) best_whole = i;
        const int64_t agreeing = count_agreeing(g, &motions[i]);
        const double score = does.fit * (double)(agreeing < ENOUGH ? agreeing : ENOUGH);
        if (agreeing < AGREEING || score <= score_of_best) continue;
        score_of_best = score;
        best = i;
        out->overlap = does.lying;
        out->agreeing = agreeing;
        out->found = true;
        write_motion(g, &motions[i], out->transform);
    }
    // Without agreement motions that put a part of the source on the target may all be wrong; of the whole, each is right.
    if (!out->found) best = best_whole;
    if (status == SAP_OK && best >= 0) out->rivals = count_rivals(g, motions, fits, tried, best);
    return status;
}

static sap_status try_out(sap_globe* g, sap_motion* motions, int64_t count) {
    placing p = {.points = NULL};
    const size_t n = (size_t)g->source.count;
    if (!sap_scratch_take(g->device, n * (3 * sizeof(float) + sizeof(int32_t) + sizeof(float)) + 1, &p.memory))
        return sap_fail(g->device, SAP_ERROR_MEMORY, "no memory to place %lld points", (long long)n);
    p.points = (float*)(void*)p.memory.memory;
    p.distance2 = p.points + 3 * n;
    p.nearest = (int32_t*)(void*)(p.distance2 + n);
    const sap_status status = choose(g, motions, count, &p);
    sap_scratch_give(g->device, &p.memory);
    return status;
}

// Tells how much is done; what the stages themselves would tell is muted.
static sap_status report(const sap_globe* g, double done) {
    sap_progress_mute(false);
    const bool goes_on = sap_progress_report(g->device, done);
    sap_progress_mute(true);
    return goes_on ? SAP_OK : sap_fail(g->device, SAP_ERROR_CANCELLED, "the progress callback asked to stop");
}

static sap_status search(sap_globe* g) {
    sap_motion motions[MOST_MOTIONS];
    int64_t count = 0;
    sap_status status = sap_global_take(g);
    if (status == SAP_OK) status = sap_global_thin(g);
    if (status == SAP_OK) status = report(g, 0.5);
    if (status == SAP_OK) status = sap_global_match(g);
    if (status == SAP_OK) status = report(g, 0.7);
    if (status == SAP_OK) status = sap_global_propose(g, motions, MOST_MOTIONS, &count);
    if (status == SAP_OK) status = report(g, 0.8);
    if (status == SAP_OK) status = try_out(g, motions, count);
    return status == SAP_OK ? report(g, 1) : status;
}

sap_status sap_global_run(sap_global_job* job, sap_feature_match* match) {
    sap_globe g = {.job = job, .device = job->device, .match = match};
    for (int i = 0; i < 12; i++) job->out.transform[i] = job->start[i];
    job->out.transform[15] = 1;
    sap_progress_mute(true);
    const sap_status status = search(&g);
    sap_progress_mute(false);
    job->out.spacing = g.scale > 0 ? g.spacing / g.scale : 0;
    job->out.points = g.source.count;
    job->out.matches = g.match_count;
    sap_global_cloud_free(&g, &g.source);
    sap_global_cloud_free(&g, &g.target);
    sap_scratch_give(job->device, &g.match_memory);
    return status;
}
