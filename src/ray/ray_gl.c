// sap_trace, sap_occluded and sap_trace_visits on OpenGL, rectangle by rectangle. Texels have the same layout as rays
// and hits in memory.
#include "device/progress.h"
#include "ray/ops.h"
#include "ray/walk_gl.h"
#include <string.h>

enum {
    TILE = 512,    // rays on a side of a rectangle
    ROUNDS = 4096, // of a pass: few rays need more
    WORDS = 4      // of a texel
};

static bool any_left(const uint32_t* places, int64_t count) {
    bool left = false;
    for (int64_t i = 0; i < count; i++) left |= places[WORDS * i] != SAP_GL_WALK_ENDED;
    return left;
}

// The state of a call from one rectangle to the next.
typedef struct gl_trace {
    const sap_mesh_tree* tree;
    sap_gl_walk walk;
    GLuint rays[2];     // the second is unused
    sap_scratch texels; // of a rectangle
} gl_trace;

// Traces a rectangle of the job's rays from `first` on and writes their results.
static void trace_rectangle(sap_gl_call* call, gl_trace* b, const sap_ray_job* job, int64_t first) {
    sap_gl_walk* walk = &b->walk;
    uint32_t* texels = (uint32_t*)(void*)b->texels.memory;
    const int64_t count = (int64_t)walk->width * walk->height;
    const int32_t whole[4] = {0, 0, walk->width, walk->height};
    sap_gl_write(call, b->rays[0], GL_RGBA32UI, 0, (int32_t[4]){0, 0, 2 * walk->width, walk->height},
                 job->rays + first);
    walk->begun = false;
    walk->any = job->occluded != NULL;
    do {
        sap_gl_walk_advance(call, walk, b->rays, ROUNDS);
        sap_gl_read(call, walk->state[walk->now][SAP_GL_WALK_PLACE], GL_RGBA32UI, 0, whole, texels);
    } while (call->status == SAP_OK && any_left(texels, count));
    for (int64_t i = 0; call->status == SAP_OK && job->visits && i < count; i++)
        job->visits[first + i] = (int32_t)texels[WORDS * i + 3];
    sap_gl_read(call, walk->state[walk->now][SAP_GL_WALK_FOUND], GL_RGBA32UI, 0, whole, texels);
    if (call->status != SAP_OK) return;
    if (job->hits) memcpy(job->hits + first, texels, (size_t)count * sizeof *job->hits);
    for (int64_t i = 0; job->occluded && i < count; i++) job->occluded[first + i] = (int32_t)texels[WORDS * i + 3] >= 0;
}

// Makes textures for rectangles of a size, unless there are such already.
static void fit(sap_gl_call* call, gl_trace* b, const int32_t size[2]) {
    if (b->walk.width == size[0] && b->walk.height == size[1]) return;
    sap_gl_walk_drop(call, &b->walk);
    sap_gl_texture_free(call, b->rays[0]);
    b->rays[0] = sap_gl_texture(call, GL_RGBA32UI, 2 * size[0], size[1], NULL, "rays");
    sap_gl_walk_make(call, b->tree, size, true, &b->walk);
}

// Traces one rectangle of rays, from `first` on. *count: their number.
static sap_status trace_part(gl_trace* b, const sap_ray_job* job, int64_t first, int64_t* count) {
    sap_device* device = b->tree->device;
    sap_gl_call call;
    sap_gl_begin(&call, device);
    const int64_t left = job->count - first;
    const int32_t tile = 2 * TILE <= call.gl->most_texture ? TILE : call.gl->most_texture / 2;
    const int64_t columns = left < tile ? left : tile, rows = left / columns;
    fit(&call, b, (int32_t[2]){(int32_t)columns, (int32_t)(rows < tile ? rows : tile)});
    *count = columns * (rows < tile ? rows : tile);
    SAP_ASSERT(*count > 0 && *count <= left);
    if (b->texels.bytes < (size_t)*count * WORDS * 4) {
        sap_scratch_give(device, &b->texels);
        if (!sap_scratch_take(device, (size_t)*count * WORDS * 4, &b->texels))
            sap_gl_fail(&call, SAP_ERROR_MEMORY, "no memory for the hits of rays");
    }
    if (call.status == SAP_OK) trace_rectangle(&call, b, job, first);
    return sap_gl_end(&call, SAP_OK);
}

static void free_trace(gl_trace* b) {
    sap_device* device = b->tree->device;
    sap_gl_call call;
    sap_scratch_give(device, &b->texels);
    if (!b->rays[0] || sap_gl_of(device)->lost) return;
    if (sap_gl_begin(&call, device) == SAP_OK) {
        sap_gl_walk_drop(&call, &b->walk);
        sap_gl_texture_free(&call, b->rays[0]);
    }
    (void)sap_gl_end(&call, SAP_OK);
}

sap_status sap_trace_gl(const sap_mesh_tree* tree, const sap_ray_job* job) {
    _Static_assert(sizeof(sap_ray) == 2 * WORDS * 4 && sizeof(sap_hit) == WORDS * 4, "texels are as in memory");
    gl_trace b = {.tree = tree};
    int64_t done = 0, count = 0;
    bool going = true;
    sap_status status = SAP_OK;
    if (job->limit)
        return sap_fail(tree->device, SAP_ERROR_UNSUPPORTED,
                        "shaders find first hits, or whether there is any, but not all");
    sap_progress_state progress = sap_progress_begin(tree->device, job->count);
    while (going && done < job->count && status == SAP_OK) {
        status = trace_part(&b, job, done, &count);
        done += count;
        if (status == SAP_OK) going = sap_progress_add(&progress, count);
    }
    free_trace(&b);
    if (status != SAP_OK || (done == job->count && going && sap_progress_finish(&progress))) return status;
    return sap_fail(tree->device, SAP_ERROR_CANCELLED, "the rays were cancelled");
}
