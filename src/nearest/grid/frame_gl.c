// Frames for the user: walks whose answers stay in textures.
#include "base/assert.h"
#include "nearest/grid/walk_gl.h"
#include "nearest/ops.h"
#include <string.h>

static sap_device* device_of(const sap_gl_frame* frame) { return frame->tree->device; }

sap_status sap_frame_create_gl(const sap_tree* tree, const int32_t size[2], int32_t k, float limit2, sap_walk walk,
                               sap_gl_frame** frame) {
    sap_gl_call call;
    sap_device* device = tree->device;
    sap_status status = sap_gl_walk_check(tree, walk);
    if (status != SAP_OK) return status;
    if (k > SAP_GL_MOST_K)
        return sap_fail(device, SAP_ERROR_UNSUPPORTED, "search.k: shaders find at most %d neighbours, not %d",
                        SAP_GL_MOST_K, (int)k);
    sap_gl_frame* made = sap_memory_allocate_zero(device, sizeof *made);
    if (!made) return sap_fail(device, SAP_ERROR_MEMORY, "no memory for a frame");
    sap_gl_begin(&call, device);
    sap_gl_walk_create(&call, tree, size, k, limit2, walk, made);
    status = sap_gl_end(&call, SAP_OK);
    if (status == SAP_OK)
        *frame = made;
    else
        sap_frame_free_gl(made);
    return status;
}

sap_status sap_frame_begin_gl(sap_gl_frame* frame, const sap_grid* grid) {
    sap_gl_call call;
    if (grid->width != frame->width || grid->height != frame->height)
        return sap_fail(device_of(frame), SAP_ERROR_ARGUMENT, "grid: %d x %d; the frame is %d x %d", (int)grid->width,
                        (int)grid->height, (int)frame->width, (int)frame->height);
    if (sap_gl_begin(&call, device_of(frame)) == SAP_OK) sap_gl_walk_begin_grid(&call, frame, grid, (int32_t[2]){0, 0});
    sap_status status = sap_gl_end(&call, SAP_OK);
    if (status != SAP_OK) frame->has_queries = false;
    return status;
}

sap_status sap_frame_step_gl(sap_gl_frame* frame, int32_t leaves, bool* done) {
    sap_gl_call call;
    if (!frame->has_queries) return sap_fail(device_of(frame), SAP_ERROR_ARGUMENT, "frame: has not begun");
    bool left = false;
    if (sap_gl_begin(&call, device_of(frame)) == SAP_OK) {
        const int32_t all = (int32_t)frame->tree->shape.leaves, most = sap_gl_walk_most_leaves(&call, frame);
        SAP_ASSERT(most >= 1);
        bool whole = leaves >= all; // a walk scans no leaf twice
        if (whole) leaves = all;
        left = true;
        // Most walks end in the first of several passes. Where those of tiles do not, walks of pixels have all leaves.
        while (leaves > most && left && call.status == SAP_OK) {
            const bool begins = !frame->begun;
            sap_gl_walk_pass(&call, frame, most);
            left = sap_gl_walk_any_left(&call, frame);
            if (!begins || !frame->tiled) leaves -= most;
        }
        if (left) sap_gl_walk_pass(&call, frame, leaves);
        left = left && done && !whole && sap_gl_walk_any_left(&call, frame);
        if (done && whole) call.f->Finish();
    }
    sap_status status = sap_gl_end(&call, SAP_OK);
    if (status != SAP_OK) frame->has_queries = frame->begun = false;
    if (status == SAP_OK && done) *done = !left;
    return status;
}

sap_status sap_frame_describe_gl(const sap_gl_frame* frame, sap_gl_frame_textures* textures) {
    if (!frame->begun) return sap_fail(device_of(frame), SAP_ERROR_ARGUMENT, "frame: has not begun");
    const GLuint* names = frame->state[frame->current];
    *textures = (sap_gl_frame_textures){.width = frame->width,
                                        .height = frame->height,
                                        .place = names[0],
                                        .lists = {names[1], names[2], names[3], names[4]},
                                        .capacity = frame->capacity};
    return SAP_OK;
}

void sap_frame_free_gl(sap_gl_frame* frame) {
    sap_device* device = device_of(frame);
    sap_gl_call call;
    sap_gl* gl = sap_gl_of(device);
    if (!gl->lost) {
        if (sap_gl_begin(&call, device) == SAP_OK) sap_gl_walk_free(&call, frame);
        (void)sap_gl_end(&call, SAP_OK);
    }
    sap_memory_release(device, frame, sizeof *frame);
}
