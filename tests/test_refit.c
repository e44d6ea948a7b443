// Trees over triangles that are refitted: whole, with the answers of brute force and of new trees, the same bytes whatever
// came before, for any number of threads and on a GPU; and what is refused.
#include "calls.h"
#include "cases.h"
#include "mesh/host_view.h"
#include "progress_host.h"
#include "ray_oracle.h"
#include "stage.h"
#include "test.h"

typedef enum motion {
    MOTION_NONE,
    MOTION_JITTER,  // each vertex by itself, a little
    MOTION_WAVE,    // along y, as x goes
    MOTION_TWIST,   // about z, as z goes
    MOTION_SHIFT,   // all alike, far
    MOTION_FLATTEN, // onto a plane across x
    MOTION_LINE,
    MOTION_POINT,
    MOTION_TURN_OVER, // to the other side of 0
    MOTION_SHUFFLE,   // each vertex to the place of another
    MOTION_COLLAPSE,  // half of the vertices to one place
    MOTION_SNAP,      // onto a coarse lattice: planar triangles, and some without area
    MOTIONS
} motion;

// The vertices after a motion, to be freed.
static float* moved_vertices(const sap_mesh* mesh, motion kind, uint64_t seed) {
    const int64_t count = mesh->vertex_count;
    float *moved = malloc(3 * (size_t)count * sizeof *moved + 1), lower[3], upper[3], size = 0;
    uint64_t state = seed;
    oracle_box(mesh, lower, upper);
    for (int k = 0; k < 3 && mesh->triangle_count; k++) size = fmaxf(size, upper[k] - lower[k]);
    if (!(size > 0)) size = 1;
    for (int64_t i = 0; i < count; i++) {
        const float* v = mesh->vertices + 3 * i;
        float x = v[0], y = v[1], z = v[2];
        switch (kind) {
        case MOTION_JITTER:
            x += size * 0.02F * ((float)random_unit(&state) - 0.5F);
            y += size * 0.02F * ((float)random_unit(&state) - 0.5F);
            z += size * 0.02F * ((float)random_unit(&state) - 0.5F);
            break;
        case MOTION_WAVE: y += size * 0.1F * sinf(9 * (x - lower[0]) / size); break;
        case MOTION_TWIST: {
            const float turn = 2 * (z - lower[2]) / size, a = x - lower[0], b = y - lower[1];
            x = lower[0] + a * cosf(turn) - b * sinf(turn);
            y = lower[1] + a * sinf(turn) + b * cosf(turn);
            break;
        }
        case MOTION_SHIFT: x += 1000 * size, y -= 3 * size; break;
        case MOTION_FLATTEN: x = 0.5F; break;
        case MOTION_LINE: x = -0.0F, y = 7; break;
        case MOTION_POINT: x = 1, y = -2, z = 0; break;
        case MOTION_TURN_OVER: x = -x, y = -y; break;
        case MOTION_SHUFFLE: {
            const float* other = mesh->vertices + 3 * random_below(&state, count);
            x = other[0], y = other[1], z = other[2];
            break;
        }
        case MOTION_COLLAPSE:
            if (i % 2) x = lower[0], y = lower[1], z = upper[2];
            break;
        case MOTION_SNAP:
            x = roundf(8 * x / size) * size / 8, y = roundf(8 * y / size) * size / 8;
            z = roundf(8 * z / size) * size / 8;
            break;
        default: break;
        }
        moved[3 * i] = x;
        moved[3 * i + 1] = y;
        moved[3 * i + 2] = z;
    }
    return moved;
}

static sap_mesh_tree_options way_of(int way) {
    return (sap_mesh_tree_options){.quality = way % 2 ? SAP_QUALITY_FAST : SAP_QUALITY_HIGH};
}

static bool same_trees(const sap_mesh_tree* a, const sap_mesh_tree* b) {
    sap_mesh_view x, y;
    if (a->shape.bytes != b->shape.bytes || sap_mesh_view_open(a, &x) != SAP_OK) return false;
    bool same = sap_mesh_view_open(b, &y) == SAP_OK;
    if (same) {
        same = !memcmp(x.tree.arrays, y.tree.arrays, a->shape.bytes) && !memcmp(&a->shape, &b->shape, sizeof a->shape);
        sap_mesh_view_close(&y);
    }
    sap_mesh_view_close(&x);
    return same;
}

enum { RAYS = 48 };

// The answers about a tree are those of brute force, and those of a new tree.
static void expect_answers(sap_device* device, const sap_mesh_tree* tree, const sap_mesh* mesh, int way,
                           bool is_closed) {
    float lower[3], upper[3], points[3 * RAYS];
    sap_ray rays[RAYS];
    sap_hit hits[RAYS], again[RAYS];
    sap_closest near[RAYS], near_again[RAYS];
    uint8_t inside[RAYS], inside_again[RAYS];
    uint64_t state = 11;
    sap_mesh_tree* fresh = NULL;
    const sap_mesh_tree_options options = way_of(way);
    if (!CHECK_STATUS(sap_mesh_tree_build(device, *mesh, &options, &fresh), SAP_OK)) return;
    oracle_box(mesh, lower, upper);
    for (int i = 0; i < RAYS; i++) {
        rays[i] = oracle_ray(mesh, lower, upper, i, &state);
        for (int k = 0; k < 3; k++) points[3 * i + k] = rays[i].origin[k];
    }
    const sap_points queries = {points, RAYS, 3, 0};
    CHECK_STATUS(sap_trace(tree, rays, RAYS, hits), SAP_OK);
    CHECK_STATUS(sap_closest_point(tree, queries, near), SAP_OK);
    CHECK_STATUS(sap_inside(tree, queries, inside), SAP_OK);
    CHECK_STATUS(sap_trace(fresh, rays, RAYS, again), SAP_OK);
    CHECK_STATUS(sap_closest_point(fresh, queries, near_again), SAP_OK);
    CHECK_STATUS(sap_inside(fresh, queries, inside_again), SAP_OK);
    CHECK(!memcmp(hits, again, sizeof hits));
    CHECK(!memcmp(tree->shape.lower, fresh->shape.lower, sizeof lower)); // -0 is 0 in both
    CHECK(!memcmp(tree->shape.upper, fresh->shape.upper, sizeof upper));
    for (int i = 0; i < RAYS; i++) {
        sap_hit hit;
        (void)oracle_trace(mesh, &rays[i], 1, &hit);
        const sap_closest closest = oracle_closest(mesh, points + 3 * (size_t)i);
        CHECK(hits[i].triangle == hit.triangle && hits[i].t == hit.t && hits[i].u == hit.u && hits[i].v == hit.v);
        CHECK(near[i].triangle == closest.triangle && near[i].distance2 == closest.distance2);
        CHECK(near[i].triangle == near_again[i].triangle && near[i].distance2 == near_again[i].distance2);
        // Which rays of an open mesh pass close to edges that are looked at depends on the tree.
        if (is_closed && near[i].distance2 > 1e-6F) CHECK(inside[i] == inside_again[i]);
    }
    sap_mesh_tree_free(fresh);
}

// A tree over a mesh at rest that is refitted at once.
static sap_mesh_tree* refitted(sap_device* device, sap_mesh mesh, const float* vertices, int way, double* loss) {
    const sap_mesh_tree_options options = way_of(way);
    sap_mesh_tree* tree = NULL;
    if (!CHECK_STATUS(sap_mesh_tree_build(device, mesh, &options, &tree), SAP_OK)) return NULL;
    mesh.vertices = vertices;
    CHECK_STATUS(sap_mesh_tree_refit(tree, mesh, loss), SAP_OK);
    return tree;
}

// Whether another device refits alike: CPUs to the same tree, CUDA devices to a new one.
static bool refits_alike(sap_device* device, const sap_mesh_tree* tree, double loss, const sap_mesh_tree* other,
                         double other_loss, const sap_mesh* moved, int way) {
    sap_device_info info;
    CHECK_STATUS(sap_device_describe(device, &info), SAP_OK);
    if (info.processor == SAP_CPU) return other && same_trees(tree, other) && other_loss == loss;
    const sap_mesh_tree_options options = way_of(way);
    sap_mesh_tree* fresh = NULL;
    if (!CHECK_STATUS(sap_mesh_tree_build(device, *moved, &options, &fresh), SAP_OK)) return false;
    const bool same = other && same_trees(fresh, other) && other_loss == 1;
    sap_mesh_tree_free(fresh);
    return same;
}

// One tree goes through all motions; what came before does not matter.
static void every_motion(sap_device* device, const devices* others, mesh_family kind, int64_t count, int way) {
    sap_mesh mesh = mesh_of_family(kind, count, 7);
    const sap_mesh_tree_options options = way_of(way);
    sap_mesh_tree* tree = NULL;
    if (!CHECK_STATUS(sap_mesh_tree_build(device, mesh, &options, &tree), SAP_OK)) return;
    for (int i = 0; i < MOTIONS; i++) {
        NOTE("%s, %d triangles, way %d, motion %d", mesh_family_name(kind), (int)count, way, i);
        sap_mesh moved = mesh;
        float* vertices = moved_vertices(&mesh, (motion)i, 3);
        double loss = -1;
        moved.vertices = vertices;
        if (CHECK_STATUS(sap_mesh_tree_refit(tree, moved, i % 3 ? &loss : NULL), SAP_OK)) {
            CHECK_STATUS(sap_mesh_tree_verify(tree), SAP_OK);
            expect_answers(device, tree, &moved, way, kind == MESH_BALL && i <= MOTION_TWIST);
            if (i % 3) CHECK(loss >= 0 && loss < 1e6);
            for (int k = 0; k < others->count; k++) {
                double other_loss = -1;
                sap_mesh_tree* other = refitted(others->open[k], mesh, vertices, way, &other_loss);
                CHECK(refits_alike(others->open[k], tree, i % 3 ? loss : other_loss, other, other_loss, &moved, way));
                sap_mesh_tree_free(other);
            }
        }
        free(vertices);
    }
    sap_mesh_tree_free(tree);
    mesh_free(&mesh);
}

TEST(every_family) {
    static const int64_t counts[] = {0, 1, 12, 300};
    devices all = devices_open(0);
    sap_device* device = NULL;
    CHECK_STATUS(sap_device_open(&(sap_device_options){.processor = SAP_CPU, .threads = 1}, &device), SAP_OK);
    for (int kind = 0; kind < MESH_FAMILIES; kind += CASE_STEP)
        for (int i = 0; i < 4; i++) every_motion(device, &all, (mesh_family)kind, counts[i], (kind + i) % 2);
    sap_device_close(device);
    devices_close(&all);
}

// Several stretches of nodes and of triangles.
TEST(large_meshes) {
    devices all = devices_open(3);
    sap_device* device = NULL;
    CHECK_STATUS(sap_device_open(&(sap_device_options){.processor = SAP_CPU, .threads = 1}, &device), SAP_OK);
    static const mesh_family kinds[] = {MESH_BALL, MESH_ROOMS, MESH_SOUP};
    for (int i = 0; i < 3 * 2; i += CASE_STEP) {
        sap_mesh mesh = mesh_of_family(kinds[i / 2], 9000, 5);
        for (int m = 0; m < MOTIONS; m += m == MOTION_TWIST ? 5 : 1) {
            NOTE("%s, way %d, motion %d", mesh_family_name(kinds[i / 2]), i % 2, m);
            float* vertices = moved_vertices(&mesh, (motion)m, 3);
            double loss = -1, other_loss = -1;
            sap_mesh_tree* tree = refitted(device, mesh, vertices, i % 2, &loss);
            CHECK_STATUS(sap_mesh_tree_verify(tree), SAP_OK);
            if (m == MOTION_NONE) CHECK(loss > 0.5 && loss < 1.05);
            for (int k = 0; k < all.count; k++) {
                sap_mesh_tree* other = refitted(all.open[k], mesh, vertices, i % 2, &other_loss);
                sap_mesh moved = mesh;
                moved.vertices = vertices;
                CHECK(refits_alike(all.open[k], tree, loss, other, other_loss, &moved, i % 2));
                sap_mesh_tree_free(other);
            }
            sap_mesh_tree_free(tree);
            free(vertices);
        }
        mesh_free(&mesh);
    }
    sap_device_close(device);
    devices_close(&all);
}

// Walls at rest, in which planes lie: their triangles go to the sides to which the builder sent them, so rays cost as
// much as before.
TEST(walls_at_rest) {
    enum { WALLS = 800 };
    sap_device* device = NULL;
    float vertices[9 * WALLS];
    int32_t triangles[3 * WALLS];
    uint64_t state = 5;
    CHECK_STATUS(sap_device_open(&(sap_device_options){.processor = SAP_CPU, .threads = 2}, &device), SAP_OK);
    for (int i = 0; i < WALLS; i++) {
        const int axis = (int)random_below(&state, 3), next = (axis + 1) % 3, last = (axis + 2) % 3;
        float place[3];
        for (int k = 0; k < 3; k++) place[k] = (float)random_below(&state, 8);
        for (int c = 0; c < 3; c++) {
            float* v = vertices + 9 * i + 3 * c;
            v[axis] = place[axis];
            v[next] = place[next] + (float)(c == 1);
            v[last] = place[last] + (float)(c == 2);
            triangles[3 * i + c] = 3 * i + c;
        }
    }
    const sap_mesh mesh = {vertices, 3 * WALLS, triangles, WALLS};
    for (int way = 0; way < 2; way++) {
        double loss = 0;
        sap_mesh_tree* tree = refitted(device, mesh, vertices, way, &loss);
        CHECK(fabs(loss - 1) < 1e-9);
        sap_mesh_tree_free(tree);
    }
    sap_device_close(device);
}

// The loss is what describing says; a new build forgets it.
TEST(loss) {
    sap_device* device = NULL;
    CHECK_STATUS(sap_device_open(&(sap_device_options){.processor = SAP_CPU, .threads = 2}, &device), SAP_OK);
    sap_mesh mesh = mesh_of_family(MESH_BALL, 3000, 5), moved = mesh;
    sap_mesh_tree* tree = NULL;
    sap_mesh_tree_info built, now;
    double loss = 0;
    CHECK_STATUS(sap_mesh_tree_build(device, mesh, NULL, &tree), SAP_OK);
    CHECK_STATUS(sap_mesh_tree_describe(tree, &built), SAP_OK);
    float* vertices = moved_vertices(&mesh, MOTION_TWIST, 1);
    moved.vertices = vertices;
    CHECK_STATUS(sap_mesh_tree_refit(tree, moved, &loss), SAP_OK);
    CHECK_STATUS(sap_mesh_tree_describe(tree, &now), SAP_OK);
    CHECK(loss > 1.02 && fabs(now.cost / built.cost - loss) < 1e-9 * loss);
    CHECK_STATUS(sap_mesh_tree_rebuild(tree, moved), SAP_OK);
    CHECK_STATUS(sap_mesh_tree_refit(tree, moved, &loss), SAP_OK);
    CHECK(loss > 0.9 && loss < 1.05);
    // A copy is as if it had been built so.
    sap_mesh_tree* copy = NULL;
    CHECK_STATUS(sap_mesh_tree_copy(tree, device, &copy), SAP_OK);
    CHECK_STATUS(sap_mesh_tree_refit(copy, mesh, &loss), SAP_OK);
    CHECK_STATUS(sap_mesh_tree_verify(copy), SAP_OK);
    sap_mesh_tree_free(copy);
    sap_mesh_tree_free(tree);
    free(vertices);
    mesh_free(&mesh);
    sap_device_close(device);
}

// Triangles afar, whose planes stay with the corners nearest to the others while their other corners go among these, so
// that each reaches very many leaves: the tree is built anew.
TEST(too_far) {
    sap_device* device = NULL;
    CHECK_STATUS(sap_device_open(&(sap_device_options){.processor = SAP_CPU, .threads = 2}, &device), SAP_OK);
    sap_mesh mesh = mesh_of_family(MESH_SOUP, 30000, 5), moved = mesh;
    float *afar = moved_vertices(&mesh, MOTION_NONE, 1), *vertices = moved_vertices(&mesh, MOTION_SHUFFLE, 1);
    double loss = 0;
    for (int64_t i = 0; i < mesh.triangle_count; i++) {
        const int32_t* corners = mesh.triangles + 3 * i;
        int nearest = 0;
        for (int k = 1; k < 3; k++)
            if (mesh.vertices[3 * corners[k]] < mesh.vertices[3 * corners[nearest]]) nearest = k;
        for (int k = 0; k < 3; k++) {
            float* now = vertices + 3 * corners[k];
            if (i % 2) afar[3 * corners[k]] += 10;
            if (i % 2 == 0 || k == nearest) memcpy(now, afar + 3 * corners[k], 3 * sizeof *now);
        }
    }
    sap_mesh rest = mesh;
    rest.vertices = afar;
    moved.vertices = vertices;
    sap_mesh_tree* tree = refitted(device, rest, vertices, 0, &loss);
    sap_mesh_tree* fresh = NULL;
    CHECK(loss == 1);
    CHECK_STATUS(sap_mesh_tree_build(device, moved, NULL, &fresh), SAP_OK);
    CHECK(same_trees(tree, fresh));
    CHECK_STATUS(sap_mesh_tree_refit(tree, moved, &loss), SAP_OK);
    CHECK_STATUS(sap_mesh_tree_verify(tree), SAP_OK);
    sap_mesh_tree_free(fresh);
    sap_mesh_tree_free(tree);
    free(afar);
    free(vertices);
    mesh_free(&mesh);
    sap_device_close(device);
}

TEST(refused) {
    stage s;
    open_stage(&s);
    sap_mesh mesh = mesh_of_family(MESH_BALL, 300, 5), moved = mesh;
    sap_mesh_tree *tree = NULL, *before = NULL;
    float* vertices = moved_vertices(&mesh, MOTION_WAVE, 1);
    double loss = 5;
    moved.vertices = vertices;
    CHECK_STATUS(sap_mesh_tree_build(s.device, mesh, NULL, &tree), SAP_OK);
    CHECK_STATUS(sap_mesh_tree_copy(tree, s.device, &before), SAP_OK);
    CHECK_STATUS(sap_mesh_tree_refit(NULL, moved, &loss), SAP_ERROR_ARGUMENT);
    moved.triangle_count--;
    REFUSED(sap_mesh_tree_refit(tree, moved, &loss), SAP_ERROR_ARGUMENT, "rebuild it");
    moved.triangle_count = -1;
    REFUSED(sap_mesh_tree_refit(tree, moved, &loss), SAP_ERROR_ARGUMENT, "negative");
    moved.triangle_count = mesh.triangle_count;
    moved.vertices = NULL;
    REFUSED(sap_mesh_tree_refit(tree, moved, &loss), SAP_ERROR_ARGUMENT, "vertices");
    moved.vertices = vertices;
    moved.vertex_count = 3;
    REFUSED(sap_mesh_tree_refit(tree, moved, &loss), SAP_ERROR_RANGE, "names vertex");
    moved.vertex_count = mesh.vertex_count;
    static const float bad[] = {NAN, INFINITY, -INFINITY, 3e38F};
    for (int i = 0; i < 4; i++) {
        const float was = vertices[3 * 40 + i % 3];
        vertices[3 * 40 + i % 3] = bad[i];
        REFUSED(sap_mesh_tree_refit(tree, moved, &loss), SAP_ERROR_NOT_FINITE, "vertex 40");
        vertices[3 * 40 + i % 3] = was;
    }
    CHECK(same_trees(tree, before) && loss == 5);
    // Saved trees lie as they were saved.
    int64_t size = 0;
    sap_mesh_tree* mapped = NULL;
    CHECK_STATUS(sap_mesh_tree_saved_size(tree, &size), SAP_OK);
    void* bytes = aligned_alloc(64, (size_t)(size + 63) / 64 * 64);
    CHECK_STATUS(sap_mesh_tree_save_memory(tree, bytes, size), SAP_OK);
    CHECK_STATUS(sap_mesh_tree_load_memory(s.device, bytes, size, NULL, &mapped), SAP_OK);
    REFUSED(sap_mesh_tree_refit(mapped, moved, &loss), SAP_ERROR_UNSUPPORTED, "copy it first");
    sap_mesh_tree_free(mapped);
    free(bytes);
    CHECK_STATUS(sap_mesh_tree_refit(tree, moved, &loss), SAP_OK);
    sap_mesh_tree_free(tree);
    sap_mesh_tree_free(before);
    free(vertices);
    mesh_free(&mesh);
    close_stage(&s);
}

// Whatever request for memory is refused: the tree stays as it was.
TEST(memory) {
    sap_mesh mesh = mesh_of_family(MESH_HILLS, 600, 5), moved = mesh;
    float* vertices = moved_vertices(&mesh, MOTION_SHUFFLE, 1);
    for (int64_t i = 0; i < mesh.vertex_count * 3; i++) // longer lists, but no new build
        vertices[i] = i < mesh.vertex_count ? vertices[i] : mesh.vertices[i];
    moved.vertices = vertices;
    bool is_done = false;
    for (int64_t at = 1; !is_done && at < 60; at++) {
        watch w = {0};
        sap_device_options options = watched(&w);
        sap_device* device = NULL;
        sap_mesh_tree *tree = NULL, *before = NULL;
        options.threads = 1;
        CHECK_STATUS(sap_device_open(&options, &device), SAP_OK);
        CHECK_STATUS(sap_mesh_tree_build(device, mesh, NULL, &tree), SAP_OK);
        CHECK_STATUS(sap_mesh_tree_copy(tree, device, &before), SAP_OK);
        sap_device_trim(device);
        w.fail_from = w.requests + at;
        double loss = 5;
        const sap_status status = sap_mesh_tree_refit(tree, moved, &loss);
        is_done = status == SAP_OK;
        if (!is_done) {
            CHECK_STATUS(status, SAP_ERROR_MEMORY);
            CHECK(same_trees(tree, before) && loss == 5);
            w.fail_from = 0;
            CHECK_STATUS(sap_mesh_tree_refit(tree, moved, NULL), SAP_OK);
        } else {
            CHECK(at > 4);
            w.fail_from = 0;
            CHECK_STATUS(sap_mesh_tree_refit(tree, moved, NULL), SAP_OK); // by now its lists are long enough
            w.fail_from = w.requests + 1;
            CHECK_STATUS(sap_mesh_tree_refit(tree, moved, NULL), SAP_OK);
        }
        w.fail_from = 0;
        CHECK_STATUS(sap_mesh_tree_verify(tree), SAP_OK);
        sap_mesh_tree_free(tree);
        sap_mesh_tree_free(before);
        sap_device_close(device);
        CHECK(w.blocks == 0 && w.bytes == 0 && w.wrong == 0);
    }
    CHECK(is_done);
    free(vertices);
    mesh_free(&mesh);
}

TEST(cancelled) {
    sap_mesh mesh = mesh_of_family(MESH_HILLS, 9000, 5);
    for (int most = 1; most < 20; most += 3) {
        watch w = {0};
        progress_host host = {0};
        sap_device_options options = watched(&w);
        sap_device* device = NULL;
        sap_mesh_tree *tree = NULL, *before = NULL;
        options.progress = progress_host_report;
        options.progress_user = &host;
        options.threads = 1;
        CHECK_STATUS(sap_device_open(&options, &device), SAP_OK);
        CHECK_STATUS(sap_mesh_tree_build(device, mesh, NULL, &tree), SAP_OK);
        CHECK_STATUS(sap_mesh_tree_copy(tree, device, &before), SAP_OK);
        host = (progress_host){.stop_at = most};
        const sap_status status = sap_mesh_tree_refit(tree, mesh, NULL);
        CHECK_STATUS(status, host.reports < most ? SAP_OK : SAP_ERROR_CANCELLED);
        if (status != SAP_OK) CHECK(same_trees(tree, before));
        sap_mesh_tree_free(tree);
        sap_mesh_tree_free(before);
        sap_device_close(device);
        CHECK(w.blocks == 0 && w.wrong == 0);
    }
    mesh_free(&mesh);
}

TEST_MAIN()
