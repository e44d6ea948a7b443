// sapwood compact: the samples of a volume that reach a level, as a list; and a picture of how a histopyramid gets
// there.
#include "file.h"
#include "input.h"
#include "verbs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// The run of the verb. All zero can be freed.
typedef struct compact_run {
    sap_volume_file* volume;
    uint8_t* keep;
    int64_t *numbers, *kept;
    int64_t samples, count;
    double read, compact; // seconds
} compact_run;

static sap_cli_exit check_usage(sap_cli* cli) {
    const sap_cli_options* o = cli->options;
    const sap_cli_output outputs[] = {{"-o", o->output}, {"--picture", o->picture}};
    if (!o->output && !o->picture && !o->json)
        return sap_cli_usage(cli, "-o FILE or --picture FILE says where the list goes");
    sap_cli_exit result = sap_cli_check_distinct(cli, outputs, 2);
    if (result == SAP_EXIT_OK) result = sap_cli_check_table(cli, o->output);
    if (result == SAP_EXIT_OK && o->picture) result = sap_cli_picture_check(cli, o->picture);
    return result == SAP_EXIT_OK ? sap_cli_check_writable(cli, outputs, 2) : result;
}

static sap_cli_exit read_volume(sap_cli* cli, compact_run* run) {
    const sap_cli_options* o = cli->options;
    sap_volume_read_options options = {.type = o->voxel,
                                       .big_endian = o->big_endian,
                                       .skip = o->skip,
                                       .order = o->order,
                                       .member = o->member,
                                       .unpack_limit = o->unpack_limit};
    memcpy(options.size, o->sides, sizeof options.size);
    sap_cli_stage_begin(cli, "reading");
    sap_status status = sap_volume_read(cli->device, o->operands[0], &options, &run->volume);
    run->read = sap_cli_stage_end(cli);
    if (status != SAP_OK) return sap_cli_failed(cli, status, o->operands[0]);
    const int64_t* size = run->volume->volume.size;
    run->samples = size[0] * size[1] * size[2];
    return SAP_EXIT_OK;
}

static double value_of(const sap_volume* volume, int64_t i) {
    switch (volume->type) {
    case SAP_VOXEL_U8: return ((const uint8_t*)volume->values)[i];
    case SAP_VOXEL_I16: return ((const int16_t*)volume->values)[i];
    case SAP_VOXEL_U16: return ((const uint16_t*)volume->values)[i];
    default: return (double)((const float*)volume->values)[i];
    }
}

static sap_cli_exit compact(sap_cli* cli, compact_run* run) {
    run->keep = sap_cli_allocate(cli, run->samples, 1);
    run->numbers = run->keep ? sap_cli_allocate(cli, run->samples, sizeof *run->numbers) : NULL;
    run->kept = run->numbers ? sap_cli_allocate(cli, run->samples, sizeof *run->kept) : NULL;
    if (!run->kept) return SAP_EXIT_FAILED;
    for (int64_t i = 0; i < run->samples; i++) {
        run->keep[i] = value_of(&run->volume->volume, i) >= cli->options->level;
        run->numbers[i] = i;
    }
    sap_cli_stage_begin(cli, "compacting");
    sap_status status =
        sap_compact(cli->device, run->numbers, run->samples, sizeof *run->numbers, run->keep, run->kept, &run->count);
    run->compact = sap_cli_stage_end(cli);
    return status == SAP_OK ? SAP_EXIT_OK : sap_cli_failed(cli, status, NULL);
}

// ---- The picture: the slices side by side, the samples of the list in the same space, and the levels of the pyramid.

enum { MOST_SIDE = 1000, GAP = 8 };

typedef struct panel {
    int64_t columns, rows; // of slices
    int64_t width, height; // in samples
    int64_t step;          // samples to a pixel, along each axis
    int32_t across, down;  // in pixels
    int32_t full;          // pixels of the whole picture from left to right
} panel;

static panel plan(const int64_t size[3]) {
    panel p = {.columns = 1};
    while (p.columns < size[2] && p.columns * size[0] < (size[2] + p.columns - 1) / p.columns * size[1]) p.columns++;
    p.rows = size[2] ? (size[2] + p.columns - 1) / p.columns : 1;
    p.width = p.columns * size[0] > 0 ? p.columns * size[0] : 1;
    p.height = p.rows * size[1] > 0 ? p.rows * size[1] : 1;
    int64_t side = p.width > p.height ? p.width : p.height;
    p.step = (side + MOST_SIDE - 1) / MOST_SIDE;
    p.across = (int32_t)((p.width + p.step - 1) / p.step);
    p.down = (int32_t)((p.height + p.step - 1) / p.step);
    p.full = 2 * p.across + p.across / 3 + 16 + 3 * GAP;
    return p;
}

// A sample has the colour of its place.
static void color_of(const int64_t size[3], int64_t i, uint8_t pixel[3]) {
    const int64_t place[3] = {i % size[0], i / size[0] % size[1], i / size[0] / size[1]};
    for (int a = 0; a < 3; a++) pixel[a] = (uint8_t)(55 + 200 * place[a] / (size[a] > 1 ? size[a] - 1 : 1));
}

// The sample at a place of the slices laid side by side, or -1.
static int64_t sample_at(const panel* p, const int64_t size[3], int64_t x, int64_t y) {
    int64_t slice = y / size[1] * p->columns + x / size[0];
    return slice < size[2] ? x % size[0] + size[0] * (y % size[1] + size[1] * slice) : -1;
}

static void draw_samples(const compact_run* run, const panel* p, uint8_t* pixels) {
    const int64_t* size = run->volume->volume.size;
    for (int32_t row = 0; row < p->down; row++)
        for (int32_t column = 0; column < p->across; column++) {
            int64_t x = column * p->step, y = row * p->step, i = sample_at(p, size, x, y), listed = y * p->width + x;
            uint8_t* pixel = pixels + 3 * ((size_t)row * (size_t)p->full + (size_t)column);
            if (i >= 0 && run->keep[i]) color_of(size, i, pixel);
            if (listed < run->count) color_of(size, run->kept[listed], pixel + 3 * (p->across + GAP));
        }
}

// A level in place of its cells, a quarter as wide as the one below: its sums against the most that they could be.
static void draw_levels(const compact_run* run, const panel* p, uint32_t* sums, uint8_t* pixels) {
    int64_t nodes = run->samples, cells = 1, left = 2 * (p->across + GAP);
    for (int64_t i = 0; i < nodes; i++) sums[i] = run->keep[i];
    for (int64_t wide = p->across / 4; nodes > 1; wide /= 4) {
        int64_t above = (nodes + 3) / 4;
        cells *= 4;
        for (int64_t i = 0; i < above; i++) {
            uint32_t sum = 0;
            for (int64_t j = 4 * i; j < 4 * i + 4 && j < nodes; j++) sum += sums[j];
            sums[i] = sum;
        }
        nodes = above;
        int64_t columns = wide > 0 ? wide : 1;
        for (int64_t row = 0; row < p->down; row++)
            for (int64_t column = 0; column < columns && left + column < p->full; column++) {
                int64_t cell = row * p->step * p->width + column * p->width / columns;
                if (cell >= run->samples) continue;
                int64_t node = cell / cells;
                double share = (double)sums[node] / (double)cells;
                uint8_t shade = (uint8_t)(30 + 225 * sqrt(share < 1 ? share : 1));
                memset(pixels + 3 * (row * p->full + left + column), shade, 3);
            }
        left += columns + 1;
    }
}

static sap_cli_exit draw(sap_cli* cli, const compact_run* run) {
    panel p = plan(run->volume->volume.size);
    uint8_t* pixels = sap_cli_allocate(cli, (int64_t)p.full * p.down, 3);
    uint32_t* sums = pixels ? sap_cli_allocate(cli, run->samples, sizeof *sums) : NULL;
    sap_cli_exit result = SAP_EXIT_FAILED;
    if (sums) {
        memset(pixels, 0, 3 * (size_t)p.full * (size_t)p.down);
        if (run->samples) {
            draw_samples(run, &p, pixels);
            draw_levels(run, &p, sums, pixels);
        }
        result = sap_cli_picture_write(cli, cli->options->picture, pixels, p.full, p.down);
    }
    free(sums);
    free(pixels);
    return result;
}

// ---- The call

static void report(const sap_cli* cli, const compact_run* run) {
    sap_json json = {0};
    sap_json_open(&json, NULL, '{');
    sap_json_text(&json, "verb", "compact");
    sap_json_text(&json, "input", cli->options->operands[0]);
    sap_json_text(&json, "output", cli->options->output);
    sap_json_text(&json, "picture", cli->options->picture);
    sap_json_int(&json, "samples", run->samples);
    sap_json_int(&json, "kept", run->count);
    sap_json_processor(&json, cli);
    sap_json_open(&json, "seconds", '{');
    sap_json_real(&json, "read", run->read, 32);
    sap_json_real(&json, "compact", run->compact, 32);
    sap_json_close(&json, '}');
    sap_json_close(&json, '}');
}

sap_cli_exit sap_cli_compact(sap_cli* cli) {
    compact_run run = {0};
    sap_cli_exit result = check_usage(cli);
    if (result == SAP_EXIT_OK) result = read_volume(cli, &run);
    if (result == SAP_EXIT_OK) result = compact(cli, &run);
    sap_table list = {.values = run.kept, .rows = run.count, .number = SAP_INT64};
    if (result == SAP_EXIT_OK && cli->options->output)
        result = sap_cli_write(cli, cli->options->output, &list, "sample");
    if (result == SAP_EXIT_OK && cli->options->picture) result = draw(cli, &run);
    result = sap_cli_together_end(cli, result);
    if (result == SAP_EXIT_OK && cli->options->json) report(cli, &run);
    if (result == SAP_EXIT_OK)
        sap_cli_note(cli, "%lld of %lld samples kept in %.3g s", (long long)run.count, (long long)run.samples,
                     run.compact);
    free(run.keep);
    free(run.numbers);
    free(run.kept);
    sap_volume_file_free(run.volume);
    return result;
}
