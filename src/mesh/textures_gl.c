// Trees over triangles on OpenGL devices. The CPU builds them, and the arrays stay in host memory, so that they survive
// a lost context; copies are uploaded as textures. In these the triangles of a leaf are contiguous: a walk reads three
// texels for a triangle and none for its reference.
#include "mesh/textures_gl.h"
#include "mesh/build.h"
#include <string.h>

static const GLenum formats[SAP_MESH_TEXTURES] = {GL_RG32UI, GL_RGBA32UI};
static const char* const names[SAP_MESH_TEXTURES] = {"the nodes of a tree over triangles",
                                                     "the triangles of a tree, leaf by leaf"};

enum { TEXELS = 3 }; // of a triangle

// The nodes as shaders read them: a leaf's bits are the number of its first reference among all.
static void pack_nodes(const sap_mesh_tree* tree, sap_mesh_node* to) {
    const sap_mesh_node* nodes = sap_mesh_nodes(tree);
    uint32_t before = 0;
    for (int64_t i = 0; i < tree->shape.nodes; i++) {
        to[i] = nodes[i];
        if ((nodes[i].link & 3) != SAP_MESH_LEAF) continue;
        to[i].bits = before;
        before += nodes[i].link >> 2;
    }
    SAP_ASSERT((int64_t)before == tree->shape.references);
}

// The triangles of a leaf: each corner's x, y, z and the triangle's number.
static uint32_t* pack_leaf(const sap_mesh_tree* tree, sap_mesh_node leaf, uint32_t* to) {
    const int32_t* references = sap_mesh_references(tree);
    const uint32_t count = leaf.link >> 2;
    for (uint32_t i = 0; i < count; i++) {
        const size_t place = count == 1 ? leaf.bits : (size_t)references[leaf.bits + i];
        SAP_ASSERT((int64_t)place < tree->shape.triangles);
        const float* corners = sap_mesh_corners(tree) + place * SAP_TRIANGLE_FLOATS;
        for (int k = 0; k < TEXELS; k++, to += 4) {
            memcpy(to, corners + (size_t)3 * (size_t)k, 3 * sizeof *to);
            to[3] = (uint32_t)sap_mesh_ids(tree)[place];
        }
    }
    return to;
}

static void pack_triangles(const sap_mesh_tree* tree, uint32_t* to) {
    const uint32_t* end = to + (size_t)4 * TEXELS * (size_t)tree->shape.references;
    const sap_mesh_node* nodes = sap_mesh_nodes(tree);
    for (int64_t i = 0; i < tree->shape.nodes; i++)
        if ((nodes[i].link & 3) == SAP_MESH_LEAF) to = pack_leaf(tree, nodes[i], to);
    SAP_ASSERT(to == end);
}

static void make_texture(sap_gl_call* call, sap_gl_mesh* textures, int which, int64_t texels, const void* data) {
    int32_t width = 1, height = 1;
    if (!sap_gl_array_size(call, texels, names[which], &width, &height)) return;
    textures->shifts[which] = sap_gl_shift_of(width);
    textures->texture[which] = sap_gl_array(call, formats[which], texels, data, names[which]);
}

static void free_textures(sap_gl_call* call, sap_gl_mesh* textures) {
    for (int i = 0; i < SAP_MESH_TEXTURES; i++) sap_gl_texture_free(call, textures->texture[i]);
    memset(textures->texture, 0, sizeof textures->texture);
}

static void make_textures(sap_gl_call* call, const sap_mesh_tree* tree, sap_gl_mesh* textures) {
    const sap_mesh_tree_shape* s = &tree->shape;
    const int64_t texels = TEXELS * s->references;
    int32_t width, height; // checked here, so that too large a tree is refused before memory is taken
    if (!sap_gl_array_size(call, texels, names[SAP_MESH_TEXTURE_TRIANGLES], &width, &height)) return;
    size_t for_nodes = (size_t)s->nodes * sizeof(sap_mesh_node), bytes = 0;
    sap_scratch scratch = {NULL, 0};
    if (!sap_size_multiply((uint64_t)texels, 16, &bytes) ||
        !sap_scratch_take(call->device, bytes > for_nodes ? bytes : for_nodes, &scratch)) {
        sap_gl_fail(call, SAP_ERROR_MEMORY, "no memory for the textures of a tree over triangles");
        return;
    }
    pack_nodes(tree, (sap_mesh_node*)(void*)scratch.memory);
    make_texture(call, textures, SAP_MESH_TEXTURE_NODES, s->nodes, scratch.memory);
    pack_triangles(tree, (uint32_t*)(void*)scratch.memory);
    make_texture(call, textures, SAP_MESH_TEXTURE_TRIANGLES, texels, scratch.memory);
    sap_scratch_give(call->device, &scratch);
    if (call->status != SAP_OK) free_textures(call, textures);
}

const sap_gl_mesh* sap_gl_mesh_of(sap_gl_call* call, const sap_mesh_tree* tree) {
    sap_gl_mesh* textures = tree->beside;
    if (call->status == SAP_OK && !textures->texture[0]) make_textures(call, tree, textures);
    return call->status == SAP_OK ? textures : NULL;
}

int sap_gl_mesh_bind(sap_gl_call* call, const sap_mesh_tree* tree, const sap_gl_mesh* textures, sap_gl_pass* pass) {
    const sap_mesh_tree_shape* s = &tree->shape;
    pass->input[0] = (sap_gl_input){.sampler = "mesh_nodes", .texture = textures->texture[SAP_MESH_TEXTURE_NODES]};
    pass->input[1] =
        (sap_gl_input){.sampler = "mesh_triangles", .texture = textures->texture[SAP_MESH_TEXTURE_TRIANGLES]};
    sap_gl_set_ints(call, pass->program, "mesh_shifts", 2, textures->shifts);
    sap_gl_set_floats(call, pass->program, "mesh_lower", 3, s->lower);
    sap_gl_set_floats(call, pass->program, "mesh_upper", 3, s->upper);
    return SAP_MESH_TEXTURES;
}

// Replaces the tree's textures after its arrays have changed.
static sap_status refresh(sap_mesh_tree* tree) {
    sap_gl_call call;
    if (!tree->beside) tree->beside = sap_memory_allocate_zero(tree->device, sizeof(sap_gl_mesh));
    sap_gl_mesh* textures = tree->beside;
    if (!textures) return sap_fail(tree->device, SAP_ERROR_MEMORY, "no memory for a tree");
    textures->builds++;
    if (sap_gl_begin(&call, tree->device) == SAP_OK) {
        free_textures(&call, textures);
        make_textures(&call, tree, textures);
    }
    return sap_gl_end(&call, SAP_OK);
}

sap_status sap_mesh_copy_in_gl(sap_mesh_tree* tree, const unsigned char* arrays) {
    const sap_mesh_tree_shape shape = tree->shape;
    sap_status status = sap_mesh_tree_reserve(tree, &shape);
    if (status != SAP_OK) return status;
    memcpy(tree->arrays, arrays, shape.bytes);
    return refresh(tree);
}

sap_status sap_mesh_build_gl(sap_mesh_tree* tree, const sap_mesh* mesh) {
    sap_device* device = tree->device;
    tree->device = sap_gl_of(device)->host;
    sap_status status = sap_mesh_build_cpu(tree, mesh);
    tree->device = device;
    return status == SAP_OK ? refresh(tree) : status;
}

void sap_mesh_free_arrays_gl(sap_mesh_tree* tree) {
    if (tree->beside) {
        sap_gl_call call;
        if (!sap_gl_of(tree->device)->lost) {
            if (sap_gl_begin(&call, tree->device) == SAP_OK) free_textures(&call, tree->beside);
            (void)sap_gl_end(&call, SAP_OK);
        }
        sap_memory_release(tree->device, tree->beside, sizeof(sap_gl_mesh));
    }
    sap_tree_memory_release(tree->device, &tree->memory, &tree->arrays);
}
