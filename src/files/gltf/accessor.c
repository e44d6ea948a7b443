// The numbers of accessors, which may lie anywhere in a buffer, be whole numbers that stand for fractions, and be sparse.
#include "device/device.h"
#include "files/gltf/document.h"
#include <string.h>

// Bytes of one element after another: `base` is NULL where all are zero.
typedef struct elements {
    const unsigned char* base;
    size_t stride, size; // of an element
    cgltf_component_type component;
    bool normalized;
} elements;

static const unsigned char* bytes_of(const cgltf_buffer_view* view, size_t offset) {
    const unsigned char* data = view->buffer->data;
    return data ? data + view->offset + offset : NULL; // a buffer without bytes
}

static elements elements_of(const cgltf_accessor* a) {
    return (elements){.base = a->buffer_view ? bytes_of(a->buffer_view, a->offset) : NULL,
                      .stride = a->stride,
                      .size = cgltf_calc_size(a->type, a->component_type),
                      .component = a->component_type,
                      .normalized = a->normalized};
}

static uint32_t unsigned_at(const unsigned char* at, cgltf_component_type component) {
    if (component == cgltf_component_type_r_8u) return *at;
    if (component == cgltf_component_type_r_16u) return (uint32_t)at[0] | (uint32_t)at[1] << 8;
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

// A signed number as a fraction: the least one counts as the one above it.
static float fraction(int value, int most) { return value < -most ? -1 : (float)value / (float)most; }

static float float_at(const unsigned char* at, cgltf_component_type component, bool normalized) {
    const uint32_t bits = unsigned_at(at, component == cgltf_component_type_r_8    ? cgltf_component_type_r_8u
                                          : component == cgltf_component_type_r_16 ? cgltf_component_type_r_16u
                                                                                   : component);
    float value;
    switch (component) {
    case cgltf_component_type_r_8: return normalized ? fraction((int8_t)bits, 127) : (float)(int8_t)bits;
    case cgltf_component_type_r_8u: return normalized ? (float)bits / 255 : (float)bits;
    case cgltf_component_type_r_16: return normalized ? fraction((int16_t)bits, 32767) : (float)(int16_t)bits;
    case cgltf_component_type_r_16u: return normalized ? (float)bits / 65535 : (float)bits;
    case cgltf_component_type_r_32f: memcpy(&value, &bits, sizeof value); return value;
    default: return (float)bits;
    }
}

static void take_floats(const elements* e, size_t number, int wanted, float filled, float* to) {
    const size_t each = cgltf_component_size(e->component);
    const int there = (int)(e->size / each);
    for (int i = 0; i < wanted; i++) {
        to[i] = i < there ? 0 : filled;
        if (e->base && i < there)
            to[i] = float_at(e->base + number * e->stride + (size_t)i * each, e->component, e->normalized);
    }
}

// The place of a sparse accessor's i-th value.
static sap_status sparse_place(const sap_gltf_document* document, const cgltf_accessor* a, size_t i, size_t* place) {
    const cgltf_accessor_sparse* s = &a->sparse;
    const unsigned char* indices = bytes_of(s->indices_buffer_view, s->indices_byte_offset);
    *place = unsigned_at(indices + i * cgltf_component_size(s->indices_component_type), s->indices_component_type);
    if (*place < a->count) return SAP_OK;
    return sap_bad_byte(document->source, SAP_ERROR_RANGE, -1,
                        "accessor %zu has %zu elements, but a sparse value for number %zu",
                        cgltf_accessor_index(document->data, a), (size_t)a->count, *place);
}

static elements sparse_values(const cgltf_accessor* a) {
    elements values = elements_of(a);
    values.base = bytes_of(a->sparse.values_buffer_view, a->sparse.values_byte_offset);
    values.stride = values.size;
    return values;
}

sap_status sap_gltf_expect(const sap_gltf_document* document, const cgltf_accessor* accessor, cgltf_type type,
                           const char* name) {
    if (accessor && accessor->type == type) return SAP_OK;
    return sap_bad_byte(document->source, SAP_ERROR_FORMAT, -1, "%s of the wrong type; glTF 2.0 has another one here",
                        name);
}

sap_status sap_gltf_floats(sap_gltf_document* document, const cgltf_accessor* accessor, int wanted, float filled,
                           sap_array* array) {
    size_t bytes, place;
    sap_status status = sap_gltf_take_room(document, accessor->count, (size_t)wanted * sizeof(float));
    if (status != SAP_OK) return status;
    bytes = accessor->count * (size_t)wanted * sizeof(float); // which did not overflow there
    float* to = sap_array_add(document->source->device, array, bytes);
    if (!to) return sap_gltf_no_memory(document);
    elements e = elements_of(accessor);
    for (size_t i = 0; i < accessor->count; i++) take_floats(&e, i, wanted, filled, to + i * (size_t)wanted);
    if (!accessor->is_sparse) return SAP_OK;
    e = sparse_values(accessor);
    for (size_t i = 0; i < accessor->sparse.count; i++) {
        status = sparse_place(document, accessor, i, &place);
        if (status != SAP_OK) return status;
        take_floats(&e, i, wanted, filled, to + place * (size_t)wanted);
    }
    return SAP_OK;
}

static bool is_unsigned(cgltf_component_type component) {
    return component == cgltf_component_type_r_8u || component == cgltf_component_type_r_16u ||
           component == cgltf_component_type_r_32u;
}

static sap_status take_indices(const sap_gltf_document* document, const elements* e, size_t number, uint64_t limit,
                               const char* name, int32_t* to) {
    const size_t each = cgltf_component_size(e->component), count = e->size / each;
    for (size_t i = 0; i < count; i++) {
        const uint32_t value = e->base ? unsigned_at(e->base + number * e->stride + i * each, e->component) : 0;
        if (value >= limit || value > INT32_MAX)
            return sap_bad_byte(document->source, SAP_ERROR_RANGE, -1, "%s: number %u is not one of %llu", name,
                                (unsigned)value, (unsigned long long)limit);
        to[i] = (int32_t)value;
    }
    return SAP_OK;
}

sap_status sap_gltf_indices(sap_gltf_document* document, const cgltf_accessor* accessor, uint64_t limit,
                            const char* name, sap_array* array) {
    const size_t each = cgltf_num_components(accessor->type);
    size_t place;
    if (!is_unsigned(accessor->component_type))
        return sap_bad_byte(document->source, SAP_ERROR_FORMAT, -1, "%s: are not unsigned whole numbers", name);
    sap_status status = sap_gltf_take_room(document, accessor->count, each * sizeof(int32_t));
    if (status != SAP_OK) return status;
    int32_t* to = sap_array_add(document->source->device, array, accessor->count * each * sizeof *to);
    if (!to) return sap_gltf_no_memory(document);
    elements e = elements_of(accessor);
    for (size_t i = 0; i < accessor->count && status == SAP_OK; i++)
        status = take_indices(document, &e, i, limit, name, to + i * each);
    if (!accessor->is_sparse) return status;
    e = sparse_values(accessor);
    for (size_t i = 0; i < accessor->sparse.count && status == SAP_OK; i++) {
        status = sparse_place(document, accessor, i, &place);
        if (status == SAP_OK) status = take_indices(document, &e, i, limit, name, to + place * each);
    }
    return status;
}
