// Passes of view.glsl, and their order among the passes that trace rays: a step of the picture is one pass of rays with
// what comes before and after it.
#include "render/view/passes_gl.h"
#include "base/assert.h"
#include <stdio.h>
#include <string.h>

extern const char sap_glsl_view[];

enum { ROUNDS = 1024, LEAST_ROOM = 64, HOTTEST = 128 };

typedef enum pass_kind {
    PASS_CAMERA,
    PASS_LAMP,
    PASS_LIGHT,
    PASS_SHADE,
    PASS_SUM,
    PASS_VISITS,
    PASS_DEVELOP
} pass_kind;

// ---- Textures.

static void free_all(sap_gl_call* call, GLuint* textures, int count) {
    for (int i = 0; i < count; i++) sap_gl_texture_free(call, textures[i]);
    memset(textures, 0, (size_t)count * sizeof *textures);
}

static void free_tile(sap_gl_call* call, sap_gl_view* v) {
    free_all(call, v->ray[0], SAP_GL_RAY_TEXTURES);
    free_all(call, v->ray[1], SAP_GL_RAY_TEXTURES);
    free_all(call, v->shadow, SAP_GL_RAY_TEXTURES);
    free_all(call, v->light, 2);
    sap_gl_walk_drop(call, &v->first);
    sap_gl_walk_drop(call, &v->shadows);
    v->room = 0;
}

void sap_gl_view_free_picture(sap_gl_call* call, sap_gl_view* v) {
    free_all(call, v->sum, 2);
    free_all(call, &v->shown, 1);
}

void sap_gl_view_free_textures(sap_gl_call* call, sap_gl_view* v) {
    free_tile(call, v);
    sap_gl_view_free_picture(call, v);
}

static void make_tile(sap_gl_call* call, sap_gl_view* v, int32_t side) {
    static const char what[] = "a part of a picture";
    int32_t room = LEAST_ROOM;
    while (room < side) room *= 2;
    if (room <= v->room) return;
    free_tile(call, v);
    const int32_t size[2] = {room, room};
    for (int i = 0; i < 2; i++) {
        v->light[i] = sap_gl_texture(call, GL_RGBA32UI, room, room, NULL, what);
        for (int j = 0; j < SAP_GL_RAY_TEXTURES; j++)
            v->ray[i][j] = sap_gl_texture(call, GL_RGBA32UI, room, room, NULL, what);
    }
    for (int j = 0; j < SAP_GL_RAY_TEXTURES; j++)
        v->shadow[j] = sap_gl_texture(call, GL_RGBA32UI, room, room, NULL, what);
    sap_gl_walk_make(call, v->tree, size, false, &v->first);
    sap_gl_walk_make(call, v->tree, size, false, &v->shadows);
    v->shadows.any = true;
    if (call->status == SAP_OK) v->room = room;
}

void sap_gl_view_make_textures(sap_gl_call* call, sap_gl_view* v) {
    const int32_t width = v->picture.options.width, height = v->picture.options.height;
    if (v->size[0] != width || v->size[1] != height) sap_gl_view_free_picture(call, v);
    v->size[0] = width;
    v->size[1] = height;
    for (int i = 0; i < 2; i++)
        if (!v->sum[i]) v->sum[i] = sap_gl_texture(call, GL_RGBA32UI, width, height, NULL, "light of pixels");
    if (!v->shown) v->shown = sap_gl_texture(call, GL_RGBA8, width, height, NULL, "a picture");
    const GLfloat nothing[4] = {0, 0, 0, 0};
    if (call->status != SAP_OK) return;
    call->f->BindFramebuffer(GL_FRAMEBUFFER, call->gl->framebuffer);
    for (GLenum i = 0; i < (GLenum)call->gl->most_targets; i++)
        call->f->FramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0 + i, GL_TEXTURE_2D, i ? 0 : v->shown, 0);
    call->f->DrawBuffers(1, (GLenum[1]){GL_COLOR_ATTACHMENT0});
    call->f->ClearBufferfv(GL_COLOR, 0, nothing);
}

// ---- Passes.

static void add_input(sap_gl_pass* pass, const char* sampler, GLuint texture) {
    int i = 0;
    while (pass->input[i].sampler) i++;
    SAP_ASSERT(i < SAP_GL_UNITS);
    pass->input[i] = (sap_gl_input){.sampler = sampler, .texture = texture};
}

static void set_vector(sap_gl_call* call, GLuint program, const char* name, sap_vector v) {
    sap_gl_set_floats(call, program, name, 3, (float[3]){v.x, v.y, v.z});
}

// The inputs and uniforms of most passes, over the tile.
static void prepare(sap_gl_call* call, const sap_gl_view* v, pass_kind kind, sap_gl_pass* pass) {
    char defines[32];
    const sap_render_options* o = &v->picture.options;
    const GLuint *ray = v->ray[v->ray_now], *walk = v->first.state[v->first.now];
    snprintf(defines, sizeof defines, "#define SAP_PASS %d\n", (int)kind);
    *pass = (sap_gl_pass){.name = "drawing a picture", .rectangle = {0, 0, v->width, v->height}};
    pass->program = sap_gl_program(call, sap_glsl_view, defines);
    if (call->status != SAP_OK) return;
    sap_gl_set_ints(call, pass->program, "corner", 2, (int32_t[2]){v->x, v->y});
    sap_gl_set_ints(call, pass->program, "size", 2, (int32_t[2]){o->width, o->height});
    sap_gl_set_int(call, pass->program, "number", v->sample);
    sap_gl_set_int(call, pass->program, "bounce", v->bounce);
    sap_gl_set_int(call, pass->program, "is_last", v->bounce == o->bounces);
    sap_gl_set_int(call, pass->program, "is_plain", v->plain);
    if (kind != PASS_LAMP && kind != PASS_SHADE) return;
    const sap_gl_mesh* mesh = sap_gl_mesh_of(call, v->tree);
    if (!mesh) return;
    sap_gl_mesh_bind(call, v->tree, mesh, pass);
    add_input(pass, "facets", v->surface.facets);
    add_input(pass, "materials", v->surface.materials);
    add_input(pass, "directions", ray[SAP_GL_DIRECTION]);
    add_input(pass, "paths", ray[SAP_GL_PATH]);
    add_input(pass, "place", walk[SAP_GL_WALK_PLACE]);
    add_input(pass, "found", walk[SAP_GL_WALK_FOUND]);
    sap_gl_set_ints(call, pass->program, "facet_shifts", 2, v->surface.shifts);
    sap_gl_set_int(call, pass->program, "is_flat", o->flat);
    sap_gl_set_int(call, pass->program, "has_colors", v->surface.has_colors);
}

static void send_camera_rays(sap_gl_call* call, sap_gl_view* v) {
    sap_gl_pass pass;
    const sap_lens* lens = &v->picture.scene.lens;
    prepare(call, v, PASS_CAMERA, &pass);
    set_vector(call, pass.program, "eye", lens->eye);
    set_vector(call, pass.program, "forward", lens->forward);
    set_vector(call, pass.program, "right", lens->right);
    set_vector(call, pass.program, "up", lens->up);
    sap_gl_set_float(call, pass.program, "cut", v->cut);
    memcpy(pass.target, v->ray[v->ray_now], sizeof v->ray[0]);
    pass.target[SAP_GL_RAY_TEXTURES] = v->light[v->light_now];
    sap_gl_draw(call, &pass);
}

static void sample_lamp(sap_gl_call* call, sap_gl_view* v) {
    sap_gl_pass pass;
    const sap_lamp* lamp = &v->picture.lamps[v->lamp];
    SAP_ASSERT(v->lamp >= 0 && v->lamp < v->picture.lamp_count && v->bounce < 128);
    prepare(call, v, PASS_LAMP, &pass);
    set_vector(call, pass.program, "lamp_position", lamp->position);
    set_vector(call, pass.program, "lamp_color", lamp->color);
    set_vector(call, pass.program, "lamp_side_u", lamp->side[0]);
    set_vector(call, pass.program, "lamp_side_v", lamp->side[1]);
    sap_gl_set_float(call, pass.program, "lamp_reach", (float)sqrt(lamp->reach2));
    sap_gl_set_int(call, pass.program, "purpose", 1024 + v->lamp * 128 + v->bounce); // as render.c counts them
    sap_gl_set_int(call, pass.program, "casts_shadows", !v->no_shadows);
    memcpy(pass.target, v->shadow, sizeof v->shadow);
    sap_gl_draw(call, &pass);
}

static void add_light(sap_gl_call* call, sap_gl_view* v) {
    sap_gl_pass pass;
    prepare(call, v, PASS_LIGHT, &pass);
    add_input(&pass, "found", v->shadows.state[v->shadows.now][SAP_GL_WALK_FOUND]);
    add_input(&pass, "lights", v->light[v->light_now]);
    add_input(&pass, "lit", v->shadow[SAP_GL_LIT]);
    v->light_now = !v->light_now;
    pass.target[0] = v->light[v->light_now];
    sap_gl_draw(call, &pass);
}

static void shade(sap_gl_call* call, sap_gl_view* v, bool last) {
    sap_gl_pass pass;
    prepare(call, v, PASS_SHADE, &pass);
    add_input(&pass, "lights", v->light[v->light_now]);
    set_vector(call, pass.program, "sky_up", v->picture.scene.sky_up);
    set_vector(call, pass.program, "sun", v->sun);
    sap_gl_set_float(call, pass.program, "ambient", v->picture.options.ambient);
    sap_gl_set_floats(call, pass.program, "background", 4, v->background);
    if (last) sap_gl_set_int(call, pass.program, "is_last", 1);
    v->ray_now = !v->ray_now;
    v->light_now = !v->light_now;
    memcpy(pass.target, v->ray[v->ray_now], sizeof v->ray[0]);
    pass.target[SAP_GL_RAY_TEXTURES] = v->light[v->light_now];
    sap_gl_draw(call, &pass);
}

// Adds the light of the tile's paths to its pixels, and draws these into the picture.
static void sum_pixels(sap_gl_call* call, sap_gl_view* v) {
    sap_gl_pass pass;
    const sap_render_options* o = &v->picture.options;
    const int32_t part[4] = {v->x, v->y, v->width, v->height};
    prepare(call, v, o->heat ? PASS_VISITS : PASS_SUM, &pass);
    if (o->heat) {
        add_input(&pass, "place", v->first.state[v->first.now][SAP_GL_WALK_PLACE]);
        add_input(&pass, "found", v->first.state[v->first.now][SAP_GL_WALK_FOUND]);
    } else {
        add_input(&pass, "lights", v->light[v->light_now]);
    }
    add_input(&pass, "sum", v->sum[v->sample & 1]);
    pass.target[0] = v->sum[!(v->sample & 1)];
    memcpy(pass.rectangle, part, sizeof part);
    sap_gl_draw(call, &pass);
    prepare(call, v, PASS_DEVELOP, &pass);
    add_input(&pass, "sum", v->sum[!(v->sample & 1)]);
    sap_gl_set_float(call, pass.program, "exposure", o->exposure);
    sap_gl_set_int(call, pass.program, "is_heat", o->heat);
    sap_gl_set_float(call, pass.program, "hottest", o->hottest > 0 ? o->hottest : HOTTEST);
    pass.target[0] = v->shown;
    memcpy(pass.rectangle, part, sizeof part);
    sap_gl_draw(call, &pass);
}

// ---- Their order.

static void begin_tile(sap_gl_call* call, sap_gl_view* v, int32_t side) {
    const sap_render_options* o = &v->picture.options;
    make_tile(call, v, side);
    if (call->status != SAP_OK) return;
    if (v->x == 0) v->height = sap_lesser(side, o->height - v->y); // tiles of a row are equally high
    if (v->height > v->room) v->height = v->room;
    const int32_t most = sap_lesser(v->room, side * side / v->height);
    v->width = sap_lesser(most > 1 ? most : 1, o->width - v->x);
    SAP_ASSERT(v->width > 0 && v->height > 0 && v->width <= v->room && v->height <= v->room);
    v->first.width = v->shadows.width = v->width;
    v->first.height = v->shadows.height = v->height;
    v->first.begun = false;
    v->bounce = 0;
    v->walking = SAP_GL_WALKING_FIRST;
    send_camera_rays(call, v);
}

// The place of the next tile, perhaps in the next sample.
static void end_tile(sap_gl_call* call, sap_gl_view* v) {
    const sap_render_options* o = &v->picture.options;
    sum_pixels(call, v);
    SAP_ASSERT(v->sample < o->samples && v->x + v->width <= o->width && v->y + v->height <= o->height);
    v->walking = SAP_GL_WALKING_NONE;
    v->x += v->width;
    if (v->x < o->width) return;
    v->x = 0;
    v->y += v->height;
    if (v->y < o->height) return;
    v->y = 0;
    v->sample++;
    v->done = v->sample == o->samples;
}

// A pass of rays has ended for all of them: what comes before the next.
static void proceed(sap_gl_call* call, sap_gl_view* v, bool hits) {
    if (v->walking == SAP_GL_WALKING_FIRST && v->picture.options.heat) {
        end_tile(call, v);
        return;
    }
    if (v->walking == SAP_GL_WALKING_FIRST)
        v->lamp = hits ? 0 : v->picture.lamp_count;
    else
        add_light(call, v), v->lamp++;
    if (v->lamp < v->picture.lamp_count) {
        sample_lamp(call, v);
        v->shadows.begun = false;
        v->walking = SAP_GL_WALKING_SHADOW;
        return;
    }
    const bool last = v->bounce == v->picture.options.bounces || (v->walking == SAP_GL_WALKING_FIRST && !hits);
    shade(call, v, last);
    SAP_ASSERT(v->bounce <= v->picture.options.bounces);
    v->bounce++;
    v->first.begun = false;
    v->walking = SAP_GL_WALKING_FIRST;
    if (last) end_tile(call, v);
}

void sap_gl_view_trace(sap_gl_call* call, sap_gl_view* v, int32_t side) {
    bool shadow = v->walking == SAP_GL_WALKING_SHADOW;
    if (v->is_traced) {
        sap_gl_walk_outcome outcome = sap_gl_walk_answer(call, shadow ? &v->shadows : &v->first);
        v->is_traced = false;
        if (!outcome.left && call->status == SAP_OK) {
            v->rays += outcome.rays;
            proceed(call, v, outcome.hits);
        }
    }
    if (call->status != SAP_OK || v->done) return;
    SAP_ASSERT(side > 0);
    if (v->walking == SAP_GL_WALKING_NONE) begin_tile(call, v, side);
    shadow = v->walking == SAP_GL_WALKING_SHADOW;
    sap_gl_walk* walks = shadow ? &v->shadows : &v->first;
    sap_gl_walk_advance(call, walks, shadow ? v->shadow : v->ray[v->ray_now], ROUNDS);
    sap_gl_walk_ask(call, walks);
    v->is_traced = true;
}
