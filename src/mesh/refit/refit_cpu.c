// Refitting a tree over triangles on the CPU: its planes move with the corners that they are tied to (mesh/refit/plan.h),
// then all triangles are sent down the tree anew.
#include "mesh/load.h"
#include "mesh/refit/refit.h"

sap_status sap_refit_no_memory(const sap_refit* r) {
    return sap_fail(r->tree->device, SAP_ERROR_MEMORY, "no memory to refit a tree over %lld triangles",
                    (long long)r->plan->triangles);
}

typedef struct request {
    void** array;
    size_t bytes;
} request;

static sap_status take_memory(sap_refit* r, bool is_priced) {
    const size_t nodes = (size_t)r->plan->nodes, triangles = (size_t)r->plan->triangles;
    const size_t node_stretches = nodes / SAP_REFIT_NODES + 1;
    const request requests[] = {
        {(void**)&r->corners, (triangles * SAP_TRIANGLE_FLOATS + SAP_TRIANGLE_PADDING) * sizeof *r->corners},
        {(void**)&r->parts, triangles * sizeof *r->parts},
        {(void**)&r->place, triangles * sizeof *r->place},
        {(void**)&r->planes, nodes * sizeof *r->planes},
        {(void**)&r->number, nodes * sizeof *r->number},
        {(void**)&r->surfaces, is_priced ? nodes * sizeof *r->surfaces : 0},
        {(void**)&r->nodes, nodes * sizeof *r->nodes},
        {(void**)&r->planar_left, nodes},
        {(void**)&r->counts, nodes * sizeof *r->counts},
        {(void**)&r->firsts, nodes * sizeof *r->firsts},
        {(void**)&r->cursors, nodes * sizeof *r->cursors},
        {(void**)&r->node_stretches, node_stretches * sizeof *r->node_stretches},
        {(void**)&r->stretches, (size_t)sap_refit_stretches(r->plan->triangles) * sizeof *r->stretches}};
    const size_t count = sizeof requests / sizeof *requests;
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++) bytes += sap_align(requests[i].bytes);
    if (!sap_scratch_take(r->tree->device, bytes, &r->scratch)) return sap_refit_no_memory(r);
    unsigned char* at = r->scratch.memory;
    for (size_t i = 0; i < count; i++) {
        *requests[i].array = requests[i].bytes ? at : NULL;
        at += sap_align(requests[i].bytes);
    }
    return SAP_OK;
}

static sap_status run(sap_refit* r, double* loss, bool* too_far) {
    sap_status status = take_memory(r, loss != NULL);
    if (status == SAP_OK) status = sap_mesh_load(r->tree->device, r->mesh, r->corners, r->parts, &r->bounds);
    if (status != SAP_OK) return status;
    for (int k = 0; k < 3; k++) { // -0 becomes 0, as in a build
        r->bounds.lower[k] += 0.0F;
        r->bounds.upper[k] += 0.0F;
    }
    sap_refit_make_nodes(r);
    status = sap_refit_send(r, too_far);
    if (status != SAP_OK || *too_far) return status;
    *too_far = !sap_refit_place_leaves(r);
    if (*too_far) return SAP_OK;
    if (!sap_mesh_shape_places(&r->shape))
        return sap_fail(r->tree->device, SAP_ERROR_RANGE, "mesh: the tree needs more memory than can be addressed");
    status = sap_mesh_tree_reserve(r->tree, &r->shape);
    if (status != SAP_OK) return status;
    sap_refit_write(r);
    if (loss) *loss = r->plan->cost > 0 ? sap_refit_expected_cost(r) / r->plan->cost : 1;
    return SAP_OK;
}

sap_status sap_mesh_refit_cpu(sap_mesh_tree* tree, const sap_mesh* mesh, double* loss, bool* too_far) {
    const sap_status status = sap_mesh_refit_plan_make(tree);
    if (status != SAP_OK) return status;
    const sap_mesh_refit_plan* plan = &tree->plan;
    sap_refit r = {.tree = tree,
                   .mesh = mesh,
                   .plan = plan,
                   .ties = sap_refit_ties(plan),
                   .order = sap_refit_order(plan),
                   .threads = tree->device->options.threads,
                   .most = sap_mesh_refit_most(plan->triangles)};
    const sap_status result = run(&r, loss, too_far);
    sap_scratch_give(tree->device, &r.scratch);
    sap_scratch_give(tree->device, &r.lists);
    sap_scratch_give(tree->device, &r.longer);
    return result;
}
