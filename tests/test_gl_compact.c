// Histopyramids on OpenGL: every form and kind of cells against the sums and lists of a loop, and against sap_compact.
#include "allocator.h"
#include "gl_tools.h"
#include "sapwood/gl.h"
#include "sapwood/stream.h"
#include "test.h"

#if defined(SAP_HAVE_GL)
#include "device/gl.h"
#include <math.h>

static uint64_t state = 1;

static uint32_t draw(uint32_t below) {
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((state >> 32) * below >> 32);
}

typedef enum pattern { NONE, ALL, FEW, HALF, LAST, FIRST, BLOCKS, PATTERNS } pattern;

typedef struct sample {
    sap_gl_pyramid_options options;
    pattern pattern;
    uint32_t largest; // count of a cell
} sample;

typedef struct expected {
    int64_t cells, total;
    uint32_t* counts;        // [cells], as they count
    uint32_t *cell, *output; // [total]
} expected;

static bool draw_cell(pattern p, int64_t i, int64_t cells) {
    switch (p) {
    case ALL: return true;
    case FEW: return draw(50) == 0;
    case HALF: return draw(2) == 0;
    case LAST: return i == cells - 1;
    case FIRST: return i == 0;
    case BLOCKS: return i / 37 % 3 == 0;
    default: return false;
    }
}

// ---- Textures of a device's own context

static GLenum format_of(sap_gl_cells cells, uint32_t largest) {
    switch (cells) {
    case SAP_GL_CELLS_UINT: return largest > 255 ? GL_R32UI : GL_R8UI;
    case SAP_GL_CELLS_UINT4: return GL_RGBA8UI;
    case SAP_GL_CELLS_FLOAT: return GL_R32F;
    default: return GL_R8;
    }
}

static GLuint make_texture(sap_device* device, GLenum internal, GLenum format, GLenum type, int32_t width,
                           int32_t height, const void* data) {
    sap_gl_call call;
    GLuint texture = 0;
    if (CHECK_STATUS(sap_gl_begin(&call, device), SAP_OK)) {
        texture = sap_gl_texture(&call, internal, width, height, NULL, "a texture of the test");
        call.f->BindTexture(GL_TEXTURE_2D, texture);
        if (data) call.f->TexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, width, height, format, type, data);
    }
    CHECK_STATUS(sap_gl_end(&call, SAP_OK), SAP_OK);
    return texture;
}

static void free_texture(sap_device* device, GLuint texture) {
    sap_gl_call call;
    if (sap_gl_begin(&call, device) == SAP_OK) sap_gl_texture_free(&call, texture);
    (void)sap_gl_end(&call, SAP_OK);
}

static bool read_texture(sap_device* device, GLuint texture, GLenum internal, int32_t width, int32_t height, void* to) {
    sap_gl_call call;
    if (sap_gl_begin(&call, device) == SAP_OK)
        sap_gl_read(&call, texture, internal, 0, (int32_t[4]){0, 0, width, height}, to);
    return CHECK_STATUS(sap_gl_end(&call, SAP_OK), SAP_OK);
}

// ---- What is expected

static uint32_t counting(const sample* s, uint32_t count) {
    uint32_t most = s->options.most ? s->options.most : 1;
    return count < most ? count : most;
}

// A base of random counts, whose cells beyond options.count are not 0; what follows from it goes to `e`.
static GLuint make_base(sap_device* device, const sample* s, expected* e) {
    const sap_gl_pyramid_options* o = &s->options;
    int64_t texels = (int64_t)o->width * o->height, all = o->cells == SAP_GL_CELLS_UINT4 ? 4 * texels : texels;
    GLenum internal = format_of(o->cells, s->largest);
    uint32_t* words = malloc((size_t)all * 4 + 4);
    uint8_t* bytes = malloc((size_t)all + 1);
    float* floats = malloc((size_t)all * 4 + 4);
    e->cells = o->count ? o->count : all;
    e->counts = malloc((size_t)e->cells * 4);
    e->total = 0;
    for (int64_t i = 0; i < all; i++) {
        uint32_t count = i >= e->cells                        ? 1 + draw(s->largest)
                         : draw_cell(s->pattern, i, e->cells) ? 1 + draw(s->largest)
                                                              : 0;
        words[i] = count;
        bytes[i] = (uint8_t)count;
        floats[i] = count ? (float)count + 0.25f * (float)draw(2) : i % 3 ? -7.0f : NAN;
        if (i < e->cells) e->total += e->counts[i] = counting(s, count);
    }
    e->cell = malloc((size_t)e->total * 4 + 4);
    e->output = malloc((size_t)e->total * 4 + 4);
    for (int64_t i = 0, at = 0; i < e->cells; i++)
        for (uint32_t output = 0; output < e->counts[i]; output++, at++) {
            e->cell[at] = (uint32_t)i;
            e->output[at] = output;
        }
    GLenum format = internal == GL_RGBA8UI                     ? GL_RGBA_INTEGER
                    : internal == GL_R32F || internal == GL_R8 ? GL_RED
                                                               : GL_RED_INTEGER;
    bool wide = internal == GL_R32UI;
    GLuint base = make_texture(device, internal, format,
                               internal == GL_R32F ? GL_FLOAT
                               : wide              ? GL_UNSIGNED_INT
                                                   : GL_UNSIGNED_BYTE,
                               o->width, o->height,
                               internal == GL_R32F ? (const void*)floats
                               : wide              ? (const void*)words
                                                   : (const void*)bytes);
    free(words);
    free(bytes);
    free(floats);
    return base;
}

static void free_expected(expected* e) {
    free(e->counts);
    free(e->cell);
    free(e->output);
}

// ---- Checks

// A node's sum as a shader of the caller's would read it.
static uint32_t sum_in_texture(sap_device* device, const sap_gl_pyramid_info* info, sap_gl_form form, int32_t level,
                               int64_t node) {
    int texture = form == SAP_GL_FLOAT ? 0 : level < 4 ? level - 1 : 3;
    int32_t width = info->width[texture];
    int32_t place[4] = {(int32_t)(node % width), info->first_row[level] + (int32_t)(node / width), 1, 1};
    GLenum internal = form != SAP_GL_FLOAT ? GL_RGBA32UI : info->bytes ? GL_RGBA8 : GL_RGBA32F;
    uint32_t texel[4] = {0, 0, 0, 0};
    float real;
    sap_gl_call call;
    if (sap_gl_begin(&call, device) == SAP_OK) sap_gl_read(&call, info->texture[texture], internal, 0, place, texel);
    CHECK_STATUS(sap_gl_end(&call, SAP_OK), SAP_OK);
    memcpy(&real, texel + 3, sizeof real);
    if (form == SAP_GL_FLOAT) return info->bytes ? texel[0] & 0xffffff : (uint32_t)real;
    return texel[form == SAP_GL_VEC4 ? 3 : 0];
}

static void check_sums(sap_device* device, const sample* s, sap_gl_pyramid* pyramid, const expected* e) {
    sap_gl_pyramid_info info;
    if (!CHECK_STATUS(sap_gl_pyramid_describe(pyramid, &info), SAP_OK)) return;
    uint32_t* sums = malloc((size_t)e->cells * 4 + 4);
    int64_t size = 1, wrong = 0;
    for (int32_t level = 1; level <= info.levels; level++) {
        size *= 4;
        if (!CHECK_STATUS(sap_gl_pyramid_sums(pyramid, level, sums), SAP_OK)) break;
        for (int64_t first = 0, node = 0; first < e->cells; first += size, node++) {
            uint32_t sum = 0;
            for (int64_t i = first; i < first + size && i < e->cells; i++) sum += e->counts[i];
            wrong += sums[node] != sum;
        }
        int64_t last = (e->cells - 1) / size;
        bool has_texture = s->options.form == SAP_GL_FLOAT || level > 3 || info.texture[level - 1];
        if (has_texture)
            wrong += sum_in_texture(device, &info, s->options.form, level, last) != sums[last] ||
                     sum_in_texture(device, &info, s->options.form, level, last / 2) != sums[last / 2];
    }
    CHECK(size >= e->cells);
    CHECK_EQUAL(wrong, 0);
    free(sums);
}

// The list in the caller's texture with all four channels, or the first of them; what lies behind it is as it was.
static void check_texels(const sample* s, const expected* e, const uint32_t* texels, int64_t room, int64_t listed,
                         uint32_t untouched) {
    uint32_t width = (uint32_t)s->options.width * (s->options.cells == SAP_GL_CELLS_UINT4 ? 4 : 1);
    int64_t wrong = 0;
    for (int64_t i = 0; i < room; i++) {
        const uint32_t* texel = texels + 4 * i;
        if (i < listed)
            wrong += texel[0] != e->cell[i] || texel[1] != e->output[i] || texel[2] != e->cell[i] % width ||
                     texel[3] != e->cell[i] / width;
        else
            wrong += texel[0] != untouched || texel[3] != untouched;
    }
    CHECK_EQUAL(wrong, 0);
}

enum { LIST_WIDTH = 61, UNTOUCHED = 777 };

// With floats and bytes as with integers: what was written, as four numbers.
static void read_list(sap_device* device, const sample* s, bool bytes, const sap_gl_list* list, uint32_t* texels) {
    int64_t room = (int64_t)list->width * list->height;
    if (s->options.form != SAP_GL_FLOAT) {
        read_texture(device, list->texture, GL_RGBA32UI, list->width, list->height, texels);
    } else if (!bytes) {
        read_texture(device, list->texture, GL_RGBA32F, list->width, list->height, texels);
        for (int64_t i = 0; i < 4 * room; i++) {
            float value;
            memcpy(&value, texels + i, sizeof value);
            texels[i] = value < 0 ? UINT32_MAX : (uint32_t)value;
        }
    } else {
        unsigned char* read = malloc((size_t)room * 4);
        read_texture(device, list->texture, GL_RGBA8, list->width, list->height, read);
        for (int64_t i = 0; i < room; i++) memcpy(texels + 4 * i, read + 4 * i, 4);
        free(read);
    }
}

// A list of the caller's with room for `expected`, or exactly the total, or some more.
static void check_callers_list(sap_device* device, const sample* s, sap_gl_pyramid* pyramid, GLuint base,
                               const expected* e, int64_t room, int64_t most, bool ask) {
    sap_gl_pyramid_info info = {0};
    CHECK_STATUS(sap_gl_pyramid_describe(pyramid, &info), SAP_OK);
    bool is_float = s->options.form == SAP_GL_FLOAT;
    int32_t height = (int32_t)((room + LIST_WIDTH - 1) / LIST_WIDTH + 1);
    int64_t texels = (int64_t)height * LIST_WIDTH, total = -5;
    uint32_t* list_texels = malloc((size_t)texels * 16);
    for (int64_t i = 0; i < 4 * texels; i++) list_texels[i] = UNTOUCHED;
    float* floats = malloc((size_t)texels * 16);
    for (int64_t i = 0; i < 4 * texels; i++) floats[i] = UNTOUCHED;
    GLuint texture =
        is_float ? make_texture(device, GL_RGBA32F, GL_RGBA, GL_FLOAT, LIST_WIDTH, height, floats)
                 : make_texture(device, GL_RGBA32UI, GL_RGBA_INTEGER, GL_UNSIGNED_INT, LIST_WIDTH, height, list_texels);
    sap_gl_list list = {texture, LIST_WIDTH, height, most};
    CHECK_STATUS(sap_gl_compact(pyramid, base, &list, ask ? &total : NULL), SAP_OK);
    CHECK_EQUAL(total, ask ? e->total : -5);
    CHECK(list.texture == texture && list.width == LIST_WIDTH && list.height == height && list.expected == most);
    int64_t listed = e->total < texels ? e->total : texels;
    if (most && listed > most) listed = most;
    read_list(device, s, false, &list, list_texels);
    check_texels(s, e, list_texels, texels, listed, UNTOUCHED);
    free_texture(device, texture);
    free(list_texels);
    free(floats);
}

// The pyramid's own list: what lies behind the last output says so.
// `kept` is what the call before has filled in.
static void check_own_list(sap_device* device, const sample* s, sap_gl_pyramid* pyramid, GLuint base, const expected* e,
                           int64_t most, sap_gl_list* kept) {
    sap_gl_pyramid_info info = {0};
    sap_gl_list list = *kept;
    list.expected = most;
    int64_t total = -5, wrong = 0;
    CHECK_STATUS(sap_gl_pyramid_describe(pyramid, &info), SAP_OK);
    if (!CHECK_STATUS(sap_gl_compact(pyramid, base, &list, most ? NULL : &total), SAP_OK)) return;
    CHECK_EQUAL(total, most ? -5 : e->total);
    CHECK_STATUS(sap_gl_pyramid_total(pyramid, &total), SAP_OK);
    CHECK_EQUAL(total, e->total);
    int64_t room = (int64_t)list.width * list.height, listed = most && most < e->total ? most : e->total;
    CHECK(list.texture && room >= listed);
    uint32_t* texels = malloc((size_t)room * 16);
    read_list(device, s, info.bytes, &list, texels);
    for (int64_t i = 0; i < room; i++) {
        uint32_t cell = i < listed ? e->cell[i] : UINT32_MAX;
        wrong += texels[4 * i] != cell && !(info.bytes && i < listed && (texels[4 * i] & 0xffffff) == cell);
        if (s->options.most > 1 && i < listed && !info.bytes) wrong += texels[4 * i + 1] != e->output[i];
    }
    CHECK_EQUAL(wrong, 0);
    free(texels);
    *kept = list;
}

static void check_sample(sap_device* device, const sample* s) {
    expected e;
    sap_gl_pyramid* pyramid = NULL;
    NOTE("form %d, cells %d, %d x %d, count %lld, most %u, pattern %d", (int)s->options.form, (int)s->options.cells,
         (int)s->options.width, (int)s->options.height, (long long)s->options.count, (unsigned)s->options.most,
         (int)s->pattern);
    GLuint base = make_base(device, s, &e);
    if (CHECK_STATUS(sap_gl_pyramid_create(device, &s->options, &pyramid), SAP_OK)) {
        sap_gl_pyramid_info info = {0};
        CHECK_STATUS(sap_gl_pyramid_describe(pyramid, &info), SAP_OK);
        if (!info.bytes) {
            check_callers_list(device, s, pyramid, base, &e, e.total, 0, true);
            check_callers_list(device, s, pyramid, base, &e, e.total + 100, 0, false);
            check_callers_list(device, s, pyramid, base, &e, e.total, e.total / 2 + 1, false);
            check_callers_list(device, s, pyramid, base, &e, e.total, e.total + 10, true);
            check_callers_list(device, s, pyramid, base, &e, e.total / 3, 0, true);
        }
        sap_gl_list kept = {0};
        check_own_list(device, s, pyramid, base, &e, e.total / 2 + 1, &kept);
        check_own_list(device, s, pyramid, base, &e, 0, &kept);
        check_own_list(device, s, pyramid, base, &e, e.total + 5, &kept);
        check_sums(device, s, pyramid, &e);
        sap_gl_pyramid_free(pyramid);
    }
    free_texture(device, base);
    free_expected(&e);
}

// Every form with the kinds of cells that it takes.
static int kinds(sample samples[16]) {
    int count = 0;
    for (int form = 0; form < 3; form++)
        for (int cells = form == SAP_GL_FLOAT ? 2 : 0; cells < 4; cells++)
            samples[count++] = (sample){.options = {.form = (sap_gl_form)form, .cells = (sap_gl_cells)cells}};
    return count;
}

// One sample of these is tried: each has shaders of its own, which take long to compile.
#if TEST_SANITIZED || defined(CASES_FEWER)
enum { ONE_OF = 21 };
#else
enum { ONE_OF = 7 };
#endif

static void check_kinds(sap_device* device) {
    static const int32_t sizes[][2] = {{1, 1}, {3, 1}, {1, 5}, {16, 16}, {17, 15}, {101, 37}, {64, 65}, {333, 9}};
    sample samples[16];
    int count = kinds(samples);
    for (int i = 0; i < count; i++)
        for (size_t j = 0; j < sizeof sizes / sizeof *sizes; j++)
            for (int p = 0; p < PATTERNS; p++) {
                sample s = samples[i];
                if (((size_t)p + j + (size_t)i) % ONE_OF && !(p == HALF && j == 5))
                    continue; // each size, pattern and kind
                s.pattern = (pattern)p;
                s.options.width = sizes[j][0];
                s.options.height = sizes[j][1];
                s.options.most = (uint32_t)(p % 2 ? 0 : j % 2 ? 5 : 200);
                s.largest = p % 2 ? 3 : 7;
                if (j == 5) s.options.count = 101 * 36 + 7;
                check_sample(device, &s);
            }
}

TEST(lists_of_every_form_and_size) {
    watch w = {0};
    sap_device* device = NULL;
    if (!gl_tools_present()) SKIP("no OpenGL ES");
    gl_tools_reset();
    if (!CHECK_STATUS(gl_tools_open_watched(&w, &device), SAP_OK)) return;
    check_kinds(device);
    sap_device_close(device);
    NOTE("after all");
    CHECK_EQUAL(gl_tools.textures, 0);
}

// Without float targets sums travel as bytes.
TEST(lists_without_float_targets) {
    watch w = {0};
    sap_device* device = NULL;
    if (!gl_tools_present()) SKIP("no OpenGL ES");
    gl_tools_reset();
    gl_tools.no_float_targets = true;
    if (!CHECK_STATUS(gl_tools_open_watched(&w, &device), SAP_OK)) return;
    sample s = {.options = {.form = SAP_GL_FLOAT, .cells = SAP_GL_CELLS_BYTE, .width = 75, .height = 41, .most = 200},
                .largest = 255};
    for (int p = 0; p < PATTERNS; p++) {
        s.pattern = (pattern)p;
        check_sample(device, &s);
    }
    sap_gl_pyramid* pyramid = NULL;
    sap_gl_pyramid_info info = {0};
    CHECK_STATUS(sap_gl_pyramid_create(device, &s.options, &pyramid), SAP_OK);
    CHECK_STATUS(sap_gl_pyramid_describe(pyramid, &info), SAP_OK);
    CHECK(info.bytes);
    sap_gl_pyramid_free(pyramid);
    sap_device_close(device);
    gl_tools_reset();
}

// Totals that floats could not hold.
TEST(totals_beyond_2_to_the_24) {
    watch w = {0};
    sap_device* device = NULL;
    if (!gl_tools_present()) SKIP("no OpenGL ES");
    gl_tools_reset();
    if (!CHECK_STATUS(gl_tools_open_watched(&w, &device), SAP_OK)) return;
    enum { SIDE = 300 };
    uint32_t* counts = malloc(SIDE * SIDE * 4);
    int64_t exact = 0;
    for (int i = 0; i < SIDE * SIDE; i++) exact += counts[i] = 10000 + draw(30000);
    if (exact % 2 == 0) exact++, counts[0]++; // no float beyond 2^24 is odd
    GLuint base = make_texture(device, GL_R32UI, GL_RED_INTEGER, GL_UNSIGNED_INT, SIDE, SIDE, counts);
    for (int form = 0; form < 2; form++) {
        sap_gl_pyramid_options options = {.form = (sap_gl_form)form, .width = SIDE, .height = SIDE, .most = 40000};
        sap_gl_pyramid* pyramid = NULL;
        int64_t total = 0;
        NOTE("form %d", form);
        CHECK_STATUS(sap_gl_pyramid_create(device, &options, &pyramid), SAP_OK);
        CHECK_STATUS(sap_gl_compact(pyramid, base, NULL, &total), SAP_OK);
        CHECK_EQUAL(total, exact);
        CHECK(total > 1 << 24 && total % 2 == 1);
        sap_gl_pyramid_free(pyramid);
    }
    free_texture(device, base);
    free(counts);
    sap_device_close(device);
}

// The same cells as sap_compact keeps of their numbers.
TEST(the_list_of_sap_compact) {
    watch w = {0};
    sap_device *device = NULL, *cpu = NULL;
    if (!gl_tools_present()) SKIP("no OpenGL ES");
    enum { WIDTH = 320, HEIGHT = 201, CELLS = 4 * WIDTH * HEIGHT };
    gl_tools_reset();
    if (!CHECK_STATUS(gl_tools_open_watched(&w, &device), SAP_OK)) return;
    CHECK_STATUS(sap_device_open(&(sap_device_options){.processor = SAP_CPU}, &cpu), SAP_OK);
    uint8_t* keep = malloc(CELLS);
    uint32_t *numbers = malloc(CELLS * 4), *kept = malloc(CELLS * 4), *texels = malloc(CELLS * 16);
    for (int i = 0; i < CELLS; i++) {
        keep[i] = (uint8_t)(draw(3) ? 0 : 1 + draw(255));
        numbers[i] = (uint32_t)i;
    }
    int64_t count = 0, total = 0, wrong = 0;
    CHECK_STATUS(sap_compact(cpu, numbers, CELLS, 4, keep, kept, &count), SAP_OK);
    GLuint base = make_texture(device, GL_RGBA8UI, GL_RGBA_INTEGER, GL_UNSIGNED_BYTE, WIDTH, HEIGHT, keep);
    sap_gl_pyramid_options options = {.cells = SAP_GL_CELLS_UINT4, .width = WIDTH, .height = HEIGHT};
    sap_gl_pyramid* pyramid = NULL;
    sap_gl_list list = {.texture = 0};
    CHECK_STATUS(sap_gl_pyramid_create(device, &options, &pyramid), SAP_OK);
    CHECK_STATUS(sap_gl_compact(pyramid, base, &list, &total), SAP_OK);
    CHECK_EQUAL(total, count);
    if (CHECK(list.texture && (int64_t)list.width * list.height <= CELLS)) {
        read_texture(device, list.texture, GL_R32UI, list.width, list.height, texels);
        for (int64_t i = 0; i < count; i++) wrong += texels[4 * i] != kept[i];
    }
    CHECK(list.texture && count > 0);
    CHECK_EQUAL(wrong, 0);
    sap_gl_pyramid_free(pyramid);
    free_texture(device, base);
    sap_device_close(device);
    sap_device_close(cpu);
    free(keep);
    free(numbers);
    free(kept);
    free(texels);
}

// Items of any size, in place too, in more flags than one part has, and runs of equal items, which the host looks for.
TEST(sap_compact_on_opengl) {
    watch w = {0};
    sap_device *device = NULL, *cpu = NULL;
    if (!gl_tools_present()) SKIP("no OpenGL ES");
    enum { MOST = (1 << 22) + 4099 };
    gl_tools_reset();
    if (!CHECK_STATUS(gl_tools_open_watched(&w, &device), SAP_OK)) return;
    CHECK_STATUS(sap_device_open(&(sap_device_options){.processor = SAP_CPU}, &cpu), SAP_OK);
    static const int64_t counts[] = {0, 1, 5, 4095, 4096, 40000, MOST};
    uint8_t* keep = malloc(MOST);
    char *items = malloc(MOST * 3), *here = malloc(MOST * 3), *there = malloc(MOST * 3);
    for (int i = 0; i < MOST; i++) keep[i] = (uint8_t)(draw(9) ? 0 : 1 + draw(255));
    for (int i = 0; i < MOST * 3; i++) items[i] = (char)draw(2);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        int64_t a = -1, b = -1, c = -1;
        NOTE("%lld items", (long long)counts[i]);
        memcpy(here, items, MOST * 3);
        CHECK_STATUS(sap_compact(device, here, counts[i], 3, keep, here, &a), SAP_OK);
        CHECK_STATUS(sap_compact(cpu, items, counts[i], 3, keep, there, &b), SAP_OK);
        CHECK_EQUAL(a, b);
        CHECK(a == b && !memcmp(here, there, (size_t)b * 3));
        CHECK_STATUS(sap_unique(device, items, counts[i], 1, here, &a), SAP_OK);
        CHECK_STATUS(sap_unique(cpu, items, counts[i], 1, there, &c), SAP_OK);
        CHECK(a == c && !memcmp(here, there, (size_t)c));
    }
    free(keep);
    free(items);
    free(here);
    free(there);
    sap_device_close(device);
    sap_device_close(cpu);
    CHECK_EQUAL(w.blocks, 0);
    CHECK_EQUAL(gl_tools.textures, 0);
}

// ---- Bad input

static sap_status make(sap_device* device, sap_gl_pyramid_options options) {
    sap_gl_pyramid* pyramid = NULL;
    sap_status status = sap_gl_pyramid_create(device, &options, &pyramid);
    CHECK((status == SAP_OK) == (pyramid != NULL));
    sap_gl_pyramid_free(pyramid);
    return status;
}

TEST(pyramids_refuse) {
    watch w = {0};
    sap_device *device = NULL, *cpu = NULL;
    if (!gl_tools_present()) SKIP("no OpenGL ES");
    gl_tools_reset();
    gl_tools.max_texture_size = 2048;
    if (!CHECK_STATUS(gl_tools_open_watched(&w, &device), SAP_OK)) return;
    sap_gl_pyramid* pyramid = NULL;
    sap_gl_pyramid_options good = {.width = 4, .height = 4}, o = good;
    CHECK_STATUS(sap_gl_pyramid_create(NULL, &good, &pyramid), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_gl_pyramid_create(device, NULL, &pyramid), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_gl_pyramid_create(device, &good, NULL), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_device_open(&(sap_device_options){.processor = SAP_CPU}, &cpu), SAP_OK);
    CHECK_STATUS(sap_gl_pyramid_create(cpu, &good, &pyramid), SAP_ERROR_UNSUPPORTED);
    sap_device_close(cpu);
    o.form = (sap_gl_form)3;
    CHECK_STATUS(make(device, o), SAP_ERROR_ARGUMENT);
    CHECK_TEXT(w.sentence, "options.form: unknown form 3");
    o = good;
    o.cells = (sap_gl_cells)-1;
    CHECK_STATUS(make(device, o), SAP_ERROR_ARGUMENT);
    o = good;
    o.form = SAP_GL_FLOAT;
    CHECK_STATUS(make(device, o), SAP_ERROR_ARGUMENT);
    CHECK_TEXT(w.sentence, "options.cells: GLSL ES 1.00 cannot read textures of integers");
    o = good;
    o.width = 0;
    CHECK_STATUS(make(device, o), SAP_ERROR_ARGUMENT);
    CHECK_TEXT(w.sentence, "options.width and .height: 0 x 4 texels; both numbers must be at least 1");
    o = good;
    o.reserved[0] = 1;
    CHECK_STATUS(make(device, o), SAP_ERROR_ARGUMENT);
    CHECK_TEXT(w.sentence, "options.reserved: is not zero; it was made for a newer Sapwood");
    o = good;
    o.count = 17;
    CHECK_STATUS(make(device, o), SAP_ERROR_ARGUMENT);
    CHECK_TEXT(w.sentence, "options.count: 17 is not in 0...16");
    o.count = -1;
    CHECK_STATUS(make(device, o), SAP_ERROR_ARGUMENT);
    o = good;
    o.width = 2049;
    CHECK_STATUS(make(device, o), SAP_ERROR_RANGE);
    CHECK_TEXT(w.sentence, "options: a base of 2049 x 4 texels; GL_MAX_TEXTURE_SIZE here is 2048");
    o = (sap_gl_pyramid_options){.width = 2048, .height = 2048, .most = 1024};
    CHECK_STATUS(make(device, o), SAP_ERROR_RANGE);
    CHECK_TEXT(w.sentence, "4194304 cells with up to 1024 outputs are more than 4294967295");
    o = (sap_gl_pyramid_options){.form = SAP_GL_FLOAT, .cells = SAP_GL_CELLS_BYTE, .width = 2048, .height = 2048};
    o.most = 4;
    CHECK_STATUS(make(device, o), SAP_ERROR_RANGE);
    CHECK_TEXT(w.sentence, "4194304 cells with up to 4 outputs are more than 16777215");
    CHECK_STATUS(sap_gl_pyramid_create(device, &good, &pyramid), SAP_OK);
    sap_gl_list list = {.expected = INT64_C(2048) * 2048 + 1};
    int64_t total = 5;
    uint32_t sums[16];
    sap_gl_pyramid_info info;
    CHECK_STATUS(sap_gl_pyramid_total(pyramid, &total), SAP_ERROR_ARGUMENT);
    CHECK_TEXT(w.sentence, "pyramid: no base has been compacted with it yet");
    CHECK_STATUS(sap_gl_pyramid_total(NULL, &total), SAP_ERROR_ARGUMENT);
    GLuint base = make_texture(device, GL_R8UI, GL_RED_INTEGER, GL_UNSIGNED_BYTE, 4, 4, "0123456789abcdef");
    CHECK_STATUS(sap_gl_compact(NULL, base, &list, &total), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_gl_compact(pyramid, 0, &list, &total), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_gl_compact(pyramid, base, &list, NULL), SAP_ERROR_RANGE);
    CHECK_TEXT(w.sentence, "a list of 4194305 outputs needs 2049 rows; GL_MAX_TEXTURE_SIZE here is 2048");
    list.expected = -1;
    CHECK_STATUS(sap_gl_compact(pyramid, base, &list, &total), SAP_ERROR_ARGUMENT);
    list = (sap_gl_list){.texture = base};
    CHECK_STATUS(sap_gl_compact(pyramid, base, &list, &total), SAP_ERROR_ARGUMENT);
    CHECK_EQUAL(total, 5);
    CHECK_STATUS(sap_gl_compact(pyramid, base, NULL, &total), SAP_OK);
    CHECK_EQUAL(total, 16);
    CHECK_STATUS(sap_gl_pyramid_total(pyramid, NULL), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_gl_pyramid_sums(pyramid, 0, sums), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_gl_pyramid_sums(pyramid, 5, sums), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_gl_pyramid_sums(pyramid, 1, NULL), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_gl_pyramid_sums(NULL, 1, sums), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_gl_pyramid_describe(pyramid, NULL), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_gl_pyramid_describe(NULL, &info), SAP_ERROR_ARGUMENT);
    sap_gl_pyramid_free(NULL);
    sap_gl_pyramid_free(pyramid);
    free_texture(device, base);
    sap_device_close(device);
    CHECK_EQUAL(w.blocks, 0);
    CHECK_EQUAL(gl_tools.textures, 0);
    gl_tools_reset();
}

// Everything that a pyramid does, once; the first status that is not good. Calls until it is freed are told.
static int64_t calls_in_use;

static sap_status use_all(sap_device* device, GLuint base, const sap_gl_pyramid_options* options) {
    sap_gl_pyramid* pyramid = NULL;
    sap_gl_list list = {.texture = 0};
    int64_t total = 0;
    uint32_t sums[256];
    sap_status status = sap_gl_pyramid_create(device, options, &pyramid);
    if (status == SAP_OK) status = sap_gl_compact(pyramid, base, &list, &total);
    if (status == SAP_OK) status = sap_gl_pyramid_sums(pyramid, 2, sums);
    if (status == SAP_OK && total != 16) status = SAP_ERROR_FORMAT;
    calls_in_use = gl_tools.calls;
    sap_gl_pyramid_free(pyramid);
    return status;
}

// A device, a base and everything again for each n; what is to fail is `*at`.
static void fail_each(int64_t* at, const int64_t* counted, sap_status failure, const sap_gl_pyramid_options* options) {
    int64_t last = INT64_MAX;
    for (int64_t n = 0; n <= last; n++) {
        watch w = {0};
        sap_device* device = NULL;
        gl_tools_reset();
        NOTE("form %d, failing the %lldth", (int)options->form, (long long)n);
        if (!CHECK_STATUS(gl_tools_open_watched(&w, &device), SAP_OK)) return;
        bool bytes = options->cells == SAP_GL_CELLS_BYTE;
        GLuint base = make_texture(device, bytes ? GL_R8 : GL_R8UI, bytes ? GL_RED : GL_RED_INTEGER, GL_UNSIGNED_BYTE,
                                   16, 1, "0123456789abcdef");
        int64_t before = *counted;
        *at = n ? before + n : 0;
        sap_status status = use_all(device, base, options);
        *at = 0;
        if (!n) last = (counted == &gl_tools.calls ? calls_in_use : *counted) - before;
        CHECK_STATUS(status, n ? failure : SAP_OK);
        if (failure != SAP_ERROR_DEVICE_LOST) {
            CHECK_STATUS(use_all(device, base, options), SAP_OK); // the device stays usable
            free_texture(device, base);
            CHECK_EQUAL(gl_tools.textures, 0);
        }
        sap_device_close(device);
        CHECK_EQUAL(w.blocks, 0);
        if (n && last > 60) n += (int64_t)draw((last > 600 ? 40 : 6) * (TEST_SANITIZED ? 8 : 1));
    }
    gl_tools_reset();
}

TEST(a_context_lost_at_any_call) {
    if (!gl_tools_present()) SKIP("no OpenGL ES");
    sap_gl_pyramid_options options = {.width = 16, .height = 1};
    fail_each(&gl_tools.lose_at, &gl_tools.calls, SAP_ERROR_DEVICE_LOST, &options);
    options = (sap_gl_pyramid_options){.form = SAP_GL_FLOAT, .cells = SAP_GL_CELLS_BYTE, .width = 16, .height = 1};
    fail_each(&gl_tools.lose_at, &gl_tools.calls, SAP_ERROR_DEVICE_LOST, &options);
}

TEST(no_memory_for_a_texture) {
    if (!gl_tools_present()) SKIP("no OpenGL ES");
    sap_gl_pyramid_options options = {.width = 16, .height = 1};
    fail_each(&gl_tools.fail_memory_at, &gl_tools.memory_calls, SAP_ERROR_DEVICE_MEMORY, &options);
    options = (sap_gl_pyramid_options){.form = SAP_GL_FLOAT, .cells = SAP_GL_CELLS_BYTE, .width = 16, .height = 1};
    fail_each(&gl_tools.fail_memory_at, &gl_tools.memory_calls, SAP_ERROR_DEVICE_MEMORY, &options);
}

TEST(no_memory_on_the_host) {
    if (!gl_tools_present()) SKIP("no OpenGL ES");
    sap_gl_pyramid_options options = {.width = 16, .height = 1};
    watch w = {0};
    sap_device* device = NULL;
    gl_tools_reset();
    if (!CHECK_STATUS(gl_tools_open_watched(&w, &device), SAP_OK)) return;
    GLuint base = make_texture(device, GL_R8UI, GL_RED_INTEGER, GL_UNSIGNED_BYTE, 16, 1, "0123456789abcdef");
    int64_t before = w.requests;
    CHECK_STATUS(use_all(device, base, &options), SAP_OK);
    int64_t last = w.requests - before;
    CHECK(last >= 2);
    for (int64_t n = 1; n <= last; n++) {
        sap_device_trim(device);
        w.fail_from = w.requests + n;
        CHECK_STATUS(use_all(device, base, &options), SAP_ERROR_MEMORY);
        w.fail_from = 0;
    }
    free_texture(device, base);
    sap_device_close(device);
    CHECK_EQUAL(w.blocks, 0);
    CHECK_EQUAL(gl_tools.textures, 0);
}

// In a context of the caller's, whose state is put back.
TEST(in_the_callers_context) {
    watch w = {0};
    if (!gl_tools_present()) SKIP("no OpenGL ES");
    gl_tools_reset();
    if (!gl_tools_enter_own()) SKIP("no context");
    sap_device* device = NULL;
    sap_device_options options = watched(&w);
    options.processor = SAP_GL;
    options.current_context = true;
    CHECK_STATUS(sap_device_open(&options, &device), SAP_OK);
    gl_tools_set_state();
    GLuint base = make_texture(device, GL_R8UI, GL_RED_INTEGER, GL_UNSIGNED_BYTE, 16, 1, "0123456789abcdef");
    CHECK_STATUS(use_all(device, base, &(sap_gl_pyramid_options){.width = 16, .height = 1}), SAP_OK);
    CHECK(gl_tools_state_kept());
    free_texture(device, base);
    sap_device_close(device);
    gl_tools_leave_own();
}
#else
TEST(no_opengl) { SKIP("this build has no OpenGL ES"); }
#endif

TEST_MAIN()
