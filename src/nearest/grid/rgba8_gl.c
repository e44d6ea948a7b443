// Pictures of the nearest site over trees in bytes: in GLSL ES 1.00, for contexts of WebGL 1, or in GLSL ES 3.00. All
// textures are of bytes.
#include "nearest/grid/rgba8_gl.h"
#include "base/assert.h"
#include "nearest/ops.h"
#include <stdio.h>

extern const char sap_glsl_nearest_rgba8[];

enum { TILE = SAP_GL_RGBA8_TILE };

// A tree's depth: its nodes, and one place more, fill the textures.
static int depth_of(const sap_rgba8_tree* form) {
    return sap_gl_shift_of(form->width) + sap_gl_shift_of(form->height) - 1;
}

static GLuint program_of(sap_gl_call* call, const sap_gl_rgba8* with, bool distances) {
    const sap_rgba8_search* search = with->search;
    char defines[160], stack[32] = "";
    // Few sizes of stacks make few programs. Where the stack is emulated, each place of it costs time.
    const int places = depth_of(with->form) / 4 * 4 + 4;
    if (search->walk == SAP_WALK_STACK) (void)snprintf(stack, sizeof stack, "#define SAP_STACK %d\n", places);
    const int length =
        snprintf(defines, sizeof defines, "%s#define SAP_AXES %d\n#define SAP_OUTPUT %d\n%s%s%s",
                 search->integers ? "#define SAP_GLSL 300\n" : SAP_GLSL_100, (int)with->form->dims, distances, stack,
                 search->cycle ? "#define SAP_CYCLE\n" : "", search->most_steps ? "#define SAP_MOST\n" : "");
    SAP_ASSERT(length > 0 && length < (int)sizeof defines);
    (void)length;
    return sap_gl_program(call, sap_glsl_nearest_rgba8, defines);
}

void sap_gl_rgba8_create(sap_gl_call* call, const sap_rgba8_tree* form, const sap_rgba8_search* search,
                         sap_gl_rgba8* made) {
    *made = (sap_gl_rgba8){.form = form, .search = search};
    made->nodes = sap_gl_texture(call, GL_RGBA8, form->width, form->height, form->nodes, "the nodes of a tree");
    made->ids = sap_gl_texture(call, GL_RGBA8, form->width, form->height, form->ids, "the ids of a tree");
    made->tile = sap_gl_texture(call, GL_RGBA8, TILE, TILE, NULL, "a picture");
}

void sap_gl_rgba8_free(sap_gl_call* call, sap_gl_rgba8* made) {
    sap_gl_texture_free(call, made->nodes);
    sap_gl_texture_free(call, made->ids);
    sap_gl_texture_free(call, made->tile);
}

void sap_gl_rgba8_draw(sap_gl_call* call, const sap_gl_rgba8* with, const sap_grid* grid, const int32_t rectangle[4],
                       bool distances) {
    const sap_rgba8_tree* form = with->form;
    sap_gl_pass pass = {.name = "searching a tree in bytes", .target = {with->tile}};
    float origin[3], right[3], down[3];
    for (int32_t a = 0; a < form->dims; a++) {
        double corner = grid->origin[a] + rectangle[0] * grid->right[a] + rectangle[1] * grid->down[a];
        origin[a] = (float)((corner - form->lower[a]) * form->scale);
        right[a] = (float)(grid->right[a] * form->scale);
        down[a] = (float)(grid->down[a] * form->scale);
    }
    SAP_ASSERT(rectangle[2] >= 1 && rectangle[2] <= TILE && rectangle[3] >= 1 && rectangle[3] <= TILE);
    pass.input[0] = (sap_gl_input){.sampler = "nodes", .texture = with->nodes};
    pass.input[1] = (sap_gl_input){.sampler = "ids", .texture = with->ids};
    pass.rectangle[2] = rectangle[2];
    pass.rectangle[3] = rectangle[3];
    pass.program = program_of(call, with, distances);
    sap_gl_set_int(call, pass.program, "shift", sap_gl_shift_of(form->width));
    sap_gl_set_float(call, pass.program, "most", (float)with->search->most_steps);
    sap_gl_set_floats(call, pass.program, "texels", 2, (float[2]){(float)form->width, (float)form->height});
    sap_gl_set_floats(call, pass.program, "origin", form->dims, origin);
    sap_gl_set_floats(call, pass.program, "right", form->dims, right);
    sap_gl_set_floats(call, pass.program, "down", form->dims, down);
    sap_gl_draw(call, &pass);
}

static uint32_t word_of(const unsigned char* bytes) {
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

// One tile of both answers. `bytes` has room for a tile.
static void answer(sap_gl_call* call, const sap_gl_rgba8* with, const sap_grid* grid, const int32_t rectangle[4],
                   unsigned char* bytes, int32_t* ids, float* distances) {
    const int32_t width = rectangle[2], height = rectangle[3];
    SAP_ASSERT(rectangle[0] + width <= grid->width && rectangle[1] + height <= grid->height);
    for (int which = 0; which < (distances ? 2 : 1) && call->status == SAP_OK; which++) {
        sap_gl_rgba8_draw(call, with, grid, rectangle, which == 1);
        sap_gl_read(call, with->tile, GL_RGBA8, 0, (int32_t[4]){0, 0, width, height}, bytes);
        for (int32_t y = 0; y < height && call->status == SAP_OK; y++)
            for (int32_t x = 0; x < width; x++) {
                int64_t row = (int64_t)(rectangle[1] + y) * grid->width + rectangle[0] + x;
                uint32_t word = word_of(bytes + 4 * ((int64_t)y * width + x));
                if (which == 0 && word == UINT32_MAX && !with->search->most_steps) {
                    sap_gl_fail(call, SAP_ERROR_UNSUPPORTED,
                                "searching a tree in bytes: this driver ends loops of shaders too early");
                    return;
                }
                if (which == 0)
                    ids[row] = (int32_t)word;
                else
                    distances[row] = (float)(word / 65536.0 / with->form->scale);
            }
    }
}

sap_status sap_nearest_rgba8_gl(sap_device* device, const sap_rgba8_tree* form, const sap_grid* grid,
                                const sap_rgba8_search* search, int32_t* ids, float* distances) {
    sap_gl_call call;
    sap_scratch scratch = {NULL, 0};
    sap_gl_rgba8 with;
    if (sap_gl_begin(&call, device) == SAP_OK && !sap_scratch_take(device, (size_t)TILE * TILE * 4, &scratch))
        sap_gl_fail(&call, SAP_ERROR_MEMORY, "no memory for a picture");
    sap_gl_rgba8_create(&call, form, search, &with);
    for (int64_t top = 0; scratch.memory && top < grid->height && call.status == SAP_OK; top += TILE) {
        for (int64_t side = 0; side < grid->width && call.status == SAP_OK; side += TILE) {
            const int32_t x = (int32_t)side, y = (int32_t)top;
            const int32_t rectangle[4] = {x, y, grid->width - x < TILE ? grid->width - x : TILE,
                                          grid->height - y < TILE ? grid->height - y : TILE};
            answer(&call, &with, grid, rectangle, scratch.memory, ids, distances);
            const double columns = (double)(x + rectangle[2]) / grid->width; // of the rows that are being done
            sap_gl_report(&call, (y + rectangle[3] * columns) / grid->height);
        }
    }
    sap_gl_rgba8_free(&call, &with);
    sap_scratch_give(device, &scratch);
    return sap_gl_end(&call, SAP_OK);
}
