// Trees over triangles that CUDA devices build are those of the CPU, byte for byte.
#include "test.h"

#if defined(SAP_HAVE_CUDA)
#include "cuda_scene.h"
#include "mesh/layout.h"
#include "mesh_families.h"
#include "progress_host.h"
#include "ray_oracle.h"

enum {
    MANY = CASE_STEP > 23  ? 1000
           : CASE_STEP > 1 ? 2500
                           : 6000,
    FEW = CASE_STEP > 23  ? 400
          : CASE_STEP > 1 ? 700
                          : 3000
};

static bool same_trees(const sap_mesh_tree* there, const sap_mesh_tree* here, sap_device* host) {
    sap_mesh_tree* copy = NULL;
    if (!there || !here || sap_mesh_tree_copy(there, host, &copy) != SAP_OK) return false;
    bool same = CHECK(!memcmp(&copy->shape, &here->shape, sizeof here->shape)) &&
                CHECK(!memcmp(&copy->options, &here->options, sizeof here->options)) &&
                CHECK(!memcmp(copy->arrays, here->arrays, here->shape.bytes));
    sap_mesh_tree_free(copy);
    return same;
}

// Rays, nearest points and insides go by what stands beside the arrays.
static void expect_same_answers(const sap_mesh_tree* there, const sap_mesh_tree* here, const sap_mesh* mesh) {
    enum { RAYS = 60 };
    sap_ray rays[RAYS];
    sap_hit hits[2][RAYS];
    sap_closest closest[2][RAYS];
    float lower[3], upper[3], points[3 * RAYS];
    uint64_t state = 1;
    if (!mesh->triangle_count) return;
    oracle_box(mesh, lower, upper);
    for (int i = 0; i < RAYS; i++) {
        rays[i] = oracle_ray(mesh, lower, upper, i, &state);
        memcpy(points + 3 * i, rays[i].origin, sizeof rays[i].origin);
    }
    for (int k = 0; k < 2; k++) {
        CHECK_STATUS(sap_trace(k ? here : there, rays, RAYS, hits[k]), SAP_OK);
        CHECK_STATUS(sap_closest_point(k ? here : there, (sap_points){points, RAYS, 3, 0}, closest[k]), SAP_OK);
    }
    CHECK(!memcmp(hits[0], hits[1], sizeof hits[0]));
    CHECK(!memcmp(closest[0], closest[1], sizeof closest[0]));
}

static void expect_same(scene* s, const sap_mesh* mesh, const sap_mesh_tree_options* options) {
    for (int quality = 0; quality < 2; quality++) {
        sap_mesh_tree *here = NULL, *there = NULL;
        sap_mesh_tree_options own = *options;
        own.quality = (sap_quality)quality;
        CHECK_STATUS(sap_mesh_tree_build(s->cpu, *mesh, &own, &here), SAP_OK);
        CHECK_STATUS(sap_mesh_tree_build(s->gpu, *mesh, &own, &there), SAP_OK);
        if (CHECK(same_trees(there, here, s->cpu))) expect_same_answers(there, here, mesh);
        sap_mesh_tree_free(here);
        sap_mesh_tree_free(there);
    }
}

TEST(trees_of_every_family) {
    static const int64_t counts[] = {0, 1, 2, 12, 64, 65, 300, MANY};
    scene s;
    OPEN_SCENE(&s, NULL);
    for (int kind = 0; kind < MESH_FAMILIES; kind++)
        for (int i = 0; i < 8; i++)
            for (int cost = 0; cost < 2; cost++) {
                if (CASE_STEP > 23 && (kind + i) % 4 != 2 * cost) continue;
                const sap_mesh_tree_options options = {.cost = (sap_cost)cost};
                sap_mesh mesh = mesh_of_family((mesh_family)kind, counts[i], 7);
                NOTE("%s, %d triangles, cost %d", mesh_family_name((mesh_family)kind), (int)counts[i], cost);
                expect_same(&s, &mesh, &options);
                mesh_free(&mesh);
            }
    close_scene(&s);
}

// Options that lead to nodes of other sizes, to the bound of the depth, and to that of the references.
TEST(options_are_followed) {
    static const sap_mesh_tree_options ways[] = {{.small_node = 1},
                                                 {.small_node = 7, .empty_space = 0.01F},
                                                 {.depth = 1},
                                                 {.depth = 9, .empty_space = 0.9F},
                                                 {.traversal_cost = 0.001F},
                                                 {.traversal_cost = 0.001F, .small_node = 33, .depth = 64},
                                                 {.traversal_cost = 50, .intersection_cost = 3},
                                                 {.cost = SAP_COST_VOXELS, .radius = 0.3F}};
    static const mesh_family kinds[] = {MESH_BIG_SOUP, MESH_ROOMS, MESH_NEEDLES, MESH_COPLANAR, MESH_NO_AREA};
    scene s;
    OPEN_SCENE(&s, NULL);
    for (int kind = 0; kind < 5; kind++)
        for (int way = 0; way < 8; way++) {
            const sap_mesh_tree_options options = ways[way];
            if (CASE_STEP > 23 && (kind + way) % 5) continue; // each way once, where all of them would take too long
            sap_mesh mesh = mesh_of_family(kinds[kind], FEW, 2);
            NOTE("%s, way %d", mesh_family_name(kinds[kind]), way);
            expect_same(&s, &mesh, &options);
            mesh_free(&mesh);
        }
    close_scene(&s);
}

// Nodes of so many parts that all warps look for their planes.
TEST(crowded_nodes) {
    static const mesh_family kinds[] = {MESH_HILLS, MESH_ROOMS, MESH_COPLANAR, MESH_LINE, MESH_FAR};
    const sap_mesh_tree_options options = {.cost = SAP_COST_SURFACE};
    const int step = CASE_STEP > 23 ? 5 : CASE_STEP > 1 ? 2 : 1;
    scene s;
    OPEN_SCENE(&s, NULL);
    for (int kind = 0; kind < 5; kind += step) {
        sap_mesh mesh = mesh_of_family(kinds[kind], 12000, 4);
        NOTE("%s", mesh_family_name(kinds[kind]));
        expect_same(&s, &mesh, &options);
        mesh_free(&mesh);
    }
    close_scene(&s);
}

// Leaves too long to be sorted in one go.
TEST(long_leaves) {
    static const int64_t counts[] = {100, 4096, 4097, 9000};
    const sap_mesh_tree_options options = {.cost = SAP_COST_SURFACE};
    scene s;
    OPEN_SCENE(&s, NULL);
    for (int i = 0; i < 4; i++) {
        sap_mesh mesh = mesh_of_family(MESH_COPIES, counts[i], 1);
        NOTE("%d copies", (int)counts[i]);
        expect_same(&s, &mesh, &options);
        mesh_free(&mesh);
    }
    close_scene(&s);
}

// Rods through the whole length, and small triangles between: nearly every plane cuts nearly all.
static sap_mesh mesh_of_rods(int64_t triangles) {
    const sap_mesh mesh = mesh_of_family(MESH_SOUP, triangles, 7);
    CHECK_EQUAL(mesh.vertex_count, 3 * triangles);
    for (int64_t i = 0; i < triangles; i++) {
        float* corners = (float*)(uintptr_t)mesh.vertices + 9 * i;
        const float x = corners[0], y = corners[1], z = corners[2];
        for (int c = 0; c < 3; c++) {
            corners[3 * c] = i % 20 == 0 ? 1000 * x + 0.1F * (float)c : c == 0 ? 0.0F : 1000.0F;
            corners[3 * c + 1] = y + (c == 2 ? 0.001F : 0.0F);
            corners[3 * c + 2] = z + (c == 1 ? 0.001F : 0.0F);
        }
    }
    return mesh;
}

// Lists that have to grow again and again.
TEST(rods_need_more_room_than_most) {
    scene s;
    OPEN_SCENE(&s, NULL);
    sap_mesh mesh = mesh_of_rods(150);
    for (int cost = 0; cost < 2; cost++) {
        const sap_mesh_tree_options options = {
            .cost = (sap_cost)cost, .small_node = 1, .depth = 64, .traversal_cost = 0.001F};
        NOTE("cost %d", cost);
        expect_same(&s, &mesh, &options);
    }
    mesh_free(&mesh);
    close_scene(&s);
}

// ---- Rebuilding

static sap_mesh mesh_there(const sap_mesh* mesh) {
    sap_mesh there = *mesh;
    there.vertices = on_gpu(mesh->vertices, (size_t)mesh->vertex_count * 3 * sizeof(float));
    there.triangles = on_gpu(mesh->triangles, (size_t)mesh->triangle_count * 3 * sizeof(int32_t));
    return there;
}

static void free_there(sap_mesh* mesh) {
    cuda_tools_release((void*)(uintptr_t)mesh->vertices);
    cuda_tools_release((void*)(uintptr_t)mesh->triangles);
}

// Meshes one after the other in one tree, from the host or, if there is a stream of the caller's, from the GPU.
static void rebuild_on(void* stream) {
    static const struct {
        mesh_family kind;
        int64_t count;
        uint64_t seed;
    } meshes[] = {{MESH_HILLS, FEW, 1}, {MESH_HILLS, FEW, 2}, {MESH_BALL, MANY, 1},    {MESH_POINT, 90, 1},
                  {MESH_SOUP, 0, 1},    {MESH_SOUP, 30, 1},   {MESH_BIG_SOUP, FEW, 1}, {MESH_HILLS, FEW, 1}};
    const sap_mesh_tree_options options = {.quality = SAP_QUALITY_FAST};
    scene s;
    OPEN_SCENE(&s, stream);
    sap_mesh_tree* tree = NULL;
    for (int i = 0; i < 8; i++) {
        sap_mesh_tree* here = NULL;
        sap_mesh mesh = mesh_of_family(meshes[i].kind, meshes[i].count, meshes[i].seed);
        sap_mesh there = stream ? mesh_there(&mesh) : mesh;
        NOTE("mesh %d%s", i, stream ? ", on the GPU" : "");
        CHECK_STATUS(sap_mesh_tree_build(s.cpu, mesh, &options, &here), SAP_OK);
        if (tree)
            CHECK_STATUS(sap_mesh_tree_rebuild(tree, there), SAP_OK);
        else
            CHECK_STATUS(sap_mesh_tree_build(s.gpu, there, &options, &tree), SAP_OK);
        if (CHECK(same_trees(tree, here, s.cpu))) expect_same_answers(tree, here, &mesh);
        CHECK_STATUS(sap_mesh_tree_verify(tree), SAP_OK);
        sap_mesh_tree_free(here);
        if (stream) free_there(&there);
        mesh_free(&mesh);
    }
    sap_mesh_tree_free(tree);
    close_scene(&s);
}

TEST(rebuilt_trees_are_new_ones) { rebuild_on(NULL); }

TEST(rebuilt_trees_are_new_ones_in_a_stream_of_the_caller) {
    scene s;
    OPEN_SCENE(&s, NULL);
    close_scene(&s);
    rebuild_on(cuda_tools_stream());
}

TEST(rebuilding_allocates_nothing_there) {
    scene s;
    OPEN_SCENE(&s, NULL);
    static const mesh_family kinds[] = {MESH_HILLS, MESH_BIG_SOUP}; // the second needs more room than most
    for (int i = 0; i < 2; i++) {
        const sap_mesh_tree_options options = {.quality = SAP_QUALITY_FAST, .traversal_cost = 0.01F};
        sap_mesh_tree* tree = NULL;
        sap_mesh mesh = mesh_of_family(kinds[i], FEW, 5);
        CHECK_STATUS(sap_mesh_tree_build(s.gpu, mesh, &options, &tree), SAP_OK);
        CHECK_STATUS(sap_mesh_tree_rebuild(tree, mesh), SAP_OK);
        const int64_t calls = cuda_tools.calls[CUDA_TOOLS_ALLOCATE], requests = s.w.requests;
        CHECK_STATUS(sap_mesh_tree_rebuild(tree, mesh), SAP_OK);
        CHECK_EQUAL(cuda_tools.calls[CUDA_TOOLS_ALLOCATE], calls);
        CHECK_EQUAL(s.w.requests, requests);
        sap_mesh_tree_free(tree);
        mesh_free(&mesh);
    }
    close_scene(&s);
}

// ---- What cannot be built

TEST(bad_meshes_are_refused_in_the_same_words) {
    static const float corners[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, NAN, 0, 0, 0, INFINITY, 0, 3e38F, 0, 0};
    static const int32_t triangles[][6] = {
        {0, 1, 2, 2, 6, 1}, {0, 1, 2, 0, -1, 2}, {0, 1, 2, 0, 1, 3}, {0, 4, 2, 0, 6, 2}, {5, 1, 2, 0, 1, 2}};
    const sap_mesh_tree_options options = {.quality = SAP_QUALITY_FAST};
    scene s;
    watch w = {0};
    sap_device* host = NULL;
    sap_device_options watched_host = watched(&w);
    OPEN_SCENE(&s, NULL);
    CHECK_STATUS(sap_device_open(&watched_host, &host), SAP_OK);
    sap_mesh good = mesh_of_family(MESH_BALL, 300, 1);
    sap_mesh_tree *here = NULL, *there = NULL;
    CHECK_STATUS(sap_mesh_tree_build(s.cpu, good, &options, &here), SAP_OK);
    CHECK_STATUS(sap_mesh_tree_build(s.gpu, good, &options, &there), SAP_OK);
    for (int i = 0; i < 5; i++) {
        const sap_mesh bad = {corners, 6, triangles[i], 2};
        sap_mesh_tree* tree = NULL;
        NOTE("mesh %d", i);
        const sap_status status = sap_mesh_tree_build(host, bad, &options, &tree);
        CHECK(status == SAP_ERROR_RANGE || status == SAP_ERROR_NOT_FINITE);
        CHECK_STATUS(sap_mesh_tree_build(s.gpu, bad, &options, &tree), status);
        CHECK(!tree && !strcmp(s.w.sentence, w.sentence));
        CHECK_STATUS(sap_mesh_tree_rebuild(there, bad), status);
        CHECK(same_trees(there, here, s.cpu));
    }
    sap_mesh_tree_free(here);
    sap_mesh_tree_free(there);
    mesh_free(&good);
    sap_device_close(host);
    close_scene(&s);
}

// A bound on memory changes the order of the work, not the tree: builds under bounds from … to, each larger than the
// one before by a part of that. Once one suffices, all that are larger do. How many do not.
static int count_refused(scene* s, const sap_mesh* mesh, sap_mesh_tree_options options, size_t from, size_t to,
                         size_t part) {
    sap_mesh_tree* here = NULL;
    int built = 0, refused = 0;
    CHECK_STATUS(sap_mesh_tree_build(s->cpu, *mesh, &options, &here), SAP_OK);
    for (options.memory = from; options.memory < to; options.memory += options.memory / part) {
        sap_mesh_tree* there = NULL;
        sap_device_info info = {0};
        sap_device_trim(s->gpu);
        NOTE("%d triangles, quality %d, %zu bytes", (int)mesh->triangle_count, (int)options.quality, options.memory);
        sap_status status = sap_mesh_tree_build(s->gpu, *mesh, &options, &there);
        CHECK_STATUS(sap_device_describe(s->gpu, &info), SAP_OK);
        CHECK(info.scratch_bytes <= options.memory + CUDA_TOOLS_CHUNK * 4);
        here->options.memory = options.memory;
        if (status == SAP_OK) CHECK(same_trees(there, here, s->cpu));
        if (status != SAP_OK) CHECK_STATUS(status, SAP_ERROR_RANGE);
        built += status == SAP_OK;
        refused += status != SAP_OK;
        CHECK(status == SAP_OK || built == 0);
        sap_mesh_tree_free(there);
    }
    CHECK(built > 0);
    sap_mesh_tree_free(here);
    return refused;
}

TEST(memory_is_bounded) {
    static const mesh_family kinds[] = {MESH_HILLS, MESH_NEEDLES, MESH_COPIES};
    scene s;
    OPEN_SCENE(&s, NULL);
    for (int kind = 0; kind < 3; kind++)
        for (int quality = 0; quality < 2; quality++) {
            const sap_mesh_tree_options options = {.quality = (sap_quality)quality};
            sap_mesh mesh = mesh_of_family(kinds[kind], MANY, 1);
            CHECK(count_refused(&s, &mesh, options, (size_t)1 << 18, (size_t)1 << 25, CASE_STEP > 23 ? 2 : 5) > 0);
            mesh_free(&mesh);
        }
    close_scene(&s);
}

// Around the bound that suffices for what a build without one takes, and where lists have to grow.
TEST(more_memory_is_never_too_little) {
    const sap_mesh_tree_options options = {.quality = SAP_QUALITY_FAST};
    const sap_mesh_tree_options growing = {
        .quality = SAP_QUALITY_FAST, .small_node = 1, .depth = 64, .traversal_cost = 0.001F};
    scene s;
    OPEN_SCENE(&s, NULL);
    sap_mesh hills = mesh_of_family(MESH_HILLS, 3000, 1), rods = mesh_of_rods(60);
    CHECK_EQUAL(count_refused(&s, &hills, options, 2560000, 2610000, CASE_STEP > 23 ? 100 : 400), 0);
    CHECK(count_refused(&s, &rods, growing, 1000000, 2000000, CASE_STEP > 23 ? 8 : 20) >
          0); // 3100000, were lists kept that have been replaced
    mesh_free(&hills);
    mesh_free(&rods);
    close_scene(&s);
}

// Rods along the scene: long ones, which no plane is worth to divide for long, beside shorter ones, which overlap less.
static sap_mesh mesh_of_long_rods(int64_t triangles, float shorter, float longer) {
    const sap_mesh mesh = mesh_of_family(MESH_SOUP, triangles, 3);
    float lower[3], upper[3];
    oracle_box(&mesh, lower, upper);
    for (int64_t i = 0; i < triangles; i++) {
        float* corners = (float*)(uintptr_t)mesh.vertices + 9 * i;
        float at[3];
        for (int k = 0; k < 3; k++) at[k] = (corners[k] - lower[k]) / (upper[k] - lower[k]);
        const float length = 1000 * (at[0] < 0.5F ? shorter : longer);
        for (int c = 0; c < 3; c++) {
            corners[3 * c] = 1000 * at[0] + (c == 1 ? length : 0);
            corners[3 * c + 1] = at[1] + (c == 2 ? 0.01F : 0);
            corners[3 * c + 2] = at[2] + (c == 2 ? 0.01F : 0);
        }
    }
    return mesh;
}

// Under a bound there is little staging memory: some jobs of a batch become leaves while others of the same batch get
// children at the depth limit. Returns how many builds there were.
static int build_under_bounds(scene* s, const sap_mesh* mesh, sap_mesh_tree_options options) {
    sap_mesh_tree* here = NULL;
    int built = 0;
    CHECK_STATUS(sap_mesh_tree_build(s->cpu, *mesh, &options, &here), SAP_OK);
    for (options.memory = (size_t)1 << 19; options.memory < (size_t)1 << 22; options.memory += options.memory / 9) {
        sap_mesh_tree* there = NULL;
        sap_device_trim(s->gpu);
        const sap_status status = sap_mesh_tree_build(s->gpu, *mesh, &options, &there);
        here->options.memory = options.memory;
        if (status == SAP_OK) CHECK(same_trees(there, here, s->cpu));
        if (status != SAP_OK) CHECK_STATUS(status, SAP_ERROR_RANGE);
        built += status == SAP_OK;
        sap_mesh_tree_free(there);
    }
    sap_mesh_tree_free(here);
    return built;
}

TEST(leaves_at_the_depth_limit_fit_under_any_bound) {
    scene s;
    OPEN_SCENE(&s, NULL);
    sap_mesh mesh = mesh_of_long_rods(800, 0.2F, 0.5F);
    for (int quality = 0; quality < 2; quality++)
        for (int32_t depth = quality == SAP_QUALITY_FAST ? 5 : 6; depth <= 6; depth++) {
            const sap_mesh_tree_options options = {
                .quality = (sap_quality)quality, .depth = depth, .small_node = 8, .traversal_cost = 0.5F};
            NOTE("quality %d, depth %d", quality, (int)depth);
            CHECK(build_under_bounds(&s, &mesh, options) > 0);
        }
    mesh_free(&mesh);
    close_scene(&s);
}

// ---- Hosts that cancel

static void cancel(sap_quality quality) {
    const sap_mesh_tree_options options = {.quality = quality};
    scene s;
    OPEN_SCENE(&s, NULL);
    sap_mesh mesh = mesh_of_family(MESH_BALL, 300, 1), other = mesh_of_family(MESH_HILLS, FEW, 1);
    sap_mesh_tree *here = NULL, *tree = NULL;
    CHECK_STATUS(sap_mesh_tree_build(s.cpu, mesh, &options, &here), SAP_OK);
    for (int stop_at = 1; stop_at >= 0; stop_at--) {
        progress_host p = {.stop_at = stop_at};
        sap_device* device = NULL;
        sap_device_options asking = scene_options(&s.w);
        asking.progress = progress_host_report;
        asking.progress_user = &p;
        CHECK_STATUS(cuda_tools_open(&asking, &device), SAP_OK);
        CHECK_STATUS(sap_mesh_tree_copy(here, device, &tree), SAP_OK);
        CHECK_STATUS(sap_mesh_tree_rebuild(tree, other), stop_at ? SAP_ERROR_CANCELLED : SAP_OK);
        CHECK(stop_at ? p.reports == 1 : p.last == 1);
        if (stop_at) CHECK(same_trees(tree, here, s.cpu));
        sap_mesh_tree_free(tree);
        sap_device_close(device);
    }
    sap_mesh_tree_free(here);
    mesh_free(&mesh);
    mesh_free(&other);
    close_scene(&s);
}

TEST(a_cancelled_build_leaves_the_tree) {
    cancel(SAP_QUALITY_FAST);
    cancel(SAP_QUALITY_HIGH);
}

// ---- Faults

typedef struct fault_case {
    scene s;
    sap_mesh_tree_options options;
    sap_mesh mesh, other;
    sap_mesh_tree *here, *other_here;
} fault_case;

static void open_case(fault_case* f, sap_quality quality) {
    f->options = (sap_mesh_tree_options){.quality = quality};
    f->mesh = mesh_of_family(MESH_BALL, 300, 1);
    f->other = mesh_of_family(MESH_NEEDLES, FEW, 1);
    f->here = f->other_here = NULL;
    CHECK_STATUS(sap_mesh_tree_build(f->s.cpu, f->mesh, &f->options, &f->here), SAP_OK);
    CHECK_STATUS(sap_mesh_tree_build(f->s.cpu, f->other, &f->options, &f->other_here), SAP_OK);
}

static void close_case(fault_case* f) {
    sap_mesh_tree_free(f->here);
    sap_mesh_tree_free(f->other_here);
    mesh_free(&f->mesh);
    mesh_free(&f->other);
    close_scene(&f->s);
}

// Memory that is refused in turn: the tree is as it was, or, where it is too late for that, empty.
static void refuse_memory(sap_quality quality) {
    static const int kinds[] = {CUDA_TOOLS_ALLOCATE, CUDA_TOOLS_COPY, CUDA_TOOLS_FILL, CUDA_TOOLS_LAUNCH};
    fault_case f;
    OPEN_SCENE(&f.s, NULL);
    open_case(&f, quality);
    for (int kind = 0; kind < 4; kind++) {
        bool failed = true;
        for (int64_t at = 1; failed && CHECK(at < 100); at += CASE_STEP > 23 ? 4 : 1) {
            sap_mesh_tree* tree = NULL;
            NOTE("kind %d, call %d", kinds[kind], (int)at);
            CHECK_STATUS(sap_mesh_tree_build(f.s.gpu, f.mesh, &f.options, &tree), SAP_OK);
            sap_device_trim(f.s.gpu);
            f.s.w.log_calls = 0;
            fail_calls(1u << kinds[kind], at, kind == 0, CUDA_TOOLS_NO_MEMORY);
            const sap_status status = sap_mesh_tree_rebuild(tree, f.other);
            failed = cuda_tools.failed;
            cuda_tools_reset();
            CHECK_STATUS(status, failed ? SAP_ERROR_DEVICE_MEMORY : SAP_OK);
            CHECK_EQUAL(f.s.w.log_calls, failed);
            CHECK_STATUS(sap_mesh_tree_verify(tree), SAP_OK);
            if (!(failed && kind && tree->shape.triangles == 0))
                CHECK(same_trees(tree, failed ? f.here : f.other_here, f.s.cpu));
            CHECK_STATUS(sap_mesh_tree_rebuild(tree, f.other), SAP_OK);
            CHECK(same_trees(tree, f.other_here, f.s.cpu));
            sap_mesh_tree_free(tree);
        }
    }
    close_case(&f);
}

TEST(refused_memory_leaves_the_tree) {
    refuse_memory(SAP_QUALITY_FAST);
    refuse_memory(SAP_QUALITY_HIGH);
}

// The host's own memory.
TEST(refused_host_memory) {
    fault_case f;
    OPEN_SCENE(&f.s, NULL);
    open_case(&f, SAP_QUALITY_FAST);
    sap_status status = SAP_ERROR_MEMORY;
    for (int64_t at = 1; status != SAP_OK && CHECK(at < 100); at++) {
        sap_mesh_tree* tree = NULL;
        f.s.w.requests = 0;
        f.s.w.fail_from = at;
        status = sap_mesh_tree_build(f.s.gpu, f.mesh, &f.options, &tree);
        f.s.w.fail_from = 0;
        if (status != SAP_OK) CHECK_STATUS(status, SAP_ERROR_MEMORY);
        CHECK((status == SAP_OK) == (tree != NULL));
        sap_mesh_tree_free(tree);
    }
    close_case(&f);
}

static void lose_gpus(sap_quality quality) {
    bool failed = true;
    for (int64_t at = 1; failed && CHECK(at < 300); at += 3) {
        fault_case f;
        sap_mesh_tree *tree = NULL, *another = NULL;
        OPEN_SCENE(&f.s, NULL);
        open_case(&f, quality);
        CHECK_STATUS(sap_mesh_tree_build(f.s.gpu, f.mesh, &f.options, &tree), SAP_OK);
        lose_gpu(at);
        NOTE("call %d", (int)at);
        const sap_status status = sap_mesh_tree_rebuild(tree, f.other);
        failed = cuda_tools.failed;
        CHECK_STATUS(status, failed ? SAP_ERROR_DEVICE_LOST : SAP_OK);
        if (failed) CHECK_STATUS(sap_mesh_tree_build(f.s.gpu, f.mesh, &f.options, &another), SAP_ERROR_DEVICE_LOST);
        CHECK(!another);
        sap_mesh_tree_free(tree);
        close_case(&f);
    }
}

TEST(lost_gpus_build_nothing) {
    lose_gpus(SAP_QUALITY_FAST);
    lose_gpus(SAP_QUALITY_HIGH);
}

// GPUs on which no kernel fits, and that do nothing though they say that all went well.
TEST(idle_gpus_build_nothing) {
    for (int quality = 0; quality < 2; quality++) {
        fault_case f;
        sap_mesh_tree* tree = NULL;
        OPEN_SCENE(&f.s, NULL);
        open_case(&f, (sap_quality)quality);
        cuda_tools.has_no_room = true;
        CHECK_STATUS(sap_mesh_tree_build(f.s.gpu, f.mesh, &f.options, &tree), SAP_ERROR_UNSUPPORTED);
        cuda_tools_reset();
        cuda_tools.launches_nothing = true;
        CHECK_STATUS(sap_mesh_tree_build(f.s.gpu, f.mesh, &f.options, &tree), SAP_ERROR_DEVICE_LOST);
        cuda_tools_reset();
        CHECK(!tree);
        CHECK_STATUS(sap_mesh_tree_build(f.s.gpu, f.mesh, &f.options, &tree), SAP_OK);
        CHECK(same_trees(tree, f.here, f.s.cpu));
        sap_mesh_tree_free(tree);
        close_case(&f);
    }
}

#else
TEST(trees_on_cuda_devices) { SKIP("this build has no CUDA device"); }
#endif

TEST_MAIN()
