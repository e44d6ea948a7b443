// sapwood align: a cloud of points moved onto another, or onto a mesh.
#include "aligned.h"
#include "file.h"
#include "verbs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct align_run {
    sap_cli_align_pair pair;
    sap_global_motion place; // of --global
    sap_align_options options;
    sap_alignment found;
    double seconds;
} align_run;

static sap_cli_exit check_usage(sap_cli* cli) {
    const sap_cli_options* o = cli->options;
    const sap_cli_output outputs[] = {{"-o", o->output}, {"--transform", o->transform}};
    if (!strcmp(o->operands[0], "-") && !strcmp(o->operands[1], "-"))
        return sap_cli_usage(cli, "only one of SOURCE and TARGET can be standard input");
    const sap_cli_exit result = sap_cli_align_check(cli);
    return result == SAP_EXIT_OK ? sap_cli_cloud_check(cli, outputs, 2) : result;
}

// Says why a call failed, and of which file: the library's sentence begins with the argument that it is about.
static sap_cli_exit failed(sap_cli* cli, sap_status status) {
    const sap_cli_options* o = cli->options;
    const bool is_start = o->start && !strncmp(cli->reason, "options.start", strlen("options.start"));
    const bool is_target = !strncmp(cli->reason, "target", strlen("target")) || !strncmp(cli->reason, "tree", 4);
    return sap_cli_failed(cli, status, is_start ? o->start : o->operands[is_target]);
}

// Where SOURCE lies on TARGET, about. What lies beside TARGET must not pull it away again.
static sap_cli_exit find_place(sap_cli* cli, align_run* run) {
    const sap_cli_options* o = cli->options;
    const sap_global_options options = {.drop_nonfinite = o->tree.drop_nonfinite};
    sap_cli_stage_begin(cli, "looking for a start");
    const sap_status status = sap_cli_align_global(&run->pair, &options, &run->place);
    run->seconds = sap_cli_stage_end(cli);
    if (status != SAP_OK) return failed(cli, status);
    if (!run->place.found && run->place.rivals > 0) {
        sap_cli_error(cli,
                      "%s fits on %s in several ways, and nothing tells which is right: it looks the same everywhere; "
                      "--start chooses",
                      o->operands[0], o->operands[1]);
        return SAP_EXIT_UNDETERMINED;
    }
    if (!run->place.found)
        return sap_cli_error(cli, "%s lies nowhere on %s, as far as can be seen; if it does, --start says about where",
                             o->operands[0], o->operands[1]);
    memcpy(run->options.start, run->place.transform, sizeof run->options.start);
    if (o->max_distance == 0 && o->overlap == 0) run->options.find_overlap = true;
    return SAP_EXIT_OK;
}

static sap_cli_exit align(sap_cli* cli, align_run* run) {
    const sap_cli_options* o = cli->options;
    sap_cli_align_options(o, &run->options);
    const sap_cli_exit result = o->global ? find_place(cli, run) : SAP_EXIT_OK;
    if (result != SAP_EXIT_OK) return result;
    sap_cli_stage_begin(cli, "aligning");
    const sap_status status = sap_cli_align_from(&run->pair, &run->options, &run->found);
    run->seconds += sap_cli_stage_end(cli);
    if (status != SAP_OK) return failed(cli, status);
    if (run->found.reason == SAP_ALIGN_NO_PAIRS)
        return sap_cli_error(cli, "no point of %s has a point of %s that counts", o->operands[0], o->operands[1]);
    return SAP_EXIT_OK;
}

// Whether there is one motion that fits, as far as can be seen.
static bool is_determined(const align_run* run) { return !run->found.undetermined && !run->place.rivals; }

// Says where other motions are as right. Who gave a start has chosen among them: then it is no failure.
static sap_cli_exit look_at_rivals(sap_cli* cli, const align_run* run) {
    const sap_cli_options* o = cli->options;
    if (run->place.rivals > 0)
        sap_cli_note(
            cli,
            "%s lies on %s in several ways that fit as well, for it looks alike from several sides; this is one of "
            "them; --start chooses",
            o->operands[0], o->operands[1]);
    if (run->found.undetermined > 0)
        sap_cli_note(
            cli, "nothing tells how %s lies on %s in %d of 6 directions of turns and shifts: there it was not moved",
            o->operands[0], o->operands[1], (int)run->found.undetermined);
    return o->global && !is_determined(run) ? SAP_EXIT_UNDETERMINED : SAP_EXIT_OK;
}

static sap_cli_exit write_moved(sap_cli* cli, align_run* run) {
    const sap_cli_options* o = cli->options;
    sap_cli_exit result = SAP_EXIT_OK;
    // The matrix or the report alone may be what is wanted.
    if (o->output || !(o->transform || o->json))
        result = sap_cli_aligned_write(cli, o->output, &run->pair.source, run->found.transform);
    if (result != SAP_EXIT_OK || !o->transform) return result;
    const sap_table matrix = {.values = run->found.transform, .rows = 4, .columns = 4, .number = SAP_FLOAT64};
    return sap_cli_write(cli, o->transform, &matrix, "c");
}

static void report(sap_cli* cli, const align_run* run) {
    static const char* const reasons[] = {"converged", "iterations", "no pairs"};
    const sap_alignment* found = &run->found;
    sap_json json = {0};
    sap_json_open(&json, NULL, '{');
    sap_json_text(&json, "verb", "align");
    const sap_cli_align_pair* pair = &run->pair;
    sap_json_int(&json, "source", pair->source.count);
    sap_json_int(&json, "target", pair->target_count);
    sap_json_text(&json, "precision", sap_cli_precision_name(pair->source.real_bits));
    if (cli->options->global) {
        sap_json_open(&json, "start", '{');
        sap_json_int(&json, "points", run->place.points);
        sap_json_int(&json, "matches", run->place.matches);
        sap_json_int(&json, "agreeing", run->place.agreeing);
        sap_json_int(&json, "rivals", run->place.rivals);
        sap_json_real(&json, "spacing", run->place.spacing, 32);
        sap_json_real(&json, "overlap", run->place.overlap, 32);
        sap_cli_numbers_json(&json, "transform", run->place.transform, 16);
        sap_json_close(&json, '}');
    }
    sap_json_bool(&json, "converged", found->converged);
    sap_json_text(&json, "reason", reasons[found->reason]);
    sap_json_int(&json, "iterations", found->iterations);
    sap_json_int(&json, "pairs", found->pairs);
    sap_json_real(&json, "fitness", found->fitness, 32);
    sap_json_real(&json, "rmse", found->rmse, 32);
    sap_json_real(&json, "overlap", found->overlap, 32);
    sap_json_int(&json, "undetermined", found->undetermined);
    sap_json_bool(&json, "determined", is_determined(run));
    sap_cli_numbers_json(&json, "transform", found->transform, 16);
    sap_json_text(&json, "output", cli->options->output);
    sap_json_effort(&json, cli, pair->read_seconds, pair->build_seconds, "search", run->seconds);
    sap_json_close(&json, '}');
}

sap_cli_exit sap_cli_align(sap_cli* cli) {
    align_run run = {.seconds = 0};
    sap_cli_exit result = check_usage(cli);
    if (result == SAP_EXIT_OK) result = sap_cli_align_open(cli, &run.pair);
    if (result == SAP_EXIT_OK && cli->options->start) result = sap_cli_starts_read(cli, 1, run.options.start);
    if (result == SAP_EXIT_OK) result = align(cli, &run);
    if (result == SAP_EXIT_OK) result = write_moved(cli, &run);
    result = sap_cli_together_end(cli, result);
    if (result == SAP_EXIT_OK && cli->options->json) report(cli, &run);
    if (result == SAP_EXIT_OK)
        sap_cli_overlap_look(cli, cli->options->operands[0], cli->options->operands[1], &run.found);
    if (result == SAP_EXIT_OK && run.found.reason == SAP_ALIGN_ITERATIONS)
        sap_cli_note(cli, "still moving after %d steps", (int)run.found.iterations);
    const char* written = cli->options->output ? cli->options->output : cli->options->transform;
    if (result == SAP_EXIT_OK && written && strcmp(written, "-") != 0)
        sap_cli_note(cli, "%lld pairs of %lld points, rmse %.3g, after %d steps, aligned in %.3g s",
                     (long long)run.found.pairs, (long long)run.pair.source.count, run.found.rmse,
                     (int)run.found.iterations, run.seconds);
    if (result == SAP_EXIT_OK) result = look_at_rivals(cli, &run);
    sap_cli_align_close(&run.pair);
    return result;
}
