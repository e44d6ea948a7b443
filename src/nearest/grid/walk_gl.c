// Passes of nearest.glsl: each reads one set of textures and writes the other.
#include "nearest/grid/walk_gl.h"
#include "base/assert.h"
#include "nearest/grid/grid.h"
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

extern const char sap_glsl_nearest[];

enum {
    LARGE = 16,      // pixels on a side of a block that shares a hint: as nearest.glsl has it
    SMALL = 4,       // the same of the blocks that share a hint found by that of a large one
    LEFT_BLOCK = 32, // pixels on a side of a block in which one pass looks for walks that have not ended
    TILE_WIDE = 4,   // pixels of a tile, all of which one walk serves: as nearest/grid/tiles.h has them
    TILE_HIGH = 2,
    TILE_LEAVES = 32,   // fewer leaves a pass are for walks of pixels, which go on in the next
    TILE_IDS = 1 << 24, // there may be: they are floats in tiles
    HINT_LEAVES = 256   // leaves of the walk for a hint: what it has found by then is a bound as well
};

// How many large blocks, or small ones, are beside one another on a side of so many pixels.
static int32_t blocks(int32_t pixels, int small) {
    const int32_t side = small ? SMALL : LARGE;
    return (pixels + side - 1) / side;
}

static int lists_of(const sap_gl_frame* frame) { return frame->capacity > 1 ? frame->capacity / 2 : 0; }

sap_status sap_gl_walk_check(const sap_tree* tree, sap_walk walk) {
    if (walk == SAP_WALK_AUTO || walk == SAP_WALK_STACKLESS) return SAP_OK;
    if (walk == SAP_WALK_STACK && tree->shape.kind == SAP_TREE_BALANCED) return SAP_OK;
    return sap_fail(tree->device, SAP_ERROR_UNSUPPORTED,
                    walk == SAP_WALK_STACK ? "search.walk: shaders keep a stack for balanced trees only"
                                           : "search.walk: shaders walk each pixel alone, with a stack or without");
}

void sap_gl_walk_create(sap_gl_call* call, const sap_tree* tree, const int32_t size[2], int32_t k, float limit2,
                        sap_walk walk, sap_gl_frame* frame) {
    memset(frame, 0, sizeof *frame);
    frame->tree = tree;
    frame->width = size[0];
    frame->height = size[1];
    frame->k = k;
    frame->capacity = k;
    while (frame->capacity & (frame->capacity - 1)) frame->capacity++;
    frame->limit2 = limit2;
    frame->stack = walk == SAP_WALK_STACK;
    SAP_ASSERT(k >= 0 && k <= SAP_GL_MOST_K && lists_of(frame) <= SAP_GL_FRAME_LISTS);
    for (int i = 0; i < 2; i++)
        for (int j = 0; j <= lists_of(frame); j++)
            frame->state[i][j] = sap_gl_texture(call, GL_RGBA32UI, size[0], size[1], NULL, "walks");
}

void sap_gl_walk_free(sap_gl_call* call, sap_gl_frame* frame) {
    sap_gl_texture_free(call, frame->columns);
    sap_gl_texture_free(call, frame->rows);
    sap_gl_texture_free(call, frame->queries);
    for (int i = 0; i < 2; i++) sap_gl_texture_free(call, frame->hints[i]);
    for (int i = 0; i < SAP_GL_TILE_TEXTURES; i++) sap_gl_texture_free(call, frame->tiles[i]);
    sap_gl_texture_free(call, frame->unfinished);
    for (int i = 0; i < 2; i++)
        for (int j = 0; j <= SAP_GL_FRAME_LISTS; j++) sap_gl_texture_free(call, frame->state[i][j]);
    *frame = (sap_gl_frame){.tree = frame->tree};
}

// Writes one side of the grid: the part of each place that belongs to its column, or to its row.
static void put_side(sap_gl_call* call, GLuint* texture, const sap_grid* grid, int32_t dims, bool columns,
                     int32_t first, int32_t count) {
    sap_scratch scratch = {NULL, 0};
    if (!*texture) *texture = sap_gl_texture(call, GL_RGBA32F, count, 1, NULL, "the sides of a grid");
    if (!sap_scratch_take(call->device, (size_t)count * 16, &scratch))
        sap_gl_fail(call, SAP_ERROR_MEMORY, "no memory for a grid");
    if (call->status == SAP_OK) {
        float* values = (float*)(void*)scratch.memory;
        memset(values, 0, (size_t)count * 16);
        for (int32_t i = 0; i < count; i++)
            for (int32_t a = 0; a < dims; a++)
                values[4 * i + a] = columns ? sap_grid_column(grid, first + i, a) : sap_grid_row(grid, first + i, a);
        sap_gl_write(call, *texture, GL_RGBA32F, 0, (int32_t[4]){0, 0, count, 1}, values);
    }
    sap_scratch_give(call->device, &scratch);
}

// How far a pixel may be from the middle pixel of its block, with what rounding can move both of them, for large and small
// blocks, and what the shader finds a pixel's own way by: there a thousandth of the block is more than what its
// roundings can add.
static void measure_blocks(const sap_grid* grid, int32_t dims, float radius[2], float ways[4]) {
    double right2 = 0, down2 = 0, both = 0, largest = 0;
    for (int32_t a = 0; a < dims; a++) {
        right2 += grid->right[a] * grid->right[a];
        down2 += grid->down[a] * grid->down[a];
        both += grid->right[a] * grid->down[a];
        double most = fabs(grid->origin[a]) + fabs(grid->right[a]) * (grid->width + 1.0) +
                      2 * fabs(grid->down[a]) * (grid->height + 1.0);
        if (!(most <= largest)) largest = most;
    }
    const double sides = sqrt(right2) + sqrt(down2), rounding = 16 * largest * (double)FLT_EPSILON;
    radius[0] = radius[1] = INFINITY;
    if (!(LARGE * sides + rounding < 1e18)) return;
    radius[0] = (float)(0.5 * LARGE * sides * 1.00001 + rounding);
    radius[1] = (float)(0.5 * SMALL * sides * 1.00001 + rounding);
    ways[0] = (float)right2;
    ways[1] = (float)down2;
    ways[2] = (float)(2 * both);
    ways[3] = (float)(1e-3 * LARGE * sides + rounding);
}

void sap_gl_walk_begin_grid(sap_gl_call* call, sap_gl_frame* frame, const sap_grid* grid, const int32_t first[2]) {
    const int32_t dims = frame->tree->shape.dims;
    frame->has_queries = false;
    put_side(call, &frame->columns, grid, dims, true, first[0], frame->width);
    put_side(call, &frame->rows, grid, dims, false, first[1], frame->height);
    measure_blocks(grid, dims, frame->block_radius, frame->ways);
    frame->begun = false;
    // Without a finite radius there are no hints: all walks begin at the root.
    for (int i = 0; i < 2; i++) {
        if (isfinite(frame->block_radius[i]) && frame->hints[i]) continue;
        sap_gl_texture_free(call, frame->hints[i]);
        frame->hints[i] = 0;
        if (isfinite(frame->block_radius[i]))
            frame->hints[i] =
                sap_gl_texture(call, GL_RGBA32UI, blocks(frame->width, i), blocks(frame->height, i), NULL, "hints");
    }
    frame->has_queries = call->status == SAP_OK;
}

void sap_gl_walk_begin_queries(sap_gl_call* call, sap_gl_frame* frame, const float* queries) {
    if (!frame->queries)
        frame->queries = sap_gl_texture(call, GL_RGBA32F, frame->width, frame->height, NULL, "queries");
    sap_gl_write(call, frame->queries, GL_RGBA32F, 0, (int32_t[4]){0, 0, frame->width, frame->height}, queries);
    frame->begun = false;
}

typedef enum step { STEP_LARGE, STEP_SMALL, STEP_TILES, STEP_BEGIN, STEP_RESUME, STEP_LEFT } step;

// Compute shaders are used where they can be: on some GPUs they run on many times the processors of fragments.
static bool computes(const sap_gl_call* call, const sap_gl_frame* frame, step which) {
    const int images = which == STEP_TILES ? SAP_GL_TILE_TEXTURES : 1 + lists_of(frame);
    return which != STEP_LEFT && images <= call->gl->most_images;
}

static GLuint program_of(sap_gl_call* call, const sap_gl_frame* frame, step which) {
    char defines[192], stack[32] = "";
    int hints = which == STEP_LARGE ? 1 : which == STEP_SMALL ? 3 : which <= STEP_BEGIN && frame->hints[0] ? 2 : 0;
    const char* tiles = which == STEP_TILES                   ? "#define SAP_TILES 1\n"
                        : which == STEP_BEGIN && frame->tiled ? "#define SAP_TILES 2\n"
                                                              : "";
    int capacity = which == STEP_LEFT ? 1 : frame->capacity;
    // Few sizes of stacks make few programs.
    if (frame->stack && (which == STEP_BEGIN || which == STEP_RESUME))
        (void)snprintf(stack, sizeof stack, "#define SAP_STACK %d\n", (int)frame->tree->shape.depth / 8 * 8 + 8);
    const int length = snprintf(
        defines, sizeof defines, "%s#define SAP_AXES %d\n#define SAP_CAPACITY %d\n#define SAP_HINTS %d\n%s%s%s%s%s%s",
        computes(call, frame, which) ? SAP_GLSL_COMPUTE : "", (int)frame->tree->shape.dims, capacity, hints,
        frame->tree->shape.kind == SAP_TREE_EXPLICIT ? "#define SAP_EXPLICIT\n" : "",
        frame->columns ? "#define SAP_GRID\n" : "", which >= STEP_RESUME ? "#define SAP_RESUMED\n" : "",
        which == STEP_LEFT ? "#define SAP_LEFT\n" : "", stack, tiles);
    SAP_ASSERT(length > 0 && length < (int)sizeof defines);
    (void)length;
    return sap_gl_program(call, sap_glsl_nearest, defines);
}

// A leaf takes one round of the loop, one more for each texel of its points, and two for each level of the way to it
// and from it. Of points that are all equal, more than leaf_size of them, only those are looked at that the list takes,
// unless they are counted.
int32_t sap_gl_walk_most_leaves(const sap_gl_call* call, const sap_gl_frame* frame) {
    const sap_tree_shape* s = &frame->tree->shape;
    int32_t slots = s->kind == SAP_TREE_BALANCED ? s->stride : s->capacity;
    const int32_t looked_at = frame->tree->options.leaf_size + SAP_GL_MOST_K;
    if (frame->k && s->kind == SAP_TREE_EXPLICIT && slots > looked_at) slots = looked_at;
    int32_t rounds = 2 * s->depth + (slots + 3) / 4 + 5, most = call->gl->most_rounds;
    return most == INT32_MAX ? most : most / rounds > 1 ? most / rounds : 1;
}

// Prepares a pass with the inputs and uniforms that all steps have. Returns how many inputs it has.
static int prepare(sap_gl_call* call, const sap_gl_frame* frame, step which, int32_t leaves, sap_gl_pass* pass) {
    memset(pass, 0, sizeof *pass);
    pass->name = "searching a tree";
    pass->program = program_of(call, frame, which);
    pass->compute = computes(call, frame, which);
    const sap_gl_tree* textures = sap_gl_tree_of(call, frame->tree);
    if (call->status != SAP_OK) return 0;
    int inputs = sap_gl_tree_bind(call, frame->tree, textures, pass);
    sap_gl_set_int(call, pass->program, "wanted", frame->k);
    sap_gl_set_float(call, pass->program, "limit2", frame->limit2);
    int32_t most = sap_gl_walk_most_leaves(call, frame);
    sap_gl_set_int(call, pass->program, "leaves", leaves < most ? leaves : most);
    if (frame->columns) {
        pass->input[inputs++] = (sap_gl_input){.sampler = "columns", .texture = frame->columns};
        pass->input[inputs++] = (sap_gl_input){.sampler = "rows", .texture = frame->rows};
        sap_gl_set_ints(call, pass->program, "size", 2, (int32_t[2]){frame->width, frame->height});
    } else {
        pass->input[inputs++] = (sap_gl_input){.sampler = "queries", .texture = frame->queries};
    }
    SAP_ASSERT(inputs < SAP_GL_UNITS);
    pass->rectangle[2] = frame->width;
    pass->rectangle[3] = frame->height;
    return inputs;
}

// Adds a texture of hints to the inputs of a pass.
static void take_hints(sap_gl_call* call, const sap_gl_frame* frame, GLuint hints, sap_gl_pass* pass, int input) {
    pass->input[input] = (sap_gl_input){.sampler = "hints", .texture = hints};
    sap_gl_set_floats(call, pass->program, "ways", 4, frame->ways);
}

static void find_hints(sap_gl_call* call, const sap_gl_frame* frame) {
    for (int i = 0; i < (frame->tiled ? 1 : 2); i++) {
        sap_gl_pass pass;
        const int inputs = prepare(call, frame, i ? STEP_SMALL : STEP_LARGE, HINT_LEAVES, &pass);
        if (call->status != SAP_OK) return;
        if (i) take_hints(call, frame, frame->hints[0], &pass, inputs);
        sap_gl_set_float(call, pass.program, "block_radius", frame->block_radius[i]);
        pass.target[0] = frame->hints[i];
        pass.rectangle[2] = blocks(frame->width, i);
        pass.rectangle[3] = blocks(frame->height, i);
        sap_gl_draw(call, &pass);
    }
}

// Whether the nearest points of a tile's pixels are found together. Tiles want a leaf with a point.
static bool has_tiles(const sap_gl_frame* frame, int32_t leaves) {
    const sap_tree_shape* s = &frame->tree->shape;
    return frame->hints[0] && frame->capacity == 1 && !frame->stack && s->kind == SAP_TREE_BALANCED && s->count > 0 &&
           s->source_count <= TILE_IDS && (leaves >= TILE_LEAVES || leaves >= s->leaves);
}

static void find_tiles(sap_gl_call* call, sap_gl_frame* frame, int32_t leaves) {
    sap_gl_pass pass;
    const int32_t size[2] = {(frame->width + TILE_WIDE - 1) / TILE_WIDE, (frame->height + TILE_HIGH - 1) / TILE_HIGH};
    const int inputs = prepare(call, frame, STEP_TILES, leaves, &pass);
    if (call->status != SAP_OK) return;
    take_hints(call, frame, frame->hints[0], &pass, inputs);
    for (int i = 0; i < SAP_GL_TILE_TEXTURES; i++) {
        if (!frame->tiles[i]) frame->tiles[i] = sap_gl_texture(call, GL_RGBA32UI, size[0], size[1], NULL, "tiles");
        pass.target[i] = frame->tiles[i];
    }
    pass.rectangle[2] = size[0];
    pass.rectangle[3] = size[1];
    sap_gl_draw(call, &pass);
}

void sap_gl_walk_pass(sap_gl_call* call, sap_gl_frame* frame, int32_t leaves) {
    static const char* const lists[SAP_GL_FRAME_LISTS] = {"list0", "list1", "list2", "list3"};
    static const char* const tiles[SAP_GL_TILE_TEXTURES] = {"ids0", "distances0", "ids1", "distances1"};
    sap_gl_pass pass;
    if (!frame->begun) frame->tiled = has_tiles(frame, leaves);
    if (!frame->begun && frame->hints[0]) find_hints(call, frame);
    if (!frame->begun && frame->tiled) find_tiles(call, frame, leaves);
    int inputs = prepare(call, frame, frame->begun ? STEP_RESUME : STEP_BEGIN, leaves, &pass);
    if (call->status != SAP_OK) return;
    const GLuint* from = frame->state[frame->current];
    if (frame->begun) {
        pass.input[inputs++] = (sap_gl_input){.sampler = "place", .texture = from[0]};
        for (int i = 0; i < lists_of(frame); i++)
            pass.input[inputs++] = (sap_gl_input){.sampler = lists[i], .texture = from[1 + i]};
    } else if (frame->hints[0]) {
        take_hints(call, frame, frame->hints[frame->tiled ? 0 : 1], &pass, inputs++);
        for (int i = 0; i < SAP_GL_TILE_TEXTURES && frame->tiled; i++)
            pass.input[inputs++] = (sap_gl_input){.sampler = tiles[i], .texture = frame->tiles[i]};
    }
    SAP_ASSERT(inputs <= SAP_GL_UNITS && 1 + lists_of(frame) <= SAP_GL_TARGETS);
    frame->current = 1 - frame->current;
    for (int i = 0; i <= lists_of(frame); i++) pass.target[i] = frame->state[frame->current][i];
    sap_gl_draw(call, &pass);
    frame->begun = call->status == SAP_OK;
}

// A query object of OpenGL could count them too, but browsers return its result only after the program has returned to
// the browser.
bool sap_gl_walk_any_left(sap_gl_call* call, sap_gl_frame* frame) {
    sap_gl_pass pass;
    sap_scratch scratch = {NULL, 0};
    const int32_t whole[4] = {0, 0, (frame->width + LEFT_BLOCK - 1) / LEFT_BLOCK,
                              (frame->height + LEFT_BLOCK - 1) / LEFT_BLOCK};
    const size_t texels = (size_t)whole[2] * (size_t)whole[3];
    uint32_t left = 0;
    if (!frame->unfinished)
        frame->unfinished = sap_gl_texture(call, GL_RGBA32UI, whole[2], whole[3], NULL, "walks that go on");
    int inputs = prepare(call, frame, STEP_LEFT, 0, &pass);
    sap_gl_set_int(call, pass.program, "block", LEFT_BLOCK);
    pass.input[inputs] = (sap_gl_input){.sampler = "place", .texture = frame->state[frame->current][0]};
    pass.target[0] = frame->unfinished;
    memcpy(pass.rectangle, whole, sizeof whole);
    sap_gl_draw(call, &pass);
    if (!sap_scratch_take(call->device, texels * 16, &scratch))
        sap_gl_fail(call, SAP_ERROR_MEMORY, "no memory to read the states of walks");
    sap_gl_read(call, frame->unfinished, GL_RGBA32UI, 0, whole, scratch.memory);
    for (size_t i = 0; i < texels && call->status == SAP_OK; i++)
        left |= ((const uint32_t*)(const void*)scratch.memory)[4 * i];
    sap_scratch_give(call->device, &scratch);
    return left != 0;
}
