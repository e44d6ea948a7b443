// sapwood render: pictures of a mesh.
#include "file.h"
#include "input.h"
#include "photons.h"
#include "verbs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// What one picture took.
typedef struct frame_seconds {
    double build, trace, shade, photons;
} frame_seconds;

// The run of the verb. All zero can be freed.
typedef struct render_run {
    sap_mesh_file* file;
    sap_mesh_file shown; // what is drawn: the file, or its mesh as it moves
    sap_mesh_tree* tree;
    sap_camera camera;
    float middle[3];
    sap_light lights[SAP_CLI_MOST_LIGHTS];
    float* moved; // vertices
    uint8_t* pixels;
    float* light; // in place of pixels, for PFM
    int32_t passes;
    float error;
    int64_t rays, photons;
    float hottest;
    frame_seconds* frames; // of each picture
    double read_seconds;
} render_run;

static sap_cli_exit name_frame(sap_cli* cli, int32_t frame, char** path) {
    const char *output = cli->options->output, *suffix = strrchr(output, '.');
    if (asprintf(path, "%.*s-%03d%s", (int)(suffix - output), output, (int)frame, suffix) >= 0) return SAP_EXIT_OK;
    *path = NULL;
    return sap_cli_error(cli, "no memory for the name of a picture");
}

// Each picture is an output, of which none may replace the mesh.
static sap_cli_exit check_frames(sap_cli* cli) {
    sap_cli_exit result = SAP_EXIT_OK;
    for (int32_t i = 0; i < cli->options->orbit && result == SAP_EXIT_OK; i++) {
        char* path;
        result = name_frame(cli, i, &path);
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
    sap_cli_exit result = sap_cli_has_suffix(o->output, ".pfm") ? SAP_EXIT_OK : sap_cli_picture_check(cli, o->output);
    if (result == SAP_EXIT_OK) result = check_passes(cli);
    if (result == SAP_EXIT_OK) result = sap_cli_photons_check(cli);
    if (result != SAP_EXIT_OK) return result;
    if (o->orbit && !strcmp(o->output, "-")) return sap_cli_usage(cli, "--orbit needs -o FILE, not standard output");
    const sap_cli_output outputs[] = {{"-o", o->output}, {"--photon-cloud", o->photon_cloud}};
    result = sap_cli_check_distinct(cli, outputs, 2);
    if (result != SAP_EXIT_OK) return result;
    return o->orbit ? check_frames(cli) : sap_cli_check_writable(cli, outputs, 2);
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
        for (int a = 0; a < 3; a++) light->position[a] = (float)(given->position[a] - run->file->origin[a]);
        memcpy(light->color, given->color, sizeof light->color);
        if (given->side > 0) face_middle(run->middle, given->side, light);
    }
}

// ---- Pictures.

static sap_cli_exit draw(sap_cli* cli, render_run* run, const char* path, frame_seconds* seconds) {
    const sap_cli_options* o = cli->options;
    sap_scene scene = {.tree = run->tree, .file = &run->shown, .camera = run->camera};
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

// A point turned around an axis of length 1 through the middle (Rodrigues).
static void turn(const float middle[3], const float axis[3], double angle, const float from[3], float to[3]) {
    double p[3], along = 0, cosine = cos(angle), sine = sin(angle);
    for (int a = 0; a < 3; a++) {
        p[a] = (double)from[a] - (double)middle[a];
        along += p[a] * (double)axis[a];
    }
    for (int a = 0; a < 3; a++) {
        int b = (a + 1) % 3, c = (a + 2) % 3;
        double across = (double)axis[b] * p[c] - (double)axis[c] * p[b];
        to[a] = (float)(p[a] * cosine + across * sine + (double)axis[a] * along * (1 - cosine) + (double)middle[a]);
    }
}

static const double full_turn = 6.283185307179586;

// The mesh twisted by a wave that runs along the upward axis, once a round.
static void twist(const render_run* run, double radius, double phase) {
    const float* up = run->camera.up;
    const sap_mesh* mesh = &run->file->mesh;
    for (int64_t i = 0; i < mesh->vertex_count; i++) {
        const float* from = mesh->vertices + 3 * i;
        double height = 0;
        for (int a = 0; a < 3; a++) height += ((double)from[a] - (double)run->middle[a]) * (double)up[a];
        double angle = 0.4 * (sin(full_turn * (phase + height / radius / 4)) - sin(full_turn * height / radius / 4));
        turn(run->middle, up, angle, from, run->moved + 3 * i);
    }
}

static sap_cli_exit draw_frame(sap_cli* cli, render_run* run, int32_t frame, double radius) {
    const sap_cli_options* o = cli->options;
    double phase = (double)frame / o->orbit;
    frame_seconds* seconds = &run->frames[frame];
    char* path;
    sap_cli_exit result = name_frame(cli, frame, &path);
    if (result != SAP_EXIT_OK) return result;
    twist(run, radius, phase);
    result = sap_cli_mesh_tree_build(cli, run->shown.mesh, o->operands[0], &run->tree, &seconds->build);
    sap_camera camera = run->camera;
    turn(run->camera.at, run->camera.up, full_turn * phase, camera.eye, run->camera.eye);
    if (result == SAP_EXIT_OK) result = draw(cli, run, path, seconds);
    run->camera = camera;
    if (result == SAP_EXIT_OK && !o->json && !o->quiet) {
        printf("%s  build %.1f ms  trace %.1f ms  shade %.1f ms\n", path, seconds->build * 1e3, seconds->trace * 1e3,
               seconds->shade * 1e3);
        result = sap_cli_flush(cli);
    }
    free(path);
    return result;
}

static sap_cli_exit draw_orbit(sap_cli* cli, render_run* run) {
    sap_mesh_tree_info info;
    double radius = 0;
    run->moved = sap_cli_allocate(cli, run->file->mesh.vertex_count, 3 * sizeof(float));
    if (!run->moved) return SAP_EXIT_FAILED;
    run->shown.mesh.vertices = run->moved;
    sap_mesh_tree_describe(run->tree, &info);
    for (int a = 0; a < 3; a++) radius += fabs((double)info.upper[a] - (double)info.lower[a]) / 2;
    if (!(radius > 0) || !isfinite(radius)) radius = 1;
    sap_cli_exit result = SAP_EXIT_OK;
    for (int32_t frame = 0; frame < cli->options->orbit && result == SAP_EXIT_OK; frame++)
        result = draw_frame(cli, run, frame, radius);
    return result;
}

// ---- What is said of it.

static frame_seconds sum_of(const render_run* run, int32_t frames) {
    frame_seconds sum = {0};
    for (int32_t i = 0; i < frames; i++) {
        sum.build += run->frames[i].build;
        sum.trace += run->frames[i].trace;
        sum.shade += run->frames[i].shade;
        sum.photons += run->frames[i].photons;
    }
    return sum;
}

static void report_seconds(sap_json* json, const sap_cli_options* o, const frame_seconds* seconds) {
    sap_json_real(json, "build", seconds->build, 32);
    sap_json_real(json, "trace", seconds->trace, 32);
    sap_json_real(json, "shade", seconds->shade, 32);
    if (o->photons) sap_json_real(json, "photons", seconds->photons, 32);
}

static sap_cli_exit report(sap_cli* cli, const render_run* run) {
    const sap_cli_options* o = cli->options;
    const int32_t frames = o->orbit ? o->orbit : 1;
    const frame_seconds sum = sum_of(run, frames);
    sap_cli_exit result = SAP_EXIT_OK;
    sap_json json = {0};
    sap_json_open(&json, NULL, '{');
    sap_json_text(&json, "verb", "render");
    sap_json_text(&json, "input", o->operands[0]);
    sap_json_text(&json, "output", o->output);
    sap_json_int(&json, "triangles", run->file->mesh.triangle_count);
    sap_cli_origin_json(&json, cli, run->file->origin);
    sap_json_int(&json, "width", o->size[0]);
    sap_json_int(&json, "height", o->size[1]);
    sap_json_int(&json, "frames", frames);
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
    if (o->orbit) sap_json_open(&json, "orbit", '[');
    for (int32_t i = 0; i < o->orbit && result == SAP_EXIT_OK; i++) {
        char* path;
        result = name_frame(cli, i, &path);
        sap_json_open(&json, NULL, '{');
        sap_json_text(&json, "output", path);
        report_seconds(&json, o, &run->frames[i]);
        sap_json_close(&json, '}');
        free(path);
    }
    if (o->orbit) sap_json_close(&json, ']');
    sap_json_close(&json, '}');
    return result;
}

static void note(sap_cli* cli, const render_run* run) {
    const sap_cli_options* o = cli->options;
    const frame_seconds* seconds = &run->frames[0];
    if (o->orbit || !strcmp(o->output, "-")) return;
    sap_cli_note(cli, "%lld triangles, tree built in %.3g s: %s, %lld rays traced in %.3g s",
                 (long long)run->file->mesh.triangle_count, seconds->build, o->output, (long long)run->rays,
                 seconds->trace + seconds->shade + seconds->photons);
    if (o->until_error > 0)
        sap_cli_note(cli, "%d passes; noise of %.3g of the mean brightness is left", (int)run->passes,
                     (double)run->error);
    if (o->photons)
        sap_cli_note(cli, "%lld photons kept; sending and looking up took %.3g s", (long long)run->photons,
                     seconds->photons);
}

static void free_run(render_run* run) {
    free(run->frames);
    free(run->pixels);
    free(run->light);
    free(run->moved);
    sap_mesh_tree_free(run->tree);
    sap_mesh_file_free(run->file);
}

sap_cli_exit sap_cli_render(sap_cli* cli) {
    const sap_cli_options* o = cli->options;
    render_run run = {0};
    sap_cli_exit result = check_usage(cli);
    double start = sap_cli_seconds();
    if (result == SAP_EXIT_OK) result = sap_cli_mesh_read(cli, o->operands[0], &run.file);
    run.read_seconds = sap_cli_seconds() - start;
    if (result == SAP_EXIT_OK) {
        run.shown = *run.file;
        const bool linear = sap_cli_has_suffix(o->output, ".pfm");
        void* canvas = sap_cli_allocate(cli, (int64_t)o->size[0] * o->size[1], linear ? 3 * sizeof(float) : 3);
        if (linear)
            run.light = canvas;
        else
            run.pixels = canvas;
        run.frames = sap_cli_allocate(cli, o->orbit ? o->orbit : 1, sizeof *run.frames);
        result = SAP_EXIT_FAILED;
        if (canvas && run.frames)
            result = sap_cli_mesh_tree_build(cli, run.file->mesh, o->operands[0], &run.tree, &run.frames[0].build);
    }
    if (result == SAP_EXIT_OK) {
        sap_mesh_tree_info info;
        sap_mesh_tree_describe(run.tree, &info);
        result = sap_cli_camera_place(cli, info.lower, info.upper, run.file->origin, o->up, &run.camera, run.middle);
    }
    if (result == SAP_EXIT_OK) {
        place_lights(o, &run);
        result = o->orbit ? draw_orbit(cli, &run) : draw(cli, &run, o->output, &run.frames[0]);
    }
    const sap_cli_exit ended = sap_cli_together_end(cli, result);
    if (result == SAP_EXIT_OK) result = ended;
    if (result == SAP_EXIT_OK && o->json) result = report(cli, &run);
    if (result == SAP_EXIT_OK) note(cli, &run);
    free_run(&run);
    return result;
}
