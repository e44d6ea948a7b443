// The life of a view: made, begun, drawn step by step, shown, read and freed.
#include "base/assert.h"
#include "render/ops.h"
#include "render/view/passes_gl.h"
#include <string.h>

extern const char sap_glsl_view[];

static sap_device* device_of(const sap_gl_view* view) { return view->tree->device; }

// The textures of a view are those of the mesh that it was made for.
static sap_status check_mesh(const sap_gl_view* view) {
    const sap_gl_mesh* mesh = view->tree->beside;
    if (mesh->builds == view->builds) return SAP_OK;
    return sap_fail(device_of(view), SAP_ERROR_ARGUMENT, "view: its tree has been rebuilt; make another");
}

static sap_status no_picture(const sap_gl_view* view) {
    return sap_fail(device_of(view), SAP_ERROR_ARGUMENT, "view: has not begun");
}

sap_status sap_view_create_gl(const sap_mesh_tree* tree, const sap_mesh_file* file, sap_gl_view** view) {
    sap_device* device = tree->device;
    sap_gl_call call;
    sap_status status = sap_mesh_file_check(device, file, tree->shape.triangles);
    if (status != SAP_OK) return status;
    sap_gl_view* made = sap_memory_allocate_zero(device, sizeof *made);
    if (!made) return sap_fail(device, SAP_ERROR_MEMORY, "no memory for a view");
    made->tree = tree;
    made->builds = ((const sap_gl_mesh*)tree->beside)->builds;
    if (sap_gl_begin(&call, device) == SAP_OK)
        sap_gl_view_surface_make(&call, file, device->options.threads, &made->surface);
    status = sap_gl_end(&call, SAP_OK);
    if (status == SAP_OK)
        *view = made;
    else
        sap_view_free_gl(made);
    return status;
}

static void free_lamps(sap_gl_view* view) {
    SAP_ASSERT(view->picture.lamp_count >= 0);
    const size_t count = (size_t)view->picture.lamp_count + 1;
    if (view->picture.lamps) sap_memory_release(device_of(view), view->picture.lamps, count * sizeof(sap_lamp));
    view->picture.lamps = NULL;
}

// The part of a picture that does not need the context.
static sap_status prepare(sap_gl_view* view, const sap_gl_view_options* options) {
    const sap_scene scene = {
        .tree = view->tree, .camera = options->camera, .lights = options->lights, .light_count = options->light_count};
    sap_device* device = device_of(view);
    const sap_vector sun = sap_vector_of(options->sun);
    if (!(options->cut >= 0 && isfinite(options->cut)))
        return sap_fail(device, SAP_ERROR_ARGUMENT, "options.cut: negative or not finite");
    if (!sap_finite(sun)) return sap_fail(device, SAP_ERROR_ARGUMENT, "options.sun: not finite");
    sap_status status = sap_picture_prepare(&view->picture, device, &scene, &options->picture);
    if (status != SAP_OK) return status;
    const float* background = options->picture.background;
    view->picture.lamp_count = scene.lights ? scene.light_count : 1;
    if (view->picture.options.heat) view->picture.lamp_count = 0;
    view->picture.lamps = sap_memory_allocate(device, ((size_t)view->picture.lamp_count + 1) * sizeof(sap_lamp));
    if (!view->picture.lamps) return sap_fail(device, SAP_ERROR_MEMORY, "no memory for lights");
    memset(view->background, 0, sizeof view->background);
    if (background) memcpy(view->background, background, 3 * sizeof *background);
    view->background[3] = background ? 1.0f : 0.0f;
    view->picture.options.background = NULL; // the caller's
    view->cut = options->cut;
    view->sun = sap_unit(sun);
    view->plain = options->plain;
    view->no_shadows = options->no_shadows;
    return view->picture.options.heat ? SAP_OK : sap_lamps_prepare(&view->picture, &scene);
}

sap_status sap_view_begin_gl(sap_gl_view* view, const sap_gl_view_options* options) {
    sap_gl_call call;
    free_lamps(view);
    view->begun = view->done = view->is_traced = false;
    view->walking = SAP_GL_WALKING_NONE;
    view->sample = view->x = view->y = 0;
    view->rays = 0;
    sap_status status = check_mesh(view);
    if (status == SAP_OK) status = prepare(view, options);
    if (status != SAP_OK) {
        free_lamps(view);
        return status;
    }
    if (sap_gl_begin(&call, device_of(view)) == SAP_OK) sap_gl_view_make_textures(&call, view);
    status = sap_gl_end(&call, SAP_OK);
    view->begun = status == SAP_OK;
    return status;
}

sap_status sap_view_step_gl(sap_gl_view* view, int32_t side, bool* done) {
    sap_gl_call call;
    if (!view->begun) return no_picture(view);
    if (check_mesh(view) != SAP_OK) return SAP_ERROR_ARGUMENT;
    if (!view->done) {
        if (sap_gl_begin(&call, device_of(view)) == SAP_OK) {
            const int32_t most = call.gl->most_texture;
            sap_gl_view_trace(&call, view, side < most ? side : most);
        }
        sap_status status = sap_gl_end(&call, SAP_OK);
        if (status != SAP_OK) view->begun = false;
        if (status != SAP_OK) return status;
    }
    if (done) *done = view->done;
    return SAP_OK;
}

sap_status sap_view_show_gl(const sap_gl_view* view, uint32_t framebuffer, const int32_t rectangle[4]) {
    sap_gl_call call;
    if (!view->begun) return no_picture(view);
    if (sap_gl_begin(&call, device_of(view)) == SAP_OK) {
        const sap_render_options* o = &view->picture.options;
        sap_gl_pass pass = {.program = sap_gl_program(&call, sap_glsl_view, "#define SAP_PASS 7\n"),
                            .input = {{.sampler = "picture", .texture = view->shown}},
                            .is_shown = true,
                            .framebuffer = framebuffer,
                            .name = "showing a picture"};
        const float shown[4] = {(float)rectangle[0], (float)rectangle[1], (float)rectangle[2], (float)rectangle[3]};
        memcpy(pass.rectangle, rectangle, sizeof pass.rectangle);
        sap_gl_set_ints(&call, pass.program, "size", 2, (int32_t[2]){o->width, o->height});
        sap_gl_set_floats(&call, pass.program, "shown", 4, shown);
        sap_gl_draw(&call, &pass);
    }
    return sap_gl_end(&call, SAP_OK);
}

sap_status sap_view_read_gl(const sap_gl_view* view, uint8_t* pixels) {
    sap_gl_call call;
    sap_scratch scratch = {NULL, 0};
    if (!view->begun) return no_picture(view);
    sap_device* device = device_of(view);
    const sap_render_options* o = &view->picture.options;
    const size_t count = (size_t)o->width * (size_t)o->height;
    size_t bytes;
    if (!sap_size_multiply((uint64_t)o->width * 4, (size_t)o->height, &bytes) ||
        !sap_scratch_take(device, bytes, &scratch))
        return sap_fail(device, SAP_ERROR_MEMORY, "no memory for a picture of %d x %d pixels", (int)o->width,
                        (int)o->height);
    if (sap_gl_begin(&call, device) == SAP_OK)
        sap_gl_read(&call, view->shown, GL_RGBA8, 0, (int32_t[4]){0, 0, o->width, o->height}, scratch.memory);
    sap_status status = sap_gl_end(&call, SAP_OK);
    for (size_t i = 0; i < count && status == SAP_OK; i++) memcpy(pixels + 3 * i, scratch.memory + 4 * i, 3);
    sap_scratch_give(device, &scratch);
    return status;
}

sap_status sap_view_describe_gl(const sap_gl_view* view, sap_gl_view_info* info) {
    if (!view->begun) return no_picture(view);
    const sap_render_options* o = &view->picture.options;
    const double row = (double)view->x * view->height / o->width;
    *info = (sap_gl_view_info){.width = o->width,
                               .height = o->height,
                               .picture = view->shown,
                               .sum = view->sample ? view->sum[view->sample & 1] : 0,
                               .samples = view->sample,
                               .done = (view->sample + (view->y + row) / o->height) / o->samples,
                               .rays = view->rays};
    return SAP_OK;
}

void sap_view_free_gl(sap_gl_view* view) {
    sap_gl_call call;
    sap_device* device = device_of(view);
    free_lamps(view);
    if (!sap_gl_of(device)->lost) {
        if (sap_gl_begin(&call, device) == SAP_OK) {
            sap_gl_view_free_textures(&call, view);
            sap_gl_view_surface_free(&call, &view->surface);
        }
        (void)sap_gl_end(&call, SAP_OK);
    }
    sap_memory_release(device, view, sizeof *view);
}
