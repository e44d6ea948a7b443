// Loop subdivision: against one by the book, closed forms, itself after more levels; what is refused; the same bits for
// any number of threads and on a GPU, wherever arrays lie.
#include "loop_meshes.h"
#include "loop_oracle.h"
#include "stage.h"
#include "test.h"
#if defined(SAP_HAVE_CUDA)
#include "cuda_scene.h"
#endif

enum { MOST = 200000 };

static float refined[3 * MOST], normals[3 * MOST];

static sap_device* open_cpu(int32_t threads) {
    const sap_device_options options = {.processor = SAP_CPU, .threads = threads};
    sap_device* device = NULL;
    CHECK_STATUS(sap_device_open(&options, &device), SAP_OK);
    return device;
}

// Subdivides into `refined` and `normals`; the result is to be freed.
static sap_subdivision* subdivide(sap_device* device, const coarse* m, int32_t levels,
                                  const sap_subdivision_options* options) {
    sap_subdivision* s = NULL;
    CHECK_STATUS(create_of(device, m, levels, options, &s), SAP_OK);
    if (!s || !CHECK(s->vertex_count <= MOST && s->coarse_count == m->vertices)) return s;
    CHECK_EQUAL(s->triangle_count, m->count << 2 * levels);
    CHECK_STATUS(sap_mesh_subdivide(s, m->at[0], refined, normals), SAP_OK);
    return s;
}

static double length_of(const float* v) {
    return sqrt((double)v[0] * (double)v[0] + (double)v[1] * (double)v[1] + (double)v[2] * (double)v[2]);
}

static double between(const float* a, const double* b) {
    double most = 0;
    for (int i = 0; i < 3; i++) most = fmax(most, fabs((double)a[i] - b[i]));
    return most;
}

// ---- By the book

static plain plain_of(const coarse* m, bool corners_at_tips) {
    plain p = {.vertices = m->vertices, .count = m->count, .crease_count = m->crease_count};
    p.corners_at_tips = corners_at_tips;
    p.at = calloc((size_t)m->vertices + 1, sizeof *p.at);
    p.corner = calloc((size_t)m->vertices + 1, 1);
    p.triangles = calloc((size_t)m->count * 3 + 1, sizeof(int32_t));
    p.creases = calloc((size_t)m->crease_count * 2 + 1, sizeof(int32_t));
    for (int64_t v = 0; v < m->vertices; v++)
        for (int a = 0; a < 3; a++) p.at[v][a] = (double)m->at[v][a];
    memcpy(p.triangles, m->triangles, (size_t)m->count * 3 * sizeof(int32_t));
    memcpy(p.creases, m->creases, (size_t)m->crease_count * 2 * sizeof(int32_t));
    for (int64_t i = 0; i < m->corner_count; i++) p.corner[m->corners[i]] = 1;
    return p;
}

TEST(meshes_are_refined_by_the_book) {
    sap_device* device = open_cpu(2);
    for (int kind = 0; kind < MESH_KINDS; kind++)
        for (int variant = 0; variant < 4; variant++) {
            const coarse m = mesh_of_kind(kind);
            sap_subdivision_options options = options_of(&m);
            options.border = variant & 1 ? SAP_BORDER_CORNERS : SAP_BORDER_SMOOTH;
            options.limit = variant & 2;
            plain p = plain_of(&m, variant & 1);
            // In a pillow two edges join the same vertices after a step, which pairs of vertices cannot tell apart.
            for (int32_t levels = 0; levels <= (kind == PILLOW ? !options.limit : 3); levels++) {
                NOTE("%s (%d), variant %d, %d levels", m.name, kind, variant, (int)levels);
                sap_subdivision* s = subdivide(device, &m, levels, &options);
                if (!s) break;
                if (levels) {
                    plain next = plain_refined(&p);
                    plain_free(&p);
                    p = next;
                }
                plain there = p;
                there.at = calloc((size_t)p.vertices + 1, sizeof *there.at);
                memcpy(there.at, p.at, (size_t)p.vertices * sizeof *there.at);
                if (options.limit) plain_to_limit(&there);
                CHECK_EQUAL(s->vertex_count, p.vertices);
                // Vertices on edges have other numbers there: corners of triangles are compared.
                for (int64_t c = 0; c < 3 * s->triangle_count; c++)
                    if (!CHECK(between(refined + 3 * (int64_t)s->triangles[c], there.at[p.triangles[c]]) < 2e-6)) break;
                for (int64_t v = 0; v < m.vertices; v++)
                    if (!CHECK(between(refined + 3 * v, there.at[v]) < 2e-6)) break;
                free(there.at);
                sap_subdivision_free(s);
            }
            plain_free(&p);
        }
    NOTE("%s", "");
    sap_device_close(device);
}

// ---- Closed forms

TEST(a_flat_sheet_stays_flat) {
    sap_device* device = open_cpu(1);
    const coarse m = sheet_mesh(8, false);
    const sap_subdivision_options options = {.limit = true};
    for (int32_t levels = 0; levels <= 3; levels++) {
        sap_subdivision* s = subdivide(device, &m, levels, &options);
        for (int64_t v = 0; v < m.vertices; v++) {
            const int64_t x = v % 9, y = v / 9;
            // What is more than one triangle from the border is regular, and its own limit.
            if (x > 1 && x < 7 && y > 1 && y < 7) CHECK(!memcmp(refined + 3 * v, m.at[v], sizeof m.at[v]));
        }
        for (int64_t v = 0; v < s->vertex_count; v++) {
            CHECK(refined[3 * v + 2] == m.at[0][2]);
            CHECK(normals[3 * v] == 0 && normals[3 * v + 1] == 0 && normals[3 * v + 2] == 1);
        }
        sap_subdivision_free(s);
    }
    sap_device_close(device);
}

TEST(an_octahedron_becomes_round) {
    sap_device* device = open_cpu(1);
    const coarse m = octahedron_mesh();
    const sap_subdivision_options options = {.limit = true};
    sap_subdivision* s = subdivide(device, &m, 0, &options);
    const double loop = (0.625 - 0.375 * 0.375) / 4, far = 1 - 4 / (0.375 / loop + 4);
    for (int v = 0; v < 6; v++)
        for (int a = 0; a < 3; a++) {
            CHECK(fabs((double)refined[3 * v + a] - far * (double)m.at[v][a]) < 1e-7);
            CHECK(fabsf(normals[3 * v + a] - m.at[v][a]) < 1e-6f);
        }
    sap_subdivision_free(s);
    s = subdivide(device, &m, 4, &options);
    double least = 2, most = 0;
    for (int64_t v = 0; v < s->vertex_count; v++) {
        const float *at = refined + 3 * v, *normal = normals + 3 * v;
        const double r = length_of(at);
        least = fmin(least, r), most = fmax(most, r);
        CHECK(((double)at[0] * (double)normal[0] + (double)at[1] * (double)normal[1] +
               (double)at[2] * (double)normal[2]) > 0.98 * r);
        CHECK(fabs(length_of(normal) - 1) < 1e-6);
    }
    CHECK(least > 0.4 && most / least < 1.1);
    sap_subdivision_free(s);
    sap_device_close(device);
}

// The border of a mesh is the cubic B-spline of its vertices there: at them (1, 4, 1) / 6, between them (1, 23, 23, 1)
// / 48.
TEST(borders_are_splines) {
    sap_device* device = open_cpu(1);
    const coarse m = fan_mesh(7, true, 1);
    const sap_subdivision_options options = {.limit = true};
    for (int32_t levels = 0; levels <= 3; levels++) {
        sap_subdivision* s = subdivide(device, &m, levels, &options);
        for (int i = 0; i < 7; i++) {
            double spline[3];
            for (int a = 0; a < 3; a++)
                spline[a] =
                    ((double)m.at[8 + (i + 6) % 7][a] + 4 * (double)m.at[8 + i][a] + (double)m.at[8 + (i + 1) % 7][a]) /
                    6;
            CHECK(between(refined + 3 * (8 + i), spline) < 1e-6);
        }
        sap_subdivision_free(s);
    }
    sap_device_close(device);
}

// Either side of a crease is what it would be without the other, to the bit.
TEST(a_crease_is_a_border) {
    sap_device* device = open_cpu(1);
    coarse whole = sheet_mesh(6, true), half = sheet_mesh(6, true);
    half.count /= 2; // the three lower rows
    for (int x = 0; x < 6; x++) add_crease(&whole, 21 + x, 22 + x);
    half.corners[0] = 21, half.corners[1] = 27, half.corner_count = 2; // where borders meet the crease
    for (int limit = 0; limit < 2; limit++) {
        sap_subdivision_options a = options_of(&half), b = options_of(&whole);
        a.limit = b.limit = limit;
        static float kept[3 * MOST];
        sap_subdivision* s = subdivide(device, &half, 3, &a);
        memcpy(kept, refined, (size_t)s->vertex_count * 3 * sizeof *kept);
        sap_subdivision* t = subdivide(device, &whole, 3, &b);
        for (int64_t c = 0; c < 3 * s->triangle_count; c++)
            if (!CHECK(!memcmp(refined + 3 * (int64_t)t->triangles[c], kept + 3 * (int64_t)s->triangles[c],
                               3 * sizeof *kept)))
                break;
        sap_subdivision_free(s);
        sap_subdivision_free(t);
    }
    sap_device_close(device);
}

// ---- Limits

// Limits and normals are the same whenever they are taken: so masks are those of the subdivision's eigenvectors.
static void check_limit(sap_device* device, const coarse* m, int32_t vertex) {
    static const int32_t levels[] = {0, 1, 3, 6};
    const sap_subdivision_options once = options_of(m);
    sap_subdivision_options limit = once;
    float at[3] = {0}, normal[3] = {0};
    limit.limit = true;
    for (int i = 0; i < 3; i++) {
        sap_subdivision_free(subdivide(device, m, levels[i], &limit));
        for (int a = 0; a < 3; a++) {
            if (i) CHECK(fabsf(refined[3 * vertex + a] - at[a]) < 1e-6f);
            if (i) CHECK(fabsf(normals[3 * vertex + a] - normal[a]) < 2e-5f);
            at[a] = refined[3 * vertex + a];
            normal[a] = normals[3 * vertex + a];
        }
        CHECK(fabs(length_of(normal) - 1) < 1e-6);
    }
    // Steps lead there, too.
    sap_subdivision_free(subdivide(device, m, TEST_SLOW ? 3 : 6, &once));
    for (int a = 0; a < 3; a++) CHECK(fabsf(refined[3 * vertex + a] - at[a]) < (TEST_SLOW ? 0.1f : 0.01f));
}

TEST(limits_are_reached) {
    sap_device* device = open_cpu(2);
    for (int n = 3; n <= 12; n++) {
        NOTE("%d neighbours", n);
        const coarse m = fan_mesh(n, true, 1);
        check_limit(device, &m, 0);
        for (int i = 3; i <= n / 2 + 1; i++) { // a crease with 2 triangles on a side, or more
            coarse creased = m;
            NOTE("%d neighbours, creases to 1 and %d", n, i);
            add_crease(&creased, 0, 1), add_crease(&creased, 1, 1 + n); // to the border
            add_crease(&creased, i, 0), add_crease(&creased, i + n, i);
            check_limit(device, &creased, 0);
        }
        coarse ended = m; // a crease that ends at vertex 0
        add_crease(&ended, 2, 0);
        NOTE("%d neighbours, a crease ends", n);
        check_limit(device, &ended, 0);
    }
    for (int n = 1; n <= 8; n++) {
        NOTE("a border with %d triangles", n);
        const coarse m = fan_mesh(n, false, 0.5);
        check_limit(device, &m, 0);
    }
    NOTE("%s", "");
    sap_device_close(device);
}

// Normals are those of small triangles between limits, about which they turn little.
TEST(normals_are_those_of_small_triangles) {
    sap_device* device = open_cpu(2);
    for (int kind = 0; kind < 7; kind++) {
        const coarse m = mesh_of_kind(kind);
        NOTE("%s", m.name);
        const sap_subdivision_options options = {.limit = true};
        sap_subdivision* s = subdivide(device, &m, 4, &options);
        for (int64_t t = 0; t < s->triangle_count; t++) {
            const int32_t* c = s->triangles + 3 * t;
            float u[3], v[3], n[3];
            for (int a = 0; a < 3; a++) {
                u[a] = refined[3 * c[1] + a] - refined[3 * c[0] + a];
                v[a] = refined[3 * c[2] + a] - refined[3 * c[0] + a];
            }
            for (int a = 0; a < 3; a++) n[a] = u[(a + 1) % 3] * v[(a + 2) % 3] - u[(a + 2) % 3] * v[(a + 1) % 3];
            const double length = length_of(n);
            for (int j = 0; j < 3; j++) {
                double cosine = 0;
                for (int a = 0; a < 3; a++) cosine += (double)n[a] * (double)normals[3 * c[j] + a] / length;
                if (!CHECK(cosine > 0.9)) break;
            }
        }
        sap_subdivision_free(s);
    }
    NOTE("%s", "");
    sap_device_close(device);
}

// ---- All the rest

TEST(what_there_is_little_of) {
    sap_device* device = open_cpu(1);
    sap_subdivision* s = NULL;
    CHECK_STATUS(sap_subdivision_create(device, NULL, 0, 0, 5, NULL, &s), SAP_OK);
    CHECK(s->vertex_count == 0 && s->triangle_count == 0 && s->levels == 5);
    CHECK_STATUS(sap_mesh_subdivide(s, NULL, NULL, NULL), SAP_OK);
    sap_subdivision_free(s);
    sap_subdivision_free(NULL);
    const coarse m = mesh_of_kind(8); // vertex 9 is in no triangle
    const sap_subdivision_options options = {.limit = true};
    s = subdivide(device, &m, 2, &options);
    CHECK(!memcmp(refined + 27, m.at[9], sizeof m.at[9]) && !memcmp(refined, m.at[0], sizeof m.at[0]));
    CHECK(normals[27] == 0 && normals[28] == 0 && normals[29] == 0);
    sap_subdivision_free(s);
    sap_device_close(device);
}

// A mesh of any size and any place gives the same normals; a vertex that is NaN spreads to a part of it.
TEST(size_and_nan) {
    sap_device* device = open_cpu(1);
    static float kept[3 * MOST];
    coarse m = torus_mesh();
    sap_subdivision* s = subdivide(device, &m, 2, NULL);
    memcpy(kept, normals, sizeof kept);
    for (int64_t v = 0; v < m.vertices; v++)
        for (int a = 0; a < 3; a++) m.at[v][a] *= 0x1p-100f;
    CHECK_STATUS(sap_mesh_subdivide(s, m.at[0], refined, normals), SAP_OK);
    CHECK(!memcmp(kept, normals, sizeof kept));
    m.at[0][1] = NAN;
    CHECK_STATUS(sap_mesh_subdivide(s, m.at[0], refined, normals), SAP_OK);
    int64_t bad = 0;
    for (int64_t v = 0; v < s->vertex_count; v++) bad += isnan(refined[3 * v + 1]) && isnan(normals[3 * v]);
    CHECK(isnan(refined[1]) && bad > 20 && bad < s->vertex_count / 2);
    for (int64_t v = 0; v < s->vertex_count; v++) CHECK(!isnan(refined[3 * v]));
    sap_subdivision_free(s);
    sap_device_close(device);
}

TEST(threads_give_the_same_bytes) {
    static float kept[6 * MOST];
    const coarse m = mesh_of_kind(3);
    const sap_subdivision_options options = options_of(&m);
    for (int32_t threads = 1; threads <= 4; threads++) {
        sap_device* device = open_cpu(threads);
        sap_subdivision* s = subdivide(device, &m, 5, &options);
        const size_t bytes = (size_t)s->vertex_count * 3 * sizeof *kept;
        if (threads > 1) CHECK(!memcmp(kept, refined, bytes) && !memcmp(kept + 3 * MOST, normals, bytes));
        memcpy(kept, refined, bytes);
        memcpy(kept + 3 * MOST, normals, bytes);
        sap_subdivision_free(s);
        sap_device_close(device);
    }
}

TEST(bad_arguments_are_refused) {
    stage s;
    open_stage(&s);
    sap_subdivision* made = NULL;
    const coarse good = octahedron_mesh();
    coarse bad = good;
    sap_subdivision_options o = {.border = SAP_BORDER_SMOOTH};
    const int32_t* t = good.triangles[0];
    CHECK_STATUS(sap_subdivision_create(NULL, t, 8, 6, 1, NULL, &made), SAP_ERROR_ARGUMENT);
    REFUSED(sap_subdivision_create(s.device, t, 8, 6, 1, NULL, NULL), SAP_ERROR_ARGUMENT, "subdivision");
    REFUSED(sap_subdivision_create(s.device, NULL, 8, 6, 1, NULL, &made), SAP_ERROR_ARGUMENT, "triangles: is NULL");
    REFUSED(sap_subdivision_create(s.device, t, -1, 6, 1, NULL, &made), SAP_ERROR_ARGUMENT, "triangle_count: -1");
    REFUSED(sap_subdivision_create(s.device, t, 8, -6, 1, NULL, &made), SAP_ERROR_ARGUMENT, "vertex_count: -6");
    REFUSED(sap_subdivision_create(s.device, t, 8, 6, -1, NULL, &made), SAP_ERROR_ARGUMENT, "levels: -1");
    REFUSED(sap_subdivision_create(s.device, t, 8, 6, 15, NULL, &made), SAP_ERROR_ARGUMENT, "levels: 15");
    REFUSED(sap_subdivision_create(s.device, t, 8, 6, 14, NULL, &made), SAP_ERROR_RANGE, "14 levels");
    REFUSED(sap_subdivision_create(s.device, t, INT64_MAX / 2, 6, 0, NULL, &made), SAP_ERROR_RANGE, "triangle_count");
    REFUSED(sap_subdivision_create(s.device, t, 8, INT64_MAX, 0, NULL, &made), SAP_ERROR_RANGE, "vertex_count");
    o.border = (sap_border)2;
    REFUSED(create_of(s.device, &good, 1, &o, &made), SAP_ERROR_ARGUMENT, "options.border");
    o = (sap_subdivision_options){.reserved = {0, 1}};
    REFUSED(create_of(s.device, &good, 1, &o, &made), SAP_ERROR_ARGUMENT, "options.reserved");
    o = (sap_subdivision_options){.crease_count = 1};
    REFUSED(create_of(s.device, &good, 1, &o, &made), SAP_ERROR_ARGUMENT, "options.creases: is NULL");
    o = (sap_subdivision_options){.corner_count = -1};
    REFUSED(create_of(s.device, &good, 1, &o, &made), SAP_ERROR_ARGUMENT, "options.corner_count");
    bad.corners[0] = 6, bad.corner_count = 1;
    o = options_of(&bad);
    REFUSED(create_of(s.device, &bad, 1, &o, &made), SAP_ERROR_RANGE, "options.corners: 0 is vertex 6");
    bad = good, add_crease(&bad, 4, 0), add_crease(&bad, 1, 0);
    o = options_of(&bad);
    REFUSED(create_of(s.device, &bad, 1, &o, &made), SAP_ERROR_ARGUMENT, "options.creases: 1, from vertex 1 to 0");
    CHECK(made == NULL);
    CHECK_STATUS(create_of(s.device, &good, 1, NULL, &made), SAP_OK);
    REFUSED(sap_mesh_subdivide(made, NULL, refined, normals), SAP_ERROR_ARGUMENT, "vertices");
    REFUSED(sap_mesh_subdivide(made, good.at[0], NULL, normals), SAP_ERROR_ARGUMENT, "refined");
    REFUSED(sap_mesh_subdivide(made, refined, refined, normals), SAP_ERROR_ARGUMENT, "one array");
    CHECK_STATUS(sap_mesh_subdivide(NULL, good.at[0], refined, normals), SAP_ERROR_ARGUMENT);
    sap_subdivision_free(made);
    close_stage(&s);
}

TEST(broken_meshes_are_refused) {
    stage s;
    open_stage(&s);
    sap_subdivision* made = NULL;
    coarse bad = octahedron_mesh();
    bad.triangles[5][1] = 6;
    REFUSED(create_of(s.device, &bad, 1, NULL, &made), SAP_ERROR_RANGE, "triangle 5 has corner 6");
    bad.triangles[5][1] = -1;
    REFUSED(create_of(s.device, &bad, 1, NULL, &made), SAP_ERROR_RANGE, "triangle 5 has corner -1");
    bad.triangles[5][1] = bad.triangles[5][2];
    REFUSED(create_of(s.device, &bad, 1, NULL, &made), SAP_ERROR_ARGUMENT, "triangle 5 has two equal corners");
    bad = octahedron_mesh();
    add_vertex(&bad, 2, 2, 2);
    add_triangle(&bad, 0, 2, 6);
    REFUSED(create_of(s.device, &bad, 1, NULL, &made), SAP_ERROR_ARGUMENT,
            "the edge from vertex 0 to 2 has 3 triangles (0, 4, 8 ...)");
    bad = octahedron_mesh();
    const int32_t other = bad.triangles[3][0];
    bad.triangles[3][0] = bad.triangles[3][1];
    bad.triangles[3][1] = other;
    REFUSED(create_of(s.device, &bad, 1, NULL, &made), SAP_ERROR_ARGUMENT, "do not face alike");
    CHECK(made == NULL);
    close_stage(&s);
}

TEST(every_allocation_is_refused) {
    watch w = {.requests = 0};
    const sap_device_options options = watched(&w);
    sap_device* device = NULL;
    const coarse m = mesh_of_kind(4);
    const sap_subdivision_options marks = options_of(&m);
    CHECK_STATUS(sap_device_open(&options, &device), SAP_OK);
    for (int64_t n = 1; CHECK(n < 100); n++) {
        sap_subdivision* s = NULL;
        const int64_t blocks = w.blocks;
        w.fail_from = w.requests + n;
        sap_status status = create_of(device, &m, 2, &marks, &s);
        CHECK((status == SAP_OK) == (s != NULL));
        if (status == SAP_OK) status = sap_mesh_subdivide(s, m.at[0], refined, normals);
        sap_subdivision_free(s);
        sap_device_trim(device);
        CHECK_EQUAL(w.blocks, blocks);
        if (status == SAP_OK) break;
        CHECK_STATUS(status, SAP_ERROR_MEMORY);
    }
    sap_device_close(device);
    CHECK(w.blocks == 0 && w.wrong == 0);
}

#if defined(SAP_HAVE_CUDA)
static float expected[3 * MOST], expected_normals[3 * MOST];

// A subdivision there does what one here does, with arrays here and there.
static void compare(scene* s, const coarse* m, int32_t levels, const sap_subdivision_options* options,
                    const int32_t* triangles) {
    sap_subdivision* here = subdivide(s->cpu, m, levels, options);
    const size_t bytes = (size_t)here->vertex_count * 3 * sizeof *refined,
                 given = (size_t)m->vertices * 3 * sizeof *refined;
    memcpy(expected, refined, bytes);
    memcpy(expected_normals, normals, bytes);
    sap_subdivision* there = NULL;
    CHECK_STATUS(sap_subdivision_create(s->gpu, triangles, m->count, m->vertices, levels, options, &there), SAP_OK);
    if (there) {
        int32_t* copied = calloc((size_t)here->triangle_count * 3 + 1, sizeof *copied);
        cuda_tools_copy(copied, there->triangles, (size_t)here->triangle_count * 3 * sizeof *copied);
        CHECK(!memcmp(copied, here->triangles, (size_t)here->triangle_count * 3 * sizeof *copied));
        free(copied);
        CHECK(there->on_device && there->vertex_count == here->vertex_count && there->bytes == here->bytes);
        memset(refined, 0, bytes), memset(normals, 0, bytes);
        CHECK_STATUS(sap_mesh_subdivide(there, m->at[0], refined, normals), SAP_OK);
        CHECK(!memcmp(refined, expected, bytes) && !memcmp(normals, expected_normals, bytes));
        float *vertices = on_gpu(m->at, given), *to = on_gpu(NULL, bytes), *to_normals = on_gpu(NULL, bytes);
        CHECK_STATUS(sap_mesh_subdivide(there, vertices, to, to_normals), SAP_OK);
        CHECK_STATUS(sap_device_wait(s->gpu), SAP_OK);
        memset(refined, 0, bytes), memset(normals, 0, bytes);
        cuda_tools_copy(refined, to, bytes), cuda_tools_copy(normals, to_normals, bytes);
        CHECK(!memcmp(refined, expected, bytes) && !memcmp(normals, expected_normals, bytes));
        cuda_tools_release(vertices), cuda_tools_release(to), cuda_tools_release(to_normals);
    }
    sap_subdivision_free(there);
    sap_subdivision_free(here);
}

TEST(results_are_the_same_bits_on_a_gpu) {
    for (int streams = 0; streams < 2; streams++) {
        scene s;
        OPEN_SCENE(&s, streams ? cuda_tools_stream() : NULL);
        for (int kind = 0; kind < MESH_KINDS; kind++)
            for (int limit = 0; limit < 2; limit++) {
                const coarse m = mesh_of_kind(kind);
                NOTE("%s (%d), limit %d", m.name, kind, limit);
                sap_subdivision_options options = options_of(&m);
                options.limit = limit;
                const size_t bytes = (size_t)m.count * sizeof m.triangles[0];
                int32_t* triangles = on_gpu(m.triangles, bytes);
                compare(&s, &m, kind % 4, &options, kind % 2 ? triangles : m.triangles[0]);
                cuda_tools_release(triangles);
            }
        NOTE("%s", "");
        close_scene(&s);
    }
}

// A call that is captured launches a kernel for each level and one for limits and normals, and does nothing else.
TEST(captured_calls_only_launch) {
    scene s;
    OPEN_SCENE(&s, cuda_tools_stream());
    const coarse m = mesh_of_kind(3);
    sap_subdivision_options options = options_of(&m);
    options.limit = true;
    sap_subdivision *there = NULL, *here = subdivide(s.cpu, &m, 3, &options);
    const size_t bytes = (size_t)here->vertex_count * 3 * sizeof *refined;
    memcpy(expected, refined, bytes);
    CHECK_STATUS(create_of(s.gpu, &m, 3, &options, &there), SAP_OK);
    float *vertices = on_gpu(m.at, sizeof m.at), *to = on_gpu(NULL, bytes), *to_normals = on_gpu(NULL, bytes);
    CHECK_STATUS(sap_mesh_subdivide(there, vertices, to, to_normals), SAP_OK);
    CHECK_STATUS(sap_device_wait(s.gpu), SAP_OK);
    cuda_tools_reset();
    cuda_tools.pretends_capture = true;
    memset(cuda_tools.calls, 0, sizeof cuda_tools.calls);
    CHECK_STATUS(sap_mesh_subdivide(there, vertices, to, to_normals), SAP_OK);
    static const cuda_tools_kind forbidden[] = {CUDA_TOOLS_ALLOCATE, CUDA_TOOLS_RELEASE, CUDA_TOOLS_WAIT,
                                                CUDA_TOOLS_COPY};
    for (size_t i = 0; i < sizeof forbidden / sizeof *forbidden; i++) CHECK_EQUAL(cuda_tools.calls[forbidden[i]], 0);
    CHECK_EQUAL(cuda_tools.calls[CUDA_TOOLS_LAUNCH], 4);
    CHECK_STATUS(sap_mesh_subdivide(there, m.at[0], to, to_normals), SAP_ERROR_UNSUPPORTED);
    CHECK_STATUS(create_of(s.gpu, &m, 3, &options, &(sap_subdivision*){NULL}), SAP_ERROR_UNSUPPORTED);
    cuda_tools_reset();
    CHECK_STATUS(sap_device_wait(s.gpu), SAP_OK);
    cuda_tools_copy(refined, to, bytes);
    CHECK(!memcmp(refined, expected, bytes));
    cuda_tools_release(vertices), cuda_tools_release(to), cuda_tools_release(to_normals);
    sap_subdivision_free(there);
    sap_subdivision_free(here);
    close_scene(&s);
}

// A graph refines what lies in the same array in each frame.
TEST(a_graph_refines_frames) {
    scene s;
    if (cuda_tools_emulated()) SKIP("the stand-in for CUDA has no graphs");
    OPEN_SCENE(&s, cuda_tools_stream());
    coarse m = mesh_of_kind(3);
    const sap_subdivision_options options = options_of(&m);
    sap_subdivision *there = NULL, *here = subdivide(s.cpu, &m, 3, &options);
    const size_t bytes = (size_t)here->vertex_count * 3 * sizeof *refined;
    CHECK_STATUS(create_of(s.gpu, &m, 3, &options, &there), SAP_OK);
    float *vertices = on_gpu(m.at, sizeof m.at), *to = on_gpu(NULL, bytes), *to_normals = on_gpu(NULL, bytes);
    CHECK_STATUS(sap_mesh_subdivide(there, vertices, to, to_normals), SAP_OK);
    CHECK_STATUS(sap_device_wait(s.gpu), SAP_OK);
    void* graph = NULL;
    if (CHECK(cuda_tools_capture_begin(cuda_tools_stream()))) {
        CHECK_STATUS(sap_mesh_subdivide(there, vertices, to, to_normals), SAP_OK);
        graph = cuda_tools_capture_end(cuda_tools_stream());
    }
    for (int frame = 0; frame < 3 && CHECK(graph != NULL); frame++) {
        for (int64_t v = 0; v < m.vertices; v++) m.at[v][v % 3] += 0.25f;
        CHECK_STATUS(sap_mesh_subdivide(here, m.at[0], expected, expected_normals), SAP_OK);
        cuda_tools_copy(vertices, m.at, sizeof m.at);
        CHECK(cuda_tools_graph_launch(graph, cuda_tools_stream()));
        CHECK_STATUS(sap_device_wait(s.gpu), SAP_OK);
        cuda_tools_copy(refined, to, bytes), cuda_tools_copy(normals, to_normals, bytes);
        CHECK(!memcmp(refined, expected, bytes) && !memcmp(normals, expected_normals, bytes));
    }
    if (graph) cuda_tools_graph_destroy(graph);
    cuda_tools_release(vertices), cuda_tools_release(to), cuda_tools_release(to_normals);
    sap_subdivision_free(there);
    sap_subdivision_free(here);
    close_scene(&s);
}

TEST(every_call_of_cuda_fails) {
    static const unsigned kinds[2] = {1u << CUDA_TOOLS_ALLOCATE,
                                      1u << CUDA_TOOLS_COPY | 1u << CUDA_TOOLS_FILL | 1u << CUDA_TOOLS_LAUNCH};
    scene s;
    OPEN_SCENE(&s, NULL);
    const coarse m = octahedron_mesh();
    for (int kind = 0; kind < 2; kind++)
        for (int n = 1; CHECK(n < 100); n++) {
            sap_subdivision* made = NULL;
            sap_device_trim(s.gpu);
            fail_calls(kinds[kind], n, kind == 0, CUDA_TOOLS_NO_MEMORY);
            sap_status status = create_of(s.gpu, &m, 2, NULL, &made);
            CHECK((status == SAP_OK) == (made != NULL));
            if (made) status = sap_mesh_subdivide(made, m.at[0], refined, normals);
            const bool failed = cuda_tools.failed;
            cuda_tools_reset();
            sap_subdivision_free(made);
            CHECK_STATUS(status, failed ? SAP_ERROR_DEVICE_MEMORY : SAP_OK);
            if (!failed) break;
        }
    close_scene(&s);
}
#endif

TEST_MAIN()
