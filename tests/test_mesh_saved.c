// Saved trees over triangles that are not what they were: every flipped bit, every missing end, bytes too many, and
// trees that were damaged before they were saved, so that all checksums hold. None of them is loaded.
#include "mesh/layout.h"
#include "mesh_families.h"
#include "saved_file.h"

typedef struct scene {
    watch w;
    sap_device* device;
    sap_mesh mesh;
    sap_mesh_tree* tree;
    saved_file file;
    sap_load_options load;
} scene;

static void save_again(scene* s) {
    CHECK_STATUS(sap_mesh_tree_save(s->tree, s->file.files.file), SAP_OK);
    saved_file_open(&s->file);
}

static void open_scene(scene* s, int64_t triangles) {
    memset(s, 0, sizeof *s);
    s->file.open = -1;
    sap_device_options device = watched(&s->w);
    device.threads = 1;
    s->mesh = mesh_of_family(MESH_ROOMS, triangles, 11);
    CHECK(folder_make(&s->file.files));
    CHECK_STATUS(sap_device_open(&device, &s->device), SAP_OK);
    CHECK_STATUS(sap_mesh_tree_build(s->device, s->mesh, NULL, &s->tree), SAP_OK);
    save_again(s);
    saved_file_keep(&s->file);
}

static void close_scene(scene* s) {
    sap_mesh_tree_free(s->tree);
    sap_device_close(s->device);
    saved_file_remove(&s->file);
    mesh_free(&s->mesh);
    CHECK(s->w.blocks == 0 && s->w.wrong == 0);
}

static void expect_refused(void* in) {
    scene* s = in;
    sap_mesh_tree* tree = NULL;
    s->w.log_calls = 0;
    expect_one_sentence(&s->w, sap_mesh_tree_load(s->device, s->file.files.file, &s->load, &tree), tree);
    sap_mesh_tree_free(tree);
}

static void expect_loaded(void* in) {
    scene* s = in;
    sap_mesh_tree* tree = NULL;
    sap_mesh_tree_info info, saved;
    if (!CHECK_STATUS(sap_mesh_tree_load(s->device, s->file.files.file, &s->load, &tree), SAP_OK)) return;
    CHECK(!memcmp(tree->arrays, s->tree->arrays, s->tree->shape.bytes));
    CHECK_STATUS(sap_mesh_tree_describe(tree, &info), SAP_OK);
    CHECK_STATUS(sap_mesh_tree_describe(s->tree, &saved), SAP_OK);
    CHECK(info.mapped && !saved.mapped && info.references == saved.references && info.cost == saved.cost);
    CHECK(info.options.small_node == saved.options.small_node && info.lower[1] == saved.lower[1]);
    CHECK_STATUS(sap_mesh_tree_rebuild(tree, s->mesh), SAP_ERROR_UNSUPPORTED);
    sap_mesh_tree_free(tree);
}

TEST(what_is_saved_is_loaded) {
    static const int64_t counts[] = {0, 12, 24, 3000};
    for (int i = 0; i < 4; i++) {
        scene s;
        NOTE("%d triangles", (int)counts[i]);
        open_scene(&s, counts[i]);
        expect_loaded(&s);
        close_scene(&s);
    }
}

TEST(every_bit_and_end) {
    scene s;
    open_scene(&s, 24);
    const saved_checks expect = {&s, expect_refused, expect_loaded};
    flip_every_bit(&s.file, expect);
    cut_and_extend(&s.file, expect);
    close_scene(&s);
}

// Trusting a file is not looking into it; its sums are checked still.
TEST(every_bit_and_end_of_trusted_trees) {
    scene s;
    open_scene(&s, 24);
    s.load.trust = true;
    const saved_checks expect = {&s, expect_refused, expect_loaded};
    flip_every_bit(&s.file, expect);
    cut_and_extend(&s.file, expect);
    close_scene(&s);
}

// Any bit of the nodes, references and numbers, with checksums that hold.
TEST(damaged_before_saving) {
    scene s;
    open_scene(&s, 24);
    const sap_mesh_tree_shape* shape = &s.tree->shape;
    const size_t ends[][2] = {{shape->node_at, shape->node_at + (size_t)shape->nodes * sizeof(sap_mesh_node)},
                              {shape->reference_at, shape->reference_at + (size_t)shape->listed * sizeof(int32_t)},
                              {shape->id_at, shape->id_at + (size_t)shape->triangles * sizeof(int32_t)}};
    int accepted = 0;
    for (int part = 0; part < 3; part++)
        for (size_t bit = ends[part][0] * 8; bit < ends[part][1] * 8; bit += 3) {
            s.tree->arrays[bit / 8] ^= (unsigned char)(1 << bit % 8);
            save_again(&s);
            sap_mesh_tree* tree = NULL;
            sap_status status = sap_mesh_tree_load(s.device, s.file.files.file, NULL, &tree);
            // A plane may lie elsewhere as long as no triangle reaches across.
            if (status == SAP_OK)
                accepted++;
            else
                CHECK_STATUS(status, SAP_ERROR_FORMAT);
            sap_mesh_tree_free(tree);
            s.tree->arrays[bit / 8] ^= (unsigned char)(1 << bit % 8);
        }
    CHECK(accepted < 400);
    save_again(&s);
    expect_loaded(&s);
    close_scene(&s);
}

TEST_MAIN()
