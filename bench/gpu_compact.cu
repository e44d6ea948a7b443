// Compaction beside CUB's, in turns on the same data (compact_cub.cuh, which also compares the answers).
#include "gpu.cuh"

#include "compact_cub.cuh"

void gpu_compaction(gpu_bench* b) {
    if (!gpu_wanted(b, "compact", 268435456)) return;
    compact_cub_row rows[COMPACT_CUB_ROWS];
    int count = compact_cub_rows(b->stream, rows);
    for (const compact_cub_row* r = rows; r < rows + count; r++) {
        gpu_row row = gpu_row_of("compact", r->work, r->n, 1);
        snprintf(row.order, sizeof row.order, "keep %.0f%%", 100 * r->keep);
        snprintf(row.rival, sizeof row.rival, "CUB, in this run");
        row.rival_ms = r->cub_ms;
        row.floor_ms = r->floor_ms;
        if (!strcmp(r->work, "flagged") && r->n == 268435456) { // no slower than CUB; a tenth faster
            row.target = r->cub_ms;
            row.stretch = 0.9 * r->cub_ms;
        }
        gpu_report(b, row, gpu_times{r->ours_ms, r->ours_ms, r->ours_ms});
    }
}
