// From a glTF document to a model: the scene's nodes, and a part of the mesh for each primitive of each of them.
#include "files/gltf/model.h"
#include "device/device.h"
#include "files/gltf/sharing.h"
#include <stdio.h>
#include <string.h>

enum { MOST_BONES = 8, BONES_EACH = 4 }; // a vertex; an attribute

typedef struct loading {
    sap_gltf_document* document;
    sap_gltf_model* model;
    sap_mesh_draft* draft;
    int32_t* numbers;    // of the document's nodes: their places among the model's
    bool* shown;         // of the model's nodes: those of the scene
    bool lines, colored; // primitives without triangles were left out; some vertices have colours
    sap_gltf_sharing sharing;
} loading;

void sap_gltf_model_free(sap_gltf_model* model) {
    enum { ARRAYS = 11 };
    sap_array* const arrays[ARRAYS] = {&model->nodes, &model->parts,  &model->skins, &model->channels,
                                       &model->clips, &model->floats, &model->ints,  &model->weights,
                                       &model->names, &model->groups, &model->places};
    for (int i = 0; i < ARRAYS; i++) sap_array_release(model->device, arrays[i]);
}

static sap_status bad(const loading* l, sap_status status, const char* what, size_t number, const char* sentence) {
    return sap_bad_byte(l->document->source, status, -1, "%s %zu %s", what, number, sentence);
}

// ---- Nodes.

// The nodes of a document in an order in which parents stand before their children, without recursion.
static sap_status order_nodes(loading* l, const cgltf_node** order) {
    const cgltf_data* data = l->document->data;
    size_t count = 0;
    for (size_t i = 0; i < data->nodes_count; i++)
        if (!data->nodes[i].parent) order[count++] = &data->nodes[i];
    for (size_t at = 0; at < count; at++) {
        const cgltf_node* node = order[at];
        if (node->children_count > data->nodes_count - count)
            return bad(l, SAP_ERROR_FORMAT, "node", cgltf_node_index(data, node), "has children that are others', too");
        for (size_t c = 0; c < node->children_count; c++) order[count++] = node->children[c];
    }
    if (count == data->nodes_count) return SAP_OK;
    return sap_bad_byte(l->document->source, SAP_ERROR_FORMAT, -1, "some of its nodes are their own ancestors");
}

// Weights of the morph targets: the node's, else the mesh's, else 0.
static sap_status add_weights(loading* l, const cgltf_node* from, sap_gltf_node* node) {
    const cgltf_mesh* mesh = from->mesh;
    const size_t count = mesh && mesh->primitives_count ? mesh->primitives[0].targets_count : 0;
    node->weights = l->model->weights.used / sizeof(float);
    node->weight_count = (int32_t)count;
    if (count > INT32_MAX) return bad(l, SAP_ERROR_RANGE, "mesh", 0, "has too many morph targets");
    sap_status status = sap_gltf_take_room(l->document, count, sizeof(float));
    if (status != SAP_OK) return status;
    float* weights = sap_array_add(l->model->device, &l->model->weights, count * sizeof *weights);
    if (!weights) return sap_gltf_no_memory(l->document);
    for (size_t i = 0; i < count; i++) {
        weights[i] = 0;
        if (i < mesh->weights_count) weights[i] = mesh->weights[i];
        if (i < from->weights_count) weights[i] = from->weights[i];
    }
    return SAP_OK;
}

static sap_status add_node(loading* l, const cgltf_node* from, int32_t number) {
    sap_gltf_node* node = sap_array_add(l->model->device, &l->model->nodes, sizeof *node);
    if (!node) return sap_gltf_no_memory(l->document);
    *node = (sap_gltf_node){.parent = -1, .has_matrix = from->has_matrix};
    if (from->parent) {
        node->parent = l->numbers[cgltf_node_index(l->document->data, from->parent)];
        l->shown[number] |= l->shown[node->parent];
    }
    for (int row = 0; row < 3; row++)
        for (int column = 0; column < 4; column++)
            node->matrix[4 * row + column] = (double)from->matrix[4 * column + row];
    for (int a = 0; a < 3; a++) {
        node->translation[a] = (double)from->translation[a];
        node->scale[a] = (double)from->scale[a];
    }
    for (int a = 0; a < 4; a++) node->rotation[a] = (double)from->rotation[a];
    return add_weights(l, from, node);
}

// The nodes that a scene names, or, without scenes, all that have no parent.
static void mark_roots(loading* l, const cgltf_node** order) {
    const cgltf_data* data = l->document->data;
    const cgltf_scene* scene = data->scene ? data->scene : data->scenes_count ? &data->scenes[0] : NULL;
    for (size_t i = 0; i < data->nodes_count; i++) l->numbers[cgltf_node_index(data, order[i])] = (int32_t)i;
    for (size_t i = 0; scene && i < scene->nodes_count; i++)
        l->shown[l->numbers[cgltf_node_index(data, scene->nodes[i])]] = true;
    for (size_t i = 0; !scene && i < data->nodes_count; i++) l->shown[i] = !order[i]->parent;
}

// ---- Skins.

static sap_status add_skin(loading* l, size_t number) {
    const cgltf_skin* from = &l->document->data->skins[number];
    sap_gltf_model* model = l->model;
    sap_gltf_skin* skin = sap_array_add(model->device, &model->skins, sizeof *skin);
    if (!skin) return sap_gltf_no_memory(l->document);
    if (from->joints_count == 0 || from->joints_count > INT32_MAX)
        return bad(l, SAP_ERROR_FORMAT, "skin", number, "has no joints, or too many");
    *skin = (sap_gltf_skin){model->ints.used / sizeof(int32_t), SIZE_MAX, (int32_t)from->joints_count};
    int32_t* joints = sap_array_add(model->device, &model->ints, from->joints_count * sizeof *joints);
    if (!joints) return sap_gltf_no_memory(l->document);
    for (size_t i = 0; i < from->joints_count; i++)
        joints[i] = l->numbers[cgltf_node_index(l->document->data, from->joints[i])];
    const cgltf_accessor* inverse = from->inverse_bind_matrices;
    if (!inverse) return SAP_OK;
    sap_status status = sap_gltf_expect(l->document, inverse, cgltf_type_mat4, "inverse bind matrices");
    if (status != SAP_OK) return status;
    if (inverse->count < from->joints_count || inverse->component_type != cgltf_component_type_r_32f)
        return bad(l, SAP_ERROR_FORMAT, "skin", number,
                   "has fewer inverse bind matrices than joints, or none of floats");
    skin->inverse = model->floats.used / sizeof(float);
    return sap_gltf_floats(l->document, inverse, 16, 0, &model->floats);
}

// ---- Materials.

static float held(float value) { return value > 0 ? value < 1 ? value : 1 : 0; }

// What of the light a surface mirrors: metals do, the more the smoother they are.
static float mirrored(const cgltf_material* from) {
    const cgltf_pbr_metallic_roughness* pbr = &from->pbr_metallic_roughness;
    if (from->has_pbr_specular_glossiness || from->unlit) return 0;
    return held(pbr->metallic_factor) * (1 - held(pbr->roughness_factor));
}

static float clear_part(const cgltf_material* from) {
    const float* base = from->pbr_metallic_roughness.base_color_factor;
    float opaque = from->has_transmission ? 1 - held(from->transmission.transmission_factor) : 1;
    if (from->alpha_mode == cgltf_alpha_mode_blend) opaque *= held(base[3]);
    if (from->alpha_mode == cgltf_alpha_mode_mask && base[3] < from->alpha_cutoff) opaque = 0;
    return 1 - opaque;
}

static const float* base_color(const cgltf_material* from) {
    return from->has_pbr_specular_glossiness ? from->pbr_specular_glossiness.diffuse_factor
                                             : from->pbr_metallic_roughness.base_color_factor;
}

// The colour that a distance leaves, as what each unit of length takes.
static void take_volume(const cgltf_volume* from, float absorption[3]) {
    if (!(from->thickness_factor > 0) || !(from->attenuation_distance > 0)) return;
    for (int a = 0; a < 3; a++) absorption[a] = sap_absorption(from->attenuation_color[a], from->attenuation_distance);
}

static sap_status add_material(loading* l, size_t number) {
    const cgltf_material* from = &l->document->data->materials[number];
    char name[64];
    if (from->name) cgltf_decode_string(from->name);
    const bool named = from->name && *from->name && strlen(from->name) < sizeof name && !strpbrk(from->name, "\r\n");
    snprintf(name, sizeof name, "%s", named ? from->name : "");
    const size_t length = strlen(name);
    // Names that are missing or the same as others become ones of their own.
    if (!length || name[0] == ' ' || name[length - 1] == ' ') snprintf(name, sizeof name, "material%zu", number);
    sap_material_table* table = &l->draft->table;
    for (int again = 0;; again++) {
        const int32_t before = table->count;
        if (again) snprintf(name, sizeof name, "material%zu_%d", number, again);
        if (sap_material_named(l->model->device, table, (sap_span){name, name + strlen(name)}) < 0)
            return sap_gltf_no_memory(l->document);
        if (table->count > before) break;
    }
    sap_material* material = sap_material_at(table, (int32_t)number);
    const float mirror = mirrored(from), clear = clear_part(from), *color = base_color(from);
    const float strength = from->has_emissive_strength ? from->emissive_strength.emissive_strength : 1;
    const float rough = held(from->pbr_metallic_roughness.roughness_factor), steep = rough * rough * rough * rough;
    for (int a = 0; a < 3; a++) {
        material->diffuse[a] = color[a] * (1 - mirror);
        material->specular[a] = color[a] * mirror;
        material->emission[a] = from->emissive_factor[a] * strength;
    }
    material->illum = mirror > 0 ? 3 : 2;
    // Blinn's exponent for a roughness, which Phong's resembles.
    if (mirror > 0) material->shininess = steep > 2e-4f ? 2 / steep - 2 : 1e4f;
    if (material->shininess < 1) material->shininess = 1;
    material->opacity = 1 - clear;
    if (from->has_volume) take_volume(&from->volume, material->absorption);
    if (from->has_transmission && clear > 0) material->refraction = from->has_ior ? from->ior.ior : 1.5f;
    return SAP_OK;
}

// Which material triangles get. Vertex colours are looked at only where there is none, so dull ones make way for them.
static int32_t material_of(const loading* l, const cgltf_primitive* from, bool colored) {
    const cgltf_material* material = from->material;
    if (!material) return -1;
    const bool shines =
        material->emissive_factor[0] > 0 || material->emissive_factor[1] > 0 || material->emissive_factor[2] > 0;
    if (colored && !shines && mirrored(material) == 0 && clear_part(material) == 0) return -1;
    return (int32_t)cgltf_material_index(l->document->data, material);
}

// ---- Parts.

// The colours of a part's vertices; white, as the material says, if it has none but others have.
static sap_status add_colors(loading* l, const cgltf_primitive* from, const cgltf_accessor* colors, int64_t count) {
    sap_array* array = &l->draft->colors;
    const size_t at = array->used / sizeof(float);
    if (!l->colored) return SAP_OK;
    if (colors) {
        if (colors->type != cgltf_type_vec3) {
            const sap_status other = sap_gltf_expect(l->document, colors, cgltf_type_vec4, "colours are");
            if (other != SAP_OK) return other;
        }
        const sap_status status = sap_gltf_floats(l->document, colors, 3, 0, array);
        if (status != SAP_OK) return status;
    } else {
        const sap_status status = sap_gltf_take_room(l->document, (uint64_t)count, 3 * sizeof(float));
        if (status != SAP_OK) return status;
        float* white = sap_array_add(l->model->device, array, (size_t)count * 3 * sizeof *white);
        if (!white) return sap_gltf_no_memory(l->document);
        for (int64_t i = 0; i < 3 * count; i++) white[i] = 0.8f; // what triangles without a material are
    }
    if (!colors || !from->material) return SAP_OK;
    const float* base = base_color(from->material);
    float* color = (float*)array->memory + at;
    for (int64_t i = 0; i < 3 * count; i++) color[i] *= base[i % 3];
    return SAP_OK;
}

// Bones and weights; weights are made to sum to 1, and a vertex without any follows its first bone.
static sap_status add_bones(loading* l, const cgltf_primitive* from, sap_gltf_part* part) {
    const sap_gltf_skin* skin = (const sap_gltf_skin*)l->model->skins.memory + part->skin;
    sap_array bones[2] = {{0}}, weights[2] = {{0}};
    sap_status status = SAP_OK;
    int sets = 0;
    for (; sets < MOST_BONES / BONES_EACH && status == SAP_OK; sets++) {
        const cgltf_accessor* joints = cgltf_find_accessor(from, cgltf_attribute_type_joints, sets);
        const cgltf_accessor* of = cgltf_find_accessor(from, cgltf_attribute_type_weights, sets);
        if (sets && (!joints || !of)) break;
        status = sap_gltf_expect(l->document, joints, cgltf_type_vec4, "joints of a skinned primitive are missing or");
        if (status == SAP_OK)
            status = sap_gltf_expect(l->document, of, cgltf_type_vec4, "weights of a skinned primitive are missing or");
        if (status == SAP_OK)
            status = sap_gltf_indices(l->document, joints, (uint64_t)skin->count, "joints", &bones[sets]);
        if (status == SAP_OK) status = sap_gltf_floats(l->document, of, BONES_EACH, 0, &weights[sets]);
    }
    part->each = BONES_EACH * sets;
    const size_t count = (size_t)part->count * (size_t)part->each;
    int32_t* bone = NULL;
    float* weight = NULL;
    if (status == SAP_OK) {
        part->bones = l->model->ints.used / sizeof *bone;
        part->weights = l->model->floats.used / sizeof *weight;
        bone = sap_array_add(l->model->device, &l->model->ints, count * sizeof *bone);
        weight = bone ? sap_array_add(l->model->device, &l->model->floats, count * sizeof *weight) : NULL;
        if (!weight) status = sap_gltf_no_memory(l->document);
    }
    for (int64_t v = 0; weight && v < part->count; v++) {
        float sum = 0;
        for (int i = 0; i < part->each; i++, bone++, weight++) {
            const size_t at = (size_t)(4 * v + i % BONES_EACH);
            *bone = ((int32_t*)bones[i / BONES_EACH].memory)[at];
            *weight = ((float*)weights[i / BONES_EACH].memory)[at];
            sum += *weight;
        }
        for (int i = 1; i <= part->each; i++) weight[-i] = sum > 0 ? weight[-i] / sum : i == part->each ? 1.0f : 0.0f;
    }
    for (int i = 0; i < 2; i++) {
        sap_array_release(l->model->device, &bones[i]);
        sap_array_release(l->model->device, &weights[i]);
    }
    return status;
}

// The corners of the triangles one after another, as indices of the primitive's vertices.
static sap_status take_corners(loading* l, const cgltf_primitive* from, int64_t count, sap_array* corners) {
    if (from->indices) return sap_gltf_indices(l->document, from->indices, (uint64_t)count, "indices", corners);
    const sap_status status = sap_gltf_take_room(l->document, (uint64_t)count, sizeof(int32_t));
    if (status != SAP_OK) return status;
    int32_t* corner = sap_array_add(l->model->device, corners, (size_t)count * sizeof *corner);
    if (!corner) return sap_gltf_no_memory(l->document);
    for (int64_t i = 0; i < count; i++) corner[i] = (int32_t)i;
    return SAP_OK;
}

static sap_status add_triangles(loading* l, const cgltf_primitive* from, const sap_gltf_part* part, bool mirrors) {
    sap_array corners = {0};
    sap_status status = take_corners(l, from, part->count, &corners);
    const int64_t there = (int64_t)(corners.used / sizeof(int32_t));
    const bool strip = from->type == cgltf_primitive_type_triangle_strip,
               list = from->type == cgltf_primitive_type_triangles;
    const int64_t count = list ? there / 3 : there >= 3 ? there - 2 : 0;
    if (status == SAP_OK) status = sap_gltf_take_room(l->document, (uint64_t)count, 4 * sizeof(int32_t));
    int32_t* triangle = NULL;
    if (status == SAP_OK && count) {
        triangle = sap_draft_triangles(l->draft, count);
        if (!triangle) status = sap_gltf_no_memory(l->document);
    }
    const int32_t* corner = corners.memory;
    for (int64_t i = 0; triangle && i < count; i++, triangle += 3) {
        int64_t a = i, b = i + 1, c = i + 2;
        if (list) {
            a = 3 * i;
            b = a + 1;
            c = a + 2;
        } else if (!strip) {
            a = 0;
        } else if (i % 2) {
            b = i + 2;
            c = i + 1;
        }
        triangle[0] = corner[a] + (int32_t)part->first;
        triangle[1] = corner[mirrors ? c : b] + (int32_t)part->first;
        triangle[2] = corner[mirrors ? b : c] + (int32_t)part->first;
    }
    sap_array_release(l->model->device, &corners);
    return status;
}

// How far morph targets move the vertices.
static sap_status add_targets(loading* l, const cgltf_primitive* from, sap_gltf_part* part) {
    part->shifts = l->model->floats.used / sizeof(float);
    part->targets = (int32_t)from->targets_count;
    for (size_t t = 0; t < from->targets_count; t++) {
        const cgltf_accessor* shift = NULL;
        for (size_t i = 0; i < from->targets[t].attributes_count; i++)
            if (from->targets[t].attributes[i].type == cgltf_attribute_type_position)
                shift = from->targets[t].attributes[i].data;
        const cgltf_accessor none = {
            .count = (size_t)part->count, .type = cgltf_type_vec3, .component_type = cgltf_component_type_r_32f};
        sap_status status = sap_gltf_expect(l->document, shift ? shift : &none, cgltf_type_vec3, "morph targets are");
        if (status == SAP_OK) status = sap_gltf_floats(l->document, shift ? shift : &none, 3, 0, &l->model->floats);
        if (status != SAP_OK) return status;
    }
    return SAP_OK;
}

static bool has_triangles(const cgltf_primitive* from) {
    return from->type == cgltf_primitive_type_triangles || from->type == cgltf_primitive_type_triangle_strip ||
           from->type == cgltf_primitive_type_triangle_fan;
}

// node NULL: nodes share it.
static sap_status add_part(loading* l, const cgltf_node* node, const cgltf_primitive* from, bool mirrors) {
    sap_gltf_model* model = l->model;
    const cgltf_accessor* places = cgltf_find_accessor(from, cgltf_attribute_type_position, 0);
    const cgltf_accessor* colors = cgltf_find_accessor(from, cgltf_attribute_type_color, 0);
    if (from->has_draco_mesh_compression)
        return sap_bad_byte(l->document->source, SAP_ERROR_UNSUPPORTED, -1,
                            "holds meshes that Draco has packed; save it without compression");
    sap_status status = sap_gltf_expect(l->document, places, cgltf_type_vec3, "places of vertices are missing or");
    if (status != SAP_OK) return status;
    sap_gltf_part part = {.node = node ? l->numbers[cgltf_node_index(l->document->data, node)] : -1,
                          .skin = node && node->skin ? (int32_t)cgltf_skin_index(l->document->data, node->skin) : -1,
                          .first = model->vertex_count,
                          .rest = model->floats.used / sizeof(float)};
    if (places->count > (uint64_t)(INT32_MAX - model->vertex_count))
        return sap_bad_byte(l->document->source, SAP_ERROR_RANGE, -1,
                            "its vertices are more than the 2147483647 that ids can number");
    part.count = (int64_t)places->count;
    model->vertex_count += part.count;
    status = sap_gltf_floats(l->document, places, 3, 0, &model->floats);
    // The vertices of the mesh itself.
    if (status == SAP_OK) status = sap_gltf_take_room(l->document, (uint64_t)part.count, 3 * sizeof(float));
    if (status == SAP_OK) status = add_targets(l, from, &part);
    if (status == SAP_OK && part.skin >= 0) status = add_bones(l, from, &part);
    if (status == SAP_OK) status = add_colors(l, from, colors, part.count);
    l->draft->material = material_of(l, from, colors != NULL);
    if (status == SAP_OK) status = add_triangles(l, from, &part, mirrors && part.skin < 0);
    if (status != SAP_OK) return status;
    sap_gltf_part* kept = sap_array_add(model->device, &model->parts, sizeof *kept);
    if (!kept) return sap_gltf_no_memory(l->document);
    *kept = part;
    return SAP_OK;
}

// Whether nodes turn their meshes inside out, at rest: of so many ancestors an odd number has a negative determinant.
static void find_mirrors(const sap_gltf_model* model, bool* mirrors) {
    const sap_gltf_node* nodes = model->nodes.memory;
    const size_t count = model->nodes.used / sizeof *nodes;
    for (size_t i = 0; i < count; i++) {
        const double *m = nodes[i].matrix, *s = nodes[i].scale;
        const double of_matrix = m[0] * (m[5] * m[10] - m[6] * m[9]) - m[1] * (m[4] * m[10] - m[6] * m[8]) +
                                 m[2] * (m[4] * m[9] - m[5] * m[8]);
        const bool odd = (nodes[i].has_matrix ? of_matrix : s[0] * s[1] * s[2]) < 0;
        mirrors[i] = odd != (nodes[i].parent >= 0 && mirrors[nodes[i].parent]);
    }
}

// The primitives of a mesh, at a node, or (NULL) for nodes to share.
static sap_status add_mesh(loading* l, const cgltf_mesh* mesh, const cgltf_node* node, bool mirrors) {
    for (size_t p = 0; p < mesh->primitives_count; p++) {
        // Also for primitives that are left out, and for attributes that are looked through: work is bounded as well.
        const sap_status room =
            sap_gltf_take_room(l->document, mesh->primitives[p].attributes_count + sizeof(sap_gltf_part), 1);
        if (room != SAP_OK) return room;
        if (!has_triangles(&mesh->primitives[p])) {
            l->lines = true;
            continue;
        }
        const sap_status status = add_part(l, node, &mesh->primitives[p], mirrors);
        if (status != SAP_OK) return status;
    }
    return SAP_OK;
}

// Begins the parts that nodes share, or all others.
static sap_status begin_group(loading* l) {
    sap_gltf_group* group = sap_array_add(l->model->device, &l->model->groups, sizeof *group);
    if (!group) return sap_gltf_no_memory(l->document);
    group->first_triangle = l->draft->triangle_count;
    return SAP_OK;
}

static sap_status add_place(loading* l, int32_t group, int32_t node) {
    sap_status status = sap_gltf_take_room(l->document, 1, sizeof(sap_gltf_place));
    if (status != SAP_OK) return status;
    sap_gltf_place* place = sap_array_add(l->model->device, &l->model->places, sizeof *place);
    if (!place) return sap_gltf_no_memory(l->document);
    *place = (sap_gltf_place){group, node};
    return SAP_OK;
}

// A place of a mesh that nodes share, and at the first one the mesh itself.
static sap_status add_shared(loading* l, const cgltf_node* node, int32_t number, bool mirrors) {
    int32_t* group = sap_gltf_group_of(&l->sharing, l->document->data, node->mesh, mirrors);
    if (*group < 0) {
        *group = (int32_t)(l->model->groups.used / sizeof(sap_gltf_group));
        sap_status status = begin_group(l);
        if (status == SAP_OK) status = add_mesh(l, node->mesh, NULL, mirrors);
        if (status != SAP_OK) return status;
    }
    return add_place(l, *group, number);
}

static sap_status add_parts(loading* l, const cgltf_node** order, const bool* mirrors) {
    const cgltf_data* data = l->document->data;
    const bool shares = l->model->shares;
    for (size_t m = 0; m < data->meshes_count; m++)
        for (size_t p = 0; p < data->meshes[m].primitives_count; p++)
            l->colored |= cgltf_find_accessor(&data->meshes[m].primitives[p], cgltf_attribute_type_color, 0) != NULL;
    l->draft->has_materials = data->materials_count > 0;
    sap_status status = SAP_OK;
    if (shares) status = begin_group(l);
    if (shares && status == SAP_OK) status = add_place(l, 0, -1);
    for (size_t i = 0; i < data->nodes_count && status == SAP_OK; i++) {
        const cgltf_mesh* mesh = l->shown[i] ? order[i]->mesh : NULL;
        if (mesh && order[i]->has_mesh_gpu_instancing)
            return sap_bad_byte(l->document->source, SAP_ERROR_UNSUPPORTED, -1,
                                "has instances by EXT_mesh_gpu_instancing; save it with a node for each");
        if (mesh && !(shares && l->sharing.shared[i])) status = add_mesh(l, mesh, order[i], mirrors[i]);
    }
    for (size_t i = 0; shares && i < data->nodes_count && status == SAP_OK; i++)
        if (l->sharing.shared[i]) status = add_shared(l, order[i], (int32_t)i, mirrors[i]);
    return status;
}

static sap_status load(loading* l, const cgltf_node** order, bool* mirrors) {
    const cgltf_data* data = l->document->data;
    sap_status status = order_nodes(l, order);
    if (status != SAP_OK) return status;
    mark_roots(l, order);
    for (size_t i = 0; i < data->nodes_count && status == SAP_OK; i++) status = add_node(l, order[i], (int32_t)i);
    for (size_t i = 0; i < data->skins_count && status == SAP_OK; i++) status = add_skin(l, i);
    for (size_t i = 0; i < data->materials_count && status == SAP_OK; i++) status = add_material(l, i);
    if (status != SAP_OK) return status;
    find_mirrors(l->model, mirrors);
    if (l->model->shares) status = sap_gltf_sharing_find(l->document, l->model, order, l->shown, mirrors, &l->sharing);
    if (status != SAP_OK) return status;
    status = add_parts(l, order, mirrors);
    if (status == SAP_OK) status = sap_gltf_clips_read(l->document, l->numbers, l->model);
    if (status != SAP_OK) return status;
    if (l->lines)
        (void)sap_bad_byte(l->document->source, SAP_OK, -1,
                           "its points and lines are left out: they have no triangles");
    if (data->textures_count)
        (void)sap_bad_byte(l->document->source, SAP_OK, -1, "its textures are not looked at; surfaces have one colour");
    return SAP_OK;
}

sap_status sap_gltf_model_read(sap_gltf_document* document, sap_gltf_model* model, sap_mesh_draft* draft) {
    const cgltf_data* data = document->data;
    const sap_device* device = model->device;
    const size_t count = data->nodes_count;
    loading l = {.document = document, .model = model, .draft = draft};
    if (count > INT32_MAX || data->materials_count > INT32_MAX || data->skins_count > INT32_MAX)
        return sap_bad_byte(document->source, SAP_ERROR_RANGE, -1, "has more parts than can be numbered");
    const cgltf_node** order = sap_memory_allocate(device, count * sizeof(const cgltf_node*));
    l.numbers = sap_memory_allocate(device, count * sizeof *l.numbers);
    l.shown = sap_memory_allocate_zero(device, count * sizeof *l.shown);
    bool* mirrors = sap_memory_allocate_zero(device, count * sizeof *mirrors);
    const bool room = order && l.numbers && l.shown && mirrors;
    const sap_status status = room ? load(&l, order, mirrors) : sap_gltf_no_memory(document);
    sap_memory_release(device, order, count * sizeof(const cgltf_node*));
    sap_memory_release(device, l.numbers, count * sizeof *l.numbers);
    sap_memory_release(device, l.shown, count * sizeof *l.shown);
    sap_memory_release(device, mirrors, count * sizeof *mirrors);
    sap_gltf_sharing_free(&l.sharing, document);
    return status;
}
