// Passes of ray.glsl from one of two sets of textures into the other.
#include "ray/walk_gl.h"
#include "ray/ray.h"
#include <stdio.h>
#include <string.h>

extern const char sap_glsl_ray[];

enum {
    STACK_STEP = 16, // trees whose depths differ little share a program
    BLOCK = 16       // rays on a side of a block that the outcome summarizes in one texel
};

static const char* const names[SAP_GL_WALK_TEXTURES] = {"the places of rays", "the hits of rays"};

void sap_gl_walk_make(sap_gl_call* call, const sap_mesh_tree* tree, const int32_t size[2], bool listed,
                      sap_gl_walk* walk) {
    *walk = (sap_gl_walk){.tree = tree, .width = size[0], .height = size[1], .listed = listed};
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < SAP_GL_WALK_TEXTURES; j++)
            walk->state[i][j] = sap_gl_texture(call, GL_RGBA32UI, size[0], size[1], NULL, names[j]);
    walk->outcome = sap_gl_texture(call, GL_RGBA32UI, (size[0] + BLOCK - 1) / BLOCK, (size[1] + BLOCK - 1) / BLOCK,
                                   NULL, "how rays have ended");
}

void sap_gl_walk_drop(sap_gl_call* call, sap_gl_walk* walk) {
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < SAP_GL_WALK_TEXTURES; j++) sap_gl_texture_free(call, walk->state[i][j]);
    sap_gl_texture_free(call, walk->outcome);
    memset(walk, 0, sizeof *walk);
}

static GLuint program_of(sap_gl_call* call, const sap_gl_walk* walk, bool outcome_only) {
    char defines[128];
    int stack = (walk->tree->shape.depth / STACK_STEP + 1) * STACK_STEP;
    int length = snprintf(defines, sizeof defines, "#define SAP_MESH_STACK %d\n%s%s", stack,
                          walk->listed ? "#define SAP_LISTED\n" : "", walk->begun ? "#define SAP_RESUMED\n" : "");
    SAP_ASSERT(length < (int)sizeof defines && stack > walk->tree->shape.depth);
    return sap_gl_program(call, sap_glsl_ray,
                          outcome_only ? "#define SAP_OUTCOME\n#define SAP_MESH_STACK 1\n" : defines);
}

// Loops run at most three times for each node or triangle, and once per level on the path to the next node.
static int32_t most_rounds(const sap_gl_call* call) {
    int32_t most = call->gl->most_rounds;
    return most == INT32_MAX ? most : (most - 4 * SAP_MESH_DEPTH_MAX) / 3;
}

void sap_gl_walk_advance(sap_gl_call* call, sap_gl_walk* walk, const GLuint rays[2], int32_t rounds) {
    const sap_gl_mesh* textures = sap_gl_mesh_of(call, walk->tree);
    const GLuint *from = walk->state[walk->now], *to = walk->state[!walk->now];
    sap_gl_pass pass = {.program = program_of(call, walk, false),
                        .target = {to[SAP_GL_WALK_PLACE], to[SAP_GL_WALK_FOUND]},
                        .rectangle = {0, 0, walk->width, walk->height},
                        .name = "tracing rays"};
    if (call->status != SAP_OK) return;
    int32_t most = most_rounds(call);
    int inputs = sap_gl_mesh_bind(call, walk->tree, textures, &pass);
    pass.input[inputs++] = (sap_gl_input){.sampler = walk->listed ? "rays" : "origins", .texture = rays[0]};
    if (!walk->listed) pass.input[inputs++] = (sap_gl_input){.sampler = "directions", .texture = rays[1]};
    if (walk->begun) {
        pass.input[inputs++] = (sap_gl_input){.sampler = "place", .texture = from[SAP_GL_WALK_PLACE]};
        pass.input[inputs++] = (sap_gl_input){.sampler = "found", .texture = from[SAP_GL_WALK_FOUND]};
    }
    sap_gl_set_float(call, pass.program, "magnitude", sap_mesh_magnitude(walk->tree));
    sap_gl_set_int(call, pass.program, "any_hit", walk->any);
    sap_gl_set_int(call, pass.program, "rounds", rounds < most ? rounds : most);
    sap_gl_draw(call, &pass);
    walk->now = !walk->now;
    walk->begun = true;
}

static void count_blocks(const sap_gl_walk* walk, int32_t rectangle[4]) {
    rectangle[0] = rectangle[1] = 0;
    rectangle[2] = (walk->width + BLOCK - 1) / BLOCK;
    rectangle[3] = (walk->height + BLOCK - 1) / BLOCK;
}

void sap_gl_walk_ask(sap_gl_call* call, sap_gl_walk* walk) {
    const GLuint* state = walk->state[walk->now];
    sap_gl_pass pass = {.program = program_of(call, walk, true),
                        .input = {{.sampler = "place", .texture = state[SAP_GL_WALK_PLACE]},
                                  {.sampler = "found", .texture = state[SAP_GL_WALK_FOUND]}},
                        .target = {walk->outcome},
                        .name = "asking how rays have ended"};
    count_blocks(walk, pass.rectangle);
    sap_gl_set_int(call, pass.program, "block", BLOCK);
    sap_gl_set_ints(call, pass.program, "size", 2, (int32_t[2]){walk->width, walk->height});
    sap_gl_draw(call, &pass);
}

sap_gl_walk_outcome sap_gl_walk_answer(sap_gl_call* call, const sap_gl_walk* walk) {
    sap_gl_walk_outcome outcome = {false, false, 0};
    sap_scratch scratch = {NULL, 0};
    int32_t blocks[4];
    count_blocks(walk, blocks);
    const size_t count = (size_t)blocks[2] * (size_t)blocks[3];
    if (!sap_scratch_take(call->device, count * 16, &scratch))
        sap_gl_fail(call, SAP_ERROR_MEMORY, "no memory to read the states of rays");
    sap_gl_read(call, walk->outcome, GL_RGBA32UI, 0, blocks, scratch.memory);
    const uint32_t* texels = (const uint32_t*)(const void*)scratch.memory;
    for (size_t i = 0; i < count && call->status == SAP_OK; i++) {
        outcome.left |= texels[4 * i] != 0;
        outcome.hits |= texels[4 * i + 1] != 0;
        outcome.rays += texels[4 * i + 2];
    }
    sap_scratch_give(call->device, &scratch);
    return outcome;
}
