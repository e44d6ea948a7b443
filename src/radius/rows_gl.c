// Rows of points within a radius on OpenGL devices. Two rounds of passes of rows.glsl: the first counts, and the sums
// of the counts are the rows' offsets; the second lists. A pass finds a few points of each row: the host puts them where
// they belong, and asks the walks that have not ended again.
#include "base/assert.h"
#include "radius/neighbors.h"
#include "radius/ops.h"
#include "tree/forms/textures_gl.h"
#include <stdio.h>
#include <string.h>

extern const char sap_glsl_rows[];

enum {
    SIDE = 512,     // most walks on a side of a pass
    ROUNDS = 16384, // of a walk in one pass: drivers reset a GPU that draws for seconds
    LISTS = 7,      // textures of two points each
    FEW_LISTS = 3,  // where not so many can be written
    WORDS = 4
};

// A walk that has not ended.
typedef struct walk {
    int64_t row, next; // next: where its next point goes
    uint32_t node, quad;
} walk;

typedef struct listing {
    const sap_tree* tree;
    const sap_radius_job* job;
    int64_t* offsets;      // [queries.count + 1]: to be filled with counts, or those that are listed by
    sap_radius_rows to;    // capacity 0: rows are counted
    int32_t width, height; // of the textures
    bool computes;
    int lists;
    GLuint queries, places, out[1 + LISTS]; // out: places, lists
    sap_scratch scratch;
    walk* walks;      // [width * height], `count` of them
    uint32_t* stands; // [width * height * WORDS]: places as they are read
    void* texels;     // [width * height * WORDS]
    int64_t count;
} listing;

static int32_t at_most(int32_t value, int64_t most) { return value < most ? value : (int32_t)most; }

static bool counts_only(const listing* l) { return l->to.capacity == 0; }

static void create(sap_gl_call* call, listing* l) {
    const int64_t queries = l->job->queries.count;
    l->width = at_most(at_most(SIDE, call->gl->most_texture), queries);
    l->height = at_most(at_most(SIDE, call->gl->most_texture), (queries + l->width - 1) / l->width);
    l->computes = call->gl->most_images > FEW_LISTS;
    l->lists = (l->computes ? call->gl->most_images : call->gl->most_targets) > LISTS ? LISTS : FEW_LISTS;
    const size_t all = (size_t)l->width * (size_t)l->height;
    if (call->status == SAP_OK && !sap_scratch_take(call->device, all * (sizeof(walk) + 32), &l->scratch))
        sap_gl_fail(call, SAP_ERROR_MEMORY, "no memory for queries");
    if (call->status != SAP_OK) return;
    l->walks = (walk*)(void*)l->scratch.memory;
    l->stands = (uint32_t*)(void*)(l->walks + all);
    l->texels = l->stands + WORDS * all;
    l->queries = sap_gl_texture(call, GL_RGBA32F, l->width, l->height, NULL, "queries");
    l->places = sap_gl_texture(call, GL_RGBA32UI, l->width, l->height, NULL, "walks");
    for (int i = 0; i <= l->lists; i++)
        l->out[i] = sap_gl_texture(call, GL_RGBA32UI, l->width, l->height, NULL, "rows of points");
}

static void release(sap_gl_call* call, listing* l) {
    sap_gl_texture_free(call, l->queries);
    sap_gl_texture_free(call, l->places);
    for (int i = 0; i <= LISTS; i++) sap_gl_texture_free(call, l->out[i]);
    sap_scratch_give(call->device, &l->scratch);
}

// Walks for so many rows from `first` on, but for those of which nothing is to be listed.
static void begin(listing* l, int64_t first, int64_t rows) {
    l->count = 0;
    for (int64_t row = first; row < first + rows; row++) {
        const int64_t from = l->offsets[row];
        if (counts_only(l) || (from < l->offsets[row + 1] && from < l->to.capacity))
            l->walks[l->count++] = (walk){.row = row, .next = from, .node = 1};
    }
}

// Puts the walks into textures, in whole lines.
static void write_walks(sap_gl_call* call, const listing* l, const int32_t rectangle[4]) {
    const sap_rows* asked = &l->job->queries;
    const int64_t places = (int64_t)rectangle[2] * rectangle[3];
    float* queries = l->texels;
    uint32_t* stands = l->texels;
    memset(queries, 0, (size_t)places * WORDS * sizeof *queries);
    for (int64_t i = 0; i < l->count; i++)
        memcpy(queries + WORDS * i, (const float*)asked->coords + l->walks[i].row * asked->stride,
               (size_t)asked->dims * sizeof *queries);
    sap_gl_write(call, l->queries, GL_RGBA32F, 0, rectangle, queries);
    memset(stands, 0, (size_t)places * WORDS * sizeof *stands);
    for (int64_t i = 0; i < l->count; i++) {
        stands[WORDS * i] = l->walks[i].node;
        stands[WORDS * i + 1] = l->walks[i].quad;
    }
    sap_gl_write(call, l->places, GL_RGBA32UI, 0, rectangle, stands);
}

static void draw(sap_gl_call* call, const listing* l, const int32_t rectangle[4]) {
    char defines[128];
    const int length = snprintf(defines, sizeof defines, "%s#define SAP_AXES %d\n#define SAP_LISTS %d\n%s",
                                l->computes ? SAP_GLSL_COMPUTE : "", (int)l->tree->shape.dims, l->lists,
                                l->tree->shape.kind == SAP_TREE_EXPLICIT ? "#define SAP_EXPLICIT\n" : "");
    SAP_ASSERT(length > 0 && length < (int)sizeof defines);
    (void)length;
    sap_gl_pass pass = {.program = sap_gl_program(call, sap_glsl_rows, defines),
                        .compute = l->computes,
                        .name = "listing points within a radius"};
    const sap_gl_tree* textures = sap_gl_tree_of(call, l->tree);
    if (call->status != SAP_OK) return;
    int inputs = sap_gl_tree_bind(call, l->tree, textures, &pass);
    pass.input[inputs++] = (sap_gl_input){.sampler = "queries", .texture = l->queries};
    pass.input[inputs] = (sap_gl_input){.sampler = "places", .texture = l->places};
    memcpy(pass.target, l->out, sizeof l->out);
    memcpy(pass.rectangle, rectangle, sizeof pass.rectangle);
    // A round is at most three of the shader's loops (those of constant length are unrolled), and the way up from the first
    // leaf is one more for each level.
    const int32_t most = (call->gl->most_rounds - l->tree->shape.depth) / 3;
    sap_gl_set_float(call, pass.program, "limit2", (float)l->job->limit2);
    sap_gl_set_int(call, pass.program, "rounds", at_most(ROUNDS, most > 1 ? most : 1));
    sap_gl_set_int(call, pass.program, "room", counts_only(l) ? INT32_MAX : 2 * l->lists);
    sap_gl_draw(call, &pass);
}

// Puts what a list texture holds into the rows, as far as they reach.
static void put_list(const listing* l, int list) {
    const uint32_t* texels = l->texels;
    for (int64_t i = 0; i < l->count; i++) {
        const walk* w = &l->walks[i];
        const int64_t end = l->offsets[w->row + 1] < l->to.capacity ? l->offsets[w->row + 1] : l->to.capacity;
        for (int j = 0; j < 2 && (uint32_t)(2 * list + j) < l->stands[WORDS * i + 2]; j++) {
            const int64_t at = w->next + 2 * list + j;
            if (at >= end) continue;
            l->to.ids[at] = (int32_t)texels[WORDS * i + 2 * j];
            if (l->to.distance2) memcpy((float*)l->to.distance2 + at, &texels[WORDS * i + 2 * j + 1], sizeof(float));
        }
    }
}

// Takes in what a pass has found, and leaves the walks that have not ended.
static void read_walks(sap_gl_call* call, listing* l, const int32_t rectangle[4]) {
    uint32_t most = 0;
    int64_t left = 0;
    sap_gl_read(call, l->out[0], GL_RGBA32UI, 0, rectangle, l->stands);
    for (int64_t i = 0; i < l->count && call->status == SAP_OK; i++)
        if (l->stands[WORDS * i + 2] > most) most = l->stands[WORDS * i + 2];
    for (int list = 0; list < l->lists && (uint32_t)(2 * list) < most && !counts_only(l); list++) {
        sap_gl_read(call, l->out[1 + list], GL_RGBA32UI, 0, rectangle, l->texels);
        if (call->status == SAP_OK) put_list(l, list);
    }
    if (call->status != SAP_OK) return;
    for (int64_t i = 0; i < l->count; i++) {
        walk w = l->walks[i];
        const uint32_t* at = l->stands + WORDS * i;
        w.node = at[0];
        w.quad = at[1];
        w.next += at[2];
        if (counts_only(l)) l->offsets[w.row] += at[2];
        if (w.node && (counts_only(l) || w.next < l->to.capacity)) l->walks[left++] = w;
    }
    l->count = left;
}

// Counts the points of all rows, or lists them.
static sap_status answer(listing* l) {
    sap_gl_call call;
    const int64_t queries = l->job->queries.count;
    if (sap_gl_begin(&call, l->tree->device) == SAP_OK) create(&call, l);
    const int64_t room = (int64_t)l->width * l->height;
    for (int64_t first = 0; first < queries && call.status == SAP_OK; first += room) {
        const int64_t rows = queries - first < room ? queries - first : room;
        begin(l, first, rows);
        while (l->count && call.status == SAP_OK) {
            const int32_t rectangle[4] = {0, 0, l->width, (int32_t)((l->count + l->width - 1) / l->width)};
            write_walks(&call, l, rectangle);
            draw(&call, l, rectangle);
            read_walks(&call, l, rectangle);
            // Counting is half of the work, and listing the rest.
            const double done = (double)(first + rows - l->count) / (double)queries;
            sap_gl_report(&call, counts_only(l) ? done / 2 : 0.5 + done / 2);
        }
    }
    release(&call, l);
    return sap_gl_end(&call, SAP_OK);
}

// Counts become the sums of those before.
static void sum(int64_t* offsets, int64_t rows) {
    int64_t total = 0;
    for (int64_t i = 0; i <= rows; i++) {
        const int64_t count = offsets[i];
        offsets[i] = total;
        total += count;
    }
}

sap_status sap_radius_rows_gl(const sap_tree* tree, const sap_radius_job* job) {
    sap_device* device = tree->device;
    const int64_t rows = job->queries.count;
    const size_t bytes = (size_t)(rows + 1) * sizeof(int64_t);
    sap_scratch scratch = {NULL, 0};
    sap_neighbors* made = NULL;
    if (!sap_scratch_take(device, bytes, &scratch))
        return sap_fail(device, SAP_ERROR_MEMORY, "no memory for %lld rows", (long long)rows);
    int64_t* offsets = (int64_t*)(void*)scratch.memory;
    memset(offsets, 0, bytes);
    listing count = {.tree = tree, .job = job, .offsets = offsets}, list = count;
    sap_status status = rows ? answer(&count) : SAP_OK;
    sum(offsets, rows);
    if (status == SAP_OK && job->found) {
        status = sap_neighbors_reserve(device, rows, 32, offsets[rows], &made);
        if (status == SAP_OK)
            list.to = (sap_radius_rows){(int64_t*)(uintptr_t)made->offsets, offsets[rows],
                                        (int32_t*)(uintptr_t)made->ids, (float*)(uintptr_t)made->distance2};
    } else if (status == SAP_OK) {
        list.to = *job->into;
    }
    if (status == SAP_OK && offsets[rows] && list.to.capacity) status = answer(&list);
    if (status == SAP_OK) memcpy(list.to.offsets, offsets, bytes);
    if (status == SAP_OK && made)
        *job->found = made;
    else
        sap_neighbors_free(made);
    sap_scratch_give(device, &scratch);
    return status;
}
