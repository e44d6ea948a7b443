// Merges beside the calls: one thread a set, which lives as long as a merge.
#include "set/set.h"
#include <string.h>

#if defined(SAP_HAVE_THREADS)
#include <pthread.h>

enum { MOST_BOXES = 16, FEWEST_IDS = 1024 };

typedef struct sap_set_worker {
    pthread_t thread;
    sap_device* device;
    sap_set_level* made;
    sap_set_merge merge; // the thread's own
    sap_set_merge taken; // its sources, as they were
    sap_status status;
    int32_t is_done;
    // What was removed from the sources since.
    int32_t* ids;
    int64_t noted, room;
    sap_set_box box[MOST_BOXES];
    int32_t boxes;
} sap_set_worker;

static void* work(void* context) {
    sap_set_worker* w = context;
    w->status = sap_set_level_build(w->device, w->made, &w->merge);
    __atomic_store_n(&w->is_done, 1, __ATOMIC_RELEASE);
    return NULL;
}

static void free_worker(sap_set* set, sap_set_worker* w) {
    sap_memory_release(set->device, w->ids, (size_t)w->room * sizeof *w->ids);
    sap_memory_release(set->device, w, sizeof *w);
}

static void mark(sap_set* set, const sap_set_merge* merge, bool is_merging) {
    for (int32_t i = 0; i < set->levels; i++)
        for (int32_t j = 0; j < merge->sources; j++)
            if (merge->source[j].level == set->level[i]) set->level[i]->is_merging = is_merging;
}

bool sap_set_worker_begin(sap_set* set, const sap_set_merge* merge) {
    SAP_ASSERT(!set->worker && merge->sources > 0);
    sap_set_worker* w = sap_memory_allocate_zero(set->device, sizeof *w);
    if (!w) return false;
    w->merge = w->taken = *merge;
    w->device = &set->beside;
    w->made = sap_set_level_create(set);
    mark(set, merge, true);
    if (w->made && pthread_create(&w->thread, NULL, work, w) == 0) {
        set->worker = w;
        return true;
    }
    mark(set, merge, false);
    if (w->made) sap_set_level_give(set, w->made);
    free_worker(set, w);
    return false;
}

// Removes from the new level what was removed from its sources.
static void catch_up(const sap_set_worker* w) {
    for (int64_t i = 0; i < w->noted; i++) sap_set_level_remove(w->made, w->ids[i]);
    for (int32_t i = 0; i < w->boxes; i++) sap_set_level_trim(w->made, &w->box[i]);
}

void sap_set_worker_end(sap_set* set, bool waits) {
    sap_set_worker* w = set->worker;
    if (!w || (!waits && !__atomic_load_n(&w->is_done, __ATOMIC_ACQUIRE))) return;
    pthread_join(w->thread, NULL);
    set->worker = NULL;
    if (w->status == SAP_OK && w->made->tree.shape.count > 0) {
        catch_up(w);
        sap_set_levels_drop(set, &w->taken, NULL);
        sap_set_level_add(set, w->made);
    } else {
        mark(set, &w->taken, false);
        sap_set_level_give(set, w->made);
    }
    set->is_thin = true;
    free_worker(set, w);
}

void sap_set_worker_expect(sap_set* set, int64_t ids) {
    sap_set_worker* w = set->worker;
    if (!w || w->noted + ids <= w->room) return;
    const int64_t room = 2 * (w->noted + ids) + FEWEST_IDS;
    int32_t* grown = sap_memory_allocate(set->device, (size_t)room * sizeof *grown);
    if (!grown) {
        sap_set_worker_end(set, true);
        return;
    }
    if (w->noted) memcpy(grown, w->ids, (size_t)w->noted * sizeof *grown);
    sap_memory_release(set->device, w->ids, (size_t)w->room * sizeof *w->ids);
    w->ids = grown;
    w->room = room;
}

void sap_set_worker_note(sap_set* set, int32_t id) {
    sap_set_worker* w = set->worker;
    SAP_ASSERT(w->noted < w->room);
    w->ids[w->noted++] = id;
}

void sap_set_worker_note_box(sap_set* set, const sap_set_box* box) {
    if (set->worker && set->worker->boxes == MOST_BOXES) sap_set_worker_end(set, true);
    if (set->worker) set->worker->box[set->worker->boxes++] = *box;
}

#else

bool sap_set_worker_begin(sap_set* set, const sap_set_merge* merge) {
    (void)set, (void)merge;
    return false;
}

void sap_set_worker_end(sap_set* set, bool waits) { (void)set, (void)waits; }

void sap_set_worker_expect(sap_set* set, int64_t ids) { (void)set, (void)ids; }

void sap_set_worker_note(sap_set* set, int32_t id) { (void)set, (void)id; }

void sap_set_worker_note_box(sap_set* set, const sap_set_box* box) { (void)set, (void)box; }

#endif
