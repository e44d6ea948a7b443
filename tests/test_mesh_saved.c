// Saved trees over triangles that are not what they were: every flipped bit, every missing end, bytes too many, and
// trees that were damaged before they were saved, so that all checksums hold. None of them is loaded.
#include "allocator.h"
#include "folder.h"
#include "mesh/layout.h"
#include "mesh_families.h"
#include "test.h"
#include <fcntl.h>

typedef struct scene {
    watch w;
    sap_device* device;
    sap_mesh mesh;
    sap_mesh_tree* tree;
    folder files;
    int file; // the saved tree, open for writing
    size_t size;
    unsigned char* bytes;
} scene;

static void save_again(scene* s) {
    if (s->file >= 0) close(s->file);
    CHECK_STATUS(sap_mesh_tree_save(s->tree, s->files.file), SAP_OK);
    s->file = open(s->files.file, O_RDWR);
    CHECK(s->file >= 0);
}

static void open_scene(scene* s, int64_t triangles) {
    memset(s, 0, sizeof *s);
    s->file = -1;
    sap_device_options device = watched(&s->w);
    device.threads = 1;
    s->mesh = mesh_of_family(MESH_ROOMS, triangles, 11);
    CHECK(folder_make(&s->files));
    CHECK_STATUS(sap_device_open(&device, &s->device), SAP_OK);
    CHECK_STATUS(sap_mesh_tree_build(s->device, s->mesh, NULL, &s->tree), SAP_OK);
    save_again(s);
    s->size = (size_t)lseek(s->file, 0, SEEK_END);
    s->bytes = malloc(s->size);
    CHECK(pread(s->file, s->bytes, s->size, 0) == (ssize_t)s->size);
}

static void close_scene(scene* s) {
    close(s->file);
    free(s->bytes);
    sap_mesh_tree_free(s->tree);
    sap_device_close(s->device);
    folder_remove(&s->files);
    mesh_free(&s->mesh);
    CHECK(s->w.blocks == 0 && s->w.wrong == 0);
}

static void expect_refused(scene* s) {
    sap_mesh_tree* tree = NULL;
    s->w.log_calls = 0;
    CHECK_STATUS(sap_mesh_tree_load(s->device, s->files.file, &tree), SAP_ERROR_FORMAT);
    CHECK(tree == NULL && s->w.log_calls == 1 && s->w.logged == SAP_ERROR_FORMAT);
    CHECK(strpbrk(s->w.sentence, "0123456789")); // the byte or the node
    sap_mesh_tree_free(tree);
}

static void expect_loaded(scene* s) {
    sap_mesh_tree* tree = NULL;
    sap_mesh_tree_info info, saved;
    if (!CHECK_STATUS(sap_mesh_tree_load(s->device, s->files.file, &tree), SAP_OK)) return;
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

TEST(flipped_bits) {
    scene s;
    open_scene(&s, 24);
    for (size_t bit = 0; bit < s.size * 8; bit++) {
        unsigned char flipped = (unsigned char)(s.bytes[bit / 8] ^ 1 << bit % 8);
        NOTE("bit %zu", bit);
        CHECK(pwrite(s.file, &flipped, 1, (off_t)(bit / 8)) == 1);
        expect_refused(&s);
        CHECK(pwrite(s.file, &s.bytes[bit / 8], 1, (off_t)(bit / 8)) == 1);
    }
    expect_loaded(&s);
    close_scene(&s);
}

TEST(missing_ends) {
    scene s;
    open_scene(&s, 24);
    for (size_t size = s.size + 1; size-- > 0;) {
        if (size == s.size) continue;
        NOTE("%zu bytes", size);
        CHECK(!ftruncate(s.file, (off_t)size));
        expect_refused(&s);
    }
    CHECK(pwrite(s.file, s.bytes, s.size, 0) == (ssize_t)s.size);
    expect_loaded(&s);
    CHECK(pwrite(s.file, "", 1, (off_t)s.size) == 1);
    expect_refused(&s);
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
            sap_status status = sap_mesh_tree_load(s.device, s.files.file, &tree);
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
