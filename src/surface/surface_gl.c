// Surfaces on OpenGL: the volume is a texture, two histopyramids list the edges that have vertices and the triangles of
// the cells, and a pass over each list makes these. The lists stay on the GPU; vertices and triangles come back
// some rows at a time.
#include "base/assert.h"
#include "compact/pyramid_gl.h"
#include "surface/surface.h"
#include <math.h>
#include <string.h>

extern const char sap_glsl_surface[];

enum { CASE_WORDS = 512, ROWS = 64, PASSES = 6 };

enum { VERTICES, TRIANGLES, KINDS };

typedef struct extraction {
    const sap_surface_job* job;
    sap_device* device;
    int64_t samples;
    GLuint volume, words, counts[KINDS], made[2]; // made: rows of what a pass writes
    int32_t made_width;
    int32_t counts_size[2];
    sap_gl_pyramid* pyramid[KINDS];
    sap_gl_list list[KINDS];
    int64_t total[KINDS];
    sap_isosurface* surface;
    sap_scratch scratch; // texels read, or values of a slice
} extraction;

static bool goes_on(extraction* e, int pass) { return sap_progress_report(e->device, (double)pass / PASSES); }

// ---- The volume

static bool is_sample(float value) { return fabsf(value) <= 0x1p126f; }

// The values of a slice as floats, and the first that is not finite or too large, or -1.
static int64_t convert_slice(const sap_surface_job* job, int z, float* values) {
    int64_t count = job->voxels.slice, bad = -1;
    const int width = job->lattice.sides[0];
    for (int y = 0, i = 0; y < job->lattice.sides[1]; y++)
        for (int x = 0; x < width; x++, i++) values[i] = sap_voxel_value(job->voxels, x, y, z);
    for (int64_t i = count - 1; i >= 0; i--)
        if (!is_sample(values[i])) bad = i;
    return bad;
}

static sap_status upload(sap_gl_call* call, extraction* e) {
    const int* sides = e->job->lattice.sides;
    const sap_gl_calls* f = call->f;
    f->GenTextures(1, &e->volume);
    f->ActiveTexture(GL_TEXTURE0);
    f->BindTexture(GL_TEXTURE_3D, e->volume);
    f->TexParameteri(GL_TEXTURE_3D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    f->TexParameteri(GL_TEXTURE_3D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    f->TexStorage3D(GL_TEXTURE_3D, 1, GL_R32F, sides[0], sides[1], sides[2]);
    if (!sap_gl_check(call, "the texture of a volume")) return call->status;
    float* values = (float*)(void*)e->scratch.memory;
    SAP_ASSERT((size_t)e->job->voxels.slice * sizeof *values <= e->scratch.bytes);
    for (int z = 0; z < sides[2]; z++) {
        int64_t bad = convert_slice(e->job, z, values);
        if (bad >= 0) return sap_surface_not_finite(e->device, e->job, z * e->job->voxels.slice + bad);
        f->TexSubImage3D(GL_TEXTURE_3D, 0, 0, 0, z, sides[0], sides[1], 1, GL_RED, GL_FLOAT, values);
    }
    sap_gl_check(call, "writing a volume");
    return call->status;
}

// ---- Counts

static GLuint program_of(sap_gl_call* call, const extraction* e, int pass) {
    static const char* const passes[] = {"#define SAP_PASS 0\n", "#define SAP_PASS 1\n", "#define SAP_PASS 2\n"};
    char defines[160];
    size_t length = strlen(passes[pass]);
    memcpy(defines, passes[pass], length + 1);
    if (pass == 2) sap_pyramid_define(e->pyramid[VERTICES], defines + length, sizeof defines - length);
    GLuint program = sap_gl_program(call, sap_glsl_surface, defines);
    const sap_lattice* lattice = &e->job->lattice;
    sap_gl_set_ints(call, program, "sides", 3, lattice->sides);
    sap_gl_set_float(call, program, "level", lattice->level);
    sap_gl_set_floats(call, program, "origin", 3, lattice->origin);
    sap_gl_set_floats(call, program, "spacing", 3, lattice->spacing);
    sap_gl_set_floats(call, program, "slopes", 3, lattice->slopes);
    sap_gl_set_float(call, program, "facing", lattice->facing);
    sap_gl_set_int(call, program, "low_inside", e->job->low_inside);
    return program;
}

static void bind_volume(const extraction* e, sap_gl_pass* pass) {
    pass->input[0] = (sap_gl_input){"volume", e->volume, GL_TEXTURE_3D};
    pass->input[1] = (sap_gl_input){"words", e->words, 0};
}

static void count(sap_gl_call* call, extraction* e) {
    uint32_t words[CASE_WORDS];
    for (uint32_t i = 0; i < CASE_WORDS; i++) words[i] = sap_cube_word(i);
    e->words = sap_gl_texture(call, GL_R32UI, CASE_WORDS, 1, words, "the table of cases");
    int32_t* size = e->counts_size;
    if (!sap_gl_array_size(call, (e->samples + 3) / 4, "the counts of a volume's cells", &size[0], &size[1])) return;
    for (int kind = 0; kind < KINDS; kind++)
        e->counts[kind] = sap_gl_texture(call, GL_RGBA8UI, size[0], size[1], NULL, "the counts of a volume's cells");
    sap_gl_pass pass = {.program = program_of(call, e, 0),
                        .target = {e->counts[VERTICES], e->counts[TRIANGLES]},
                        .rectangle = {0, 0, size[0], size[1]},
                        .name = "counting vertices and triangles"};
    bind_volume(e, &pass);
    sap_gl_set_int(call, pass.program, "counts_shift", size[0] > 1 ? sap_trailing_zeros((uint32_t)size[0]) : 0);
    sap_gl_set_uint(call, pass.program, "samples", (uint32_t)e->samples);
    sap_gl_draw(call, &pass);
}

// ---- Vertices and triangles

// Makes some rows of a list's vertices or triangles, and reads them into arrays of three values each.
static void make_rows(sap_gl_call* call, extraction* e, int kind, int32_t row, int32_t rows,
                      uint32_t* const arrays[2]) {
    const sap_gl_list* list = &e->list[kind];
    int32_t width = list->width;
    sap_gl_pass pass = {.program = program_of(call, e, kind == VERTICES ? 1 : 2),
                        .target = {e->made[0], kind == VERTICES ? e->made[1] : 0},
                        .rectangle = {0, 0, width, rows},
                        .name = kind == VERTICES ? "making vertices" : "making triangles"};
    bind_volume(e, &pass);
    pass.input[2] = (sap_gl_input){"list", list->texture, 0};
    sap_gl_set_int(call, pass.program, "first_row", row);
    if (kind == TRIANGLES) {
        sap_pyramid_uniforms(call, e->pyramid[VERTICES], pass.program);
        sap_pyramid_inputs(e->pyramid[VERTICES], e->counts[VERTICES], pass.input + 3);
    }
    sap_gl_draw(call, &pass);
    int64_t first = (int64_t)row * width, texels = (int64_t)rows * width;
    if (texels > e->total[kind] - first) texels = e->total[kind] - first;
    SAP_ASSERT(texels >= 0 && (size_t)width * (size_t)rows * 4 * sizeof(uint32_t) <= e->scratch.bytes);
    const uint32_t* read = (const uint32_t*)(const void*)e->scratch.memory;
    for (int target = 0; target < (kind == VERTICES ? 2 : 1); target++) {
        sap_gl_read(call, e->made[target], GL_RGBA32UI, 0, (int32_t[4]){0, 0, width, rows}, e->scratch.memory);
        if (call->status != SAP_OK) return;
        for (int64_t i = 0; i < texels; i++) memcpy(arrays[target] + 3 * (first + i), read + 4 * i, 3 * sizeof *read);
    }
}

static void make_all(sap_gl_call* call, extraction* e, int kind) {
    const sap_mesh* mesh = &e->surface->mesh;
    uint32_t* const arrays[KINDS][2] = {
        {(uint32_t*)(uintptr_t)mesh->vertices, (uint32_t*)(uintptr_t)e->surface->normals},
        {(uint32_t*)(uintptr_t)mesh->triangles, NULL}};
    int64_t width = e->list[kind].width, rows = width ? (e->total[kind] + width - 1) / width : 0;
    for (int i = 0; i < 2 && !e->made[i] && width; i++)
        e->made[i] = sap_gl_texture(call, GL_RGBA32UI, (int32_t)width, ROWS, NULL, "rows of a surface");
    for (int64_t row = 0; row < rows && call->status == SAP_OK; row += ROWS)
        make_rows(call, e, kind, (int32_t)row, (int32_t)(rows - row < ROWS ? rows - row : ROWS), arrays[kind]);
}

// ---- The call

static sap_status fill(extraction* e) {
    sap_gl_call call;
    sap_status status = SAP_OK;
    if (sap_gl_begin(&call, e->device) == SAP_OK) {
        status = upload(&call, e);
        if (status == SAP_OK) count(&call, e);
    }
    return sap_gl_end(&call, status);
}

static sap_status list(extraction* e, int kind) {
    sap_gl_pyramid_options options = {.cells = SAP_GL_CELLS_UINT4,
                                      .width = e->counts_size[0],
                                      .height = e->counts_size[1],
                                      .count = e->samples,
                                      .most = kind == VERTICES ? 3 : 5};
    sap_status status = sap_gl_pyramid_create(e->device, &options, &e->pyramid[kind]);
    if (status == SAP_OK) status = sap_gl_compact(e->pyramid[kind], e->counts[kind], &e->list[kind], &e->total[kind]);
    return status;
}

static sap_status make(extraction* e, int kind) {
    sap_gl_call call;
    if (sap_gl_begin(&call, e->device) == SAP_OK) make_all(&call, e, kind);
    return sap_gl_end(&call, SAP_OK);
}

static sap_status run(extraction* e) {
    sap_status status = goes_on(e, 0) ? fill(e) : SAP_ERROR_CANCELLED;
    for (int kind = 0; kind < KINDS && status == SAP_OK; kind++)
        status = goes_on(e, 1 + kind) ? list(e, kind) : SAP_ERROR_CANCELLED;
    if (status == SAP_OK) status = sap_surface_reserve(e->device, e->total[VERTICES], e->total[TRIANGLES], &e->surface);
    for (int kind = 0; kind < KINDS && status == SAP_OK; kind++)
        status = goes_on(e, 3 + kind) ? make(e, kind) : SAP_ERROR_CANCELLED;
    if (status == SAP_OK && !goes_on(e, PASSES)) status = SAP_ERROR_CANCELLED;
    if (status == SAP_ERROR_CANCELLED) sap_fail(e->device, status, "the progress callback asked to stop");
    return status;
}

static void release(extraction* e) {
    sap_gl_call call;
    if (sap_gl_begin(&call, e->device) == SAP_OK) {
        const GLuint textures[] = {e->volume, e->words, e->counts[0], e->counts[1], e->made[0], e->made[1]};
        for (size_t i = 0; i < sizeof textures / sizeof *textures; i++) sap_gl_texture_free(&call, textures[i]);
    }
    (void)sap_gl_end(&call, SAP_OK);
    for (int kind = 0; kind < KINDS; kind++) sap_gl_pyramid_free(e->pyramid[kind]);
    sap_scratch_give(e->device, &e->scratch);
}

sap_status sap_surface_gl(sap_device* device, const sap_surface_job* job) {
    const int* sides = job->lattice.sides;
    extraction e = {.job = job, .device = device};
    size_t texels = (size_t)16 * ROWS * SAP_PYRAMID_LIST_WIDTH, slice = (size_t)job->voxels.slice * sizeof(float);
    e.samples = (int64_t)sides[0] * sides[1] <= INT32_MAX ? job->voxels.slice * sides[2] : INT64_MAX;
    if (e.samples > UINT32_MAX / 5)
        return sap_fail(device, SAP_ERROR_RANGE, "volume.size: %d x %d x %d samples; in OpenGL 858993459 at most",
                        sides[0], sides[1], sides[2]);
    const int32_t most = sap_gl_of(device)->most_3d;
    if (!most)
        return sap_fail(device, SAP_ERROR_UNSUPPORTED, "volume: OpenGL ES 2.0 (WebGL 1) has no textures of volumes");
    for (int i = 0; i < 3; i++)
        if (sides[i] > most)
            return sap_fail(device, SAP_ERROR_RANGE, "volume.size[%d]: %d samples; GL_MAX_3D_TEXTURE_SIZE here is %d",
                            i, sides[i], (int)most);
    if (!sap_scratch_take(device, texels > slice ? texels : slice, &e.scratch))
        return sap_fail(device, SAP_ERROR_MEMORY, "no memory to read a surface");
    sap_status status = run(&e);
    release(&e);
    if (status == SAP_OK)
        *job->surface = e.surface;
    else
        sap_isosurface_free(e.surface);
    return status;
}
