// The picture's search, a tile after the other: by the library's frames, by the page's own walks where nodes are
// counted, or by the compact search in bytes.
#include "scenes/voronoi.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

extern const char sap_glsl_voronoi_walk[], sap_glsl_voronoi_keep[];

enum { FIRST_LEAVES = 32, MOST_LEAVES = 256, LEAST_TILE = 64, MOST_SIDE = 8192, PATIENCE = 2000 };
enum { WALK_BEGIN, WALK_RESUME, WALK_PROGRAMS };

static struct {
    bool stack, counted; // which walk
    sap_gl_frame* frame; // the library's, of one tile
    bool frame_stack;    // its walk
    GLuint states[2][2]; // of the page's own: place and counts, from one into the other
    GLuint sides;        // of its tile: where columns and rows lie
    GLuint walks[2][WALK_PROGRAMS], keep, left, framebuffer, query;
    int now, made;              // which of the states; their size
    int32_t tile;               // size of tiles in this row of them
    int32_t at[2];              // the tile that is searched
    int32_t leaves;             // of the next step
    double pixels;              // that the last call began to search
    int32_t drawn;              // rows above this one have been drawn
    double asked_at;            // milliseconds: when
    double drawn_at;            // milliseconds: when
    bool begun, asked;          // the tile; whether any of its walks goes on
    bool more;                  // tiles are left
    int32_t row_of[MOST_SIDE];  // where the row of tiles begins that pixel y lies in
    int32_t tile_of[MOST_SIDE]; // how large its tiles are
} search;

// ---- Tiles

static int32_t tile_size(double share) {
    const int32_t whole = voronoi.width > voronoi.height ? voronoi.width : voronoi.height;
    if (share >= (double)voronoi.width * voronoi.height) return whole;
    int32_t size = voronoi.compact ? 4 * LEAST_TILE : LEAST_TILE; // the compact search waits for each of its tiles
    while (4.0 * size * size <= share && 2 * size < whole) size *= 2;
    return size;
}

static void begin_row(int32_t y, double share) {
    search.tile = tile_size(share);
    search.at[0] = 0;
    search.at[1] = y;
    for (int32_t row = y; row < y + search.tile && row < voronoi.height && row < MOST_SIDE; row++) {
        search.row_of[row] = y;
        search.tile_of[row] = search.tile;
    }
}

static sap_grid grid_of(int32_t x, int32_t y, int32_t width, int32_t height) {
    sap_grid grid = {.width = width, .height = height};
    grid.origin[0] = voronoi.origin[0] + x * voronoi.step;
    grid.origin[1] = voronoi.origin[1] + y * voronoi.step;
    grid.right[0] = grid.down[1] = voronoi.step;
    return grid;
}

// The place that pixel (x, y) of a tile from `corner` asks about, as sap_grid says.
static void place_in(const int32_t corner[2], int32_t x, int32_t y, float place[2]) {
    const sap_grid grid = grid_of(corner[0], corner[1], 1, 1);
    place[0] =
        (float)(grid.origin[0] + (x - corner[0] + 0.5) * voronoi.step) + (float)((y - corner[1] + 0.5) * grid.down[0]);
    place[1] =
        (float)(grid.origin[1] + (x - corner[0] + 0.5) * grid.right[1]) + (float)((y - corner[1] + 0.5) * voronoi.step);
}

static void tile_rectangle(int32_t rectangle[4]) {
    const int32_t right = search.at[0] + search.tile, bottom = search.at[1] + search.tile;
    rectangle[0] = search.at[0];
    rectangle[1] = search.at[1];
    rectangle[2] = (right < voronoi.width ? right : voronoi.width) - search.at[0];
    rectangle[3] = (bottom < voronoi.height ? bottom : voronoi.height) - search.at[1];
}

// ---- Textures

static GLuint make_texture(GLenum internal, GLenum format, GLenum type, int32_t width, int32_t height) {
    GLuint texture = 0;
    glGenTextures(1, &texture);
    glActiveTexture(GL_TEXTURE0);
    glBindTexture(GL_TEXTURE_2D, texture);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
    glTexImage2D(GL_TEXTURE_2D, 0, (GLint)internal, width, height, 0, format, type, NULL);
    return texture;
}

static void make_answers(void) {
    if (voronoi.answers[0] && voronoi.answered[0] == voronoi.width && voronoi.answered[1] == voronoi.height) return;
    glDeleteTextures(2, voronoi.answers);
    memset(voronoi.answers, 0, sizeof voronoi.answers);
    const bool old = page_gl_version() == 1;
    for (int i = 0; i < (old ? 2 : 1); i++)
        voronoi.answers[i] =
            old ? make_texture(GL_RGBA, GL_RGBA, GL_UNSIGNED_BYTE, voronoi.width, voronoi.height)
                : make_texture(GL_RGBA32UI, GL_RGBA_INTEGER, GL_UNSIGNED_INT, voronoi.width, voronoi.height);
    voronoi.answered[0] = voronoi.width;
    voronoi.answered[1] = voronoi.height;
}

static void free_states(void) {
    glDeleteTextures(4, search.states[0]);
    glDeleteTextures(1, &search.sides);
    memset(search.states, 0, sizeof search.states);
    search.sides = 0;
    search.made = 0;
}

static void make_states(void) {
    if (search.made == search.tile) return;
    free_states();
    for (int i = 0; i < 4; i++)
        search.states[i / 2][i % 2] =
            make_texture(GL_RGBA32UI, GL_RGBA_INTEGER, GL_UNSIGNED_INT, search.tile, search.tile);
    search.sides = make_texture(GL_RG32F, GL_RG, GL_FLOAT, search.tile, 1);
    search.made = search.tile;
}

// Binds a framebuffer with so many targets.
static void aim(const GLuint* textures, int count) {
    static const GLenum buffers[2] = {GL_COLOR_ATTACHMENT0, GL_COLOR_ATTACHMENT1};
    if (!search.framebuffer) glGenFramebuffers(1, &search.framebuffer);
    glBindFramebuffer(GL_FRAMEBUFFER, search.framebuffer);
    const bool old = page_gl_version() == 1; // which has one target
    for (int i = 0; i < (old ? 1 : 2); i++)
        glFramebufferTexture2D(GL_FRAMEBUFFER, buffers[i], GL_TEXTURE_2D, i < count ? textures[i] : 0, 0);
    if (!old) glDrawBuffers(count, buffers);
}

// ---- One step of a tile

static sap_status step_library(void) {
    sap_status status = SAP_OK;
    sap_gl_frame_textures textures = {0};
    if (search.frame) {
        if (sap_gl_frame_describe(search.frame, &textures) == SAP_OK &&
            (textures.width != search.tile || search.frame_stack != search.stack)) {
            sap_gl_frame_free(search.frame);
            search.frame = NULL;
        }
    }
    const sap_search wanted = {.k = 1, .walk = search.stack ? SAP_WALK_STACK : SAP_WALK_STACKLESS};
    if (!search.frame) status = sap_gl_frame_create(voronoi.tree, search.tile, search.tile, &wanted, &search.frame);
    search.frame_stack = search.stack;
    const sap_grid grid = grid_of(search.at[0], search.at[1], search.tile, search.tile);
    if (status == SAP_OK && !search.begun) status = sap_gl_frame_begin(search.frame, grid);
    return status == SAP_OK ? sap_gl_frame_step(search.frame, search.leaves, NULL) : status;
}

static sap_status put_sides(void) {
    float* values = malloc((size_t)search.tile * 8);
    if (!values) return page_fail(SAP_ERROR_MEMORY, "There is no memory here for a picture.");
    for (int32_t i = 0; i < search.tile; i++) {
        float place[2];
        place_in(search.at, search.at[0] + i, search.at[1] + i, place);
        values[2 * i] = place[0];
        values[2 * i + 1] = place[1];
    }
    glActiveTexture(GL_TEXTURE0);
    glBindTexture(GL_TEXTURE_2D, search.sides);
    glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, search.tile, 1, GL_RG, GL_FLOAT, values);
    free(values);
    return SAP_OK;
}

static int logarithm(int32_t width) { return 31 - __builtin_clz((uint32_t)width); }

static sap_status step_own(void) {
    sap_gl_tree_textures textures;
    sap_status status = sap_gl_tree_describe(voronoi.tree, &textures);
    if (status != SAP_OK) return status;
    GLuint* program = &search.walks[search.stack][search.begun ? WALK_RESUME : WALK_BEGIN];
    if (!*program) {
        static const char* const defines[2][2] = {
            {"#define PAGE_OUTPUTS\n", "#define PAGE_OUTPUTS\n#define PAGE_RESUMED\n"},
            {"#define PAGE_OUTPUTS\n#define SAP_STACK 24\n",
             "#define PAGE_OUTPUTS\n#define SAP_STACK 24\n#define PAGE_RESUMED\n"}};
        *program = page_program(NULL, sap_glsl_voronoi_walk, defines[search.stack][search.begun]);
    }
    if (!*program) return SAP_ERROR_UNSUPPORTED;
    make_states();
    if (!search.begun && (status = put_sides()) != SAP_OK) return status;
    page_texture(*program, "tree_nodes", 0, 0, textures.nodes);
    page_texture(*program, "tree_smallest", 1, 0, textures.smallest);
    page_texture(*program, "tree_boxes", 2, 0, textures.boxes);
    page_texture(*program, "tree_blocks", 3, 0, textures.blocks);
    page_texture(*program, "sides", 4, 0, search.sides);
    if (search.begun) {
        page_texture(*program, "place", 5, 0, search.states[search.now][0]);
        page_texture(*program, "counts", 6, 0, search.states[search.now][1]);
    }
    const int32_t* w = textures.widths;
    glUniform1i(page_uniform(*program, "tree_depth"), textures.depth);
    glUniform1i(page_uniform(*program, "tree_quads"), textures.quads);
    // nodes, smallest, boxes, blocks
    glUniform4i(page_uniform(*program, "tree_shifts"), logarithm(w[0]), logarithm(w[1]), logarithm(w[2]),
                logarithm(w[3]));
    glUniform1i(page_uniform(*program, "leaves"), search.leaves);
    search.now = 1 - search.now;
    aim(search.states[search.now], 2);
    page_rectangle(*program, (int32_t[4]){0, 0, search.tile, search.tile});
    return SAP_OK;
}

// The tile's answers go into the picture's; a query tells later whether there were all of them.
static sap_status keep_tile(void) {
    sap_gl_frame_textures textures = {0};
    GLuint place = search.states[search.now][0], counts = search.states[search.now][1];
    int32_t rectangle[4];
    if (!search.counted) {
        sap_status status = sap_gl_frame_describe(search.frame, &textures);
        if (status != SAP_OK) return status;
        place = counts = textures.place;
    }
    if (!search.keep) search.keep = page_program(NULL, sap_glsl_voronoi_keep, "#define PAGE_OUTPUTS\n");
    if (!search.left)
        search.left = page_program(NULL, sap_glsl_voronoi_keep, "#define PAGE_OUTPUTS\n#define PAGE_LEFT\n");
    if (!search.keep || !search.left) return SAP_ERROR_UNSUPPORTED;
    if (!search.query) glGenQueries(1, &search.query);
    tile_rectangle(rectangle);
    aim(voronoi.answers, 1);
    for (int pass = 0; pass < 2; pass++) {
        GLuint program = pass ? search.left : search.keep;
        page_texture(program, "place", 0, 0, place);
        page_texture(program, "counts", 1, 0, counts);
        glUniform2i(page_uniform(program, "corner_of_tile"), search.at[0], search.at[1]);
        if (pass) glBeginQuery(GL_ANY_SAMPLES_PASSED, search.query);
        page_rectangle(program, rectangle);
        if (pass) glEndQuery(GL_ANY_SAMPLES_PASSED);
    }
    search.asked = true;
    search.asked_at = emscripten_get_now();
    return SAP_OK;
}

static void bytes_of(uint32_t word, unsigned char* bytes) {
    for (int i = 0; i < 4; i++) bytes[i] = (unsigned char)(word >> (24 - 8 * i));
}

// A tile by the compact search, which reads its answers back; they go up again as the picture's.
static sap_status search_compact(void) {
    int32_t r[4];
    tile_rectangle(r);
    const size_t pixels = (size_t)r[2] * (size_t)r[3];
    const sap_grid grid = grid_of(r[0], r[1], r[2], r[3]);
    int32_t* ids = malloc(pixels * 4);
    float* away = malloc(pixels * 4);
    uint32_t* texels = malloc(pixels * 16);
    const bool there = ids && away && texels;
    sap_status status = there ? sap_gl_nearest_rgba8(page_gl(), &voronoi.form, grid, NULL, ids, away)
                              : page_fail(SAP_ERROR_MEMORY, "There is no memory here for a picture.");
    for (int i = 0; i < 2 && there && status == SAP_OK; i++) {
        const bool old = page_gl_version() == 1;
        for (size_t p = 0; p < pixels; p++) {
            float away2 = away[p] * away[p];
            if (old) {
                double units = (double)away[p] * voronoi.form.scale * 65536 + 0.5;
                bytes_of(i ? (units < 4294967295.0 ? (uint32_t)units : UINT32_MAX) : (uint32_t)ids[p],
                         (unsigned char*)(texels + p));
            } else {
                texels[4 * p] = (uint32_t)ids[p];
                memcpy(&texels[4 * p + 1], &away2, 4);
                texels[4 * p + 2] = texels[4 * p + 3] = 0;
            }
        }
        glActiveTexture(GL_TEXTURE0);
        glBindTexture(GL_TEXTURE_2D, voronoi.answers[i]);
        glTexSubImage2D(GL_TEXTURE_2D, 0, r[0], r[1], r[2], r[3], old ? GL_RGBA : GL_RGBA_INTEGER,
                        old ? GL_UNSIGNED_BYTE : GL_UNSIGNED_INT, texels);
        if (!old) break;
    }
    free(ids);
    free(away);
    free(texels);
    return status;
}

// The next tile; after the last one nothing is left.
static void advance(double share) {
    search.begun = search.asked = false;
    search.leaves = FIRST_LEAVES;
    search.at[0] += search.tile;
    if (search.at[0] >= voronoi.width) {
        int32_t next = search.at[1] + search.tile;
        search.more = next < voronoi.height;
        if (search.more) begin_row(next, share);
    }
}

// What has been found, now and then, so that something is seen to happen: drawing takes its time as well.
static sap_status draw_so_far(void) {
    enum { EVERY = 400 }; // milliseconds
    const double now = emscripten_get_now();
    const int32_t bottom = search.at[1] + search.tile < voronoi.height ? search.at[1] + search.tile : voronoi.height;
    const int32_t rows[4] = {0, search.drawn, voronoi.width, bottom - search.drawn};
    if (now - search.drawn_at < EVERY) return SAP_OK;
    search.drawn_at = now;
    search.drawn = search.at[1];
    search.pixels = NAN;
    return voronoi_draw(rows, false);
}

// ---- What the page calls

// A new picture: of other sites, or from elsewhere, or by another walk.
PAGE_EXPORT void voronoi_begin(double share, int stack, int counted) {
    search.stack = stack != 0;
    search.counted = counted != 0;
    search.begun = search.asked = false;
    search.leaves = FIRST_LEAVES;
    search.more = voronoi.width > 0 && voronoi.height > 0;
    search.drawn = 0;
    search.drawn_at = emscripten_get_now();
    begin_row(0, share);
}

// The part of `share` that the last call of voronoi_frame searched; NaN: it went on with a tile or drew.
PAGE_EXPORT double voronoi_part(double share) { return search.pixels / share; }

// Searches about `share` pixels and draws them. 0: the picture is there; 1: there is more; else minus a status.
PAGE_EXPORT int voronoi_frame(double share) {
    const bool nothing = voronoi.compact ? !voronoi.form.nodes : !voronoi.tree;
    const int32_t all[4] = {0, 0, voronoi.width, voronoi.height};
    sap_status status = SAP_OK;
    search.pixels = NAN;
    if (nothing || voronoi.width < 1) return 0;
    make_answers();
    if (search.more && search.asked) {
        GLuint left = 0, told = 0;
        glGetQueryObjectuiv(search.query, GL_QUERY_RESULT_AVAILABLE, &told);
        if (!told && emscripten_get_now() - search.asked_at < PATIENCE) return 1;
        glGetQueryObjectuiv(search.query, GL_QUERY_RESULT, &left);
        search.asked = false;
        if (!left)
            advance(share);
        else if (search.leaves < MOST_LEAVES)
            search.leaves *= 2;
    }
    if (search.more && !search.begun) search.pixels = (double)search.tile * search.tile;
    if (search.more && voronoi.compact) {
        status = search_compact();
        if (status == SAP_OK) advance(share);
        if (status == SAP_OK && search.more) status = draw_so_far();
    } else if (search.more) {
        status = search.counted ? step_own() : step_library();
        search.begun = true;
        if (status == SAP_OK) status = keep_tile();
        if (status == SAP_OK) status = draw_so_far();
    }
    if (status == SAP_OK && !search.more) status = voronoi_draw(all, true);
    return status != SAP_OK ? -(int)status : search.more ? 1 : 0;
}

void voronoi_place(int32_t x, int32_t y, float place[2]) {
    const int32_t size = search.tile_of[y] > 0 ? search.tile_of[y] : 1; // 0: that row was never searched
    place_in((int32_t[2]){x / size * size, search.row_of[y]}, x, y, place);
}

void voronoi_aim(GLuint texture) { aim(&texture, 1); }

void voronoi_search_stop(void) {
    sap_gl_frame_free(search.frame);
    free_states();
    glDeleteTextures(2, voronoi.answers);
    for (int i = 0; i < 4; i++) glDeleteProgram(search.walks[i / 2][i % 2]);
    glDeleteProgram(search.keep);
    glDeleteProgram(search.left);
    glDeleteFramebuffers(1, &search.framebuffer);
    if (search.query) glDeleteQueries(1, &search.query);
    memset(&search, 0, sizeof search);
}
