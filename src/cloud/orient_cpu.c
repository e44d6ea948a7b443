// The directions of normals on the CPU: towards views, or as those of their neighbours.
#include "base/team.h"
#include "cloud/cloud.h"
#include "cloud/orient.h"
#include "tree/leaves.h"
#include "tree/queries.h"
#include <math.h>

enum { GRAIN = 256 }; // places of leaves that are worth a thread

// ---- Towards views

// Where the sensor was at a time.
static void on_path(const sap_normals_options* o, double time, double view[3]) {
    int64_t low = 0, high = o->view_count; // the first view after the time is among low … high
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (o->view_times[middle] > time)
            high = middle;
        else
            low = middle + 1;
    }
    const int64_t after = low < o->view_count ? low : o->view_count - 1, before = low > 0 ? low - 1 : 0;
    const double from = o->view_times[before], to = o->view_times[after];
    const double part = after > before ? (time - from) / (to - from) : 0;
    for (int a = 0; a < 3; a++) {
        const double x = o->views[3 * before + a], y = o->views[3 * after + a];
        view[a] = x + (y - x) * part;
    }
}

static void turn_to_views(void* context, int64_t from, int64_t to, int32_t worker) {
    const sap_orient_job* job = context;
    const sap_normals_options* o = &job->options;
    (void)worker;
    for (int64_t place = from; place < to; place++) {
        const sap_leaf_block leaf = sap_leaf_block_at(job->tree, place);
        for (int32_t i = 0; i < leaf.count; i++) {
            const int64_t id = leaf.ids[i];
            double narrow[3], point[3], view[3] = {o->view[0], o->view[1], o->view[2]}, along = 0;
            sap_leaf_point(job->tree, &leaf, i, narrow);
            for (int a = 0; a < 3; a++)
                point[a] =
                    job->tree->shape.real_bits == 64 ? narrow[a] : (double)((const float*)(const void*)narrow)[a];
            if (o->orient == SAP_ORIENT_VIEWS)
                for (int a = 0; a < 3; a++) view[a] = o->views[3 * id + a];
            if (o->orient == SAP_ORIENT_PATH) on_path(o, o->point_times[id], view);
            for (int a = 0; a < 3; a++) along += (double)job->normals[3 * id + a] * (view[a] - point[a]);
            if (along < 0) sap_orient_turn(job->normals + 3 * id);
        }
    }
}

// ---- As their neighbours

typedef struct graph {
    int32_t k;
    int32_t* near; // see cloud/orient.h
} graph;

static void keep_row(void* context, const sap_cloud_rows* rows, int32_t worker) {
    const graph* g = context;
    (void)worker;
    for (int64_t i = 0; i < rows->count; i++) {
        int32_t* near = g->near + (int64_t)rows->ids[i] * g->k;
        for (int64_t j = 0; j < rows->found[i]; j++) near[j] = rows->neighbors[rows->starts[i] + j];
    }
}

sap_status sap_orient_alike_cpu(const sap_orient_job* job, sap_progress_state* progress) {
    sap_device* device = job->tree->device;
    sap_scratch memory;
    graph g;
    sap_status status = sap_orient_take_graph(job, &g.k, &memory);
    if (status != SAP_OK) return status;
    g.near = (int32_t*)(void*)memory.memory;
    const sap_cloud_search search = {.tree = job->tree,
                                     .k = g.k,
                                     .limit2 = sap_limit2(job->tree, (double)INFINITY),
                                     .consume = keep_row,
                                     .context = &g,
                                     .progress = progress};
    status = sap_cloud_search_cpu(&search);
    if (status == SAP_OK) status = sap_orient_alike(job, g.k, g.near);
    sap_scratch_give(device, &memory);
    return status;
}

sap_status sap_cloud_orient_cpu(const sap_orient_job* job) {
    const sap_tree* tree = job->tree;
    if (tree->shape.count == 0 || job->options.orient == SAP_ORIENT_NONE) return SAP_OK;
    if (job->options.orient == SAP_ORIENT_CONSISTENT) {
        sap_progress_state progress = sap_progress_begin(tree->device, tree->shape.count);
        return sap_orient_alike_cpu(job, &progress);
    }
    sap_orient_job copy = *job;
    sap_team_loop(tree->device->options.threads, sap_leaf_places(tree), GRAIN, turn_to_views, &copy);
    return SAP_OK;
}
