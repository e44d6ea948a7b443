// Trees on OpenGL devices: the arrays stay in host memory, where a lost context cannot destroy them, and are uploaded
// as textures.
#include "tree/forms/textures_gl.h"
#include "base/assert.h"
#include "tree/leaves.h"
#include <math.h>
#include <string.h>

static const char* const names[SAP_TEXTURES] = {"the nodes of a tree", "the ids of a tree", "the boxes of a tree",
                                                "the points of a tree"};

static GLenum format_of(sap_tree_kind kind, int which) {
    static const GLenum formats[SAP_TEXTURES] = {GL_RG32UI, GL_R32I, GL_RGBA32F, GL_RGBA32UI};
    return which == SAP_TEXTURE_NODES && kind == SAP_TREE_EXPLICIT ? GL_RGBA32UI : formats[which];
}

static size_t texel_bytes(sap_tree_kind kind, int which) {
    return (size_t)sap_gl_format_of(format_of(kind, which))->bytes;
}

// Texels of one coordinate of all leaves.
static int64_t quads_of(const sap_tree* tree) {
    const sap_tree_shape* s = &tree->shape;
    if (s->kind == SAP_TREE_BALANCED) return s->leaves * ((s->stride + 3) / 4);
    int64_t quads = 0;
    for (int64_t i = 0; i < s->nodes; i++) quads += (sap_leaf_block_at(tree, i).stride + 3) / 4;
    return quads;
}

// Number 0 is no node: those of an explicit tree are counted from 1.
static int64_t texels_of(const sap_tree* tree, int which) {
    const sap_tree_shape* s = &tree->shape;
    const bool balanced = s->kind == SAP_TREE_BALANCED;
    const int64_t nodes = balanced ? 2 * s->leaves : s->nodes + 1;
    switch (which) {
    case SAP_TEXTURE_NODES: return balanced ? s->nodes : nodes;
    case SAP_TEXTURE_SMALLEST: return nodes;
    case SAP_TEXTURE_BOXES: return nodes * (s->dims - 1);
    default: return quads_of(tree) * (s->dims + 1);
    }
}

// Makes a texture for so many texels, or keeps the old one if it has the same size.
static void make_room(sap_gl_call* call, sap_gl_tree* textures, int which, int64_t texels) {
    int32_t width = 1, height = 1;
    if (textures->texture[which] && textures->texels[which] == texels) return;
    sap_gl_texture_free(call, textures->texture[which]);
    textures->texture[which] = 0;
    if (!sap_gl_array_size(call, texels, names[which], &width, &height)) return;
    textures->texture[which] =
        sap_gl_texture(call, format_of(textures->kind, which), width, height, NULL, names[which]);
    textures->texels[which] = texels;
    textures->shifts[which] = sap_gl_shift_of(width);
}

// Writes all texels, from memory or from the buffer that is bound (data: where in it).
static void fill(sap_gl_call* call, const sap_gl_tree* textures, int which, const void* data) {
    if (call->status != SAP_OK) return;
    int32_t width = 1 << textures->shifts[which];
    int32_t rows = (int32_t)(textures->texels[which] / width), rest = (int32_t)(textures->texels[which] % width);
    const GLenum format = format_of(textures->kind, which);
    size_t row_bytes = (size_t)width * texel_bytes(textures->kind, which);
    const void* last = (const void*)((uintptr_t)data + (size_t)rows * row_bytes);
    GLuint texture = textures->texture[which];
    if (rows) sap_gl_write(call, texture, format, 0, (int32_t[4]){0, 0, width, rows}, data);
    if (rest) sap_gl_write(call, texture, format, 0, (int32_t[4]){0, rows, rest, 1}, last);
}

// Each inner node's split and axis side by side.
static void pack_nodes(const sap_tree* tree, uint32_t* nodes) {
    const float* splits = (const float*)(const void*)(tree->arrays + tree->shape.split_at);
    const unsigned char* axes = tree->arrays + tree->shape.axis_at;
    for (int64_t i = 0; i < tree->shape.nodes; i++) {
        memcpy(&nodes[2 * i], &splits[i], sizeof *nodes);
        nodes[2 * i + 1] = axes[i];
    }
}

// The smallest id below every node, from the leaves up. The ids of a leaf ascend.
static void pack_smallest(const sap_tree* tree, int32_t* smallest) {
    const sap_tree_shape* s = &tree->shape;
    smallest[0] = INT32_MAX;
    for (int64_t leaf = 0; leaf < s->leaves; leaf++) {
        const unsigned char* ids = sap_block(tree, leaf * s->stride) + (size_t)s->stride * (size_t)s->dims * 4;
        bool empty = sap_leaf_rank(s, leaf) == sap_leaf_rank(s, leaf + 1);
        smallest[s->leaves + leaf] = INT32_MAX;
        if (!empty) memcpy(&smallest[s->leaves + leaf], ids, sizeof *smallest);
    }
    for (int64_t i = s->leaves - 1; i > 0; i--)
        smallest[i] = smallest[2 * i] < smallest[2 * i + 1] ? smallest[2 * i] : smallest[2 * i + 1];
}

static float lesser(float a, float b) { return a < b ? a : b; }
static float greater(float a, float b) { return a > b ? a : b; }

// The tight box of every node, from the leaves up: 4 floats in 2-D, 4 and 4 in 3-D.
static void pack_boxes(const sap_tree* tree, float* boxes) {
    const sap_tree_shape* s = &tree->shape;
    const int32_t dims = s->dims, upper = dims == 2 ? 2 : 4, size = 4 * (dims - 1);
    const float* groups = (const float*)(const void*)(tree->arrays + s->box_at[s->levels - 1]);
    memset(boxes, 0, (size_t)size * 2 * (size_t)s->leaves * sizeof *boxes);
    for (int64_t leaf = 0; leaf < s->leaves; leaf++) {
        float* box = boxes + (s->leaves + leaf) * size;
        const float* group = groups + leaf / SAP_GROUP * dims * 2 * SAP_GROUP + leaf % SAP_GROUP;
        for (int32_t a = 0; a < dims; a++) {
            box[a] = group[(2 * a) * SAP_GROUP];
            box[upper + a] = group[(2 * a + 1) * SAP_GROUP];
        }
    }
    for (int64_t i = s->leaves - 1; i > 0; i--) {
        const float *left = boxes + 2 * i * size, *right = left + size;
        for (int32_t a = 0; a < dims; a++) {
            boxes[i * size + a] = lesser(left[a], right[a]);
            boxes[i * size + upper + a] = greater(left[upper + a], right[upper + a]);
        }
    }
}

// Blocks whose coordinates begin at multiples of four slots; the slots that this adds hold no point either.
static void pad_blocks(const sap_tree* tree, uint32_t* padded) {
    static const uint32_t infinity = 0x7f800000u;
    for (int64_t place = 0; place < sap_leaf_places(tree); place++) {
        const sap_leaf_block leaf = sap_leaf_block_at(tree, place);
        const int32_t slots = (leaf.stride + 3) / 4 * 4;
        const unsigned char* row_at = leaf.coords;
        for (int32_t row = 0; row <= tree->shape.dims && slots; row++) {
            memcpy(padded, row_at, (size_t)leaf.stride * 4);
            for (int32_t i = leaf.stride; i < slots; i++) padded[i] = row < tree->shape.dims ? infinity : UINT32_MAX;
            padded += slots;
            row_at += (size_t)leaf.stride * 4;
        }
    }
}

// The nodes of an explicit tree and their boxes; children come after their parents.
static void pack_explicit_nodes(const sap_tree* tree, uint32_t* nodes) {
    const sap_tree_shape* s = &tree->shape;
    const sap_node_f32* from = (const sap_node_f32*)(const void*)(tree->arrays + s->node_at);
    uint32_t first = 0;
    memset(nodes, 0, 8 * sizeof *nodes);
    for (int64_t i = 0; i < s->nodes; i++) {
        uint32_t* node = nodes + 4 * (i + 1);
        const uint32_t axis = from[i].link & SAP_NODE_LEAF, upper = (uint32_t)(i + 1) + (from[i].link >> 5);
        node[1] = axis;
        if (axis == SAP_NODE_LEAF) {
            node[0] = first;
            node[2] = (uint32_t)(sap_leaf_block_at(tree, i).stride + 3) / 4;
            first += node[2] * (uint32_t)(s->dims + 1);
        } else {
            SAP_ASSERT(upper <= s->nodes);
            node[0] = from[i].bits;
            node[2] = upper;
            node[4 + 3] = nodes[4 * (size_t)upper + 3] = (uint32_t)(i + 1);
        }
    }
}

static void pack_explicit_boxes(const sap_tree* tree, float* boxes) {
    const sap_tree_shape* s = &tree->shape;
    const sap_node_f32* from = (const sap_node_f32*)(const void*)(tree->arrays + s->node_at);
    const int32_t dims = s->dims, upper = dims == 2 ? 2 : 4, size = 4 * (dims - 1);
    memset(boxes, 0, (size_t)size * (size_t)(s->nodes + 1) * sizeof *boxes);
    for (int64_t i = s->nodes - 1; i >= 0; i--) {
        float* box = boxes + (i + 1) * size;
        const bool is_leaf = (from[i].link & SAP_NODE_LEAF) == SAP_NODE_LEAF;
        const sap_leaf_block leaf = sap_leaf_block_at(tree, i);
        const float *left = box + size, *right = box + (int64_t)(from[i].link >> 5) * size;
        for (int32_t a = 0; a < dims; a++) {
            const float* coords = (const float*)(const void*)leaf.coords + (size_t)a * (size_t)leaf.stride;
            box[a] = is_leaf ? INFINITY : lesser(left[a], right[a]);
            box[upper + a] = is_leaf ? -INFINITY : greater(left[upper + a], right[upper + a]);
            for (int32_t j = 0; j < leaf.count; j++) {
                box[a] = lesser(box[a], coords[j]);
                box[upper + a] = greater(box[upper + a], coords[j]);
            }
        }
    }
}

static void pack_explicit_smallest(const sap_tree* tree, int32_t* smallest) {
    smallest[0] = INT32_MAX;
    memcpy(smallest + 1, tree->arrays + tree->shape.node_min_id_at, (size_t)tree->shape.nodes * sizeof *smallest);
}

static void free_textures(sap_gl_call* call, sap_gl_tree* textures) {
    for (int i = 0; i < SAP_TEXTURES; i++) {
        sap_gl_texture_free(call, textures->texture[i]);
        textures->texture[i] = 0;
    }
}

static void make_textures(sap_gl_call* call, const sap_tree* tree, sap_gl_tree* textures) {
    const sap_tree_shape* s = &tree->shape;
    const bool balanced = s->kind == SAP_TREE_BALANCED, pads = !balanced || s->stride % 4;
    if (textures->kind != s->kind) free_textures(call, textures); // the formats differ
    textures->kind = s->kind;
    textures->quads = ((balanced ? s->stride : tree->options.leaf_size) + 3) / 4;
    int64_t texels[SAP_TEXTURES];
    size_t bytes = 0;
    for (int i = 0; i < SAP_TEXTURES; i++) {
        texels[i] = texels_of(tree, i);
        const size_t wanted = (size_t)texels[i] * texel_bytes(s->kind, i);
        if (wanted > bytes && (i != SAP_TEXTURE_BLOCKS || pads)) bytes = wanted;
    }
    sap_scratch scratch = {NULL, 0};
    if (!sap_scratch_take(call->device, bytes, &scratch)) {
        sap_gl_fail(call, SAP_ERROR_MEMORY, "no memory for a tree's textures");
        return;
    }
    uint32_t* values = (uint32_t*)(void*)scratch.memory;
    for (int i = 0; i < SAP_TEXTURES; i++) make_room(call, textures, i, texels[i]);
    (balanced ? pack_nodes : pack_explicit_nodes)(tree, values);
    fill(call, textures, SAP_TEXTURE_NODES, values);
    (balanced ? pack_smallest : pack_explicit_smallest)(tree, (int32_t*)(void*)values);
    fill(call, textures, SAP_TEXTURE_SMALLEST, values);
    (balanced ? pack_boxes : pack_explicit_boxes)(tree, (float*)(void*)values);
    fill(call, textures, SAP_TEXTURE_BOXES, values);
    if (pads) pad_blocks(tree, values);
    fill(call, textures, SAP_TEXTURE_BLOCKS, pads ? (const void*)values : sap_block(tree, 0));
    sap_scratch_give(call->device, &scratch);
    textures->stale = call->status != SAP_OK;
    if (textures->stale) free_textures(call, textures);
}

const sap_gl_tree* sap_gl_tree_of(sap_gl_call* call, const sap_tree* tree) {
    sap_gl_tree* textures = tree->beside;
    if (call->status == SAP_OK && (textures->stale || !textures->texture[0])) {
        if (textures->on_gpu_only)
            sap_gl_fail(call, SAP_ERROR_UNSUPPORTED, "tree: has lost its textures; update it again");
        else
            make_textures(call, tree, textures);
    }
    return call->status == SAP_OK ? textures : NULL;
}

int sap_gl_tree_bind(sap_gl_call* call, const sap_tree* tree, const sap_gl_tree* textures, sap_gl_pass* pass) {
    pass->input[0] = (sap_gl_input){.sampler = "tree_nodes", .texture = textures->texture[SAP_TEXTURE_NODES]};
    pass->input[1] = (sap_gl_input){.sampler = "tree_smallest", .texture = textures->texture[SAP_TEXTURE_SMALLEST]};
    pass->input[2] = (sap_gl_input){.sampler = "tree_boxes", .texture = textures->texture[SAP_TEXTURE_BOXES]};
    pass->input[3] = (sap_gl_input){.sampler = "tree_blocks", .texture = textures->texture[SAP_TEXTURE_BLOCKS]};
    sap_gl_set_int(call, pass->program, "tree_depth", tree->shape.depth);
    sap_gl_set_int(call, pass->program, "tree_quads", textures->quads);
    sap_gl_set_ints(call, pass->program, "tree_shifts", 4, textures->shifts);
    return 4;
}

// Refuses trees that shaders cannot walk through.
static sap_status check(const sap_tree* tree) {
    const sap_tree_shape* s = &tree->shape;
    if (s->real_bits != 32 || s->dims < 2 || s->dims > 3)
        return sap_fail(tree->device, SAP_ERROR_UNSUPPORTED,
                        "tree: shaders know float points of 2 or 3 dimensions, not %d-bit points of %d",
                        (int)s->real_bits, (int)s->dims);
    return SAP_OK;
}

// Puts new arrays into textures, instead of the old ones.
static sap_status refresh(sap_tree* tree) {
    sap_status status = check(tree);
    if (status != SAP_OK) return status;
    if (!tree->beside) tree->beside = sap_memory_allocate_zero(tree->device, sizeof(sap_gl_tree));
    if (!tree->beside) return sap_fail(tree->device, SAP_ERROR_MEMORY, "no memory for a tree");
    sap_gl_call call;
    sap_gl_tree* textures = tree->beside;
    textures->on_gpu_only = false;
    textures->stale = true;
    if (sap_gl_begin(&call, tree->device) == SAP_OK) make_textures(&call, tree, textures);
    return sap_gl_end(&call, SAP_OK);
}

sap_status sap_tree_copy_out_gl(const sap_tree* tree, size_t at, size_t bytes, void* to) {
    const sap_gl_tree* textures = tree->beside;
    if (textures->on_gpu_only)
        return sap_fail(tree->device, SAP_ERROR_UNSUPPORTED,
                        "tree: came from CUDA to OpenGL without a copy on the host; ask the tree it was made from");
    memcpy(to, tree->arrays + at, bytes);
    return SAP_OK;
}

sap_status sap_tree_copy_in_gl(sap_tree* tree, const unsigned char* arrays) {
    const sap_tree_shape shape = tree->shape;
    sap_status status = check(tree);
    if (status == SAP_OK) status = sap_tree_reserve(tree, &shape);
    if (status != SAP_OK) return status;
    memcpy(tree->arrays, arrays, shape.bytes);
    return refresh(tree);
}

sap_status sap_tree_build_gl(sap_tree* tree, const sap_rows* points) {
    sap_device* device = tree->device;
    if (points->real_bits != 32 || points->dims < 2 || points->dims > 3)
        return sap_fail(device, SAP_ERROR_UNSUPPORTED,
                        "points: shaders walk through trees of float points of 2 or 3 dimensions only");
    tree->device = sap_gl_of(device)->host;
    sap_status status = sap_tree_build_cpu(tree, points);
    tree->device = device;
    return status == SAP_OK ? refresh(tree) : status;
}

static void free_buffers(sap_gl_call* call, sap_gl_tree* textures) {
#if defined(SAP_HAVE_CUDA)
    sap_buffers_forget_cuda(textures->resource);
#endif
    if (call->entered && !call->gl->lost) call->f->DeleteBuffers(SAP_TEXTURES, textures->buffer);
    memset(textures->buffer, 0, sizeof textures->buffer);
}

void sap_tree_free_arrays_gl(sap_tree* tree) {
    if (tree->beside) {
        sap_gl_call call;
        sap_gl_tree* textures = tree->beside;
        if (!sap_gl_of(tree->device)->lost) {
            if (sap_gl_begin(&call, tree->device) == SAP_OK) {
                free_textures(&call, textures);
                if (textures->buffer[0]) free_buffers(&call, textures);
            }
            (void)sap_gl_end(&call, SAP_OK);
        }
        sap_memory_release(tree->device, textures, sizeof *textures);
    }
    sap_tree_memory_release(tree->device, &tree->memory, &tree->arrays);
}

#if defined(SAP_HAVE_CUDA)
// Buffers that CUDA can fill with a tree of this shape.
static void make_buffers(sap_gl_call* call, const sap_tree* tree, sap_gl_tree* textures) {
    bool fit = textures->buffer[0] != 0;
    for (int i = 0; i < SAP_TEXTURES; i++) {
        int64_t bytes = texels_of(tree, i) * (int64_t)texel_bytes(SAP_TREE_BALANCED, i);
        fit = fit && textures->buffer_bytes[i] == bytes;
        textures->buffer_bytes[i] = bytes;
    }
    if (fit) return;
    if (textures->buffer[0]) free_buffers(call, textures);
    call->f->GenBuffers(SAP_TEXTURES, textures->buffer);
    for (int i = 0; i < SAP_TEXTURES; i++) {
        call->f->BindBuffer(GL_PIXEL_UNPACK_BUFFER, textures->buffer[i]);
        call->f->BufferData(GL_PIXEL_UNPACK_BUFFER, (GLsizeiptr)textures->buffer_bytes[i], NULL, GL_STREAM_DRAW);
    }
    call->f->BindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
    if (!sap_gl_check(call, "making buffers for a tree")) free_buffers(call, textures);
}

// Takes a tree over from CUDA on the same GPU. SAP_ERROR_UNSUPPORTED: they share no memory.
static sap_status take_over(sap_tree* copy, const sap_tree* tree) {
    sap_gl_call call;
    sap_gl_tree* textures = copy->beside;
    sap_status shared = SAP_OK;
    if (sap_gl_begin(&call, copy->device) == SAP_OK) make_buffers(&call, tree, textures);
    if (call.status == SAP_OK) shared = sap_tree_to_buffers_cuda(tree, textures->buffer, textures->resource);
    if (call.status == SAP_OK && shared == SAP_OK) {
        textures->on_gpu_only = true;
        copy->shape = tree->shape;
        if (textures->kind != SAP_TREE_BALANCED) free_textures(&call, textures);
        textures->kind = SAP_TREE_BALANCED;
        textures->quads = tree->shape.stride / 4;
        for (int i = 0; i < SAP_TEXTURES; i++) {
            make_room(&call, textures, i, texels_of(tree, i));
            call.f->BindBuffer(GL_PIXEL_UNPACK_BUFFER, textures->buffer[i]);
            fill(&call, textures, i, NULL);
        }
        call.f->BindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
        textures->stale = call.status != SAP_OK;
        if (textures->stale) free_textures(&call, textures);
    } else if (call.status == SAP_OK && textures->buffer[0]) {
        free_buffers(&call, textures);
    }
    return sap_gl_end(&call, shared);
}
#endif

sap_status sap_tree_update_textures_gl(sap_tree* copy, const sap_tree* tree) {
    sap_status status = check(tree);
    if (status != SAP_OK) return status;
    const sap_device* from = tree->device;
    copy->options = tree->options;
#if defined(SAP_HAVE_CUDA)
    if (from->table->kind == SAP_CUDA && tree->shape.kind == SAP_TREE_BALANCED && tree->shape.count > 0 &&
        tree->shape.stride % 4 == 0) {
        status = take_over(copy, tree);
        if (status != SAP_ERROR_UNSUPPORTED) return status;
    }
#endif
    status = sap_tree_reserve(copy, &tree->shape);
    if (status != SAP_OK) return status;
    if (from->rooms.tree->copy_out)
        status = from->rooms.tree->copy_out(tree, 0, tree->shape.bytes, copy->arrays);
    else
        memcpy(copy->arrays, tree->arrays, tree->shape.bytes);
    if (status == SAP_OK) return refresh(copy);
    // The copy is neither the old tree nor the new one until another update succeeds.
    sap_gl_tree* textures = copy->beside;
    if (textures) textures->on_gpu_only = textures->stale = true;
    return status;
}

sap_status sap_tree_describe_textures_gl(const sap_tree* tree, sap_gl_tree_textures* result) {
    sap_gl_call call;
    sap_gl_begin(&call, tree->device);
    const sap_gl_tree* t = sap_gl_tree_of(&call, tree);
    if (t)
        *result = (sap_gl_tree_textures){
            .nodes = t->texture[SAP_TEXTURE_NODES],
            .smallest = t->texture[SAP_TEXTURE_SMALLEST],
            .boxes = t->texture[SAP_TEXTURE_BOXES],
            .blocks = t->texture[SAP_TEXTURE_BLOCKS],
            .widths = {1 << t->shifts[0], 1 << t->shifts[1], 1 << t->shifts[2], 1 << t->shifts[3]},
            .dims = tree->shape.dims,
            .depth = tree->shape.depth,
            .quads = t->quads,
            .split = tree->options.split};
    return sap_gl_end(&call, SAP_OK);
}
