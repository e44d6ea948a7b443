// sapwood render: pictures of a mesh.
#include "render.h"
#include "file.h"
#include "input.h"
#include "photons.h"
#include "verbs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// The run of the verb. All zero can be freed.
typedef struct render_run {
    sap_cli_stage stage;
    sap_light lights[SAP_CLI_MOST_LIGHTS];
    uint8_t* pixels;
    float* light; // in place of pixels, for PFM and OpenEXR
    int32_t passes;
    float error;
    int64_t rays, photons;
    float hottest;
    sap_cli_picture_seconds* pictures;
    double read_seconds;
} render_run;

static bool moves(const sap_cli_options* o) { return o->orbit || sap_cli_has_frames(o); }

// Each picture is an output, of which none may replace the mesh.
static sap_cli_exit check_pictures(sap_cli* cli) {
    sap_cli_exit result = SAP_EXIT_OK;
    for (int32_t i = 0; i < sap_cli_pictures(cli->options) && result == SAP_EXIT_OK; i++) {
        char* path;
        result = sap_cli_picture_path(cli, i, &path);
        const sap_cli_output output = {"-o", path};
        if (result == SAP_EXIT_OK) result = sap_cli_check_replaced(cli, &output);
        if (result == SAP_EXIT_OK) result = sap_cli_check_writable(cli, &output, 1);
        free(path);
    }
    return result;
}

// What can be said of samples and passes before the mesh is read.
static sap_cli_exit check_passes(sap_cli* cli) {
    const sap_cli_options* o = cli->options;
    const int32_t samples = o->samples ? o->samples : 16;
    if (o->passes > 65536 / samples)
        return sap_cli_usage(cli, "%d passes of %d samples are more than 65536 rays through a pixel; use --samples",
                             (int)o->passes, (int)samples);
    if (!sap_cli_given(o, "until-error")) return SAP_EXIT_OK;
    if (!(o->until_error > 0)) return sap_cli_usage(cli, "--until-error must be above 0");
    if (o->passes == 1) return sap_cli_usage(cli, "--until-error needs two passes");
    return o->heat ? sap_cli_usage(cli, "--heat has no noise to measure") : SAP_EXIT_OK;
}

static sap_cli_exit check_usage(sap_cli* cli) {
    const sap_cli_options* o = cli->options;
    sap_cli_exit result =
        sap_cli_is_light(o->output) ? sap_cli_light_check(cli, o->output) : sap_cli_picture_check(cli, o->output);
    if (result == SAP_EXIT_OK) result = check_passes(cli);
    if (result == SAP_EXIT_OK) result = sap_cli_photons_check(cli);
    if (result == SAP_EXIT_OK) result = sap_cli_frames_check(cli);
    if (result != SAP_EXIT_OK) return result;
    if (moves(o) && !strcmp(o->output, "-"))
        return sap_cli_usage(cli, "--%s needs -o FILE, not standard output", o->orbit ? "orbit" : "frames");
    const sap_cli_output outputs[] = {{"-o", o->output}, {"--photon-cloud", o->photon_cloud}};
    result = sap_cli_check_distinct(cli, outputs, 2);
    if (result != SAP_EXIT_OK) return result;
    return moves(o) ? check_pictures(cli) : sap_cli_check_writable(cli, outputs, 2);
}

// ---- Lights.

// Two sides of a square that faces the middle.
static void face_middle(const float middle[3], float side, sap_light* light) {
    double to[3], first[3], length = 0;
    for (int a = 0; a < 3; a++) to[a] = (double)middle[a] - (double)light->position[a];
    int least = fabs(to[0]) < fabs(to[1]) ? 0 : 1;
    if (fabs(to[2]) < fabs(to[least])) least = 2;
    for (int i = 0; i < 2; i++) {
        double axis[3] = {0}, across[3];
        if (i == 0) axis[least] = 1;
        const double* with = i == 0 ? axis : first;
        for (int a = 0; a < 3; a++)
            across[a] = to[(a + 1) % 3] * with[(a + 2) % 3] - to[(a + 2) % 3] * with[(a + 1) % 3];
        length = sqrt(across[0] * across[0] + across[1] * across[1] + across[2] * across[2]);
        for (int a = 0; a < 3; a++) {
            first[a] = length > 0 ? across[a] / length : 0;
            light->side[i][a] = (float)(first[a] * (double)side);
        }
    }
}

static void place_lights(const sap_cli_options* o, render_run* run) {
    for (int32_t i = 0; i < o->light_count; i++) {
        const sap_cli_light* given = &o->lights[i];
        sap_light* light = &run->lights[i];
        for (int a = 0; a < 3; a++) light->position[a] = (float)(given->position[a] - run->stage.file->origin[a]);
        memcpy(light->color, given->color, sizeof light->color);
        if (given->side > 0) face_middle(run->stage.middle, given->side, light);
    }
}

// ---- Pictures.

static sap_cli_exit draw(sap_cli* cli, render_run* run, const char* path, sap_cli_picture_seconds* seconds) {
    const sap_cli_options* o = cli->options;
    sap_scene scene = {.tree = run->stage.tree, .file = &run->stage.shown, .camera = run->stage.camera};
    if (run->stage.instances) {
        scene.instances = run->stage.instances;
        scene.places = run->stage.places;
        scene.file = scene.places->file;
    }
    sap_render_options options = {.width = o->size[0],
                                  .height = o->size[1],
                                  .samples = o->samples,
                                  .bounces = o->bounces ? o->bounces : -1,
                                  .ambient = o->ambient > 0 ? (float)o->ambient : -1,
                                  .exposure = (float)o->exposure,
                                  .flat = o->flat,
                                  .heat = o->heat,
                                  .hottest = run->hottest,
                                  .next_event = o->next_event,
                                  .tone = o->tone,
                                  .passes = o->passes,
                                  .until_error = (float)o->until_error};
    sap_render_info info;
    sap_render_photons photons;
    options.photons = sap_cli_photons_options(o, &photons);
    if (o->light_count) {
        scene.lights = run->lights;
        scene.light_count = o->light_count;
    }
    if (sap_cli_given(o, "background")) options.background = o->background;
    sap_cli_stage_begin(cli, "drawing");
    sap_status status = run->light ? sap_render_light(&scene, &options, run->light, &info)
                                   : sap_render(&scene, &options, run->pixels, &info);
    sap_cli_stage_end(cli);
    if (status != SAP_OK) return sap_cli_failed(cli, status, NULL);
    seconds->trace = info.trace_seconds;
    seconds->shade = info.shade_seconds;
    seconds->photons = info.photon_seconds;
    run->rays += info.rays;
    run->photons += info.photons;
    run->passes = info.passes;
    run->error = info.error;
    if (o->heat && run->hottest == 0) {
        run->hottest = info.hottest; // the same scale for all pictures of an orbit
        sap_cli_note(cli, "the brightest pixel is %.4g nodes per ray", (double)info.hottest);
    }
    if (o->photon_cloud) {
        sap_cli_exit result = sap_cli_photons_write(cli, &scene);
        if (result != SAP_EXIT_OK) return result;
    }
    return run->light ? sap_cli_light_write(cli, path, run->light, o->size[0], o->size[1])
                      : sap_cli_picture_write(cli, path, run->pixels, o->size[0], o->size[1]);
}

static sap_cli_exit draw_moved(sap_cli* cli, render_run* run, int32_t picture) {
    const sap_cli_options* o = cli->options;
    sap_cli_stage* stage = &run->stage;
    sap_cli_picture_seconds* seconds = &run->pictures[picture];
    char* path;
    sap_cli_exit result = sap_cli_picture_path(cli, picture, &path);
    if (result != SAP_EXIT_OK) return result;
    const double start = sap_cli_seconds();
    result = o->orbit ? sap_cli_orbit_move(cli, stage, picture) : sap_cli_frames_move(cli, stage, picture);
    seconds->pose = sap_cli_seconds() - start;
    if (result == SAP_EXIT_OK)
        result = sap_cli_mesh_tree_fit(cli, stage->shown.mesh, o->operands[0], stage->tree, stage->triangles,
                                       &seconds->build, &seconds->loss);
    stage->triangles = stage->shown.mesh.triangle_count;
    if (result == SAP_EXIT_OK) result = draw(cli, run, path, seconds);
    if (result == SAP_EXIT_OK && !o->json && !o->quiet) {
        printf("%s  ", path);
        if (sap_cli_has_frames(o)) printf("%s %.1f ms  ", stage->animation ? "pose" : "read", seconds->pose * 1e3);
        printf("%s %.1f ms  trace %.1f ms  shade %.1f ms", seconds->loss > 0 ? "refit" : "build", seconds->build * 1e3,
               seconds->trace * 1e3, seconds->shade * 1e3);
        if (o->photons) printf("  photons %.1f ms", seconds->photons * 1e3);
        if (seconds->loss > 0) printf("  loss %.3g", seconds->loss);
        printf("\n");
        result = sap_cli_flush(cli);
    }
    free(path);
    return result;
}

static sap_cli_exit draw_all(sap_cli* cli, render_run* run) {
    const sap_cli_options* o = cli->options;
    if (!moves(o)) return draw(cli, run, o->output, &run->pictures[0]);
    sap_cli_exit result = o->orbit ? sap_cli_orbit_begin(cli, &run->stage) : SAP_EXIT_OK;
    for (int32_t i = 0; i < sap_cli_pictures(o) && result == SAP_EXIT_OK; i++) result = draw_moved(cli, run, i);
    return result;
}

// ---- What is said of it.

static sap_cli_picture_seconds sum_of(const render_run* run, int32_t pictures) {
    sap_cli_picture_seconds sum = {0};
    for (int32_t i = 0; i < pictures; i++) {
        sum.pose += run->pictures[i].pose;
        sum.build += run->pictures[i].build;
        sum.trace += run->pictures[i].trace;
        sum.shade += run->pictures[i].shade;
        sum.photons += run->pictures[i].photons;
    }
    return sum;
}

static void report_seconds(sap_json* json, const sap_cli_options* o, const sap_cli_picture_seconds* seconds) {
    if (sap_cli_has_frames(o)) sap_json_real(json, "pose", seconds->pose, 32);
    sap_json_real(json, "build", seconds->build, 32);
    sap_json_real(json, "trace", seconds->trace, 32);
    sap_json_real(json, "shade", seconds->shade, 32);
    if (o->photons) sap_json_real(json, "photons", seconds->photons, 32);
}

static sap_cli_exit report(sap_cli* cli, const render_run* run) {
    const sap_cli_options* o = cli->options;
    const int32_t pictures = sap_cli_pictures(o);
    const sap_cli_picture_seconds sum = sum_of(run, pictures);
    sap_cli_exit result = SAP_EXIT_OK;
    sap_json json = {0};
    sap_json_open(&json, NULL, '{');
    sap_json_text(&json, "verb", "render");
    sap_json_text(&json, "input", o->operands[0]);
    sap_json_text(&json, "output", o->output);
    sap_json_int(&json, "triangles", sap_cli_placed_triangles(&run->stage));
    if (run->stage.instances) {
        sap_json_int(&json, "instances", run->stage.places->place_count);
        sap_json_int(&json, "meshes", run->stage.places->piece_count);
    }
    sap_cli_origin_json(&json, cli, run->stage.file->origin);
    sap_json_int(&json, "width", o->size[0]);
    sap_json_int(&json, "height", o->size[1]);
    sap_json_int(&json, "frames", pictures);
    sap_json_int(&json, "rays", run->rays);
    sap_json_int(&json, "passes", run->passes);
    if (o->until_error > 0) sap_json_real(&json, "error", (double)run->error, 32);
    if (o->photons) sap_json_int(&json, "photons", run->photons);
    sap_json_processor(&json, cli);
    sap_json_open(&json, "seconds", '{');
    sap_json_real(&json, "read", run->read_seconds, 32);
    report_seconds(&json, o, &sum);
    sap_json_real(&json, "render", sum.trace + sum.shade + sum.photons, 32);
    sap_json_close(&json, '}');
    if (moves(o)) sap_json_open(&json, o->orbit ? "orbit" : "pictures", '[');
    for (int32_t i = 0; moves(o) && i < pictures && result == SAP_EXIT_OK; i++) {
        char* path;
        result = sap_cli_picture_path(cli, i, &path);
        sap_json_open(&json, NULL, '{');
        sap_json_text(&json, "output", path);
        report_seconds(&json, o, &run->pictures[i]);
        if (o->refit > 0) sap_json_real(&json, "loss", run->pictures[i].loss > 0 ? run->pictures[i].loss : 1, 32);
        sap_json_close(&json, '}');
        free(path);
    }
    if (moves(o)) sap_json_close(&json, ']');
    sap_json_close(&json, '}');
    return result;
}

static void note_photons(sap_cli* cli, const render_run* run, double seconds) {
    if (cli->options->photons)
        sap_cli_note(cli, "%lld photons kept; sending and looking up took %.3g s", (long long)run->photons, seconds);
}

static void note(sap_cli* cli, const render_run* run) {
    const sap_cli_options* o = cli->options;
    const sap_cli_picture_seconds* seconds = &run->pictures[0];
    if (sap_cli_has_frames(o)) {
        const int32_t pictures = sap_cli_pictures(o);
        const sap_cli_picture_seconds sum = sum_of(run, pictures);
        sap_cli_note(cli, "%d pictures: moving %.3g s, building %.3g s, tracing %.3g s, shading %.3g s", (int)pictures,
                     sum.pose, sum.build, sum.trace, sum.shade);
        note_photons(cli, run, sum.photons);
        return;
    }
    if (o->orbit || !strcmp(o->output, "-")) return;
    char instances[64] = "";
    if (run->stage.instances)
        snprintf(instances, sizeof instances, " by %lld instances of %d mesh%s",
                 (long long)run->stage.places->place_count, (int)run->stage.places->piece_count,
                 run->stage.places->piece_count == 1 ? "" : "es");
    sap_cli_note(cli, "%lld triangles%s, tree built in %.3g s: %s, %lld rays traced in %.3g s",
                 (long long)sap_cli_placed_triangles(&run->stage), instances, seconds->build, o->output,
                 (long long)run->rays, seconds->trace + seconds->shade + seconds->photons);
    if (o->until_error > 0)
        sap_cli_note(cli, "%d passes; noise of %.3g of the mean brightness is left", (int)run->passes,
                     (double)run->error);
    note_photons(cli, run, seconds->photons);
}

static void free_run(render_run* run) {
    free(run->pictures);
    free(run->pixels);
    free(run->light);
    free(run->stage.moved);
    sap_mesh_tree_free(run->stage.tree);
    sap_cli_placed_free(&run->stage);
    sap_mesh_file_free(run->stage.mesh_file);
    sap_animation_free(run->stage.animation);
}

// Whether nothing looks at the mesh's triangles one by one, or moves them.
static bool may_share(const sap_cli_options* o) { return !moves(o) && !o->heat && !o->photons && !o->photon_cloud; }

static sap_cli_exit read_stage(sap_cli* cli, sap_cli_stage* stage) {
    const sap_cli_options* o = cli->options;
    if (sap_cli_has_frames(o)) return sap_cli_frames_begin(cli, stage);
    if (may_share(o)) return sap_cli_placed_read(cli, stage);
    const sap_cli_exit result = sap_cli_mesh_read(cli, o->operands[0], &stage->mesh_file);
    if (result != SAP_EXIT_OK) return result;
    stage->file = stage->mesh_file;
    stage->shown = *stage->file;
    return SAP_EXIT_OK;
}

static sap_cli_exit find_box(sap_cli* cli, const sap_cli_stage* stage, float lower[3], float upper[3]) {
    sap_mesh_tree_info info;
    if (stage->instances) {
        const sap_status status = sap_mesh_places_bounds(stage->places, lower, upper);
        return status == SAP_OK ? SAP_EXIT_OK : sap_cli_failed(cli, status, NULL);
    }
    sap_mesh_tree_describe(stage->tree, &info);
    memcpy(lower, info.lower, sizeof info.lower);
    memcpy(upper, info.upper, sizeof info.upper);
    return SAP_EXIT_OK;
}

// Reads the mesh and builds the tree over it as it is at first.
static sap_cli_exit open_stage(sap_cli* cli, render_run* run) {
    const sap_cli_options* o = cli->options;
    sap_cli_stage* stage = &run->stage;
    const double start = sap_cli_seconds();
    float lower[3], upper[3];
    sap_cli_exit result = read_stage(cli, stage);
    run->read_seconds = sap_cli_seconds() - start;
    if (result == SAP_EXIT_OK) result = sap_cli_placed_build(cli, stage, &run->pictures[0].build);
    stage->triangles = stage->shown.mesh.triangle_count;
    if (result == SAP_EXIT_OK) result = find_box(cli, stage, lower, upper);
    if (result != SAP_EXIT_OK) return result;
    result = sap_cli_camera_place(cli, lower, upper, stage->file->origin, o->up, &stage->placed, stage->middle);
    stage->camera = stage->placed;
    if (result == SAP_EXIT_OK) place_lights(o, run);
    return result;
}

sap_cli_exit sap_cli_render(sap_cli* cli) {
    const sap_cli_options* o = cli->options;
    const bool linear = sap_cli_is_light(o->output);
    render_run run = {0};
    sap_cli_exit result = check_usage(cli);
    if (result == SAP_EXIT_OK) {
        void* canvas = sap_cli_allocate(cli, (int64_t)o->size[0] * o->size[1], linear ? 3 * sizeof(float) : 3);
        if (linear)
            run.light = canvas;
        else
            run.pixels = canvas;
        run.pictures = sap_cli_allocate(cli, sap_cli_pictures(o), sizeof *run.pictures);
        result = canvas && run.pictures ? open_stage(cli, &run) : SAP_EXIT_FAILED;
    }
    if (result == SAP_EXIT_OK) result = draw_all(cli, &run);
    const sap_cli_exit ended = sap_cli_together_end(cli, result);
    if (result == SAP_EXIT_OK) result = ended;
    if (result == SAP_EXIT_OK && o->json) result = report(cli, &run);
    if (result == SAP_EXIT_OK) note(cli, &run);
    free_run(&run);
    return result;
}
