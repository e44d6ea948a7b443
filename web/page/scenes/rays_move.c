// How the mesh of the scene Rays moves: the knot walks, the mesh of a file sways and twists. A vertex follows two
// bones, as much as its weights say; the library moves it with them (sap_mesh_skin).
#include "scenes/rays.h"
#include <math.h>

static const double half_turn = 3.141592653589793;

// The bone's matrix: turned about an axis through a place, by as many radians as `turn` is long, and shifted.
static void put_bone(const double turn[3], const double place[3], const double shift[3], float matrix[12]) {
    const double angle = sqrt(turn[0] * turn[0] + turn[1] * turn[1] + turn[2] * turn[2]);
    const double across = angle > 0 ? sin(angle) / angle : 1, bend = angle > 0 ? (1 - cos(angle)) / (angle * angle) : 0;
    for (int r = 0; r < 3; r++) {
        double away = place[r] + shift[r];
        for (int c = 0; c < 3; c++) {
            const double upright = r == c ? cos(angle) : turn[3 - r - c] * ((c - r + 3) % 3 == 1 ? -across : across);
            const double part = upright + bend * turn[r] * turn[c];
            matrix[4 * r + c] = (float)part;
            away -= part * place[c];
        }
        matrix[4 * r + 3] = (float)away;
    }
}

static double ramp(double t) {
    t = fmin(1, fmax(0, t));
    return t * t * (3 - 2 * t);
}

// Left foot, right foot, and both back again: four steps. A foot that stands stays where it is, and the body is in the
// middle between both.
static void walk(double seconds, float bones[RAYS_BONES][12]) {
    const double stride = 0.8, phase = fmod(1.6 * seconds, 4), lift = sin(half_turn * (phase - floor(phase)));
    const bool left = (int)phase % 2 == 0; // it is the left one that is in the air
    const double at[2] = {stride * (ramp(phase) - ramp(phase - 2)), stride * (ramp(phase - 1) - ramp(phase - 3))};
    const double lean = left ? -0.07 * lift : 0.07 * lift, twist = 0.5 * (at[1] - at[0]);
    const double body[3] = {0, 0.05 * lift, 0.5 * (at[0] + at[1])}, ground[3] = {0}, neck[3] = {0, 1.6, 0};
    for (int foot = 0; foot < 2; foot++) {
        const double up = (foot == 0) == left ? lift : 0;
        put_bone((double[3]){-0.35 * up, 0, 0}, neck, (double[3]){0, 0.3 * up, at[foot]},
                 bones[foot ? RAYS_BONE_RIGHT : RAYS_BONE_LEFT]);
    }
    put_bone((double[3]){0.05 * lift, twist, lean}, ground, body, bones[RAYS_BONE_BODY]);
    put_bone((double[3]){0.15 * lift, -twist, -lean}, neck, body, bones[RAYS_BONE_HEAD]);
}

// The top sways and twists over the ground.
static void sway(double seconds, int up, const float lower[3], const float upper[3], float bones[RAYS_BONES][12]) {
    double turn[3], ground[3];
    for (int i = 0; i < 3; i++) {
        turn[i] = i == up ? 0.5 * sin(seconds) : 0.1 * sin((1.3 + 0.4 * i) * seconds);
        ground[i] = i == up ? (double)lower[i] : 0.5 * ((double)lower[i] + (double)upper[i]);
    }
    put_bone(turn, ground, (double[3]){0}, bones[RAYS_BONE_BODY]);
}

// Vertices of a file follow the top as far as they are above the ground.
static void follow(rays_mesh* mesh, int up, const float lower[3], const float upper[3]) {
    const float height = upper[up] - lower[up];
    for (int64_t i = 0; i < mesh->vertex_count; i++) {
        const float part = height > 0 ? (mesh->rest[3 * i + up] - lower[up]) / height : 0;
        rays_follow(mesh, i, RAYS_BONE_REST, RAYS_BONE_BODY, (double)part);
    }
}

sap_status rays_mesh_move(rays_mesh* mesh, double seconds, int up, const float lower[3], const float upper[3]) {
    static const double none[3] = {0};
    float bones[RAYS_BONES][12];
    for (int i = 0; i < RAYS_BONES; i++) put_bone(none, none, none, bones[i]);
    if (mesh->walks) {
        walk(seconds, bones);
    } else {
        follow(mesh, up, lower, upper);
        sway(seconds, up, lower, upper, bones);
    }
    const sap_skin skin = {.vertices = mesh->rest,
                           .count = mesh->vertex_count,
                           .bones = mesh->bones,
                           .weights = mesh->weights,
                           .each = 2,
                           .matrices = bones[0],
                           .matrix_count = RAYS_BONES};
    return sap_mesh_skin(page_cpu(), &skin, mesh->vertices, NULL);
}
