#include "radius/hits_cpu.h"
#include "base/assert.h"
#include "base/team.h"
#include <string.h>

enum { SEGMENT_HITS = 1 << 20, SEGMENT_PIECES = 1024 };

// Hits of consecutive queries.
typedef struct piece {
    const int32_t* rows; // the queries' rows; NULL: first_row, first_row + 1, …
    int64_t first_row, count, start;
} piece;

typedef struct sap_hits_segment {
    struct sap_hits_segment* next;
    sap_scratch scratch; // holds this segment too
    int32_t* ids;
    int64_t used, room;
    int pieces;
    piece piece[SEGMENT_PIECES];
} segment;

// A new segment among those of all threads.
static segment* add_segment(sap_hits* hits, int64_t room) {
    const size_t header = sap_align(sizeof(segment));
    sap_scratch scratch;
    // Searches may write a register beyond the last hit.
    if (!sap_scratch_take(hits->device, header + sap_align((size_t)room * 4) + SAP_ALIGNMENT, &scratch)) return NULL;
    segment* s = (segment*)(void*)scratch.memory;
    s->scratch = scratch;
    s->ids = (int32_t*)(void*)(scratch.memory + header);
    s->used = 0;
    s->room = room;
    s->pieces = 0;
    s->next = __atomic_load_n(&hits->segments, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&hits->segments, &s->next, s, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {}
    return s;
}

void sap_hits_free(sap_hits* hits) {
    for (segment* s = hits->segments; s;) {
        segment* next = s->next;
        sap_scratch scratch = s->scratch;
        sap_scratch_give(hits->device, &scratch);
        s = next;
    }
    hits->segments = NULL;
}

bool sap_hits_collect(sap_hits* hits, sap_hits_run* run, sap_hits_search* search, segment** current) {
    int64_t wanted = SEGMENT_HITS;
    while (run->done < run->count) {
        segment* s = *current;
        if (!s || s->pieces == SEGMENT_PIECES) {
            s = add_segment(hits, wanted);
            if (!s) return false;
            *current = s;
        }
        const int64_t before = run->done;
        run->ids = s->ids;
        run->used = s->used;
        run->room = s->room;
        search(run);
        SAP_ASSERT(run->done >= before && run->done <= run->count);
        SAP_ASSERT(run->used >= s->used && run->used <= run->room);
        if (run->done > before) {
            s->piece[s->pieces++] =
                (piece){run->rows ? run->rows + before : NULL, run->first_row + before, run->done - before, s->used};
            s->used = run->used;
        } else if (s->used == 0)
            wanted = 2 * s->room; // one query has more hits than a whole segment holds
        if (run->done < run->count) *current = NULL;
    }
    return true;
}

typedef struct move {
    const int64_t* offsets;
    int32_t* ids;
    int64_t capacity;
    segment* left; // a list to which none is added any more
} move;

static void move_segment(const segment* s, const move* m) {
    for (int p = 0; p < s->pieces; p++) {
        int64_t from = s->piece[p].start;
        for (int64_t i = 0; i < s->piece[p].count; i++) {
            const int64_t row = s->piece[p].rows ? s->piece[p].rows[i] : s->piece[p].first_row + i;
            const int64_t to = m->offsets[row], count = m->offsets[row + 1] - to, room = m->capacity - to;
            const int64_t fit = room < count ? room : count;
            if (fit > 0) memcpy(m->ids + to, s->ids + from, (size_t)fit * 4);
            from += count;
        }
        SAP_ASSERT(from == (p + 1 < s->pieces ? s->piece[p + 1].start : s->used));
    }
}

// Each part takes the first segment that is left.
static void move_next(void* context, int64_t part, int32_t worker) {
    move* m = context;
    segment* s = __atomic_load_n(&m->left, __ATOMIC_ACQUIRE);
    (void)part, (void)worker;
    while (s && !__atomic_compare_exchange_n(&m->left, &s, s->next, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {}
    SAP_ASSERT(s);
    move_segment(s, m);
}

void sap_hits_move(const sap_hits* hits, const int64_t* offsets, int32_t* ids, int64_t capacity) {
    move m = {offsets, ids, capacity, hits->segments};
    int64_t segments = 0;
    for (const segment* s = m.left; s; s = s->next) segments++;
    sap_team_run(hits->device->options.threads, segments, move_next, &m);
}
