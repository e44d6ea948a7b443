// The public functions that make, copy, check and free trees over triangles: arguments are checked here, once for all
// processors.
#include "device/reserved.h"
#include "mesh/host_view.h"
#include <math.h>
#include <string.h>

static sap_status check_mesh(const sap_device* device, const sap_mesh* mesh) {
    const int64_t most = INT32_MAX;
    if (mesh->vertex_count < 0 || mesh->triangle_count < 0)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "mesh: a count is negative");
    if (mesh->vertex_count > most || mesh->triangle_count > most)
        return sap_fail(device, SAP_ERROR_RANGE, "mesh: more than 2^31-1 vertices or triangles");
    if (!mesh->vertices && mesh->vertex_count) return sap_fail(device, SAP_ERROR_ARGUMENT, "mesh.vertices: is NULL");
    if (!mesh->triangles && mesh->triangle_count)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "mesh.triangles: is NULL");
    return SAP_OK;
}

static bool is_cost(float cost) { return cost >= 0 && cost <= 1e6F; }

const char* sap_mesh_options_wrong(const sap_mesh_tree_options* o) {
    if (o->quality < SAP_QUALITY_HIGH || o->quality > SAP_QUALITY_FAST) return "options.quality: is unknown";
    if (o->cost < SAP_COST_SURFACE || o->cost > SAP_COST_VOXELS) return "options.cost: is unknown";
    if (!(o->radius >= 0) || isinf(o->radius)) return "options.radius: is negative or not finite";
    if (!is_cost(o->traversal_cost)) return "options.traversal_cost: is not in 0…1e6";
    if (!is_cost(o->intersection_cost)) return "options.intersection_cost: is not in 0…1e6";
    if (!(o->empty_space >= 0 && o->empty_space < 1)) return "options.empty_space: is not in 0…1";
    if (o->small_node < 0 || o->small_node > 64) return "options.small_node: is not in 0…64";
    if (o->depth < 0 || o->depth > SAP_MESH_DEPTH_MAX) return "options.depth: is not in 0…64";
    return NULL;
}

static sap_status complete_options(const sap_device* device, const sap_mesh_tree_options* given,
                                   sap_mesh_tree_options* options) {
    memset(options, 0, sizeof *options);
    if (given) {
        sap_status status = sap_reserved_check(device, given->reserved, "options");
        if (status != SAP_OK) return status;
        options->quality = given->quality;
        options->cost = given->cost;
        options->radius = given->radius;
        options->traversal_cost = given->traversal_cost;
        options->intersection_cost = given->intersection_cost;
        options->empty_space = given->empty_space;
        options->small_node = given->small_node;
        options->depth = given->depth;
        options->memory = given->memory;
    }
    const char* wrong = sap_mesh_options_wrong(options);
    if (wrong) return sap_fail(device, SAP_ERROR_ARGUMENT, "%s", wrong);
    if (options->traversal_cost == 0) options->traversal_cost = 5;
    if (options->intersection_cost == 0) options->intersection_cost = 1;
    if (options->empty_space == 0) options->empty_space = 0.25F;
    if (options->small_node == 0) options->small_node = 64;
    return SAP_OK;
}

sap_mesh_tree* sap_mesh_tree_new(sap_device* device) {
    sap_mesh_tree* tree = sap_memory_allocate_zero(device, sizeof *tree);
    if (tree)
        tree->device = device;
    else
        sap_fail(device, SAP_ERROR_MEMORY, "no memory for a tree");
    return tree;
}

sap_status sap_mesh_tree_build(sap_device* device, sap_mesh mesh, const sap_mesh_tree_options* options,
                               sap_mesh_tree** tree) {
    sap_mesh_tree_options complete;
    if (!device) return SAP_ERROR_ARGUMENT;
    if (!tree) return sap_fail(device, SAP_ERROR_ARGUMENT, "tree: is NULL");
    sap_status status = check_mesh(device, &mesh);
    if (status == SAP_OK) status = complete_options(device, options, &complete);
    if (status != SAP_OK) return status;
    if (!SAP_CAN(device, mesh, build)) return sap_unsupported(device, "build trees over triangles");
    sap_mesh_tree* built = sap_mesh_tree_new(device);
    if (!built) return SAP_ERROR_MEMORY;
    built->options = complete;
    status = device->rooms.mesh->build(built, &mesh);
    if (status == SAP_OK)
        *tree = built;
    else
        sap_mesh_tree_free(built);
    return status;
}

// Whether a tree may be changed into one over this mesh.
static sap_status check_change(const sap_mesh_tree* tree, const sap_mesh* mesh) {
    sap_status status = check_mesh(tree->device, mesh);
    if (status != SAP_OK) return status;
    if (tree->memory.mapping)
        return sap_fail(tree->device, SAP_ERROR_UNSUPPORTED,
                        "tree: was loaded and lies as it was saved, so it cannot be rebuilt; copy it first");
    return SAP_CAN(tree->device, mesh, build) ? SAP_OK : sap_unsupported(tree->device, "build trees over triangles");
}

static sap_status rebuild(sap_mesh_tree* tree, const sap_mesh* mesh) {
    const sap_status status = tree->device->rooms.mesh->build(tree, mesh);
    if (status == SAP_OK) tree->plan.made = false;
    return status;
}

sap_status sap_mesh_tree_rebuild(sap_mesh_tree* tree, sap_mesh mesh) {
    if (!tree) return SAP_ERROR_ARGUMENT;
    const sap_status status = check_change(tree, &mesh);
    return status == SAP_OK ? rebuild(tree, &mesh) : status;
}

sap_status sap_mesh_tree_refit(sap_mesh_tree* tree, sap_mesh mesh, double* loss) {
    if (!tree) return SAP_ERROR_ARGUMENT;
    const bool can = SAP_CAN(tree->device, mesh, refit); // where not, a new tree takes about as long
    bool too_far = !can;
    double got = 1;
    sap_status status = check_change(tree, &mesh);
    if (status != SAP_OK) return status;
    if (mesh.triangle_count != tree->shape.triangles)
        return sap_fail(tree->device, SAP_ERROR_ARGUMENT,
                        "mesh: has %lld triangles, but the tree was built over %lld; rebuild it",
                        (long long)mesh.triangle_count, (long long)tree->shape.triangles);
    if (can && mesh.triangle_count) status = tree->device->rooms.mesh->refit(tree, &mesh, loss ? &got : NULL, &too_far);
    if (status == SAP_OK && too_far) status = rebuild(tree, &mesh);
    if (status == SAP_OK && loss) *loss = too_far ? 1 : got;
    return status;
}

// Fills a tree that has device, options and shape.
static sap_status fill(sap_mesh_tree* tree, const unsigned char* arrays) {
    if (tree->device->rooms.mesh->copy_in) return tree->device->rooms.mesh->copy_in(tree, arrays);
    const sap_mesh_tree_shape shape = tree->shape;
    sap_status status = sap_mesh_tree_reserve(tree, &shape);
    if (status == SAP_OK) memcpy(tree->arrays, arrays, shape.bytes);
    return status;
}

sap_status sap_mesh_tree_copy(const sap_mesh_tree* tree, sap_device* target, sap_mesh_tree** copy) {
    if (!tree) return SAP_ERROR_ARGUMENT;
    if (!target) return sap_fail(tree->device, SAP_ERROR_ARGUMENT, "target: is NULL");
    if (!copy) return sap_fail(tree->device, SAP_ERROR_ARGUMENT, "copy: is NULL");
    if (!target->rooms.mesh) return sap_unsupported(target, "keep trees over triangles");
    sap_mesh_view view;
    sap_status status = sap_mesh_view_open(tree, &view);
    if (status != SAP_OK) return status;
    sap_mesh_tree* made = sap_mesh_tree_new(target);
    if (made) {
        made->options = tree->options;
        made->shape = tree->shape;
        status = fill(made, view.tree.arrays);
    } else {
        status = SAP_ERROR_MEMORY;
    }
    sap_mesh_view_close(&view);
    if (status == SAP_OK)
        *copy = made;
    else
        sap_mesh_tree_free(made);
    return status;
}

sap_status sap_mesh_tree_verify(const sap_mesh_tree* tree) {
    if (!tree) return SAP_ERROR_ARGUMENT;
    sap_mesh_view view;
    sap_status status = sap_mesh_view_open(tree, &view);
    if (status != SAP_OK) return status;
    status = sap_mesh_verify_cpu(&view.tree);
    sap_mesh_view_close(&view);
    return status;
}

void sap_mesh_tree_free(sap_mesh_tree* tree) {
    if (!tree) return;
    sap_device* device = tree->device;
    if (!device->rooms.mesh->copy_out) sap_mesh_refit_plan_free(tree);
    if (device->rooms.mesh->free_arrays)
        device->rooms.mesh->free_arrays(tree);
    else
        sap_tree_memory_release(device, &tree->memory, &tree->arrays);
    sap_memory_release(device, tree, sizeof *tree);
}
