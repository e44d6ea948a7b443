// Where the vertices of a glTF are at a time: channels are looked up, nodes put in their places, then vertices.
#include "device/device.h"
#include "files/gltf/model.h"
#include "sapwood/move.h"
#include <string.h>

// What is worked out for one moment.
typedef struct moment {
    const sap_gltf_model* model;
    sap_gltf_node* nodes; // as the clip moves them
    double* worlds;       // [SAP_GLTF_NUMBERS*nodes]
    float* weights;       // of morph targets
    float* bent;          // [3*most vertices of a part] rest places after the morph
    float* matrices;      // [SAP_GLTF_NUMBERS*most joints of a skin]
    double* exact;        // the same, not relative to the origin, if it is measured how far floats move vertices
    size_t node_count, bent_bytes, matrices_most;
} moment;

// ---- Channels.

// Which key is the last one that is not after the time, and how far it is from there to the next one, 0 … 1.
static size_t find_key(const float* times, size_t keys, double seconds, double* along, double* between) {
    size_t low = 0, high = keys; // times[low] <= seconds < times[high]
    *along = *between = 0;
    if (!(seconds > (double)times[0])) return 0;
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        *(seconds >= (double)times[middle] ? &low : &high) = middle;
    }
    if (low + 1 == keys) return low;
    *between = (double)times[low + 1] - (double)times[low];
    *along = *between > 0 ? (seconds - (double)times[low]) / *between : 0;
    return low;
}

static void make_unit(double q[4]) {
    const double length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    if (length > 0)
        for (int i = 0; i < 4; i++) q[i] /= length;
}

// Along the great circle between two rotations, the shorter way (Shoemake 1985).
static void turn_between(const float* a, const float* b, double along, double q[4]) {
    double from[4], to[4], cosine = 0;
    for (int i = 0; i < 4; i++) {
        from[i] = (double)a[i];
        to[i] = (double)b[i];
    }
    make_unit(from);
    make_unit(to);
    for (int i = 0; i < 4; i++) cosine += from[i] * to[i];
    const double sign = cosine < 0 ? -1 : 1, angle = acos(fmin(cosine * sign, 1)), sine = sin(angle);
    double left = 1 - along, right = along;
    if (sine > 1e-6) { // else both are almost the same
        left = sin(left * angle) / sine;
        right = sin(along * angle) / sine;
    }
    for (int i = 0; i < 4; i++) q[i] = left * from[i] + right * sign * to[i];
}

// The i-th number of a channel between two keys.
static double number_at(const sap_gltf_channel* c, const float* values, size_t key, int32_t i, double t,
                        double between) {
    const size_t width = (size_t)c->width, at = (size_t)i;
    if (c->interpolation != cgltf_interpolation_type_cubic_spline) {
        const double here = (double)values[key * width + at];
        if (t <= 0 || c->interpolation == cgltf_interpolation_type_step) return here;
        return here + t * ((double)values[(key + 1) * width + at] - here);
    }
    // Each key has the slope before it, its value, and the slope behind it.
    const float* k = values + key * 3 * width + at;
    if (t <= 0) return (double)k[width];
    const double p = (double)k[width], m = (double)k[2 * width] * between;
    const double n = (double)k[3 * width] * between, q = (double)k[4 * width], t2 = t * t, t3 = t2 * t;
    return (2 * t3 - 3 * t2 + 1) * p + (t3 - 2 * t2 + t) * m + (3 * t2 - 2 * t3) * q + (t3 - t2) * n;
}

static void apply(const moment* m, const sap_gltf_channel* c, double seconds) {
    const float *floats = m->model->floats.memory, *values = floats + c->values;
    sap_gltf_node* node = &m->nodes[c->node];
    double t, between;
    const size_t key = find_key(floats + c->times, c->keys, seconds, &t, &between);
    if (c->path == cgltf_animation_path_type_weights) {
        for (int32_t i = 0; i < c->width; i++)
            m->weights[node->weights + (size_t)i] = (float)number_at(c, values, key, i, t, between);
        return;
    }
    double* to = c->path == cgltf_animation_path_type_translation ? node->translation
                 : c->path == cgltf_animation_path_type_rotation  ? node->rotation
                                                                  : node->scale;
    node->has_matrix = false; // glTF gives animated nodes none
    if (c->width == 4 && c->interpolation == cgltf_interpolation_type_linear && t > 0)
        turn_between(values + 4 * key, values + 4 * (key + 1), t, to);
    else
        for (int32_t i = 0; i < c->width; i++) to[i] = number_at(c, values, key, i, t, between);
}

// ---- Nodes.

static void local_of(const sap_gltf_node* node, double m[SAP_GLTF_NUMBERS]) {
    if (node->has_matrix) {
        memcpy(m, node->matrix, sizeof node->matrix);
        return;
    }
    double q[4];
    memcpy(q, node->rotation, sizeof q);
    make_unit(q);
    const double x = q[0], y = q[1], z = q[2], w = q[3];
    const double turn[9] = {1 - 2 * (y * y + z * z), 2 * (x * y - z * w),     2 * (x * z + y * w),
                            2 * (x * y + z * w),     1 - 2 * (x * x + z * z), 2 * (y * z - x * w),
                            2 * (x * z - y * w),     2 * (y * z + x * w),     1 - 2 * (x * x + y * y)};
    for (int row = 0; row < 3; row++) {
        for (int column = 0; column < 3; column++) m[4 * row + column] = turn[3 * row + column] * node->scale[column];
        m[4 * row + 3] = node->translation[row];
    }
}

static void multiply(const double a[SAP_GLTF_NUMBERS], const double b[SAP_GLTF_NUMBERS], double to[SAP_GLTF_NUMBERS]) {
    for (int row = 0; row < 3; row++)
        for (int column = 0; column < 4; column++) {
            const double* r = a + 4 * row;
            to[4 * row + column] = r[0] * b[column] + r[1] * b[4 + column] + r[2] * b[8 + column];
            if (column == 3) to[4 * row + column] += r[3];
        }
}

void sap_gltf_place_nodes(const sap_gltf_node* nodes, size_t count, double* worlds) {
    for (size_t i = 0; i < count; i++) {
        double local[SAP_GLTF_NUMBERS], *world = worlds + SAP_GLTF_NUMBERS * i;
        const int32_t parent = nodes[i].parent;
        local_of(&nodes[i], local);
        if (parent < 0)
            memcpy(world, local, sizeof local);
        else
            multiply(worlds + SAP_GLTF_NUMBERS * (size_t)parent, local, world);
    }
}

// ---- Vertices.

// The places of a part's vertices after its morph.
static const float* bend(const moment* m, const sap_gltf_part* part) {
    const float* floats = m->model->floats.memory;
    const size_t count = 3 * (size_t)part->count;
    if (!part->targets) return floats + part->rest;
    memcpy(m->bent, floats + part->rest, count * sizeof(float));
    for (int32_t t = 0; t < part->targets; t++) {
        const float weight = m->weights[m->nodes[part->node].weights + (size_t)t];
        const float* shift = floats + part->shifts + (size_t)t * count;
        for (size_t i = 0; i < count && weight != 0; i++) m->bent[i] += weight * shift[i];
    }
    return m->bent;
}

static void move_rigid(const moment* m, const sap_gltf_part* part, const float* from, float* to, double* moved) {
    const double* world = m->worlds + SAP_GLTF_NUMBERS * (size_t)part->node;
    for (int64_t v = 0; v < part->count; v++, from += 3, to += 3)
        for (int a = 0; a < 3; a++) {
            const double* r = world + 4 * a;
            const double place = r[0] * (double)from[0] + r[1] * (double)from[1] + r[2] * (double)from[2] + r[3];
            const double relative = place - m->model->origin[a];
            to[a] = (float)relative;
            if (moved && isfinite(to[a])) *moved = fmax(*moved, fabs(relative - (double)to[a]));
        }
}

// Where doubles put skinned vertices, beside where floats did.
static void measure_skinned(const moment* m, const sap_gltf_part* part, const float* from, const float* to,
                            double* moved) {
    const size_t each = (size_t)part->each;
    const int32_t* bone = (const int32_t*)m->model->ints.memory + part->bones;
    const float* weight = (const float*)m->model->floats.memory + part->weights;
    for (int64_t v = 0; v < part->count; v++, from += 3, to += 3, bone += each, weight += each) {
        double place[3] = {0, 0, 0}, all = 0;
        for (size_t i = 0; i < each; i++) {
            const double* r = m->exact + SAP_GLTF_NUMBERS * (size_t)bone[i];
            if (weight[i] == 0) continue;
            all += (double)weight[i];
            for (int a = 0; a < 3; a++, r += 4)
                place[a] += (double)weight[i] *
                            (r[0] * (double)from[0] + r[1] * (double)from[1] + r[2] * (double)from[2] + r[3]);
        }
        for (int a = 0; a < 3; a++) {
            const double relative = place[a] / all - m->model->origin[a];
            if (isfinite(to[a])) *moved = fmax(*moved, fabs(relative - (double)to[a]));
        }
    }
}

// The shift of each joint is made relative to the origin in double: weights sum to 1, so the vertices are, too.
static sap_status move_skinned(const moment* m, const sap_gltf_part* part, const float* from, float* to,
                               double* moved) {
    const sap_gltf_model* model = m->model;
    const sap_gltf_skin* skin = (const sap_gltf_skin*)model->skins.memory + part->skin;
    const int32_t* joints = (const int32_t*)model->ints.memory + skin->joints;
    const float* floats = model->floats.memory;
    for (int32_t j = 0; j < skin->count; j++) {
        double inverse[SAP_GLTF_NUMBERS] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}, whole[SAP_GLTF_NUMBERS];
        if (skin->inverse != SIZE_MAX)
            for (int i = 0; i < SAP_GLTF_NUMBERS; i++)
                inverse[i] = (double)floats[skin->inverse + 16 * (size_t)j + (size_t)(i % 4 * 4 + i / 4)];
        multiply(m->worlds + SAP_GLTF_NUMBERS * (size_t)joints[j], inverse, whole);
        if (moved) memcpy(m->exact + SAP_GLTF_NUMBERS * (size_t)j, whole, sizeof whole);
        for (int i = 0; i < SAP_GLTF_NUMBERS; i++)
            m->matrices[SAP_GLTF_NUMBERS * j + i] = (float)(whole[i] - (i % 4 == 3 ? model->origin[i / 4] : 0));
    }
    const sap_skin bones = {.vertices = from,
                            .count = part->count,
                            .bones = (const int32_t*)model->ints.memory + part->bones,
                            .weights = floats + part->weights,
                            .each = part->each,
                            .matrices = m->matrices,
                            .matrix_count = skin->count};
    const sap_status status = sap_mesh_skin((sap_device*)(uintptr_t)model->device, &bones, to, NULL);
    if (status == SAP_OK && moved) measure_skinned(m, part, from, to, moved);
    return status;
}

static sap_status pose(const moment* m, int32_t clip, double seconds, float* vertices, double* moved) {
    const sap_gltf_model* model = m->model;
    const sap_gltf_part* parts = model->parts.memory;
    if (m->node_count) memcpy(m->nodes, model->nodes.memory, model->nodes.used);
    if (model->weights.used) memcpy(m->weights, model->weights.memory, model->weights.used);
    if (clip >= 0) {
        const sap_gltf_clip* of = (const sap_gltf_clip*)model->clips.memory + clip;
        const sap_gltf_channel* channels = model->channels.memory;
        for (size_t i = 0; i < of->count; i++) apply(m, &channels[of->first + i], seconds);
    }
    sap_gltf_place_nodes(m->nodes, m->node_count, m->worlds);
    sap_status status = SAP_OK;
    for (size_t i = 0; i < model->parts.used / sizeof *parts && status == SAP_OK; i++) {
        const float* from = bend(m, &parts[i]);
        float* to = vertices + 3 * parts[i].first;
        if (parts[i].node < 0)
            memcpy(to, from, 3 * sizeof *to * (size_t)parts[i].count);
        else if (parts[i].skin < 0)
            move_rigid(m, &parts[i], from, to, moved);
        else
            status = move_skinned(m, &parts[i], from, to, moved);
    }
    return status;
}

// The most memory that any part needs.
static void find_sizes(moment* m) {
    const sap_gltf_part* parts = m->model->parts.memory;
    const sap_gltf_skin* skins = m->model->skins.memory;
    for (size_t i = 0; i < m->model->parts.used / sizeof *parts; i++) {
        const size_t bent = parts[i].targets ? 3 * sizeof(float) * (size_t)parts[i].count : 0;
        const size_t joints = parts[i].skin < 0 ? 0 : (size_t)skins[parts[i].skin].count;
        m->bent_bytes = bent > m->bent_bytes ? bent : m->bent_bytes;
        m->matrices_most = joints > m->matrices_most ? joints : m->matrices_most;
    }
}

sap_status sap_gltf_pose(const sap_gltf_model* model, int32_t clip, double seconds, float* vertices, double* moved) {
    const sap_device* device = model->device;
    moment m = {.model = model, .node_count = model->nodes.used / sizeof(sap_gltf_node)};
    find_sizes(&m);
    const size_t world_bytes = m.node_count * SAP_GLTF_NUMBERS * sizeof(double);
    const size_t matrix_bytes = m.matrices_most * SAP_GLTF_NUMBERS * sizeof(float);
    const size_t exact_bytes = moved ? 2 * matrix_bytes : 0;
    m.nodes = sap_memory_allocate(device, model->nodes.used);
    m.worlds = sap_memory_allocate(device, world_bytes);
    m.weights = sap_memory_allocate(device, model->weights.used);
    m.bent = sap_memory_allocate(device, m.bent_bytes);
    m.matrices = sap_memory_allocate(device, matrix_bytes);
    m.exact = sap_memory_allocate(device, exact_bytes);
    const bool room = m.nodes && m.worlds && m.weights && m.bent && m.matrices && m.exact;
    const sap_status status = room ? pose(&m, clip, seconds, vertices, moved)
                                   : sap_fail(device, SAP_ERROR_MEMORY, "no memory to move %zu nodes", m.node_count);
    sap_memory_release(device, m.nodes, model->nodes.used);
    sap_memory_release(device, m.worlds, world_bytes);
    sap_memory_release(device, m.weights, model->weights.used);
    sap_memory_release(device, m.bent, m.bent_bytes);
    sap_memory_release(device, m.matrices, matrix_bytes);
    sap_memory_release(device, m.exact, exact_bytes);
    return status;
}
