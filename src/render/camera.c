// Cameras: where they stand, and the rays that they send.
#include "base/assert.h"
#include "render/picture.h"

static const float default_fov = 35;

sap_vector sap_camera_up(const sap_camera* camera) {
    sap_vector up = sap_unit(sap_vector_of(camera->up));
    return sap_dot(up, up) > 0 ? up : (sap_vector){0, 1, 0};
}

static double half_height(const sap_camera* camera) {
    double part = (double)(camera->fov > 0 ? camera->fov : default_fov) / 180; // of a quarter turn
    return sap_quarter_sine(part) / sap_quarter_sine(1 - part);
}

// Right and up as seen along a unit vector. Looking straight up or down, any way will do.
static void span(sap_vector forward, sap_vector up, sap_vector* right, sap_vector* above) {
    sap_vector across = sap_cross(forward, up);
    if (!(sap_dot(across, across) > 1e-12f)) {
        sap_vector other;
        sap_frame_of(forward, &across, &other);
    }
    *right = sap_unit(across);
    *above = sap_cross(*right, forward);
}

void sap_lens_aim(const sap_camera* camera, int32_t width, int32_t height, sap_lens* lens) {
    SAP_ASSERT(width > 0 && height > 0);
    sap_vector up = sap_camera_up(camera), right, above;
    double half = half_height(camera);
    lens->eye = sap_vector_of(camera->eye);
    lens->forward = sap_unit(sap_minus(sap_vector_of(camera->at), lens->eye));
    span(lens->forward, up, &right, &above);
    lens->right = sap_times(right, (float)(half * width / height));
    lens->up = sap_times(above, (float)half);
}

void sap_box_around(const float lower[3], const float upper[3], sap_vector* middle, double* radius) {
    sap_vector low = {-0.5f, -0.5f, -0.5f}, high = {0.5f, 0.5f, 0.5f};
    if (lower[0] <= upper[0]) {
        low = sap_vector_of(lower);
        high = sap_vector_of(upper);
    }
    // Halved first: the sum of two large coordinates may be no float any more.
    *middle = sap_plus(sap_times(low, 0.5f), sap_times(high, 0.5f));
    *radius = sap_length(sap_minus(sap_times(high, 0.5f), sap_times(low, 0.5f)));
    if (!(*radius > 0)) *radius = 0.5;
}

// How far from `at` the eye has to be to see the whole box.
static double distance_to_see(const float lower[3], const float upper[3], sap_vector at, const sap_lens* lens) {
    sap_vector right = sap_unit(lens->right), above = sap_unit(lens->up);
    double wide = sap_length(lens->right), high = sap_length(lens->up), most = 0;
    bool any = lower[0] <= upper[0];
    for (int corner = 0; corner < 8; corner++) {
        float place[3];
        for (int a = 0; a < 3; a++) place[a] = corner >> a & 1 ? (any ? upper[a] : 0.5f) : (any ? lower[a] : -0.5f);
        sap_vector from = sap_minus(sap_vector_of(place), at);
        double depth = (double)sap_dot(from, lens->forward);
        double x = (double)sap_magnitude(sap_dot(from, right)) / wide;
        double y = (double)sap_magnitude(sap_dot(from, above)) / high, need = (x > y ? x : y) - depth;
        if (need > most) most = need;
    }
    return most;
}

static bool good_camera(const sap_camera* c) {
    return sap_finite(sap_vector_of(c->eye)) && sap_finite(sap_vector_of(c->at)) && sap_finite(sap_vector_of(c->up)) &&
           c->fov >= 0 && c->fov <= 179;
}

sap_status sap_camera_frame_box(const float lower[3], const float upper[3], int32_t width, int32_t height,
                                sap_camera* camera) {
    if (!lower || !upper || !camera || width < 1 || height < 1 || !good_camera(camera)) return SAP_ERROR_ARGUMENT;
    const double margin = 1.06;
    double radius;
    sap_vector middle, up = sap_camera_up(camera), at = sap_vector_of(camera->at);
    sap_vector forward = sap_unit(sap_minus(at, sap_vector_of(camera->eye)));
    sap_box_around(lower, upper, &middle, &radius);
    if (!(sap_dot(forward, forward) > 0)) {
        sap_vector u, v;
        at = middle;
        sap_frame_of(up, &u, &v); // y up: u is x, v is -z
        sap_vector level = sap_unit(sap_minus(sap_times(u, 0.45f), sap_times(v, 0.89f)));
        forward = sap_unit(sap_plus(sap_times(level, -0.92f), sap_times(up, -0.38f)));
    }
    if (!(camera->fov > 0)) camera->fov = default_fov;
    *camera = (sap_camera){.up = {up.x, up.y, up.z}, .fov = camera->fov, .at = {forward.x, forward.y, forward.z}};
    sap_lens lens;
    sap_lens_aim(camera, width, height, &lens);
    double distance = distance_to_see(lower, upper, at, &lens) * margin;
    if (!(distance > 0)) distance = radius;
    sap_vector eye = sap_minus(at, sap_times(forward, (float)distance));
    *camera = (sap_camera){{eye.x, eye.y, eye.z}, {at.x, at.y, at.z}, {up.x, up.y, up.z}, camera->fov};
    return SAP_OK;
}

sap_status sap_camera_frame(const sap_mesh_tree* tree, int32_t width, int32_t height, sap_camera* camera) {
    if (!tree) return SAP_ERROR_ARGUMENT;
    return sap_camera_frame_box(tree->shape.lower, tree->shape.upper, width, height, camera);
}
