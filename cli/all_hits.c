// All hits of rays. How many a ray has is not known before: some rays are traced at a time, with room for so many hits
// each, and traced again with more where that does not suffice.
#include "all_hits.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FIRST_ROOM = 16, HITS_AT_ONCE = 1 << 18 };

// The memory of some rays.
typedef struct stretch {
    sap_hit* hits; // [room]
    int32_t* counts;
    int64_t room;
} stretch;

static bool make_room(sap_cli* cli, stretch* s, int64_t hits) {
    if (s->room >= hits) return true;
    free(s->hits);
    free(s->counts);
    s->hits = sap_cli_allocate(cli, hits, sizeof *s->hits);
    s->counts = s->hits ? sap_cli_allocate(cli, hits, sizeof *s->counts) : NULL;
    s->room = s->counts ? hits : 0;
    return s->counts != NULL;
}

// Half of the machine's memory at most.
static sap_cli_exit make_rows(sap_cli* cli, sap_cli_all_hits* all, int64_t more) {
    const double memory = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    if (all->count + more <= all->room) return SAP_EXIT_OK;
    if ((double)(all->count + more) * sizeof *all->rows > 0.5 * memory)
        return sap_cli_error(cli,
                             "more than %lld hits do not fit into half of the machine's memory; trace fewer rays "
                             "at a time, or with --hits only the first hits of each",
                             (long long)all->count);
    const int64_t room = 2 * all->room > all->count + more ? 2 * all->room : all->count + more;
    sap_cli_ray_hit* rows = realloc(all->rows, (size_t)room * sizeof *rows);
    if (!rows) return sap_cli_error(cli, "no memory for %lld hits", (long long)room);
    all->rows = rows;
    all->room = room;
    return SAP_EXIT_OK;
}

static sap_cli_exit add_rows(sap_cli* cli, sap_cli_all_hits* all, const stretch* s, int64_t first, int64_t rays,
                             int32_t limit) {
    int64_t more = 0;
    for (int64_t i = 0; i < rays; i++) more += s->counts[i];
    const sap_cli_exit result = make_rows(cli, all, more);
    if (result != SAP_EXIT_OK) return result;
    for (int64_t i = 0; i < rays; i++)
        for (int32_t k = 0; k < s->counts[i]; k++)
            all->rows[all->count++] = (sap_cli_ray_hit){first + i, s->hits[i * limit + k]};
    return SAP_EXIT_OK;
}

static int32_t most_of(const int32_t* counts, int64_t rays) {
    int32_t most = 0;
    for (int64_t i = 0; i < rays; i++)
        if (counts[i] > most) most = counts[i];
    return most;
}

sap_cli_exit sap_cli_all_hits_find(sap_cli* cli, const sap_mesh_tree* tree, const sap_ray* rays, int64_t count,
                                   int64_t triangles, sap_cli_all_hits* all) {
    const int32_t given = cli->options->hits;
    const int64_t most = given > 0 && given < triangles ? given : triangles;
    int64_t limit = most < FIRST_ROOM ? most : FIRST_ROOM;
    stretch s = {0};
    sap_cli_exit result = SAP_EXIT_OK;
    for (int64_t first = 0; first < count && most > 0 && result == SAP_EXIT_OK;) {
        const int64_t at_once = limit < HITS_AT_ONCE ? HITS_AT_ONCE / limit : 1;
        const int64_t taken = count - first < at_once ? count - first : at_once;
        if (!make_room(cli, &s, limit > HITS_AT_ONCE ? limit : HITS_AT_ONCE)) {
            result = SAP_EXIT_FAILED;
            break;
        }
        const sap_status status = sap_trace_all(tree, rays + first, taken, (int32_t)limit, s.hits, s.counts);
        if (status != SAP_OK) {
            result = sap_cli_failed(cli, status, NULL);
            break;
        }
        const int64_t found = most_of(s.counts, taken);
        if (found < limit || limit == most) {
            result = add_rows(cli, all, &s, first, taken, (int32_t)limit);
            first += taken;
        }
        limit = found < limit ? found + 1 : 2 * limit; // of the next rays, or of these again
        if (limit < FIRST_ROOM) limit = FIRST_ROOM;
        if (limit > most) limit = most;
    }
    free(s.hits);
    free(s.counts);
    return result;
}

void sap_cli_all_hits_free(sap_cli_all_hits* all) { free(all->rows); }
