// sapwood isosurface: the surface of a volume as a mesh, and a picture of it.
#include "file.h"
#include "input.h"
#include "verbs.h"

#include <stdlib.h>
#include <string.h>

// The run of the verb. All zero can be freed.
typedef struct surface_run {
    sap_volume_file* volume;
    sap_isosurface* surface;
    sap_format format;
    double read, extract, write, render; // seconds
} surface_run;

static sap_cli_exit check_usage(sap_cli* cli, surface_run* run) {
    const sap_cli_options* o = cli->options;
    const sap_cli_output outputs[] = {{"-o", o->output}, {"--render", o->picture}};
    if (!o->output && !o->picture) return sap_cli_usage(cli, "-o FILE or --render FILE says where the surface goes");
    if (o->picture && o->processor == SAP_GL)
        return sap_cli_usage(cli, "--render draws on the CPU or a CUDA GPU: not with --device gl");
    sap_cli_exit result = sap_cli_check_distinct(cli, outputs, 2);
    if (result == SAP_EXIT_OK && o->picture) result = sap_cli_picture_check(cli, o->picture);
    if (result != SAP_EXIT_OK) return result;
    if (!o->output) return sap_cli_check_writable(cli, outputs, 2);
    run->format = o->format ? o->format : sap_format_of(o->output);
    if (!strcmp(o->output, "-") && !run->format) run->format = SAP_FORMAT_PLY;
    if (run->format == SAP_FORMAT_PLY || sap_cli_holds_meshes_only(run->format))
        return sap_cli_check_writable(cli, outputs, 2);
    return sap_cli_usage(cli, "%s: unknown suffix of a mesh; use .ply, .obj, .stl, .off, or --format", o->output);
}

static sap_cli_exit read_volume(sap_cli* cli, surface_run* run) {
    const sap_cli_options* o = cli->options;
    sap_volume_read_options options = {.type = o->voxel,
                                       .big_endian = o->big_endian,
                                       .skip = o->skip,
                                       .order = o->order,
                                       .member = o->member,
                                       .unpack_limit = o->unpack_limit};
    memcpy(options.size, o->sides, sizeof options.size);
    memcpy(options.spacing, o->spacing, sizeof options.spacing);
    sap_cli_stage_begin(cli, "reading");
    sap_status status = sap_volume_read(cli->device, o->operands[0], &options, &run->volume);
    run->read = sap_cli_stage_end(cli);
    return status == SAP_OK ? SAP_EXIT_OK : sap_cli_failed(cli, status, o->operands[0]);
}

static sap_cli_exit extract(sap_cli* cli, surface_run* run) {
    const sap_cli_options* o = cli->options;
    const sap_isosurface_options options = {.level = (float)o->level, .low_inside = o->low_inside};
    sap_cli_stage_begin(cli, "extracting");
    sap_status status = sap_isosurface_extract(cli->device, run->volume->volume, &options, &run->surface);
    run->extract = sap_cli_stage_end(cli);
    return status == SAP_OK ? SAP_EXIT_OK : sap_cli_failed(cli, status, o->operands[0]);
}

static sap_cli_exit write_mesh(sap_cli* cli, surface_run* run) {
    const char* path = cli->options->output;
    const sap_mesh_file file = {.mesh = run->surface->mesh, .normals = run->surface->normals};
    const char* place;
    if (sap_cli_flush(cli) != SAP_EXIT_OK || sap_cli_together_add(cli, path, &place) != SAP_EXIT_OK)
        return SAP_EXIT_FAILED;
    sap_cli_stage_begin(cli, "writing");
    sap_status status = sap_mesh_write(cli->device, place, run->format, &file, NULL);
    run->write = sap_cli_stage_end(cli);
    return status == SAP_OK ? SAP_EXIT_OK : sap_cli_together_failed(cli, status, path, place);
}

static sap_cli_exit draw(sap_cli* cli, surface_run* run) {
    const sap_cli_options* o = cli->options;
    const sap_mesh_file file = {.mesh = run->surface->mesh};
    const sap_render_options options = {
        .width = o->size[0], .height = o->size[1], .samples = o->samples, .exposure = (float)o->exposure};
    static const float z_axis[3] = {0, 0, 1};
    sap_camera camera = {.fov = 0};
    float middle[3];
    sap_mesh_tree* tree = NULL;
    uint8_t* pixels = sap_cli_allocate(cli, (int64_t)o->size[0] * o->size[1], 3);
    double building = 0;
    sap_cli_exit result = pixels ? sap_cli_mesh_tree_build(cli, file.mesh, NULL, &tree, &building) : SAP_EXIT_FAILED;
    if (result == SAP_EXIT_OK) {
        sap_mesh_tree_info info;
        sap_mesh_tree_describe(tree, &info);
        result = sap_cli_camera_place(cli, info.lower, info.upper, file.origin, sap_cli_given(o, "up") ? o->up : z_axis,
                                      &camera, middle);
    }
    if (result == SAP_EXIT_OK) {
        const sap_scene scene = {.tree = tree, .file = &file, .camera = camera};
        sap_cli_stage_begin(cli, "drawing");
        sap_status status = sap_render(&scene, &options, pixels, NULL);
        run->render = building + sap_cli_stage_end(cli);
        result = status == SAP_OK ? sap_cli_picture_write(cli, o->picture, pixels, o->size[0], o->size[1])
                                  : sap_cli_failed(cli, status, NULL);
    }
    sap_mesh_tree_free(tree);
    free(pixels);
    return result;
}

// ---- What is said of it.

static void report(const sap_cli* cli, const surface_run* run) {
    static const char* const types[] = {"f32", "u8", "i16", "u16"};
    const sap_cli_options* o = cli->options;
    const sap_volume* volume = &run->volume->volume;
    sap_json json = {0};
    sap_json_open(&json, NULL, '{');
    sap_json_text(&json, "verb", "isosurface");
    sap_json_text(&json, "input", o->operands[0]);
    sap_json_text(&json, "output", o->output);
    sap_json_text(&json, "picture", o->picture);
    sap_json_open(&json, "size", '[');
    for (int a = 0; a < 3; a++) sap_json_int(&json, NULL, volume->size[a]);
    sap_json_close(&json, ']');
    sap_json_text(&json, "type", types[volume->type]);
    sap_json_real(&json, "level", o->level, 32);
    sap_json_int(&json, "vertices", run->surface->mesh.vertex_count);
    sap_json_int(&json, "triangles", run->surface->mesh.triangle_count);
    sap_json_processor(&json, cli);
    sap_json_open(&json, "seconds", '{');
    sap_json_real(&json, "read", run->read, 32);
    sap_json_real(&json, "extract", run->extract, 32);
    sap_json_real(&json, "write", run->write, 32);
    sap_json_real(&json, "render", run->render, 32);
    sap_json_close(&json, '}');
    sap_json_close(&json, '}');
}

static void note(sap_cli* cli, const surface_run* run) {
    const sap_cli_options* o = cli->options;
    const sap_volume* volume = &run->volume->volume;
    sap_cli_note(cli, "%lld x %lld x %lld samples: %lld vertices, %lld triangles in %.3g s%s%s",
                 (long long)volume->size[0], (long long)volume->size[1], (long long)volume->size[2],
                 (long long)run->surface->mesh.vertex_count, (long long)run->surface->mesh.triangle_count, run->extract,
                 o->output && strcmp(o->output, "-") ? ": " : "", o->output && strcmp(o->output, "-") ? o->output : "");
    if (o->picture && strcmp(o->picture, "-")) sap_cli_note(cli, "drawn in %.3g s: %s", run->render, o->picture);
}

sap_cli_exit sap_cli_isosurface(sap_cli* cli) {
    surface_run run = {0};
    sap_cli_exit result = check_usage(cli, &run);
    if (result == SAP_EXIT_OK) result = read_volume(cli, &run);
    if (result == SAP_EXIT_OK) result = extract(cli, &run);
    if (result == SAP_EXIT_OK && cli->options->output) result = write_mesh(cli, &run);
    if (result == SAP_EXIT_OK && cli->options->picture) result = draw(cli, &run);
    const bool is_made = result == SAP_EXIT_OK;
    result = sap_cli_together_end(cli, result);
    if (is_made && result == SAP_EXIT_OK) {
        if (cli->options->json) report(cli, &run);
        note(cli, &run);
    }
    sap_isosurface_free(run.surface);
    sap_volume_file_free(run.volume);
    return result;
}
