// What one ray does in the tree, told step by step: the library's walk, over accessors that note what it reads.
#include "math/dialect.h"
#include "mesh/layout.h"
#include "ray/ray.h"
#include "scenes/rays.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mesh/access.h"

#define SAP_MESH_STACK SAP_MESH_DEPTH_MAX
#include "ray/intersect.h"

enum { MOST_NOTES = 4096 };

typedef double note[RAYS_NOTE_FIELDS];

static struct {
    sap_prepared_ray ray;
    note* notes; // [MOST_NOTES]; walks may be longer
    int count;
    uint32_t last; // the node that the walk has read
} told;

// ---- What the walk's text calls

// The cell and the depth of a node, of which the walk has read the parent.
static void find_cell(const sap_mesh_tree* mesh, SAP_BITS node, double* fields) {
    for (int i = 0; i < 3; i++) {
        fields[RAYS_NOTE_X0 + i] = (double)mesh->shape.lower[i];
        fields[RAYS_NOTE_X1 + i] = (double)mesh->shape.upper[i];
    }
    for (int i = told.count - 2; i >= 0; i--) {
        const double* above = told.notes[i];
        if (above[RAYS_NOTE_KIND] != RAYS_NOTE_KIND_PLANE) continue;
        const SAP_BITS parent = (SAP_BITS)above[RAYS_NOTE_NODE];
        const bool is_left = parent + 1 == node;
        if (!is_left && sap_mesh_step_at(mesh, parent).right != node) continue;
        memcpy(fields + RAYS_NOTE_X0, above + RAYS_NOTE_X0, 6 * sizeof *fields);
        fields[(is_left ? RAYS_NOTE_X1 : RAYS_NOTE_X0) + (int)above[RAYS_NOTE_AXIS]] = above[RAYS_NOTE_SPLIT];
        fields[RAYS_NOTE_DEPTH] = above[RAYS_NOTE_DEPTH] + 1;
        return;
    }
}

static sap_mesh_step noted_step_at(const sap_mesh_tree* mesh, SAP_BITS node) {
    const sap_mesh_step step = sap_mesh_step_at(mesh, node);
    told.last = node;
    if (told.count == MOST_NOTES) return step;
    double* fields = told.notes[told.count++];
    memset(fields, 0, sizeof told.notes[0]);
    fields[RAYS_NOTE_KIND] = step.is_leaf ? RAYS_NOTE_KIND_LEAF : RAYS_NOTE_KIND_PLANE;
    fields[RAYS_NOTE_NODE] = node;
    fields[RAYS_NOTE_AXIS] = step.axis;
    fields[RAYS_NOTE_SPLIT] = step.is_leaf ? 0 : (double)step.split;
    fields[RAYS_NOTE_COUNT] = step.is_leaf ? step.count : 0;
    find_cell(mesh, node, fields);
    float corners[6];
    for (int i = 0; i < 6; i++) corners[i] = (float)fields[RAYS_NOTE_X0 + i];
    const sap_span span = sap_ray_clip(told.ray, sap_vector_of(corners), sap_vector_of(corners + 3));
    fields[RAYS_NOTE_FROM] = (double)span.from;
    fields[RAYS_NOTE_TO] = (double)span.to;
    return step;
}

static sap_triangle noted_triangle(const sap_mesh_tree* mesh, SAP_BITS place) {
    const sap_triangle triangle = sap_mesh_triangle(mesh, place);
    if (told.count == MOST_NOTES) return triangle;
    const sap_vector corners[3] = {triangle.a, triangle.b, triangle.c};
    double* fields = told.notes[told.count++];
    memset(fields, 0, sizeof told.notes[0]);
    fields[RAYS_NOTE_KIND] = RAYS_NOTE_KIND_TRIANGLE;
    fields[RAYS_NOTE_NODE] = told.last;
    fields[RAYS_NOTE_TRIANGLE] = sap_mesh_id(mesh, place);
    for (int i = 0; i < 9; i++) fields[RAYS_NOTE_X0 + i] = (double)sap_pick(corners[i / 3], i % 3);
    return triangle;
}

static sap_crossing noted_cross(sap_prepared_ray ray, sap_triangle triangle) {
    const sap_crossing hit = sap_triangle_cross(ray, triangle);
    double* fields = told.notes[told.count - 1];
    if (fields[RAYS_NOTE_KIND] == RAYS_NOTE_KIND_TRIANGLE && hit.is_hit) {
        fields[RAYS_NOTE_HIT] = 1;
        fields[RAYS_NOTE_T] = (double)hit.t;
    }
    return hit;
}

#define sap_mesh_step_at   noted_step_at
#define sap_mesh_triangle  noted_triangle
#define sap_triangle_cross noted_cross

#include "ray/walk.h"

// ---- What the page asks

static sap_ray ray_of(const rays_lens* lens, double x, double y) {
    sap_ray ray = {.t_max = INFINITY};
    for (int i = 0; i < 3; i++) {
        ray.origin[i] = (float)lens->eye[i];
        ray.direction[i] = (float)(lens->forward[i] + x * lens->right[i] + y * lens->up[i]);
    }
    return ray;
}

// Tells the ray of a pixel (rays_tell; rays_told, and a buffer of rays_note).
PAGE_EXPORT sap_status job_rays_told(page_job* job) {
    double* number = job->number;
    const sap_mesh_tree* tree = rays_shown();
    int32_t size[2];
    rays_lens lens;
    if (!tree) return page_fail(SAP_ERROR_ARGUMENT, "There is no mesh yet.");
    if (!told.notes && !(told.notes = malloc(MOST_NOTES * sizeof *told.notes)))
        return page_fail(SAP_ERROR_MEMORY, "There is no memory here to tell a ray.");
    rays_canvas(size);
    rays_lens_from(number + RAYS_TELL_YAW, &lens);
    const sap_ray ray =
        ray_of(&lens, 2 * (number[RAYS_TELL_X] + 0.5) / size[0] - 1, 1 - 2 * (number[RAYS_TELL_Y] + 0.5) / size[1]);
    told.ray = sap_ray_prepare(sap_vector_of(ray.origin), sap_vector_of(ray.direction), ray.t_min, ray.t_max,
                               sap_mesh_magnitude(tree));
    told.count = 0;
    const sap_ray_result found = sap_ray_walk(tree, told.ray, sap_mesh_lower(tree), sap_mesh_upper(tree), false);
    double* notes = page_answer(job, (size_t)told.count * sizeof *told.notes);
    if (!notes) return SAP_ERROR_MEMORY;
    memcpy(notes, told.notes, (size_t)told.count * sizeof *told.notes);
    rays_lens_from(NULL, &lens);
    memcpy(number + RAYS_TOLD_CAMERA, &lens, sizeof lens);
    for (int i = 0; i < 3; i++) {
        number[RAYS_TOLD_ORIGIN + i] = (double)ray.origin[i];
        number[RAYS_TOLD_DIRECTION + i] = (double)ray.direction[i];
        number[RAYS_TOLD_LOWER + i] = (double)tree->shape.lower[i];
        number[RAYS_TOLD_UPPER + i] = (double)tree->shape.upper[i];
    }
    number[RAYS_TOLD_NODES] = (double)(tree->shape.nodes - tree->shape.leaves);
    number[RAYS_TOLD_LEAVES] = (double)tree->shape.leaves;
    number[RAYS_TOLD_TRIANGLES] = (double)tree->shape.triangles;
    number[RAYS_TOLD_TRIANGLE] = found.triangle;
    number[RAYS_TOLD_T] = found.triangle < 0 ? 0 : (double)found.t;
    number[RAYS_TOLD_VISITS] = found.visits;
    return SAP_OK;
}

void rays_told_stop(void) {
    free(told.notes);
    told.notes = NULL;
}
