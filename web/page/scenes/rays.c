// The scene Rays on the page's thread: the mesh and its tree on the device of the context, a view of them, and the
// camera.
#include "scenes/rays.h"
#include <math.h>
#include <sapwood/gl.h>
#include <stdlib.h>
#include <string.h>

static struct {
    sap_mesh_tree* tree;
    sap_gl_view* view;
    double lower[3], upper[3]; // of the mesh at rest, so that the camera stands still while it moves
    sap_camera camera;
    sap_light light;
    sap_render_options picture; // of the whole canvas
    bool plain, shadows;
    int32_t canvas[2];
    double aim[3]; // yaw and pitch in radians, zoom
    bool flies;    // the camera is at `eye`, not around the mesh
    double eye[3]; // from the mesh's middle, in radii
    double clip;   // how much of the way through the mesh is cut away
    float cut;     // the same as a distance ahead of the eye
    double sun[2]; // yaw and pitch
    bool sky;
    int up; // the axis that is up
} rays;

// Frees all that is on the device; also after the context was lost.
PAGE_EXPORT void rays_stop(void) {
    sap_gl_view_free(rays.view);
    sap_mesh_tree_free(rays.tree);
    rays_told_stop();
    rays.view = NULL;
    rays.tree = NULL;
}

// Takes the answer of the jobs of rays_build.c (rays_built, rays_buffer) into the context.
PAGE_EXPORT sap_status job_rays_take(page_job* job) {
    rays_stop();
    if (!page_gl()) return page_fail(SAP_ERROR_NO_DEVICE, "There is no graphics context.");
    void** in = job->in;
    const uint32_t* bytes = job->in_bytes;
    memcpy(rays.lower, job->number + RAYS_BUILT_LOWER_X, sizeof rays.lower);
    memcpy(rays.upper, job->number + RAYS_BUILT_UPPER_X, sizeof rays.upper);
    const int32_t material_count = (int32_t)(bytes[RAYS_BUFFER_MATERIALS] / (RAYS_NUMBERS * sizeof(float)));
    sap_material* materials = malloc(((size_t)material_count + 1) * sizeof *materials);
    if (!materials) return page_fail(SAP_ERROR_MEMORY, "There is no memory here for this mesh.");
    const float(*numbers)[RAYS_NUMBERS] = in[RAYS_BUFFER_MATERIALS];
    for (int32_t i = 0; i < material_count; i++) materials[i] = rays_material(numbers[i]);
    const sap_mesh_file file = {.mesh = {.vertices = in[RAYS_BUFFER_VERTICES],
                                         .vertex_count = bytes[RAYS_BUFFER_VERTICES] / 12,
                                         .triangles = in[RAYS_BUFFER_TRIANGLES],
                                         .triangle_count = bytes[RAYS_BUFFER_TRIANGLES] / 12},
                                .colors = bytes[RAYS_BUFFER_COLORS] ? in[RAYS_BUFFER_COLORS] : NULL,
                                .material_ids = bytes[RAYS_BUFFER_MATERIAL_IDS] ? in[RAYS_BUFFER_MATERIAL_IDS] : NULL,
                                .materials = materials,
                                .material_count = material_count};
    sap_status status = page_take_mesh_tree(page_gl(), in[RAYS_BUFFER_TREE], bytes[RAYS_BUFFER_TREE], &rays.tree);
    if (status == SAP_OK) status = sap_gl_view_create(rays.tree, &file, &rays.view);
    free(materials);
    if (status != SAP_OK) rays_stop();
    return status;
}

// ---- What is seen.

// From the middle of the mesh to where yaw and pitch say: with y up from the front, along z, with z up along -y.
static void direction(double yaw, double pitch, double to[3]) {
    const double front = cos(pitch) * cos(yaw);
    to[0] = cos(pitch) * sin(yaw);
    to[1] = rays.up == 2 ? -front : sin(pitch);
    to[2] = rays.up == 2 ? sin(pitch) : front;
}

// The radius of the ball around the mesh, which is not 0, and its middle.
static double ball(double middle[3]) {
    double radius = 0;
    for (int i = 0; i < 3; i++) {
        middle[i] = 0.5 * rays.lower[i] + 0.5 * rays.upper[i];
        radius += 0.25 * (rays.upper[i] - rays.lower[i]) * (rays.upper[i] - rays.lower[i]);
    }
    return radius > 0 ? sqrt(radius) : 1;
}

static void place_camera(void) {
    double to[3], middle[3], size = 0;
    float lower[3], upper[3];
    for (int i = 0; i < 3; i++) lower[i] = (float)rays.lower[i], upper[i] = (float)rays.upper[i];
    rays.camera = (sap_camera){.fov = rays.flies ? 60 : 35};
    rays.camera.up[rays.up] = 1;
    direction(rays.aim[0], rays.aim[1], to);
    if (rays.flies) {
        const double radius = ball(middle);
        for (int i = 0; i < 3; i++) {
            rays.camera.eye[i] = (float)(middle[i] + radius * rays.eye[i]);
            rays.camera.at[i] = (float)(middle[i] + radius * (rays.eye[i] - to[i]));
        }
        return;
    }
    // Only the direction counts to what frames the mesh, so any distance that floats can tell from none will do.
    for (int i = 0; i < 3; i++) size = fmax(size, fmax(fabs(rays.lower[i]), fabs(rays.upper[i])));
    for (int i = 0; i < 3; i++) {
        rays.camera.at[i] = (float)(0.5 * rays.lower[i] + 0.5 * rays.upper[i]);
        rays.camera.eye[i] = (float)((double)rays.camera.at[i] + to[i] * (size > 0 ? size : 1));
    }
    (void)sap_camera_frame_box(lower, upper, rays.picture.width, rays.picture.height, &rays.camera);
    for (int i = 0; i < 3; i++) {
        const double away = (double)rays.camera.eye[i] - (double)rays.camera.at[i];
        rays.camera.eye[i] = (float)((double)rays.camera.at[i] + away / rays.aim[2]);
    }
}

// One lamp where the sun is seen, which does not move with the camera: a square of a third of the mesh's diagonal.
static void place_light(void) {
    double to[3], u[3], middle[3];
    const double radius = ball(middle);
    direction(rays.sun[0], rays.sun[1], to);
    direction(rays.sun[0] + 1.5707963, 0, u);
    for (int i = 0; i < 3; i++) {
        const double v = to[(i + 1) % 3] * u[(i + 2) % 3] - to[(i + 2) % 3] * u[(i + 1) % 3];
        rays.light.position[i] = (float)(middle[i] + 4.5 * radius * to[i]);
        rays.light.side[0][i] = (float)(0.6 * radius * u[i]);
        rays.light.side[1][i] = (float)(0.6 * radius * v);
    }
    rays.light.color[0] = 1.0f;
    rays.light.color[1] = 0.95f;
    rays.light.color[2] = 0.86f;
}

// Size of the canvas, and where from it is seen.
PAGE_EXPORT void rays_look(int width, int height, double yaw, double pitch, double zoom, int up) {
    rays.canvas[0] = width;
    rays.canvas[1] = height;
    rays.aim[0] = yaw;
    rays.aim[1] = fmin(1.5, fmax(-1.5, pitch)); // the address may say anything
    rays.aim[2] = fmin(40, fmax(0.25, zoom));
    rays.up = up;
}

// Lets the camera fly from a place on, which is in radii of the mesh from its middle; or not.
PAGE_EXPORT void rays_fly(int flies, double x, double y, double z) {
    const double eye[3] = {x, y, z};
    rays.flies = flies;
    for (int i = 0; i < 3; i++) rays.eye[i] = fmin(20, fmax(-20, eye[i]));
}

// The camera flies on, so many radii ahead, to the right and upwards, from where it is. Its place then, for rays_fly.
PAGE_EXPORT double* rays_go(double ahead, double aside, double rise) {
    double to[3], right[3], middle[3];
    const double radius = ball(middle);
    direction(rays.aim[0], rays.aim[1], to);
    direction(rays.aim[0] + 1.5707963, 0, right);
    for (int i = 0; i < 3; i++) {
        if (!rays.flies) rays.eye[i] = ((double)rays.camera.eye[i] - middle[i]) / radius;
        rays.eye[i] += aside * right[i] - ahead * to[i] + (i == rays.up ? rise : 0);
    }
    rays.flies = true;
    return rays.eye;
}

// Where the sun is; whether one sees it, and the sky, or a plain background; and how much is cut away, from 0 to 1.
PAGE_EXPORT void rays_sky(double yaw, double pitch, int sky, double clip) {
    rays.sun[0] = yaw;
    rays.sun[1] = pitch;
    rays.sky = sky;
    rays.clip = clip;
}

PAGE_EXPORT void rays_show(int shadows, int bounces, int soft, int flat, int heat, double hottest, int samples) {
    rays.shadows = shadows;
    rays.plain = !soft;
    rays.picture.bounces = bounces > 0 ? bounces : -1;
    rays.picture.flat = flat;
    rays.picture.heat = heat;
    rays.picture.hottest = (float)hottest;
    rays.picture.samples = heat && !soft ? 1 : samples;
    rays.picture.ambient = soft ? 0.8f : 0.42f;
    rays.picture.exposure = 0.85f;
}

// The sun, or the page's paper as shaders want it: linear, before exposure.
static void place_sky(float sun[3], float paper[3]) {
    double to[3];
    direction(rays.sun[0], rays.sun[1], to);
    for (int i = 0; i < 3; i++) {
        sun[i] = rays.sky ? (float)to[i] : 0;
        paper[i] = powf((page_colors[PAGE_COLOR_PAPER][i] + 0.055f) / 1.055f, 2.4f) / rays.picture.exposure;
    }
}

// Cuts the ball around the mesh by a plane that the camera faces.
static void place_cut(void) {
    double middle[3], ahead = 0, length2 = 0;
    const double radius = ball(middle);
    for (int i = 0; i < 3; i++) {
        const double way = (double)rays.camera.at[i] - (double)rays.camera.eye[i];
        ahead += way * (middle[i] - (double)rays.camera.eye[i]);
        length2 += way * way;
    }
    rays.cut = rays.clip > 0 ? (float)fmax(0, ahead / sqrt(length2) + (2 * rays.clip - 1) * radius) : 0;
}

// Begins a picture: of every `coarse`-th pixel, plain and with one sample, unless that is 1.
PAGE_EXPORT sap_status rays_begin(int coarse) {
    if (!rays.view) return page_fail(SAP_ERROR_ARGUMENT, "There is no mesh.");
    rays.picture.width = (rays.canvas[0] + coarse - 1) / coarse;
    rays.picture.height = (rays.canvas[1] + coarse - 1) / coarse;
    place_camera();
    place_light();
    place_cut();
    float paper[3];
    sap_gl_view_options options = {.picture = rays.picture,
                                   .camera = rays.camera,
                                   .lights = &rays.light,
                                   .light_count = 1,
                                   .plain = rays.plain || coarse > 1,
                                   .no_shadows = !rays.shadows,
                                   .cut = rays.cut};
    place_sky(options.sun, paper);
    if (!rays.sky) options.picture.background = paper;
    if (coarse > 1) {
        options.picture.samples = 1;
        options.picture.ambient = 0.42f;
    }
    return sap_gl_view_begin(rays.view, &options);
}

// A step of at most side * side pixels, and the picture so far on the canvas, which keeps what it shows where there is
// nothing yet. -1: it failed; 0: done, 1: there is more.
PAGE_EXPORT int rays_step(int side) {
    bool done = false;
    if (!rays.view || sap_gl_view_step(rays.view, side, &done) != SAP_OK) return -1;
    return !done;
}

PAGE_EXPORT sap_status rays_put(void) {
    return rays.view ? sap_gl_view_show(rays.view, 0, (int32_t[4]){0, 0, rays.canvas[0], rays.canvas[1]}) : SAP_OK;
}

// How far the picture is: what 0: samples of all pixels, 1: rays so far.
PAGE_EXPORT double rays_progress(int what) {
    sap_gl_view_info info;
    if (!rays.view || sap_gl_view_describe(rays.view, &info) != SAP_OK) return 0;
    return what ? (double)info.rays : info.samples;
}

// ---- Verifying.

// Begins a picture in which every pixel says what its ray has met; it is not shown.
PAGE_EXPORT sap_status rays_probe(void) {
    const sap_render_options before = rays.picture;
    rays.picture.heat = true;
    rays.picture.samples = 1;
    const bool plain = rays.plain;
    rays.plain = true;
    sap_status status = rays_begin(1);
    rays.picture = before;
    rays.plain = plain;
    return status;
}

// The texture of what the rays of that picture have met.
static sap_status read_probe(uint32_t** texels) {
    sap_gl_view_info info;
    sap_status status = sap_gl_view_describe(rays.view, &info);
    if (status != SAP_OK) return status;
    GLuint framebuffer = 0;
    *texels = malloc((size_t)info.width * (size_t)info.height * 16);
    if (!*texels || !info.sum) return page_fail(SAP_ERROR_MEMORY, "There is no memory here to read a picture.");
    glGenFramebuffers(1, &framebuffer);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, info.sum, 0);
    glReadPixels(0, 0, info.width, info.height, GL_RGBA_INTEGER, GL_UNSIGNED_INT, *texels);
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    glDeleteFramebuffers(1, &framebuffer);
    return SAP_OK;
}

// Right and up of the camera, as long as half the picture is wide and high, and forward, of length 1.
static void lens(double right[3], double up[3], double forward[3]) {
    const sap_camera* c = &rays.camera;
    double length = 0, across = 0;
    for (int i = 0; i < 3; i++) forward[i] = (double)c->at[i] - (double)c->eye[i];
    for (int i = 0; i < 3; i++) length += forward[i] * forward[i];
    for (int i = 0; i < 3; i++) forward[i] /= sqrt(length);
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        right[i] = forward[j] * (double)c->up[k] - forward[k] * (double)c->up[j];
        across += right[i] * right[i];
    }
    for (int i = 0; i < 3; i++) right[i] /= sqrt(across);
    const double half = tan((double)c->fov * 0.5 * 0.017453292519943295);
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        up[i] = (right[j] * forward[k] - right[k] * forward[j]) * half;
    }
    for (int i = 0; i < 3; i++) right[i] *= half * rays.canvas[0] / rays.canvas[1];
}

void rays_lens_from(const double yaw_and_zoom[2], rays_lens* l) {
    const sap_camera before = rays.camera;
    const double aim[3] = {rays.aim[0], rays.aim[1], rays.aim[2]};
    const sap_render_options picture = rays.picture;
    if (yaw_and_zoom) {
        rays.aim[0] = yaw_and_zoom[0];
        rays.aim[2] = yaw_and_zoom[1];
    }
    rays.picture.width = rays.canvas[0];
    rays.picture.height = rays.canvas[1];
    place_camera();
    for (int i = 0; i < 3; i++) l->eye[i] = (double)rays.camera.eye[i];
    lens(l->right, l->up, l->forward);
    rays.camera = before;
    memcpy(rays.aim, aim, sizeof aim);
    rays.picture = picture;
}

void rays_canvas(int32_t size[2]) { memcpy(size, rays.canvas, sizeof rays.canvas); }
const sap_mesh_tree* rays_shown(void) { return rays.tree; }

// in[0]: pixels, numbered row by row from the top. What the picture that rays_probe began says of them: their rays,
// what these have met, and rays from there to the lamp with whether shaders find that something stops them
// (rays_sample).
PAGE_EXPORT sap_status job_rays_sample(page_job* job) {
    const int32_t* at = job->in[0];
    const int64_t count = job->in_bytes[0] / 4;
    if (!rays.view) return page_fail(SAP_ERROR_ARGUMENT, "There is no mesh.");
    sap_ray* traced = page_answer(job, (size_t)count * sizeof *traced);
    sap_hit* hits = traced ? page_answer(job, (size_t)count * sizeof *hits) : NULL;
    sap_ray* shadows = hits ? page_answer(job, (size_t)count * sizeof *shadows) : NULL;
    uint8_t* dark = shadows ? page_answer(job, (size_t)count) : NULL;
    uint32_t *texels = NULL, shadow_count = 0;
    double right[3], up[3], forward[3];
    sap_status status = dark ? read_probe(&texels) : SAP_ERROR_MEMORY;
    lens(right, up, forward);
    for (int64_t n = 0; n < count && status == SAP_OK; n++) {
        const double x = 2 * (at[n] % rays.canvas[0] + 0.5) / rays.canvas[0] - 1;
        const double y = 1 - 2 * (at[n] / rays.canvas[0] + 0.5) / rays.canvas[1];
        float met[2];
        memcpy(met, texels + 4 * (size_t)at[n] + 1, sizeof met);
        hits[n] = (sap_hit){met[0], 0, 0, (int32_t)met[1] - 1};
        traced[n] = (sap_ray){.t_min = rays.cut, .t_max = INFINITY};
        for (int i = 0; i < 3; i++) {
            traced[n].origin[i] = rays.camera.eye[i];
            traced[n].direction[i] = (float)(forward[i] + x * right[i] + y * up[i]);
        }
        if (hits[n].triangle < 0) continue;
        sap_ray* shadow = &shadows[shadow_count++];
        *shadow = (sap_ray){.t_max = 1};
        for (int i = 0; i < 3; i++) {
            // A little ahead of the surface, as pictures do.
            const double way = (double)traced[n].direction[i] * (double)hits[n].t * 0.99999;
            shadow->origin[i] = (float)((double)traced[n].origin[i] + way);
            shadow->direction[i] = rays.light.position[i] - shadow->origin[i];
        }
    }
    free(texels);
    if (status == SAP_OK) status = sap_occluded(rays.tree, shadows, shadow_count, dark);
    job->out_bytes[RAYS_SAMPLE_SHADOWS] = shadow_count * (uint32_t)sizeof *shadows;
    job->out_bytes[RAYS_SAMPLE_DARK] = shadow_count;
    return status;
}
