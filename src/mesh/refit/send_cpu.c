// Sends all triangles down the moved tree, in blocks that are listed with the leaves that they visit.
#include "device/cpu.h"
#include "mesh/refit/refit.h"
#include <math.h>

// Sends the triangles of a stretch. Returns the references.
static int64_t send_blocks(const sap_refit* r, int64_t i) {
    const sap_refit_kernels* kernels = sap_cpu_kernels_of(r->tree->device, 32)->refit;
    sap_refit_triangle_stretch* s = &r->stretches[i];
    int64_t references = 0, from = i * SAP_REFIT_TRIANGLES;
    s->visited = 0;
    for (int k = 0; k < SAP_REFIT_TRIANGLES / SAP_REFIT_BLOCK; k++, from += SAP_REFIT_BLOCK) {
        const int64_t left = r->plan->triangles - from, room = s->room > s->visited ? s->room - s->visited : 0;
        s->blocks[k] = 0;
        if (left <= 0 || references > r->most) continue;
        s->blocks[k] = (int32_t)kernels->send(&r->walk, from, left < SAP_REFIT_BLOCK ? left : SAP_REFIT_BLOCK, room,
                                              r->most - references, room ? s->visits + s->visited : NULL, &references);
        s->visited += s->blocks[k];
    }
    return references;
}

static void send_stretch(void* context, int64_t i, int32_t worker) {
    sap_refit* r = context;
    (void)worker;
    if (!sap_progress_add(&r->progress, 0) || __atomic_load_n(&r->sum, __ATOMIC_RELAXED) > r->most) return;
    __atomic_fetch_add(&r->sum, send_blocks(r, i), __ATOMIC_RELAXED);
    sap_progress_add(&r->progress, 1);
}

// As send_stretch, into a longer list.
static void send_again(void* context, int64_t i, int32_t worker) {
    const sap_refit* r = context;
    sap_refit_triangle_stretch* s = &r->stretches[i];
    (void)worker;
    if (s->visited <= s->room) return;
    s->visits = (sap_refit_visit*)(void*)r->longer.memory + s->longer_at;
    s->room = s->visited;
    (void)send_blocks(r, i);
}

// Adds up the references of each leaf, and the triangles that are met first there.
static void count_stretch(void* context, int64_t i, int32_t worker) {
    const sap_refit* r = context;
    const sap_refit_triangle_stretch* s = &r->stretches[i];
    const sap_refit_visit* visit = s->visits;
    (void)worker;
    for (int k = 0; k < SAP_REFIT_TRIANGLES / SAP_REFIT_BLOCK; k++) {
        uint64_t met = 0;
        for (const sap_refit_visit* end = visit + s->blocks[k]; visit < end; visit++) {
            const int first = __builtin_popcountll(visit->members & ~met);
            __atomic_fetch_add(&r->counts[visit->leaf], __builtin_popcountll(visit->members), __ATOMIC_RELAXED);
            if (first) __atomic_fetch_add(&r->firsts[visit->leaf], first, __ATOMIC_RELAXED);
            met |= visit->members;
        }
    }
}

// Takes the lists of stretches: a little more than they needed last time.
static sap_status take_lists(sap_refit* r) {
    const int64_t stretches = sap_refit_stretches(r->plan->triangles);
    int64_t room = 0;
    for (int64_t i = 0; i < stretches; i++) {
        r->stretches[i] =
            (sap_refit_triangle_stretch){.room = r->plan->visited[i] + r->plan->visited[i] / 8 + SAP_ALIGNMENT};
        room += r->stretches[i].room;
    }
    if (!sap_scratch_take(r->tree->device, (size_t)room * sizeof(sap_refit_visit), &r->lists))
        return sap_refit_no_memory(r);
    sap_refit_visit* at = (sap_refit_visit*)(void*)r->lists.memory;
    for (int64_t i = 0; i < stretches; i++) {
        r->stretches[i].visits = at;
        at += r->stretches[i].room;
    }
    return SAP_OK;
}

sap_status sap_refit_send(sap_refit* r, bool* too_far) {
    const int64_t stretches = sap_refit_stretches(r->plan->triangles);
    sap_status status = take_lists(r);
    if (status != SAP_OK) return status;
    r->walk = (sap_refit_walk){.nodes = r->nodes,
                               .planar_left = r->planar_left,
                               .corners = r->corners,
                               .parts = r->parts,
                               .order = r->order,
                               .bounds = r->bounds};
    for (int k = 0; k < 3; k++)
        r->walk.size += fmax(fabs((double)r->bounds.lower[k]), fabs((double)r->bounds.upper[k]));
    r->progress = sap_progress_begin(r->tree->device, stretches + 1);
    sap_team_run(r->threads, stretches, send_stretch, r);
    *too_far = r->sum > r->most;
    if (*too_far ? r->progress.cancelled : !sap_progress_finish(&r->progress))
        return sap_fail(r->tree->device, SAP_ERROR_CANCELLED, "the refit was cancelled");
    if (*too_far) return SAP_OK;
    int64_t longer = 0;
    for (int64_t i = 0; i < stretches; i++) {
        sap_refit_triangle_stretch* s = &r->stretches[i];
        r->plan->visited[i] = s->visited;
        s->longer_at = longer;
        longer += s->visited > s->room ? s->visited : 0;
    }
    if (longer && !sap_scratch_take(r->tree->device, (size_t)longer * sizeof(sap_refit_visit), &r->longer))
        return sap_refit_no_memory(r);
    if (longer) sap_team_run(r->threads, stretches, send_again, r);
    sap_team_run(r->threads, stretches, count_stretch, r);
    return SAP_OK;
}
