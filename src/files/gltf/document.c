// Opens glTF 2.0 and GLB: cgltf parses and validates; sizes are checked here before a byte of a buffer is looked at.
#include "files/gltf/document.h"
#include "device/device.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

enum {
    PATH_BYTES = 4096,
    NESTED_MOST = 256, // arrays and objects within each other
    NODES_MOST = 1024, // ancestors of a node
    TIMES = 100,       // what may be made of the bytes present, where options.unpack_limit says nothing
    LEAST_ROOM = 64 << 20,
    GLB_JSON_LENGTH = 12, // where a GLB says how long its JSON is
    GLB_JSON = 20         // and where that begins
};

// ---- Memory for cgltf, which does not tell sizes when it gives memory back, and follows null pointers when it gives up
// what it has half made. So all blocks are in a list, and when memory is refused, parsing is left at once.

typedef union sap_gltf_block {
    struct {
        union sap_gltf_block *before, *after;
        size_t bytes;
    } is;
    unsigned char room[SAP_ALIGNMENT];
} sap_gltf_block;

static void* allocate(void* user, cgltf_size size) {
    sap_gltf_document* document = user;
    size_t bytes;
    sap_gltf_block* block = NULL;
    if (sap_size_add(size, sizeof *block, &bytes)) block = sap_memory_allocate(document->source->device, bytes);
    if (!block) {
        if (document->refused) longjmp(*document->refused, 1);
        return NULL;
    }
    block->is.before = NULL;
    block->is.after = document->blocks;
    block->is.bytes = bytes;
    if (document->blocks) document->blocks->is.before = block;
    document->blocks = block;
    return block + 1;
}

static void release(void* user, void* memory) {
    sap_gltf_document* document = user;
    if (!memory) return;
    sap_gltf_block* block = (sap_gltf_block*)memory - 1;
    if (block->is.after) block->is.after->is.before = block->is.before;
    if (block->is.before)
        block->is.before->is.after = block->is.after;
    else
        document->blocks = block->is.after;
    sap_memory_release(document->source->device, block, block->is.bytes);
}

static cgltf_result parse(sap_gltf_document* document) {
    const cgltf_options options = {.memory = {allocate, release, document}};
    const sap_source* source = document->source;
    const size_t mark = sap_text_begin(source).offset; // bytes of a byte order mark, which cgltf does not know
    jmp_buf refused;
    cgltf_result result = cgltf_result_out_of_memory;
    document->refused = &refused;
    if (!setjmp(refused))
        result = cgltf_parse(&options, source->bytes + mark, source->size - mark, &document->data);
    else
        result = cgltf_result_out_of_memory;
    document->refused = NULL;
    return result;
}

// ---- Complaints.

sap_status sap_gltf_no_memory(const sap_gltf_document* document) {
    return sap_bad_byte(document->source, SAP_ERROR_MEMORY, -1, "no memory for what is in it");
}

static sap_status refused(const sap_gltf_document* document, cgltf_result result, bool valid) {
    const sap_source* source = document->source;
    switch (result) {
    case cgltf_result_out_of_memory: return sap_gltf_no_memory(document);
    case cgltf_result_legacy_gltf:
        return sap_bad_byte(source, SAP_ERROR_UNSUPPORTED, -1, "is glTF 1.0; save it as glTF 2.0");
    case cgltf_result_data_too_short:
        return sap_bad_byte(source, SAP_ERROR_FORMAT, -1, "%s; get the file again",
                            valid ? "an accessor or a view reaches beyond its buffer, or names what is not there"
                                  : "it ends too early");
    case cgltf_result_invalid_json:
        return sap_bad_byte(source, SAP_ERROR_FORMAT, -1, "its JSON is no JSON; get the file again");
    case cgltf_result_unknown_format: return sap_bad_byte(source, SAP_ERROR_FORMAT, 0, "is no glTF 2.0 and no GLB");
    default:
        return sap_bad_byte(source, SAP_ERROR_FORMAT, -1,
                            "is JSON, but no valid glTF 2.0: something names what is not there, or has the wrong kind");
    }
}

sap_status sap_gltf_take_room(sap_gltf_document* document, uint64_t count, size_t each) {
    size_t bytes;
    if (sap_size_multiply(count, each, &bytes) && bytes <= document->room) {
        document->room -= bytes;
        return SAP_OK;
    }
    return sap_bad_byte(document->source, SAP_ERROR_RANGE, -1,
                        "its instances would become more than %zu bytes; options.unpack_limit allows more",
                        document->allowed);
}

// ---- What cgltf would take very long for: its time grows with the square of how deep things are.

static bool nests_deeply(const sap_source* source) {
    const unsigned char* bytes = (const unsigned char*)source->bytes;
    size_t from = 0, end = source->size;
    int depth = 0;
    bool in_text = false;
    if (sap_source_begins(source, "glTF") && end >= GLB_JSON) { // the first chunk is the JSON
        uint32_t length = 0;
        for (int i = 0; i < 4; i++) length |= (uint32_t)bytes[GLB_JSON_LENGTH + i] << 8 * i;
        from = GLB_JSON;
        if (length < end - from) end = from + length;
    }
    for (size_t i = from; i < end; i++) {
        const unsigned char c = bytes[i];
        if (in_text) {
            i += c == '\\';
            in_text = c != '"';
        } else if (c == '"') {
            in_text = true;
        } else if (c == '{' || c == '[') {
            if (++depth > NESTED_MOST) return true;
        } else if (c == '}' || c == ']') {
            depth--;
        }
    }
    return false;
}

static sap_status check_ancestors(const sap_gltf_document* document) {
    for (size_t i = 0; i < document->data->nodes_count; i++) {
        int above = 0;
        for (const cgltf_node* node = document->data->nodes[i].parent; node; node = node->parent)
            if (++above > NODES_MOST)
                return sap_bad_byte(document->source, SAP_ERROR_FORMAT, -1,
                                    "node %zu has more than %d ancestors, or is one of them itself", i, NODES_MOST);
    }
    return SAP_OK;
}

// ---- Extensions that have to be understood.

static sap_status check_extensions(const sap_gltf_document* document) {
    // What surfaces and lamps look like besides does not change where triangles are.
    static const char* const known[] = {"KHR_materials_", "KHR_texture_",    "EXT_texture_", "KHR_mesh_quantization",
                                        "KHR_lights_",    "KHR_xmp_json_ld", "MSFT_texture_"};
    const cgltf_data* data = document->data;
    char shown[SAP_SHOWN_BYTES];
    for (size_t i = 0; i < data->extensions_required_count; i++) {
        const char* name = data->extensions_required[i];
        bool found = false;
        for (size_t k = 0; k < sizeof known / sizeof *known; k++) found |= !strncmp(name, known[k], strlen(known[k]));
        if (found) continue;
        return sap_bad_byte(document->source, SAP_ERROR_UNSUPPORTED, -1, "needs the extension %s; save it without",
                            sap_span_show((sap_span){name, name + strlen(name)}, shown));
    }
    return SAP_OK;
}

// ---- Sizes.

// Whether `count` elements of `size` bytes, each so many after the one before, lie in a view from `offset` on.
static bool lies_in(const cgltf_buffer_view* view, size_t offset, size_t stride, size_t count, size_t size) {
    size_t bytes;
    if (!view || !view->buffer || view->offset > view->buffer->size || view->size > view->buffer->size - view->offset)
        return false;
    if (count == 0) return true;
    return sap_size_multiply(count - 1, stride, &bytes) && sap_size_add(bytes, offset, &bytes) &&
           sap_size_add(bytes, size, &bytes) && bytes <= view->size;
}

static bool is_sound(const cgltf_accessor* a) {
    if (a->component_type == cgltf_component_type_invalid || a->type == cgltf_type_invalid) return false;
    const size_t size = cgltf_calc_size(a->type, a->component_type);
    if (a->buffer_view && !lies_in(a->buffer_view, a->offset, a->stride, a->count, size)) return false;
    if (!a->is_sparse) return true;
    const cgltf_accessor_sparse* s = &a->sparse;
    const size_t index = cgltf_component_size(s->indices_component_type);
    return s->count <= a->count && index > 0 &&
           lies_in(s->indices_buffer_view, s->indices_byte_offset, index, s->count, index) &&
           lies_in(s->values_buffer_view, s->values_byte_offset, size, s->count, size);
}

static bool is_packed(const cgltf_accessor* a) {
    return (a->buffer_view && a->buffer_view->has_meshopt_compression) ||
           (a->is_sparse && (a->sparse.indices_buffer_view->has_meshopt_compression ||
                             a->sparse.values_buffer_view->has_meshopt_compression));
}

static sap_status check_sizes(const sap_gltf_document* document) {
    const cgltf_data* data = document->data;
    for (size_t i = 0; i < data->accessors_count; i++) {
        const cgltf_accessor* a = &data->accessors[i];
        if (!is_sound(a))
            return sap_bad_byte(document->source, SAP_ERROR_FORMAT, -1,
                                "accessor %zu reaches beyond its buffer, or has an unknown type; get the file again",
                                i);
        if (is_packed(a))
            return sap_bad_byte(document->source, SAP_ERROR_UNSUPPORTED, -1,
                                "accessor %zu is packed by meshopt; save it without compression", i);
    }
    return SAP_OK;
}

// ---- Buffers.

static sap_status bad_buffer(const sap_gltf_document* document, size_t number, sap_status status, const char* what) {
    return sap_bad_byte(document->source, status, -1, "buffer %zu %s", number, what);
}

// What a data: URI holds.
static sap_status decode_buffer(sap_gltf_document* document, size_t number) {
    cgltf_buffer* buffer = &document->data->buffers[number];
    static const char coding[] = ";base64";
    const char* comma = strchr(buffer->uri, ',');
    const size_t before = comma ? (size_t)(comma - buffer->uri) : 0;
    if (before < strlen(coding) || strncmp(comma - strlen(coding), coding, strlen(coding)) != 0)
        return bad_buffer(document, number, SAP_ERROR_UNSUPPORTED, "is a data: URI, but none of base64");
    // cgltf reads as many characters as the size needs: they have to be there.
    if (buffer->size / 3 * 4 + (buffer->size % 3 ? buffer->size % 3 + 1 : 0) > strlen(comma + 1))
        return bad_buffer(document, number, SAP_ERROR_FORMAT, "has fewer bytes than it says; get the file again");
    const cgltf_options options = {.memory = document->data->memory};
    const cgltf_result result = cgltf_load_buffer_base64(&options, buffer->size, comma + 1, &buffer->data);
    if (result == cgltf_result_out_of_memory) return sap_gltf_no_memory(document);
    if (result != cgltf_result_success)
        return bad_buffer(document, number, SAP_ERROR_FORMAT, "is a data: URI with characters that are not base64");
    buffer->data_free_method = cgltf_data_free_method_memory_free;
    return SAP_OK;
}

// Whether a URI names a file in the glTF's folder or below it.
static bool stays_below(const char* uri) {
    if (!*uri || *uri == '/' || strchr(uri, ':') || strchr(uri, '\\')) return false;
    for (const char* at = uri; at; at = strchr(at, '/')) {
        at += *at == '/';
        if (!strncmp(at, "..", 2) && (at[2] == '/' || !at[2])) return false;
    }
    return true;
}

static sap_status map_buffer(sap_gltf_document* document, size_t number, const char* path) {
    cgltf_buffer* buffer = &document->data->buffers[number];
    char file[PATH_BYTES], shown[SAP_SHOWN_BYTES];
    cgltf_decode_string(buffer->uri);
    cgltf_decode_uri(buffer->uri);
    sap_span_show((sap_span){buffer->uri, buffer->uri + strlen(buffer->uri)}, shown);
    if (!stays_below(buffer->uri))
        return sap_bad_byte(document->source, SAP_ERROR_UNSUPPORTED, -1,
                            "buffer %zu is '%s'; only files in the same folder, or below it, are read", number, shown);
    if (!path)
        return sap_bad_byte(document->source, SAP_ERROR_UNSUPPORTED, -1,
                            "buffer %zu is the file '%s'; read the glTF by its path, or save it as .glb", number,
                            shown);
    const char* slash = strrchr(path, '/');
    const int length = snprintf(file, sizeof file, "%.*s%s", slash ? (int)(slash - path) + 1 : 0, path, buffer->uri);
    errno = ENAMETOOLONG;
    if (length < 0 || (size_t)length >= sizeof file || !sap_file_map(file, &document->files[number]))
        return sap_bad_byte(document->source, SAP_ERROR_IO, -1, "cannot read its buffer '%s': %s", shown,
                            strerror(errno));
    if (document->files[number].size < buffer->size)
        return bad_buffer(document, number, SAP_ERROR_FORMAT, "is a file of fewer bytes than it says");
    buffer->data = document->files[number].memory;
    return SAP_OK;
}

static sap_status load_buffers(sap_gltf_document* document, const char* path) {
    cgltf_data* data = document->data;
    for (size_t i = 0; i < data->buffers_count; i++) {
        cgltf_buffer* buffer = &data->buffers[i];
        sap_status status = SAP_OK;
        if (!buffer->uri && i == 0 && data->bin) {
            if (data->bin_size < buffer->size)
                return bad_buffer(document, i, SAP_ERROR_FORMAT, "has fewer bytes than it says; get the file again");
            buffer->data = (void*)(uintptr_t)data->bin;
        } else if (!buffer->uri) {
            status = bad_buffer(document, i, SAP_ERROR_FORMAT, "names no file, and there are no bytes in the file");
        } else if (!strncmp(buffer->uri, "data:", strlen("data:"))) {
            status = decode_buffer(document, i);
        } else {
            status = map_buffer(document, i, path);
        }
        if (status != SAP_OK) return status;
    }
    return SAP_OK;
}

// What may be made of the file.
static void find_room(sap_gltf_document* document) {
    const int64_t limit = document->source->unpack_limit;
    size_t present = document->source->size;
    for (size_t i = 0; i < document->data->buffers_count; i++)
        if (!sap_size_add(present, document->files[i].size, &present)) present = SIZE_MAX;
    if (!sap_size_multiply(present, TIMES, &document->allowed)) document->allowed = SIZE_MAX;
    if (document->allowed < LEAST_ROOM) document->allowed = LEAST_ROOM;
    if (limit > 0) document->allowed = (uint64_t)limit < SIZE_MAX ? (size_t)limit : SIZE_MAX;
    document->room = document->allowed;
}

sap_status sap_gltf_open(const sap_source* source, const char* path, sap_gltf_document* document) {
    *document = (sap_gltf_document){.source = source};
    if (nests_deeply(source))
        return sap_bad_byte(source, SAP_ERROR_FORMAT, -1,
                            "its JSON has more than %d arrays and objects within each other", NESTED_MOST);
    cgltf_result result = parse(document);
    if (result != cgltf_result_success) return refused(document, result, false);
    sap_status status = check_sizes(document);
    if (status == SAP_OK) status = check_ancestors(document);
    if (status != SAP_OK) return status;
    // Without the bytes of buffers, so that it looks at none.
    result = cgltf_validate(document->data);
    if (result != cgltf_result_success) return refused(document, result, true);
    status = check_extensions(document);
    if (status != SAP_OK) return status;
    const size_t count = document->data->buffers_count;
    document->files = sap_memory_allocate_zero(source->device, count * sizeof *document->files);
    if (!document->files) return sap_gltf_no_memory(document);
    status = load_buffers(document, path);
    if (status == SAP_OK) find_room(document);
    return status;
}

void sap_gltf_close(sap_gltf_document* document) {
    const sap_device* device = document->source->device;
    const size_t count = document->data ? document->data->buffers_count : 0;
    for (size_t i = 0; document->files && i < count; i++) sap_file_release(device, &document->files[i]);
    sap_memory_release(device, document->files, count * sizeof *document->files);
    while (document->blocks) release(document, document->blocks + 1);
    document->data = NULL;
    document->files = NULL;
}
