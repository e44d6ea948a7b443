// Searches on OpenGL devices for answers in host memory: rectangles of walks, drawn, read back and unpacked.
#include "base/assert.h"
#include "base/team.h"
#include "nearest/grid/walk_gl.h"
#include "nearest/ops.h"
#include "radius/ops.h"
#include <math.h>
#include <string.h>

enum {
    TILE = 1024,   // pixels on a side of a rectangle
    LARGE = 2048,  // where answers come in order
    LEAVES = 2048, // that a walk scans in one pass: drivers reset a GPU that draws for seconds
    GRAIN = 4096,  // pixels that are worth a thread
    WORDS = 4
};

// Where the answers of a rectangle go: that of its pixel (x, y) to row first + y * stride + x.
typedef struct answers {
    int32_t k; // 0: counts, which go to `counts`, or else to `ids`
    int32_t* ids;
    float* distance2;
    int64_t* counts;
    sap_walk walk;
    int64_t first, stride;
} answers;

static void put(const answers* to, int64_t row, int32_t which, int32_t id, uint32_t bits) {
    float distance2 = INFINITY;
    if (id != INT32_MAX && id >= 0) memcpy(&distance2, &bits, sizeof distance2);
    to->ids[row * to->k + which] = id == INT32_MAX ? -1 : id;
    if (to->distance2) to->distance2[row * to->k + which] = distance2;
}

// A rectangle of places (list < 0) or of one list.
typedef struct unpacking {
    const sap_gl_frame* frame;
    const answers* to;
    const uint32_t* texels;
    int32_t width;
    int list;
} unpacking;

static void unpack_pixel(const unpacking* r, const uint32_t* at, int64_t row) {
    const answers* to = r->to;
    if (to->k == 0) {
        if (to->counts)
            to->counts[row] = (int64_t)at[2];
        else
            to->ids[row] = (int32_t)at[2];
    } else if (r->list < 0) {
        put(to, row, 0, (int32_t)at[2], at[3]);
    } else {
        // A list that is longer than k begins with places that stay empty.
        int32_t which = 2 * r->list - (r->frame->capacity - to->k);
        if (which >= 0) put(to, row, which, (int32_t)at[0], at[1]);
        if (which >= -1) put(to, row, which + 1, (int32_t)at[2], at[3]);
    }
}

static void unpack_rows(void* context, int64_t from, int64_t end, int32_t worker) {
    const unpacking* r = context;
    (void)worker;
    for (int64_t y = from; y < end; y++)
        for (int32_t x = 0; x < r->width; x++)
            unpack_pixel(r, r->texels + WORDS * (y * r->width + x), r->to->first + y * r->to->stride + x);
}

static void unpack(const sap_gl_frame* frame, const int32_t size[2], const answers* to, int list,
                   const uint32_t* texels) {
    SAP_ASSERT(to->k <= frame->capacity && list < SAP_GL_FRAME_LISTS);
    unpacking r = {frame, to, texels, size[0], list};
    sap_team_loop(frame->tree->device->options.threads, size[1], GRAIN / size[0] + 1, unpack_rows, &r);
}

static bool any_left(const sap_gl_frame* frame, const uint32_t* texels) {
    int64_t count = (int64_t)frame->width * frame->height;
    uint32_t left = 0;
    for (int64_t i = 0; i < count; i++) left |= texels[WORDS * i];
    return left != 0;
}

// Reads and unpacks a rectangle of the lists of a frame, where more than one neighbour was asked for.
static void read_lists(sap_gl_call* call, const sap_gl_frame* frame, const int32_t rectangle[4], const answers* to,
                       uint32_t* texels) {
    for (int i = 0; frame->capacity > 1 && i < frame->capacity / 2; i++) {
        sap_gl_read(call, frame->state[frame->current][1 + i], GL_RGBA32UI, 0, rectangle, texels);
        if (call->status == SAP_OK) unpack(frame, rectangle + 2, to, i, texels);
    }
}

// Answers as they lie in memory, to the rows of a rectangle.
typedef struct copying {
    const answers* to;
    const int32_t* at;
    int64_t pixels;
    int32_t width;
} copying;

static void copy_rows(void* context, int64_t from, int64_t end, int32_t worker) {
    const copying* c = context;
    const answers* to = c->to;
    const int64_t k = to->k > 1 ? to->k : 1, values = c->width * k;
    (void)worker;
    for (int64_t y = from; y < end; y++) {
        const int64_t row = to->first + y * to->stride;
        const int32_t* ids = c->at + y * values;
        for (int64_t x = 0; to->counts && x < c->width; x++) to->counts[row + x] = (uint32_t)ids[x];
        if (!to->counts) memcpy(to->ids + row * k, ids, (size_t)values * sizeof *ids);
        if (to->distance2)
            memcpy(to->distance2 + row * k, c->at + c->pixels * k + y * values, (size_t)values * sizeof *ids);
    }
}

// Where there are buffers: the answers of a rectangle of walks, in order, and then copied, some rows at a time.
static void land(sap_gl_call* call, const sap_gl_frame* frame, const int32_t rectangle[4], answers to) {
    const int32_t width = rectangle[2], height = rectangle[3];
    const int64_t row = (int64_t)width * (to.k > 1 ? to.k : 1) * (to.distance2 ? 2 : 1) * (int64_t)sizeof(uint32_t);
    const int64_t most = SAP_GL_LANDED / row > 1 ? SAP_GL_LANDED / row : 1;
    for (int64_t y = 0; y < height; y += most, to.first += most * to.stride) {
        const int32_t rows = (int32_t)(height - y < most ? height - y : most);
        const int32_t part[4] = {rectangle[0], rectangle[1] + (int32_t)y, width, rows};
        copying c = {&to, sap_gl_walk_land(call, frame, part, to.distance2 != NULL), (int64_t)width * rows, width};
        if (!c.at) return;
        sap_team_loop(call->device->options.threads, rows, GRAIN / width + 1, copy_rows, &c);
        sap_gl_buffer_landed(call);
    }
}

// What is done: part of a whole call from `from` to `to`, told after each pass but the last.
typedef struct course {
    double from, to;
} course;

// Draws passes until all walks of a frame have ended, and unpacks the answers.
static void finish(sap_gl_call* call, sap_gl_frame* frame, const answers* to, uint32_t* texels, course c) {
    const int32_t whole[4] = {0, 0, frame->width, frame->height};
    const bool lands = sap_gl_has_buffers(call->gl);
    bool left = false;
    SAP_ASSERT(call->status != SAP_OK || frame->columns || frame->queries);
    do {
        sap_gl_walk_pass(call, frame, LEAVES);
        if (lands)
            left = sap_gl_walk_any_left(call, frame);
        else
            sap_gl_read(call, frame->state[frame->current][0], GL_RGBA32UI, 0, whole, texels);
        if (!lands && call->status == SAP_OK) left = any_left(frame, texels);
        // How much is left nobody knows; half of it each time tells that something is being done.
        if (left) c.from = (c.from + c.to) / 2;
        if (left) sap_gl_report(call, c.from);
    } while (call->status == SAP_OK && left);
    if (call->status != SAP_OK) return;
    if (lands) {
        land(call, frame, whole, *to);
    } else {
        if (frame->capacity <= 1) unpack(frame, whole + 2, to, -1, texels);
        read_lists(call, frame, whole, to, texels);
    }
    sap_gl_report(call, c.to);
}

sap_status sap_frame_read_gl(const sap_gl_frame* frame, const int32_t rectangle[4], int32_t* ids, float* distance2) {
    sap_gl_call call;
    sap_scratch scratch = {NULL, 0};
    sap_device* device = frame->tree->device;
    const int32_t *at = rectangle, *size = rectangle + 2;
    if (!frame->begun) return sap_fail(device, SAP_ERROR_ARGUMENT, "frame: has not begun");
    if (at[0] < 0 || at[1] < 0 || size[0] < 1 || size[1] < 1 || size[0] > frame->width - at[0] ||
        size[1] > frame->height - at[1])
        return sap_fail(device, SAP_ERROR_ARGUMENT, "rectangle: %d x %d at (%d, %d) is not within %d x %d",
                        (int)size[0], (int)size[1], (int)at[0], (int)at[1], (int)frame->width, (int)frame->height);
    if (distance2 && !frame->k)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "distance2: must be NULL where points are counted");
    const answers to = {.k = frame->k, .ids = ids, .distance2 = distance2, .stride = size[0]};
    sap_gl_begin(&call, device);
    if (sap_gl_has_buffers(call.gl)) {
        if (call.status == SAP_OK) land(&call, frame, rectangle, to);
        return sap_gl_end(&call, SAP_OK);
    }
    size_t bytes = 0;
    bool fits = sap_size_multiply((uint64_t)size[0] * (uint64_t)size[1], WORDS * sizeof(uint32_t), &bytes);
    if (call.status == SAP_OK && (!fits || !sap_scratch_take(device, bytes, &scratch)))
        sap_gl_fail(&call, SAP_ERROR_MEMORY, "no memory for answers");
    uint32_t* texels = (uint32_t*)(void*)scratch.memory;
    if (call.status == SAP_OK && frame->capacity <= 1) {
        sap_gl_read(&call, frame->state[frame->current][0], GL_RGBA32UI, 0, rectangle, texels);
        if (call.status == SAP_OK) unpack(frame, size, &to, -1, texels);
    }
    if (call.status == SAP_OK) read_lists(&call, frame, rectangle, &to, texels);
    sap_scratch_give(device, &scratch);
    return sap_gl_end(&call, SAP_OK);
}

static sap_status refuse_k(const sap_tree* tree, int64_t k) {
    return sap_fail(tree->device, SAP_ERROR_UNSUPPORTED, "search.k: shaders find at most %d neighbours, not %lld",
                    SAP_GL_MOST_K, (long long)k);
}

static int32_t at_most(int32_t value, int32_t most) { return value < most ? value : most; }

sap_status sap_nearest_grid_gl(const sap_tree* tree, const sap_grid_job* job) {
    const sap_grid* grid = job->grid;
    sap_gl_call call;
    sap_gl_frame frame;
    sap_scratch scratch = {NULL, 0};
    if (job->k > SAP_GL_MOST_K) return refuse_k(tree, job->k);
    memset(&frame, 0, sizeof frame);
    sap_gl_begin(&call, tree->device);
    const bool lands = sap_gl_has_buffers(call.gl);
    const int32_t tile = at_most(lands ? LARGE : TILE, call.gl->most_texture);
    const double rows = grid->height, columns = grid->width;
    int32_t width = at_most(tile, grid->width), height = at_most(tile, grid->height);
    if (call.status == SAP_OK && !lands &&
        !sap_scratch_take(tree->device, (size_t)width * (size_t)height * WORDS * sizeof(uint32_t), &scratch))
        sap_gl_fail(&call, SAP_ERROR_MEMORY, "no memory for answers");
    for (int64_t top = 0; top < grid->height && call.status == SAP_OK; top += height) {
        for (int64_t side = 0; side < grid->width && call.status == SAP_OK; side += width) {
            const int32_t x = (int32_t)side, y = (int32_t)top;
            int32_t size[2] = {at_most(width, grid->width - x), at_most(height, grid->height - y)};
            answers to = {.k = job->k,
                          .ids = job->ids,
                          .distance2 = job->distance2,
                          .counts = job->counts,
                          .first = top * grid->width + x,
                          .stride = grid->width};
            if (frame.width != size[0] || frame.height != size[1]) {
                sap_gl_walk_free(&call, &frame);
                sap_gl_walk_create(&call, tree, size, job->k, job->limit2, job->walk, &frame);
            }
            sap_gl_walk_begin_grid(&call, &frame, grid, (int32_t[2]){x, y});
            const course c = {((double)top + size[1] * (x / columns)) / rows,
                              ((double)top + size[1] * ((x + size[0]) / columns)) / rows};
            finish(&call, &frame, &to, (uint32_t*)(void*)scratch.memory, c);
        }
    }
    sap_gl_walk_free(&call, &frame);
    sap_scratch_give(tree->device, &scratch);
    return sap_gl_end(&call, SAP_OK);
}

// Queries as texels of four floats.
static void place_queries(const sap_rows* rows, int64_t first, int64_t count, float* queries) {
    const float* coords = rows->coords;
    for (int64_t i = 0; i < count; i++)
        for (int32_t a = 0; a < 4; a++)
            queries[4 * i + a] = a < rows->dims ? coords[(first + i) * rows->stride + a] : 0;
}

// Answers rows of queries, in full rectangles of at most TILE * TILE of them; the last ones are a single line.
static sap_status answer_rows(const sap_tree* tree, const sap_rows* rows, float limit2, const answers* to) {
    sap_gl_call call;
    sap_gl_frame frame;
    sap_scratch scratch = {NULL, 0};
    sap_status status = sap_gl_begin(&call, tree->device);
    int32_t width = at_most(TILE, call.gl->most_texture);
    if (rows->count < width) width = rows->count > 0 ? (int32_t)rows->count : 1;
    memset(&frame, 0, sizeof frame);
    for (int64_t first = 0; first < rows->count && status == SAP_OK;) {
        int64_t left = rows->count - first, lines = left / width > 0 ? left / width : 1;
        int32_t size[2] = {left < width ? (int32_t)left : width, (int32_t)(lines < width ? lines : width)};
        int64_t room = (int64_t)size[0] * size[1];
        SAP_ASSERT(room >= 1 && room <= left);
        if (frame.width != size[0] || frame.height != size[1]) {
            sap_gl_walk_free(&call, &frame);
            sap_gl_walk_create(&call, tree, size, to->k, limit2, to->walk, &frame);
        }
        if (scratch.bytes < (size_t)room * WORDS * 4) {
            sap_scratch_give(tree->device, &scratch);
            if (!sap_scratch_take(tree->device, (size_t)room * WORDS * 4, &scratch))
                sap_gl_fail(&call, SAP_ERROR_MEMORY, "no memory for queries");
        }
        if (call.status == SAP_OK && scratch.memory) {
            place_queries(rows, first, room, (float*)(void*)scratch.memory);
            sap_gl_walk_begin_queries(&call, &frame, (const float*)(const void*)scratch.memory);
            answers part = *to;
            part.first = first;
            part.stride = size[0];
            const double all = (double)rows->count;
            finish(&call, &frame, &part, (uint32_t*)(void*)scratch.memory,
                   (course){(double)first / all, (double)(first + room) / all});
        }
        first += room;
        status = call.status;
    }
    sap_gl_walk_free(&call, &frame);
    sap_scratch_give(tree->device, &scratch);
    return sap_gl_end(&call, SAP_OK);
}

sap_status sap_nearest_gl(const sap_tree* tree, const sap_nearest_job* job) {
    sap_device* device = tree->device;
    if (job->search.k > SAP_GL_MOST_K) return refuse_k(tree, job->search.k);
    const sap_status status = sap_gl_walk_check(tree, job->search.walk);
    if (status != SAP_OK) return status;
    if (job->self || job->search.stats)
        return sap_fail(device, SAP_ERROR_UNSUPPORTED,
                        job->self ? "an OpenGL device does not search from the tree's own points; give them as queries"
                                  : "search.stats: an OpenGL device counts no visits");
    answers to = {.k = job->search.k, .ids = job->ids, .distance2 = job->distance2, .walk = job->search.walk};
    return answer_rows(tree, &job->queries, (float)job->limit2, &to);
}

sap_status sap_radius_gl(const sap_tree* tree, const sap_radius_job* job) {
    if (job->self)
        return sap_fail(tree->device, SAP_ERROR_UNSUPPORTED,
                        "an OpenGL device does not list pairs of points; give the points as queries");
    if (!job->counts) return sap_radius_rows_gl(tree, job);
    answers to = {.counts = job->counts};
    return answer_rows(tree, &job->queries, (float)job->limit2, &to);
}
