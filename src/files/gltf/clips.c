// How the nodes of a glTF move: the channels of its animations.
#include "files/gltf/model.h"
#include <string.h>

static sap_status bad_clip(const sap_gltf_document* document, size_t number, const char* sentence) {
    return sap_bad_byte(document->source, SAP_ERROR_FORMAT, -1, "animation %zu: %s", number, sentence);
}

static int32_t width_of(const sap_gltf_model* model, const sap_gltf_channel* channel) {
    if (channel->path == cgltf_animation_path_type_rotation) return 4;
    if (channel->path != cgltf_animation_path_type_weights) return 3;
    return ((const sap_gltf_node*)model->nodes.memory)[channel->node].weight_count;
}

// The times of keys ascend.
static sap_status check_times(const sap_gltf_document* document, size_t number, const sap_gltf_model* model,
                              const sap_gltf_channel* channel) {
    const float* times = (const float*)model->floats.memory + channel->times;
    for (size_t i = 0; i < channel->keys; i++)
        if (!isfinite(times[i]) || (i && times[i] < times[i - 1]))
            return bad_clip(document, number, "its times do not ascend; get the file again");
    return SAP_OK;
}

static sap_status add_channel(sap_gltf_document* document, size_t number, const cgltf_animation_channel* from,
                              const int32_t* numbers, sap_gltf_model* model) {
    const cgltf_accessor *input = from->sampler->input, *output = from->sampler->output;
    sap_gltf_channel channel = {.node = numbers[cgltf_node_index(document->data, from->target_node)],
                                .path = from->target_path,
                                .interpolation = from->sampler->interpolation,
                                .keys = input->count};
    channel.width = width_of(model, &channel);
    if (channel.width == 0) return SAP_OK; // weights of a mesh without targets
    const bool weights = channel.path == cgltf_animation_path_type_weights;
    const cgltf_type type = weights ? cgltf_type_scalar : channel.width == 4 ? cgltf_type_vec4 : cgltf_type_vec3;
    const uint64_t each = (weights ? (uint64_t)channel.width : 1) *
                          (channel.interpolation == cgltf_interpolation_type_cubic_spline ? 3 : 1);
    sap_status status = sap_gltf_expect(document, input, cgltf_type_scalar, "times are");
    if (status == SAP_OK) status = sap_gltf_expect(document, output, type, "what a node does is");
    if (status != SAP_OK) return status;
    if (channel.keys == 0 || output->count % each != 0 || output->count / each != channel.keys)
        return bad_clip(document, number, "it has other numbers of times and values; get the file again");
    channel.times = model->floats.used / sizeof(float);
    status = sap_gltf_floats(document, input, 1, 0, &model->floats);
    if (status == SAP_OK) status = check_times(document, number, model, &channel);
    channel.values = model->floats.used / sizeof(float);
    if (status == SAP_OK) status = sap_gltf_floats(document, output, weights ? 1 : channel.width, 0, &model->floats);
    if (status != SAP_OK) return status;
    sap_gltf_channel* kept = sap_array_add(model->device, &model->channels, sizeof *kept);
    if (!kept) return sap_gltf_no_memory(document);
    *kept = channel;
    return SAP_OK;
}

static sap_status add_clip(sap_gltf_document* document, size_t number, const int32_t* numbers, sap_gltf_model* model) {
    const cgltf_animation* from = &document->data->animations[number];
    sap_gltf_clip clip = {.first = model->channels.used / sizeof(sap_gltf_channel), .name = model->names.used};
    for (size_t i = 0; i < from->channels_count; i++) {
        const cgltf_animation_channel* channel = &from->channels[i];
        if (channel->target_path == cgltf_animation_path_type_invalid || !channel->target_node) continue;
        const sap_status status = add_channel(document, number, channel, numbers, model);
        if (status != SAP_OK) return status;
    }
    clip.count = model->channels.used / sizeof(sap_gltf_channel) - clip.first;
    const sap_gltf_channel* channels = (const sap_gltf_channel*)model->channels.memory + clip.first;
    for (size_t i = 0; i < clip.count; i++) {
        const float* times = (const float*)model->floats.memory + channels[i].times;
        clip.seconds = fmax(clip.seconds, (double)times[channels[i].keys - 1]);
    }
    if (from->name) cgltf_decode_string(from->name);
    const size_t length = from->name ? strlen(from->name) : 0;
    char* name = sap_array_add(model->device, &model->names, length + 1);
    sap_gltf_clip* kept = name ? sap_array_add(model->device, &model->clips, sizeof *kept) : NULL;
    if (!kept) return sap_gltf_no_memory(document);
    if (length) memcpy(name, from->name, length);
    name[length] = 0;
    *kept = clip;
    return SAP_OK;
}

sap_status sap_gltf_clips_read(sap_gltf_document* document, const int32_t* numbers, sap_gltf_model* model) {
    sap_status status = SAP_OK;
    for (size_t i = 0; i < document->data->animations_count && status == SAP_OK; i++)
        status = add_clip(document, i, numbers, model);
    return status;
}
