// The worker's part of the scene Rays: meshes are made or read, trees built over them, and rays that shaders have
// traced compared with brute force.
#include "scenes/meshes.h"
#include "scenes/rays.h"
#include <emscripten.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// The shared texts of rays, which shaders run as well: brute force with the test of triangles is the whole truth.
#include "ray/walk_cpu.h"

static struct {
    rays_mesh mesh;
    sap_mesh_tree* tree;
    double milliseconds;      // that building it took
    double moving;            // that moving the vertices took
    float lower[3], upper[3]; // of the mesh at rest
    bool fast;                // it was built quickly
} built;

static sap_status no_memory(void) { return page_fail(SAP_ERROR_MEMORY, "There is no memory here for this mesh."); }

// Puts bytes into the answer.
static bool put(page_job* job, const void* bytes, size_t size) {
    void* to = page_answer(job, size);
    if (to && size) memcpy(to, bytes, size);
    return to != NULL;
}

static sap_status put_tree(page_job* job) {
    int64_t size = 0;
    sap_status status = sap_mesh_tree_saved_size(built.tree, &size);
    void* bytes = status == SAP_OK ? page_answer(job, (size_t)size) : NULL;
    if (status == SAP_OK && !bytes) return SAP_ERROR_MEMORY;
    return status == SAP_OK ? sap_mesh_tree_save_memory(built.tree, bytes, size) : status;
}

// The tree and the mesh (rays_built); buffers in the order of rays_buffer.
static sap_status answer(page_job* job) {
    const rays_mesh* m = &built.mesh;
    sap_mesh_tree_info info;
    sap_status status = sap_mesh_tree_describe(built.tree, &info);
    if (status == SAP_OK) status = put_tree(job);
    if (status != SAP_OK) return status;
    job->number[RAYS_BUILT_MILLISECONDS] = built.milliseconds;
    job->number[RAYS_BUILT_MOVING] = built.moving;
    job->number[RAYS_BUILT_TRIANGLES] = (double)m->triangle_count;
    job->number[RAYS_BUILT_VERTICES] = (double)m->vertex_count;
    job->number[RAYS_BUILT_NODES] = (double)info.nodes;
    job->number[RAYS_BUILT_DEPTH] = info.depth;
    for (int i = 0; i < 3; i++) {
        job->number[RAYS_BUILT_LOWER_X + i] = (double)built.lower[i];
        job->number[RAYS_BUILT_UPPER_X + i] = (double)built.upper[i];
    }
    const size_t vertices = (size_t)m->vertex_count, triangles = (size_t)m->triangle_count;
    bool fits = put(job, m->vertices, vertices * 12) && put(job, m->triangles, triangles * 12) &&
                put(job, m->colors, m->colors ? vertices * 12 : 0) &&
                put(job, m->material_ids, m->material_ids ? triangles * 4 : 0) &&
                put(job, m->materials, (size_t)m->material_count * sizeof *m->materials);
    return fits ? SAP_OK : SAP_ERROR_MEMORY;
}

// Builds over a mesh, which becomes the one that there is if that works; over the one that there is into the memory of
// its tree.
static sap_status build(page_job* job, rays_mesh* mesh) {
    const bool fast = job->number[RAYS_ASK_FAST] != 0, again = mesh == &built.mesh && fast == built.fast;
    const sap_mesh_tree_options options = {.quality = fast ? SAP_QUALITY_FAST : SAP_QUALITY_HIGH};
    const sap_mesh triangles = {mesh->vertices, mesh->vertex_count, mesh->triangles, mesh->triangle_count};
    sap_mesh_tree* tree = built.tree;
    if (!page_cpu()) return no_memory();
    const double begun = emscripten_get_now();
    sap_status status =
        again ? sap_mesh_tree_rebuild(tree, triangles) : sap_mesh_tree_build(page_cpu(), triangles, &options, &tree);
    if (status != SAP_OK) return status;
    built.milliseconds = emscripten_get_now() - begun;
    if (!again) sap_mesh_tree_free(built.tree);
    built.tree = tree;
    built.fast = fast;
    if (mesh == &built.mesh) return answer(job);
    sap_mesh_tree_info info;
    status = sap_mesh_tree_describe(tree, &info);
    memcpy(built.lower, info.lower, sizeof built.lower);
    memcpy(built.upper, info.upper, sizeof built.upper);
    rays_mesh_free(&built.mesh);
    built.mesh = *mesh;
    memset(mesh, 0, sizeof *mesh);
    return status == SAP_OK ? answer(job) : status;
}

// The built-in mesh (rays_ask, rays_make).
PAGE_EXPORT sap_status job_rays_make(page_job* job) {
    rays_mesh mesh;
    if (!rays_mesh_make((int64_t)job->number[RAYS_MAKE_TRIANGLES], &mesh)) return no_memory();
    sap_status status = build(job, &mesh);
    rays_mesh_free(&mesh);
    return status;
}

// The mesh that there is once more (rays_ask).
PAGE_EXPORT sap_status job_rays_again(page_job* job) {
    if (!built.tree) return page_fail(SAP_ERROR_ARGUMENT, "There is no mesh yet.");
    return (job->number[RAYS_ASK_FAST] != 0) == built.fast ? answer(job) : build(job, &built.mesh);
}

// The mesh that there is at another time (rays_ask, rays_move).
PAGE_EXPORT sap_status job_rays_move(page_job* job) {
    if (!built.tree) return page_fail(SAP_ERROR_ARGUMENT, "There is no mesh yet.");
    const double begun = emscripten_get_now();
    sap_status status = rays_mesh_move(&built.mesh, job->number[RAYS_MOVE_SECONDS],
                                       job->number[RAYS_MOVE_UP] == 2 ? 2 : 1, built.lower, built.upper);
    built.moving = emscripten_get_now() - begun;
    return status == SAP_OK ? build(job, &built.mesh) : status;
}

// One of the two trees over the mesh, in the numbers of its builder and in those of an average ray (rays_compared).
static sap_status measure(bool fast, const sap_ray* rays, int64_t count, double* number) {
    const rays_mesh* m = &built.mesh;
    const sap_mesh_tree_options options = {.quality = fast ? SAP_QUALITY_FAST : SAP_QUALITY_HIGH};
    const sap_mesh triangles = {m->vertices, m->vertex_count, m->triangles, m->triangle_count};
    sap_mesh_tree* tree = NULL;
    sap_mesh_tree_info info;
    const double begun = emscripten_get_now();
    sap_status status = sap_mesh_tree_build(page_cpu(), triangles, &options, &tree);
    number[RAYS_COMPARED_MILLISECONDS] = emscripten_get_now() - begun;
    if (status == SAP_OK) status = sap_mesh_tree_describe(tree, &info);
    for (int64_t i = 0; i < count && status == SAP_OK; i++) {
        const sap_ray_result found = sap_ray_walk_cpu(tree, rays + i, sap_mesh_magnitude(tree), false);
        number[RAYS_COMPARED_VISITS] += (double)found.visits / (double)count;
        number[RAYS_COMPARED_HITS] += found.triangle >= 0;
    }
    if (status == SAP_OK) {
        number[RAYS_COMPARED_COST] = info.cost;
        number[RAYS_COMPARED_NODES] = (double)info.nodes;
        number[RAYS_COMPARED_RAYS] = (double)count;
    }
    sap_mesh_tree_free(tree);
    return status;
}

// Both trees over the mesh that there is, beside each other (rays_camera; rays_compared).
PAGE_EXPORT sap_status job_rays_compare(page_job* job) {
    enum { SIDE = 64 };
    double camera[RAYS_CAMERA_FIELDS];
    sap_ray* rays = malloc(SIDE * SIDE * sizeof *rays);
    if (!rays) return no_memory();
    sap_status status = built.tree ? SAP_OK : page_fail(SAP_ERROR_ARGUMENT, "There is no mesh yet.");
    memcpy(camera, job->number, sizeof camera);
    memset(job->number, 0, sizeof job->number);
    for (int n = 0; n < SIDE * SIDE && status == SAP_OK; n++) {
        const double x = 2 * (n % SIDE + 0.5) / SIDE - 1, y = 1 - 2 * (n / SIDE + 0.5) / SIDE;
        rays[n] = (sap_ray){.t_max = INFINITY};
        for (int i = 0; i < 3; i++) {
            rays[n].origin[i] = (float)camera[RAYS_CAMERA_EYE + i];
            rays[n].direction[i] = (float)(camera[RAYS_CAMERA_FORWARD + i] + x * camera[RAYS_CAMERA_RIGHT + i] +
                                           y * camera[RAYS_CAMERA_UP + i]);
        }
    }
    for (int fast = 0; fast < 2 && status == SAP_OK; fast++)
        status = measure(fast, rays, SIDE * SIDE, job->number + fast * RAYS_COMPARED_FIELDS);
    free(rays);
    return status;
}

static void* copied(const void* from, size_t bytes, bool* good) {
    void* to = from && bytes ? malloc(bytes) : NULL;
    if (to) memcpy(to, from, bytes);
    *good = *good && (to || !from || !bytes);
    return to;
}

static bool take_file(const sap_mesh_file* file, rays_mesh* mesh) {
    const size_t vertices = (size_t)file->mesh.vertex_count, triangles = (size_t)file->mesh.triangle_count;
    *mesh = (rays_mesh){.vertex_count = file->mesh.vertex_count, .triangle_count = file->mesh.triangle_count};
    bool good = rays_mesh_room(mesh, mesh->vertex_count, mesh->triangle_count);
    if (!good) return false;
    memcpy(mesh->vertices, file->mesh.vertices, vertices * 12);
    memcpy(mesh->rest, file->mesh.vertices, vertices * 12);
    memcpy(mesh->triangles, file->mesh.triangles, triangles * 12);
    mesh->colors = copied(file->colors, vertices * 12, &good);
    if (file->material_ids && file->material_count) {
        mesh->material_ids = copied(file->material_ids, triangles * 4, &good);
        mesh->material_count = file->material_count;
        mesh->materials = malloc((size_t)file->material_count * sizeof *mesh->materials);
        good = good && mesh->materials;
    }
    for (int32_t i = 0; good && i < mesh->material_count; i++) {
        const sap_material* m = &file->materials[i];
        float* to = mesh->materials[i];
        memcpy(to, m->diffuse, 12);
        memcpy(to + 3, m->specular, 12);
        memcpy(to + 6, m->emission, 12);
        to[9] = m->shininess;
        to[10] = m->opacity;
        to[11] = m->refraction;
        to[12] = (float)m->illum;
    }
    return good;
}

// Reads a mesh from a file (page_file, rays_ask).
PAGE_EXPORT sap_status job_rays_read(page_job* job) {
    sap_mesh_file* file = NULL;
    rays_mesh mesh = {0};
    if (!page_cpu()) return no_memory();
    sap_status status = sap_mesh_parse(page_cpu(), job->in[PAGE_FILE_BYTES], job->in_bytes[PAGE_FILE_BYTES],
                                       page_mesh_format(job->in[PAGE_FILE_NAME]), NULL, &file);
    if (status != SAP_OK) return status;
    const long long triangles = file->mesh.triangle_count;
    if (triangles == 0)
        status = page_fail(SAP_ERROR_FORMAT, "It holds no triangles.");
    else if (triangles > RAYS_MOST)
        status = page_fail(SAP_ERROR_RANGE, "It holds %lld triangles; the page takes up to %d.", triangles, RAYS_MOST);
    else if (!take_file(file, &mesh))
        status = no_memory();
    sap_mesh_file_free(file);
    if (status == SAP_OK) status = build(job, &mesh);
    rays_mesh_free(&mesh);
    return status;
}

// The first triangle of all that a ray meets.
static sap_hit brute_force(const sap_ray* ray) {
    const rays_mesh* m = &built.mesh;
    sap_hit best = {INFINITY, 0, 0, -1};
    const sap_prepared_ray prepared =
        sap_ray_prepare(sap_vector_of(ray->origin), sap_vector_of(ray->direction), ray->t_min, ray->t_max, 1);
    for (int64_t i = 0; i < m->triangle_count && prepared.is_ray; i++) {
        const int32_t* t = m->triangles + 3 * i;
        const sap_triangle triangle = {sap_vector_of(m->vertices + 3 * (int64_t)t[0]),
                                       sap_vector_of(m->vertices + 3 * (int64_t)t[1]),
                                       sap_vector_of(m->vertices + 3 * (int64_t)t[2])};
        const sap_crossing hit = sap_triangle_cross(prepared, triangle);
        if (hit.is_hit && hit.t < best.t) best = (sap_hit){hit.t, hit.u, hit.v, (int32_t)i};
    }
    return best;
}

// Whether a ray that goes past the given one by what floats round meets the triangle that was named.
static bool is_beside(const sap_ray* ray, int32_t triangle) {
    double size = 0;
    for (int i = 0; i < 3; i++) size = fmax(size, fabs((double)ray->direction[i]));
    for (int n = 0; n < 6; n++) {
        sap_ray moved = *ray;
        moved.direction[n / 2] += (float)((n % 2 ? 2e-6 : -2e-6) * size);
        if (brute_force(&moved).triangle == triangle) return true;
    }
    return false;
}

// Compares what a picture says its rays meet with brute force (rays_sample; rays_checked).
PAGE_EXPORT sap_status job_rays_check(page_job* job) {
    const sap_ray *rays = job->in[RAYS_SAMPLE_RAYS], *shadows = job->in[RAYS_SAMPLE_SHADOWS];
    const sap_hit* hits = job->in[RAYS_SAMPLE_HITS];
    const uint8_t* dark = job->in[RAYS_SAMPLE_DARK];
    const int64_t count = (int64_t)(job->in_bytes[RAYS_SAMPLE_HITS] / sizeof *hits);
    const int64_t shadow_count = job->in_bytes[RAYS_SAMPLE_DARK];
    int64_t all_same = 0, all_near = 0, shadows_same = 0;
    for (int64_t i = 0; i < count; i++) {
        const sap_hit truth = brute_force(&rays[i]);
        const bool same = truth.triangle == hits[i].triangle;
        const bool near =
            same && (truth.triangle < 0 || fabs((double)hits[i].t - (double)truth.t) <= 1e-4 * (double)truth.t);
        all_same += near;
        all_near += !same && is_beside(&rays[i], hits[i].triangle);
    }
    for (int64_t i = 0; i < shadow_count; i++)
        shadows_same += (brute_force(&shadows[i]).triangle >= 0) == (dark[i] != 0);
    job->number[RAYS_CHECKED_SAME] = (double)all_same;
    job->number[RAYS_CHECKED_NEAR] = (double)all_near;
    job->number[RAYS_CHECKED_RAYS] = (double)count;
    job->number[RAYS_CHECKED_SHADOWS_SAME] = (double)shadows_same;
    job->number[RAYS_CHECKED_SHADOWS] = (double)shadow_count;
    return SAP_OK;
}
