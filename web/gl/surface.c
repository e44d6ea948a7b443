// Marching cubes whose triangles stay on the GPU: of a volume in a texture, as rows of corners that JavaScript copies
// into buffers of WebGL.
#include "compact/pyramid_gl.h"
#include "gl/module.h"
#include "surface/lattice.h"
#include <stdlib.h>
#include <string.h>

extern const char sap_glsl_surface[], sap_glsl_corners[];

enum { CASE_WORDS = 512, ROWS = 256, VERTICES = 0, TRIANGLES = 1 };

/** A volume's surface on its way: what passes write, and what they read. */
typedef struct web_surface {
    sap_lattice lattice;
    bool low_inside;
    GLuint volume, words, counts[2], rows[2]; // rows: positions and normals of some corners
    int32_t size[2];                          // of counts
    sap_gl_pyramid* pyramid;                  // of the cells' triangles
    sap_gl_list list;
    int64_t triangles;
} web_surface;

static GLuint prepare(sap_gl_call* call, const web_surface* s, const char* text, const char* defines,
                      sap_gl_pass* pass) {
    const GLuint program = sap_gl_program(call, text, defines);
    sap_gl_set_ints(call, program, "sides", 3, s->lattice.sides);
    sap_gl_set_float(call, program, "level", s->lattice.level);
    pass->program = program;
    pass->input[0] = (sap_gl_input){"volume", s->volume, GL_TEXTURE_3D};
    pass->input[1] = (sap_gl_input){"words", s->words, 0};
    return program;
}

// How many triangles each cell has; the same pass counts vertices, which nobody asks for.
static void count(sap_gl_call* call, web_surface* s, uint32_t samples) {
    uint32_t words[CASE_WORDS];
    for (uint32_t i = 0; i < CASE_WORDS; i++) words[i] = sap_cube_word(i);
    s->words = sap_gl_texture(call, GL_R32UI, CASE_WORDS, 1, words, "the table of cases");
    int32_t* size = s->size;
    if (!sap_gl_array_size(call, ((int64_t)samples + 3) / 4, "the counts of a volume's cells", &size[0], &size[1]))
        return;
    for (int i = 0; i < 2; i++)
        s->counts[i] = sap_gl_texture(call, GL_RGBA8UI, size[0], size[1], NULL, "the counts of a volume's cells");
    sap_gl_pass pass = {.target = {s->counts[VERTICES], s->counts[TRIANGLES]},
                        .rectangle = {0, 0, size[0], size[1]},
                        .name = "counting triangles"};
    const GLuint program =
        prepare(call, s, sap_glsl_surface, "#define SAP_SAMPLER sampler3D\n#define SAP_PASS 0\n", &pass);
    sap_gl_set_int(call, program, "counts_shift", sap_gl_shift_of(size[0]));
    sap_gl_set_uint(call, program, "samples", samples);
    sap_gl_draw(call, &pass);
}

static sap_status list(web_surface* s, int64_t samples) {
    const sap_gl_pyramid_options options = {
        .cells = SAP_GL_CELLS_UINT4, .width = s->size[0], .height = s->size[1], .count = samples, .most = 5};
    sap_status status = sap_gl_pyramid_create(web_gl, &options, &s->pyramid);
    if (status == SAP_OK) status = sap_gl_compact(s->pyramid, s->counts[TRIANGLES], &s->list, &s->triangles);
    return status;
}

SAP_EXPORT void web_surface_free(web_surface* s) {
    sap_gl_call call;
    if (!s) return;
    if (sap_gl_begin(&call, web_gl) == SAP_OK) {
        const GLuint textures[] = {s->words, s->counts[0], s->counts[1], s->rows[0], s->rows[1]};
        for (size_t i = 0; i < sizeof textures / sizeof *textures; i++) sap_gl_texture_free(&call, textures[i]);
    }
    (void)sap_gl_end(&call, SAP_OK);
    sap_gl_pyramid_free(s->pyramid);
    free(s);
}

/** Counts and lists the triangles of a volume in a 3-D texture of floats (as shaders read it), with two samples along each
 * axis at least; spacing stands in numbers[0 … 2], origin in [3 … 5]. integers[0] is the surface, [1] how many corners it
 * has, [2] how many of them lie in a row, [3] how many rows web_surface_rows makes at most. */
SAP_EXPORT sap_status web_surface_begin(uint32_t volume, int32_t width, int32_t height, int32_t depth, float level,
                                        int32_t low_inside) {
    const double* n = web_shared.numbers;
    const int64_t samples = (int64_t)width * height * depth;
    web_surface* s = calloc(1, sizeof *s);
    if (!s) return SAP_ERROR_MEMORY;
    *s = (web_surface){.volume = volume, .low_inside = low_inside != 0};
    s->lattice = (sap_lattice){.sides = {width, height, depth}, .level = level, .facing = low_inside ? 1 : -1};
    float least = INFINITY;
    for (int i = 0; i < 3; i++) {
        s->lattice.spacing[i] = (float)n[i];
        s->lattice.origin[i] = (float)n[3 + i];
        least = s->lattice.spacing[i] < least ? s->lattice.spacing[i] : least;
    }
    for (int i = 0; i < 3; i++) s->lattice.slopes[i] = least / s->lattice.spacing[i];
    sap_gl_call call;
    if (sap_gl_begin(&call, web_gl) == SAP_OK) count(&call, s, (uint32_t)samples);
    sap_status status = sap_gl_end(&call, SAP_OK);
    if (status == SAP_OK) status = list(s, samples);
    if (status == SAP_OK && s->triangles && sap_gl_begin(&call, web_gl) == SAP_OK) {
        for (int i = 0; i < 2; i++)
            s->rows[i] = sap_gl_texture(&call, GL_RGBA32UI, s->list.width, ROWS, NULL, "rows of a surface");
        status = sap_gl_end(&call, SAP_OK);
    }
    if (status != SAP_OK) {
        web_surface_free(s);
        return status;
    }
    web_shared.integers[0] = web_address(s);
    web_shared.integers[1] = (int32_t)(3 * s->triangles);
    web_shared.integers[2] = s->list.width;
    web_shared.integers[3] = ROWS;
    return SAP_OK;
}

/** Makes `rows` rows of corners from `row` on: integers[0] and [1] are the textures of their positions and normals,
 * RGBA32UI, the bits of x, y, z, 1 and of x, y, z, 0. */
SAP_EXPORT sap_status web_surface_rows(web_surface* s, int32_t row, int32_t rows) {
    sap_gl_call call;
    if (sap_gl_begin(&call, web_gl) == SAP_OK) {
        sap_gl_pass pass = {
            .target = {s->rows[0], s->rows[1]}, .rectangle = {0, 0, s->list.width, rows}, .name = "making a surface"};
        const GLuint program = prepare(&call, s, sap_glsl_corners, "", &pass);
        pass.input[2] = (sap_gl_input){"list", s->list.texture, 0};
        sap_gl_set_int(&call, program, "list_width", s->list.width);
        sap_gl_set_int(&call, program, "first_row", row);
        sap_gl_set_int(&call, program, "corners", (int32_t)(3 * s->triangles));
        sap_gl_set_floats(&call, program, "origin", 3, s->lattice.origin);
        sap_gl_set_floats(&call, program, "spacing", 3, s->lattice.spacing);
        sap_gl_set_floats(&call, program, "slopes", 3, s->lattice.slopes);
        sap_gl_set_float(&call, program, "facing", s->lattice.facing);
        sap_gl_set_int(&call, program, "low_inside", s->low_inside);
        sap_gl_draw(&call, &pass);
    }
    for (int i = 0; i < 2; i++) web_shared.integers[i] = (int32_t)s->rows[i];
    return sap_gl_end(&call, SAP_OK);
}
