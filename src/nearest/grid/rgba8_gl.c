// Pictures of the nearest site over trees in bytes: in GLSL ES 1.00, for contexts of WebGL 1, or in GLSL ES 3.00. All
// textures are of bytes.
#include "base/assert.h"
#include "device/gl.h"
#include "nearest/ops.h"
#include <stdio.h>

extern const char sap_glsl_nearest_rgba8[];

enum { TILE = 512 };

// A tree's depth: its nodes, and one place more, fill the textures.
static int depth_of(const sap_rgba8_tree* form) {
    return sap_gl_shift_of(form->width) + sap_gl_shift_of(form->height) - 1;
}

static GLuint program_of(sap_gl_call* call, const sap_rgba8_tree* form, const sap_rgba8_search* search,
                         bool distances) {
    char defines[160], stack[32] = "";
    // Few sizes of stacks make few programs. Where the stack is emulated, each place of it costs time.
    const int places = depth_of(form) / 4 * 4 + 4;
    if (search->walk == SAP_WALK_STACK) (void)snprintf(stack, sizeof stack, "#define SAP_STACK %d\n", places);
    const int length = snprintf(defines, sizeof defines, "%s#define SAP_OUTPUT %d\n%s%s",
                                search->integers ? "#define SAP_GLSL 300\n" : SAP_GLSL_100, distances, stack,
                                search->most_steps ? "#define SAP_MOST\n" : "");
    SAP_ASSERT(length > 0 && length < (int)sizeof defines);
    (void)length;
    return sap_gl_program(call, sap_glsl_nearest_rgba8, defines);
}

// Draws a rectangle that begins at pixel (x, y) of the grid.
static void draw(sap_gl_call* call, const sap_rgba8_tree* form, const sap_grid* grid, const sap_rgba8_search* search,
                 const int32_t from[2], bool distances, sap_gl_pass* pass) {
    float origin[2], right[2], down[2];
    for (int a = 0; a < 2; a++) {
        double corner = grid->origin[a] + from[0] * grid->right[a] + from[1] * grid->down[a];
        origin[a] = (float)((corner - form->lower[a]) * form->scale);
        right[a] = (float)(grid->right[a] * form->scale);
        down[a] = (float)(grid->down[a] * form->scale);
    }
    pass->program = program_of(call, form, search, distances);
    sap_gl_set_int(call, pass->program, "shift", sap_gl_shift_of(form->width));
    sap_gl_set_float(call, pass->program, "most", (float)search->most_steps);
    sap_gl_set_floats(call, pass->program, "texels", 2, (float[2]){(float)form->width, (float)form->height});
    sap_gl_set_floats(call, pass->program, "origin", 2, origin);
    sap_gl_set_floats(call, pass->program, "right", 2, right);
    sap_gl_set_floats(call, pass->program, "down", 2, down);
    sap_gl_draw(call, pass);
}

static uint32_t word_of(const unsigned char* bytes) {
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

// One tile of both answers. `bytes` has room for a tile.
static void answer(sap_gl_call* call, const sap_rgba8_tree* form, const sap_grid* grid, const sap_rgba8_search* search,
                   const int32_t from[2], sap_gl_pass* pass, unsigned char* bytes, int32_t* ids, float* distances) {
    const int32_t width = pass->rectangle[2], height = pass->rectangle[3];
    SAP_ASSERT(width >= 1 && width <= TILE && height >= 1 && height <= TILE);
    SAP_ASSERT(from[0] + width <= grid->width && from[1] + height <= grid->height);
    for (int which = 0; which < (distances ? 2 : 1) && call->status == SAP_OK; which++) {
        draw(call, form, grid, search, from, which == 1, pass);
        sap_gl_read(call, pass->target[0], GL_RGBA8, 0, pass->rectangle, bytes);
        for (int32_t y = 0; y < height && call->status == SAP_OK; y++)
            for (int32_t x = 0; x < width; x++) {
                int64_t row = (int64_t)(from[1] + y) * grid->width + from[0] + x;
                uint32_t word = word_of(bytes + 4 * ((int64_t)y * width + x));
                if (which == 0 && word == UINT32_MAX && !search->most_steps) {
                    sap_gl_fail(call, SAP_ERROR_UNSUPPORTED, "%s: this driver ends loops of shaders too early",
                                pass->name);
                    return;
                }
                if (which == 0)
                    ids[row] = (int32_t)word;
                else
                    distances[row] = (float)(word / 65536.0 / form->scale);
            }
    }
}

sap_status sap_nearest_rgba8_gl(sap_device* device, const sap_rgba8_tree* form, const sap_grid* grid,
                                const sap_rgba8_search* search, int32_t* ids, float* distances) {
    sap_gl_call call;
    sap_scratch scratch = {NULL, 0};
    sap_gl_pass pass = {.name = "searching a tree in bytes"};
    if (sap_gl_begin(&call, device) == SAP_OK && !sap_scratch_take(device, (size_t)TILE * TILE * 4, &scratch))
        sap_gl_fail(&call, SAP_ERROR_MEMORY, "no memory for a picture");
    GLuint nodes = sap_gl_texture(&call, GL_RGBA8, form->width, form->height, form->nodes, "the nodes of a tree");
    GLuint names = sap_gl_texture(&call, GL_RGBA8, form->width, form->height, form->ids, "the ids of a tree");
    pass.target[0] = sap_gl_texture(&call, GL_RGBA8, TILE, TILE, NULL, "a picture");
    pass.input[0] = (sap_gl_input){.sampler = "nodes", .texture = nodes};
    pass.input[1] = (sap_gl_input){.sampler = "ids", .texture = names};
    for (int64_t top = 0; scratch.memory && top < grid->height && call.status == SAP_OK; top += TILE) {
        for (int64_t side = 0; side < grid->width && call.status == SAP_OK; side += TILE) {
            const int32_t x = (int32_t)side, y = (int32_t)top;
            pass.rectangle[2] = grid->width - x < TILE ? grid->width - x : TILE;
            pass.rectangle[3] = grid->height - y < TILE ? grid->height - y : TILE;
            answer(&call, form, grid, search, (int32_t[2]){x, y}, &pass, scratch.memory, ids, distances);
        }
    }
    sap_gl_texture_free(&call, nodes);
    sap_gl_texture_free(&call, names);
    sap_gl_texture_free(&call, pass.target[0]);
    sap_scratch_give(device, &scratch);
    return sap_gl_end(&call, SAP_OK);
}
