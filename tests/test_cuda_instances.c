// Instances of meshes on CUDA devices: rays find what they find on the CPU, bit for bit, also after instances have moved
// and after calls that failed.
#include "test.h"

#if defined(SAP_HAVE_CUDA)
#include "cuda_scene.h"
#include "instance/ops.h"
#include "instances.h"

enum {
    RAYS = CASE_STEP == 1   ? 20000
           : CASE_STEP > 23 ? 300
                            : 800,
    SIZE = 60,
    MESHES = 4,
    COUNT = 25,
    MOST = 40,
    CALLS = 6
};

static const int32_t limit_of[CALLS] = {[2] = 1, [3] = 5, [4] = MOST};

// Meshes and instances of them on both processors, and rays.
typedef struct stage {
    scene s;
    scene_mesh meshes[MESHES];
    sap_mesh_tree *here[MESHES], *there[MESHES];
    sap_instance instances[COUNT], instances_there[COUNT];
    int64_t count;
    sap_instance_tree *world, *world_there;
    sap_ray* rays;
} stage;

static void place_instances(stage* t, int64_t count, int shift, uint64_t* state) {
    const double size = size_of(&t->meshes[0]);
    t->count = count;
    for (int64_t i = 0; i < count; i++) {
        sap_instance *here = &t->instances[i], *there = &t->instances_there[i];
        if (i % 7 == 6) // some stand in the same place
            *here = t->instances[i - MESHES];
        else
            transform_of(here->transform, (int)((i + shift) % TRANSFORM_KINDS), size, state);
        here->tree = t->here[i % MESHES];
        *there = *here;
        there->tree = t->there[i % MESHES];
    }
}

// Rays of all kinds about the instances in turn.
static void aim_rays(stage* t, uint64_t* state) {
    for (int64_t i = 0; i < RAYS; i++) {
        const int64_t j = i / RAY_KINDS % t->count;
        const sap_mesh* mesh = &t->meshes[j % MESHES].mesh;
        float lower[3], upper[3];
        oracle_box(mesh, lower, upper);
        const sap_ray ray = oracle_ray(mesh, lower, upper, i, state);
        t->rays[i] = ray;
        into_world(t->instances[j].transform, ray.origin, 1, t->rays[i].origin);
        into_world(t->instances[j].transform, ray.direction, 0, t->rays[i].direction);
    }
}

// A mesh of a family beside a cube, an empty mesh, and a smaller one of the family that is built on the GPU.
static void open_stage_on(stage* t, ray_mesh kind) {
    uint64_t state = 7 + (uint64_t)kind;
    const ray_mesh kinds[MESHES] = {kind, RAY_MESH_CUBE, RAY_MESH_NONE, kind};
    t->world = t->world_there = NULL;
    for (int i = 0; i < MESHES; i++) {
        const sap_quality quality = i % 2 ? SAP_QUALITY_FAST : SAP_QUALITY_HIGH;
        t->meshes[i] = ray_mesh_of(kinds[i], i == 3 ? SIZE / 2 : SIZE);
        t->here[i] = ray_tree(t->s.cpu, &t->meshes[i].mesh, quality);
        t->there[i] = NULL;
        if (i == 3)
            t->there[i] = ray_tree(t->s.gpu, &t->meshes[i].mesh, quality);
        else
            CHECK_STATUS(sap_mesh_tree_copy(t->here[i], t->s.gpu, &t->there[i]), SAP_OK);
        CHECK(t->here[i] && t->there[i]);
    }
    t->rays = malloc(RAYS * sizeof *t->rays);
    place_instances(t, COUNT, 0, &state);
    aim_rays(t, &state);
    CHECK_STATUS(sap_instance_tree_build(t->s.cpu, t->instances, t->count, &t->world), SAP_OK);
    CHECK_STATUS(sap_instance_tree_build(t->s.gpu, t->instances_there, t->count, &t->world_there), SAP_OK);
}

static void close_stage_on(stage* t) {
    sap_instance_tree_free(t->world);
    sap_instance_tree_free(t->world_there);
    for (int i = 0; i < MESHES; i++) {
        sap_mesh_tree_free(t->here[i]);
        sap_mesh_tree_free(t->there[i]);
        scene_mesh_free(&t->meshes[i]);
    }
    free(t->rays);
}

static sap_status ask(const sap_instance_tree* tree, int call, int64_t count, const sap_ray* rays, void* answers,
                      int32_t* numbers) {
    switch (call) {
    case 0: return sap_instance_trace(tree, rays, count, answers);
    case 1: return sap_instance_occluded(tree, rays, count, answers);
    case 5: return count ? sap_instance_trace_numbered(tree, rays, count, answers) : SAP_OK;
    default: return sap_instance_trace_all(tree, rays, count, limit_of[call], answers, numbers);
    }
}

// Answers into host memory, and into memory on the GPU `shift` bytes behind where a block of it begins.
static void expect_same(const stage* t, int call, int64_t count, size_t shift) {
    const size_t each = call == 1   ? 1
                        : call == 5 ? sizeof(sap_hit)
                                    : sizeof(sap_instance_hit) * (size_t)(limit_of[call] ? limit_of[call] : 1);
    const size_t bytes = each * (size_t)count, number_bytes = (size_t)count * sizeof(int32_t);
    const size_t ray_bytes = (size_t)count * sizeof(sap_ray);
    unsigned char *expected = calloc(1, bytes + 1), *got = calloc(1, bytes + 1);
    int32_t *expected_numbers = calloc(1, number_bytes + 1), *numbers = calloc(1, number_bytes + 1);
    CHECK_STATUS(ask(t->world, call, count, t->rays, expected, expected_numbers), SAP_OK);
    CHECK_STATUS(ask(t->world_there, call, count, t->rays, got, numbers), SAP_OK);
    CHECK(!memcmp(expected, got, bytes) && !memcmp(expected_numbers, numbers, number_bytes));
    unsigned char *rays_there = on_gpu(NULL, ray_bytes + shift + 1), *got_there = on_gpu(NULL, bytes + shift + 1);
    cuda_tools_copy(rays_there + shift, t->rays, ray_bytes);
    CHECK_STATUS(ask(t->world_there, call, count, (const sap_ray*)(void*)(rays_there + shift), got_there + shift, NULL),
                 SAP_OK);
    memset(got, 0, bytes);
    cuda_tools_copy(got, got_there + shift, bytes);
    CHECK(!memcmp(expected, got, bytes));
    cuda_tools_release(rays_there);
    cuda_tools_release(got_there);
    free(expected);
    free(got);
    free(expected_numbers);
    free(numbers);
}

TEST(answers_are_those_of_the_cpu) {
    stage t;
    OPEN_SCENE(&t.s, NULL);
    for (int kind = 0; kind < RAY_MESHES; kind++) {
        open_stage_on(&t, (ray_mesh)kind);
        for (int call = 0; call < CALLS; call++) {
            NOTE("mesh %d, call %d", kind, call);
            expect_same(&t, call, RAYS, (size_t)(kind % 2) * 4);
        }
        close_stage_on(&t);
    }
    close_scene(&t.s);
}

// Such rays stay together.
TEST(rays_that_go_the_same_way) {
    stage t;
    OPEN_SCENE(&t.s, NULL);
    open_stage_on(&t, RAY_MESH_TORUS);
    for (int64_t i = 0; i < RAYS; i++)
        for (int k = 0; k < 3; k++) t.rays[i].direction[k] = fabsf(t.rays[i].direction[k]);
    for (int call = 0; call < CALLS; call++) {
        NOTE("call %d", call);
        expect_same(&t, call, RAYS, 0);
        for (int64_t count = 1; count <= 129; count = 3 * count + 13) expect_same(&t, call, count, 4);
        CHECK_STATUS(ask(t.world_there, call, 0, NULL, NULL, NULL), SAP_OK);
    }
    close_stage_on(&t);
    close_scene(&t.s);
}

// The tree takes what memory it has: rebuilding over as many instances, or fewer, allocates nothing on the GPU.
TEST(instances_move) {
    stage t;
    uint64_t state = 99;
    OPEN_SCENE(&t.s, NULL);
    open_stage_on(&t, RAY_MESH_SPHERE);
    const int64_t blocks = cuda_tools.blocks;
    for (int frame = 0; frame < 5; frame++) {
        sap_instance_tree_info here, there;
        NOTE("frame %d", frame);
        place_instances(&t, frame == 4 ? 0 : COUNT - (frame & 1) * 9, frame, &state);
        CHECK_STATUS(sap_instance_tree_rebuild(t.world, t.instances, t.count), SAP_OK);
        CHECK_STATUS(sap_instance_tree_rebuild(t.world_there, t.instances_there, t.count), SAP_OK);
        CHECK_EQUAL(cuda_tools.blocks, blocks);
        CHECK_STATUS(sap_instance_tree_describe(t.world, &here), SAP_OK);
        CHECK_STATUS(sap_instance_tree_describe(t.world_there, &there), SAP_OK);
        CHECK(here.instances == there.instances && here.filed == there.filed && here.depth == there.depth &&
              !memcmp(here.lower, there.lower, sizeof here.lower) &&
              !memcmp(here.upper, there.upper, sizeof here.upper));
        for (int call = 0; call < CALLS; call++) expect_same(&t, call, 200, 0);
    }
    close_stage_on(&t);
    close_scene(&t.s);
}

TEST(instances_of_trees_elsewhere_are_refused) {
    stage t;
    sap_instance_tree* tree = NULL;
    OPEN_SCENE(&t.s, NULL);
    open_stage_on(&t, RAY_MESH_CUBE);
    CHECK_STATUS(sap_instance_tree_build(t.s.gpu, t.instances, t.count, &tree), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_instance_tree_rebuild(t.world_there, t.instances, t.count), SAP_ERROR_ARGUMENT);
    CHECK(tree == NULL);
    expect_same(&t, 0, 100, 0);
    close_stage_on(&t);
    close_scene(&t.s);
}

// ---- Faults

static sap_status work(stage* t) {
    sap_instance_hit hits[8 * MOST];
    sap_instance_tree* tree = NULL;
    sap_status status = sap_instance_tree_build(t->s.gpu, t->instances_there, 3, &tree);
    CHECK((status == SAP_OK) == (tree != NULL));
    if (status == SAP_OK) status = sap_instance_trace(tree, t->rays, 8, hits);
    if (status == SAP_OK) status = sap_instance_tree_rebuild(tree, t->instances_there, t->count);
    if (status == SAP_OK) status = sap_instance_trace_all(tree, t->rays, 8, MOST, hits, NULL);
    sap_instance_tree_free(tree);
    return status;
}

TEST(every_call_of_cuda_fails) {
    stage t;
    for (int kind = CUDA_TOOLS_ALLOCATE; kind <= CUDA_TOOLS_WAIT; kind++) {
        bool lost = kind != CUDA_TOOLS_ALLOCATE, over = false;
        for (int64_t at = 1; !over; at++) {
            OPEN_SCENE(&t.s, NULL);
            open_stage_on(&t, RAY_MESH_CUBE);
            sap_device_trim(t.s.gpu);
            fail_calls(1u << kind, at, lost, lost ? CUDA_TOOLS_ILLEGAL_ADDRESS : CUDA_TOOLS_NO_MEMORY);
            sap_status status = work(&t);
            NOTE("kind %d, call %d", kind, (int)at);
            over = !cuda_tools.failed;
            if (over || (!lost && status == SAP_OK)) // a second try succeeds where idle memory was in the way
                CHECK_STATUS(status, SAP_OK);
            else
                CHECK_STATUS(status, lost ? SAP_ERROR_DEVICE_LOST : SAP_ERROR_DEVICE_MEMORY);
            cuda_tools.fail_at = 0;
            if (!lost) CHECK_STATUS(work(&t), SAP_OK);
            close_stage_on(&t);
            close_scene(&t.s);
        }
    }
}

// A tree that could not be rebuilt, for want of memory on the GPU or on the host, is as it was.
TEST(trees_that_cannot_be_rebuilt_stay) {
    stage t;
    OPEN_SCENE(&t.s, NULL);
    open_stage_on(&t, RAY_MESH_TORUS);
    CHECK_STATUS(sap_instance_tree_rebuild(t.world, t.instances, 5), SAP_OK);
    sap_instance_tree_free(t.world_there);
    CHECK_STATUS(sap_instance_tree_build(t.s.gpu, t.instances_there, 5, &t.world_there), SAP_OK);
    fail_calls(1u << CUDA_TOOLS_ALLOCATE, 1, true, CUDA_TOOLS_NO_MEMORY);
    CHECK_STATUS(sap_instance_tree_rebuild(t.world_there, t.instances_there, COUNT), SAP_ERROR_DEVICE_MEMORY);
    cuda_tools.fail_at = 0;
    for (int call = 0; call < CALLS; call++) expect_same(&t, call, 100, 0);
    for (int64_t n = 1, failed = 1; failed; n++) {
        sap_device_trim(t.s.gpu);
        t.s.w.requests = 0;
        t.s.w.fail_from = n;
        t.s.w.fail_all_after = true;
        const sap_status status = sap_instance_tree_rebuild(t.world_there, t.instances_there, COUNT);
        failed = t.s.w.requests >= n;
        t.s.w.fail_from = 0;
        CHECK_STATUS(status, failed ? SAP_ERROR_MEMORY : SAP_OK);
        if (failed) expect_same(&t, 0, 100, 0);
    }
    CHECK_STATUS(sap_instance_tree_rebuild(t.world, t.instances, COUNT), SAP_OK);
    for (int call = 0; call < CALLS; call++) expect_same(&t, call, 100, 0);
    close_stage_on(&t);
    close_scene(&t.s);
}

#else
TEST(instances_on_cuda_devices) { SKIP("this build has no CUDA device"); }
#endif

TEST_MAIN()
