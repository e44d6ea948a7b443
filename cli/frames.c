// sapwood render --frames: pictures of a glTF that moves, or of meshes in numbered files.
#include "file.h"
#include "render.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_PICTURES = 100000 };
static const char formats_that_move[] = "a glTF (.gltf, .glb), or the name of numbered files such as frame_%04d.obj";

// ---- Names of numbered files.

// A name with %d or %04d in it: what is around that, and the digits it asks for. False if there is none.
static bool find_number(const char* name, int* before, int* digits, const char** rest) {
    for (const char* at = strchr(name, '%'); at; at = strchr(at + 1, '%')) {
        const char* end = at + 1 + (at[1] == '0' && at[2] >= '1' && at[2] <= '9' ? 2 : 0);
        if (*end != 'd') continue;
        *before = (int)(at - name);
        *digits = end > at + 1 ? at[2] - '0' : 0;
        *rest = end + 1;
        return true;
    }
    return false;
}

// The name with a number in that place, else before its suffix (NULL: neither, and nothing is written).
static sap_cli_exit number_name(sap_cli* cli, const char* name, int32_t number, bool in_place, char** path) {
    int before, digits;
    const char* rest;
    int length;
    if (in_place && find_number(name, &before, &digits, &rest)) {
        length = asprintf(path, "%.*s%0*d%s", before, name, digits, (int)number, rest);
    } else {
        rest = strrchr(name, '.');
        length = asprintf(path, "%.*s-%03d%s", (int)(rest - name), name, (int)number, rest);
    }
    if (length >= 0) return SAP_EXIT_OK;
    *path = NULL;
    return sap_cli_error(cli, "no memory for the name of a file");
}

int32_t sap_cli_pictures(const sap_cli_options* o) {
    if (sap_cli_has_frames(o)) return o->frames[1] - o->frames[0];
    return o->orbit ? o->orbit : 1;
}

sap_cli_exit sap_cli_picture_path(sap_cli* cli, int32_t picture, char** path) {
    const sap_cli_options* o = cli->options;
    return number_name(cli, o->output, o->frames[0] + picture, sap_cli_has_frames(o), path);
}

// ---- What is asked for.

static bool is_gltf(const sap_cli_options* o) {
    const sap_format format = o->input_format != SAP_FORMAT_AUTO ? o->input_format : sap_format_of(o->operands[0]);
    return format == SAP_FORMAT_GLTF;
}

static bool is_sequence(const sap_cli_options* o) {
    int before, digits;
    const char* rest;
    return find_number(o->operands[0], &before, &digits, &rest);
}

sap_cli_exit sap_cli_frames_check(sap_cli* cli) {
    const sap_cli_options* o = cli->options;
    static const char *const of_frames[] = {"fps", "clip"}, *const of_pictures[] = {".png", ".ppm", ".pfm", ".exr"};
    for (size_t i = 0; i < 2 && !sap_cli_has_frames(o); i++)
        if (sap_cli_given(o, of_frames[i])) return sap_cli_usage(cli, "--%s needs --frames", of_frames[i]);
    if (o->refit > 0 && !o->orbit && !sap_cli_has_frames(o))
        return sap_cli_usage(cli, "--refit needs --frames or --orbit");
    if (!sap_cli_has_frames(o)) return SAP_EXIT_OK;
    if (sap_cli_pictures(o) > MOST_PICTURES)
        return sap_cli_usage(cli, "--frames: %d pictures are more than %d", (int)sap_cli_pictures(o), MOST_PICTURES);
    if (o->orbit) return sap_cli_usage(cli, "--frames and --orbit move the mesh each in its own way; use one of them");
    for (size_t i = 0; i < 2 && is_sequence(o) && !is_gltf(o); i++)
        if (sap_cli_given(o, of_frames[i]))
            return sap_cli_usage(cli, "--%s is for a glTF; of numbered files each is one frame", of_frames[i]);
    // Otherwise a picture might replace a mesh that is yet to be read.
    for (size_t i = 0; i < sizeof of_pictures / sizeof *of_pictures; i++)
        if (sap_cli_has_suffix(o->operands[0], of_pictures[i]))
            return sap_cli_usage(cli, "%s: the name of a picture; --frames needs %s", o->operands[0],
                                 formats_that_move);
    if (is_gltf(o) || is_sequence(o)) return SAP_EXIT_OK;
    return sap_cli_usage(cli, "%s: --frames needs %s", o->operands[0], formats_that_move);
}

// ---- A glTF.

// The clip of a name, else of a number.
static sap_cli_exit find_clip(sap_cli* cli, sap_cli_stage* stage) {
    const sap_cli_options* o = cli->options;
    const sap_animation* animation = stage->animation;
    char* end;
    if (animation->clip_count == 0) return sap_cli_error(cli, "%s: nothing in it moves", o->operands[0]);
    if (!o->clip) return SAP_EXIT_OK;
    for (stage->clip = 0; stage->clip < animation->clip_count; stage->clip++)
        if (!strcmp(animation->clips[stage->clip].name, o->clip)) return SAP_EXIT_OK;
    const long number = strtol(o->clip, &end, 10);
    if (o->clip[0] >= '0' && o->clip[0] <= '9' && !*end && number < animation->clip_count) {
        stage->clip = (int32_t)number;
        return SAP_EXIT_OK;
    }
    sap_cli_error(cli, "%s has no clip '%s'; its clips are:", o->operands[0], o->clip);
    for (int32_t i = 0; i < animation->clip_count; i++)
        sap_cli_note(cli, "%d '%s', %.4g s", (int)i, animation->clips[i].name, animation->clips[i].seconds);
    return SAP_EXIT_FAILED;
}

static sap_cli_exit begin_gltf(sap_cli* cli, sap_cli_stage* stage) {
    const sap_cli_exit result = sap_cli_animation_read(cli, cli->options->operands[0], &stage->animation);
    if (result != SAP_EXIT_OK) return result;
    stage->file = stage->animation->file;
    stage->shown = *stage->file;
    stage->moved = sap_cli_allocate(cli, stage->file->mesh.vertex_count, 3 * sizeof(float));
    stage->shown.mesh.vertices = stage->moved;
    return stage->moved ? find_clip(cli, stage) : SAP_EXIT_FAILED;
}

static sap_cli_exit pose(sap_cli* cli, sap_cli_stage* stage, int32_t frame) {
    const double fps = cli->options->fps > 0 ? cli->options->fps : 30;
    const sap_status status = sap_animation_pose(stage->animation, stage->clip, frame / fps, stage->moved);
    return status == SAP_OK ? SAP_EXIT_OK : sap_cli_failed(cli, status, cli->options->operands[0]);
}

// ---- Numbered files.

// Later files are relative to the origin of the first, which the camera and the lights are relative to as well.
static sap_cli_exit load(sap_cli* cli, sap_cli_stage* stage, int32_t frame) {
    const bool first = !stage->mesh_file;
    double origin[3] = {0};
    char* path;
    if (!first && stage->loaded == frame) return SAP_EXIT_OK;
    if (!first) memcpy(origin, stage->file->origin, sizeof origin);
    sap_mesh_file_free(stage->mesh_file);
    stage->mesh_file = NULL;
    sap_cli_exit result = number_name(cli, cli->options->operands[0], frame, true, &path);
    if (result == SAP_EXIT_OK) result = sap_cli_mesh_read_beside(cli, path, first ? NULL : origin, &stage->mesh_file);
    free(path);
    if (result != SAP_EXIT_OK) return result;
    stage->loaded = frame;
    stage->file = stage->mesh_file;
    stage->shown = *stage->file;
    return SAP_EXIT_OK;
}

// ---- Either.

sap_cli_exit sap_cli_frames_begin(sap_cli* cli, sap_cli_stage* stage) {
    const sap_cli_exit result = is_gltf(cli->options) ? begin_gltf(cli, stage) : SAP_EXIT_OK;
    return result == SAP_EXIT_OK ? sap_cli_frames_move(cli, stage, 0) : result;
}

sap_cli_exit sap_cli_frames_move(sap_cli* cli, sap_cli_stage* stage, int32_t picture) {
    const int32_t frame = cli->options->frames[0] + picture;
    return stage->animation ? pose(cli, stage, frame) : load(cli, stage, frame);
}
