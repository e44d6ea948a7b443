// Saved trees.
//
// A file is a header of 512 bytes, the tree's arrays just as they lie in memory, and 64 zero bytes, which searches may
// read beyond the arrays. Numbers are in the byte order and the sizes of struct file_header; arrays begin at byte 512,
// hence aligned to 64 bytes in a mapped file. What the arrays are and where each begins follows from the header's
// counts (tree/layout.h). Loading checks all of it: both checksums, every size, then the tree itself.
#include "base/output.h"
#include "base/saved.h"
#include "tree/host_view.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FORMAT_VERSION = 1, BYTE_ORDER_MARK = 0x01020304 };

static const char magic[8] = "SAPTREE\n";

typedef struct file_header {
    char magic[8];
    uint32_t version, byte_order;
    int32_t real_bits, dims, split, axis, leaf_size, drop_duplicates, depth, capacity;
    int64_t count, source_count, nodes, leaves, slots;
    uint64_t bytes;      // of the arrays
    uint64_t arrays_sum; // their checksum
    uint64_t zero[50];
    uint64_t header_sum; // checksum of all of the header before it
} file_header;

_Static_assert(sizeof(file_header) == 512, "the header's size is part of the format");

// ---- Saving

static void fill_header(const sap_tree* tree, file_header* h) {
    const sap_tree_shape* s = &tree->shape;
    memset(h, 0, sizeof *h);
    memcpy(h->magic, magic, sizeof magic);
    h->version = FORMAT_VERSION;
    h->byte_order = BYTE_ORDER_MARK;
    h->real_bits = s->real_bits;
    h->dims = s->dims;
    h->split = (int32_t)tree->options.split;
    h->axis = (int32_t)tree->options.axis;
    h->leaf_size = tree->options.leaf_size;
    h->drop_duplicates = tree->options.drop_duplicates;
    h->depth = s->depth;
    h->capacity = s->capacity;
    h->count = s->count;
    h->source_count = s->source_count;
    h->nodes = s->nodes;
    h->leaves = s->leaves;
    h->slots = s->slots;
    h->bytes = s->bytes;
    h->arrays_sum = sap_saved_sum(tree->arrays, s->bytes);
    h->header_sum = sap_saved_sum(h, offsetof(file_header, header_sum));
}

sap_status sap_tree_save(const sap_tree* tree, const char* path) {
    static const unsigned char end[SAP_ALIGNMENT] = {0};
    if (!tree) return SAP_ERROR_ARGUMENT;
    if (!path) return sap_fail(tree->device, SAP_ERROR_ARGUMENT, "path: is NULL");
    sap_output output;
    file_header header;
    sap_host_view view;
    sap_status status = sap_host_view_open(tree, &view);
    if (status != SAP_OK) return status;
    status = sap_output_open(&output, tree->device, path);
    if (status == SAP_OK) {
        fill_header(&view.tree, &header);
        sap_output_put(&output, &header, sizeof header);
        sap_output_put(&output, view.tree.arrays, view.tree.shape.bytes);
        sap_output_put(&output, end, sizeof end);
        status = sap_output_close(&output);
    }
    sap_host_view_close(&view);
    return status;
}

// ---- Loading

static sap_status unreadable(const sap_device* device, const char* path) {
    return sap_fail(device, SAP_ERROR_IO, "cannot read '%s': %s", path, strerror(errno));
}

static sap_status bad_byte(const sap_device* device, const char* path, size_t byte, const char* what) {
    return sap_fail(device, SAP_ERROR_FORMAT, "'%s': byte %zu: %s", path, byte, what);
}

// Checks what the header says of itself and of the file's size.
static sap_status check_header(const sap_device* device, const char* path, const file_header* h, uint64_t size) {
    if (memcmp(h->magic, magic, sizeof magic) != 0) return bad_byte(device, path, 0, "this is not a saved tree");
    if (h->byte_order != BYTE_ORDER_MARK)
        return bad_byte(device, path, offsetof(file_header, byte_order),
                        "the tree was saved on a machine of another byte order; build it anew");
    if (h->version != FORMAT_VERSION)
        return bad_byte(device, path, offsetof(file_header, version),
                        "the tree was saved by another version of Sapwood; build it anew");
    if (sap_saved_sum(h, offsetof(file_header, header_sum)) != h->header_sum)
        return bad_byte(device, path, offsetof(file_header, header_sum), "the header is damaged");
    if (h->bytes > SIZE_MAX / 2 || size != sizeof *h + h->bytes + SAP_ALIGNMENT)
        return sap_fail(device, SAP_ERROR_FORMAT, "'%s': byte %llu: the file ends here, but should have %llu bytes",
                        path, (unsigned long long)size,
                        (unsigned long long)sizeof *h + (unsigned long long)h->bytes + SAP_ALIGNMENT);
    for (size_t i = 0; i < sizeof h->zero / sizeof h->zero[0]; i++)
        if (h->zero[i]) return bad_byte(device, path, offsetof(file_header, zero), "reserved bytes are not zero");
    if (h->drop_duplicates != 0 && h->drop_duplicates != 1)
        return bad_byte(device, path, offsetof(file_header, drop_duplicates), "drop_duplicates is neither 0 nor 1");
    return SAP_OK;
}

// Takes on options and shape from a checked header.
static sap_status take_header(sap_tree* tree, const char* path, const file_header* h) {
    sap_tree_options* o = &tree->options;
    o->split = (sap_split)h->split;
    o->axis = (sap_axis)h->axis;
    o->leaf_size = h->leaf_size;
    o->drop_duplicates = h->drop_duplicates == 1;
    sap_tree_shape claimed = {.count = h->count,
                              .source_count = h->source_count,
                              .nodes = h->nodes,
                              .leaves = h->leaves,
                              .slots = h->slots,
                              .dims = h->dims,
                              .real_bits = h->real_bits,
                              .depth = h->depth,
                              .capacity = h->capacity,
                              .bytes = (size_t)h->bytes};
    const char* wrong = sap_shape_derive(o, &claimed, &tree->shape);
    return wrong ? bad_byte(tree->device, path, offsetof(file_header, real_bits), wrong) : SAP_OK;
}

// Maps the file; where it cannot be mapped, reads the arrays, before which the file stands.
static sap_status map_or_read(sap_tree* tree, const char* path, int file) {
    size_t bytes = tree->shape.bytes + SAP_ALIGNMENT;
    void* mapping = mmap(NULL, sizeof(file_header) + bytes, PROT_READ, MAP_PRIVATE, file, 0);
    if (mapping != MAP_FAILED) {
        tree->mapping = mapping;
        tree->mapping_bytes = sizeof(file_header) + bytes;
        tree->arrays = (unsigned char*)mapping + sizeof(file_header);
        return SAP_OK;
    }
    tree->arrays = sap_memory_allocate(tree->device, bytes);
    if (!tree->arrays) return sap_fail(tree->device, SAP_ERROR_MEMORY, "no memory for a tree of %zu bytes", bytes);
    tree->allocated = bytes;
    int got = sap_saved_read(file, tree->arrays, bytes);
    if (got < 0) return unreadable(tree->device, path);
    return got > 0 ? SAP_OK : bad_byte(tree->device, path, sizeof(file_header), "the file became shorter");
}

static sap_status check_arrays(const sap_tree* tree, const char* path, const file_header* h) {
    size_t bytes = tree->shape.bytes;
    if (sap_saved_sum(tree->arrays, bytes) != h->arrays_sum)
        return sap_fail(tree->device, SAP_ERROR_FORMAT, "'%s': bytes %zu to %zu: the arrays are damaged", path,
                        sizeof *h, sizeof *h + bytes - 1);
    for (size_t i = bytes; i < bytes + SAP_ALIGNMENT; i++)
        if (tree->arrays[i]) return bad_byte(tree->device, path, sizeof *h + i, "the last bytes are not zero");
    return sap_tree_verify_cpu(tree);
}

// Loads from an open file into a tree that has its device only.
static sap_status load_open(sap_tree* tree, const char* path, int file) {
    const sap_device* device = tree->device;
    struct stat target;
    file_header header;
    if (fstat(file, &target) != 0) return unreadable(device, path);
    if (!S_ISREG(target.st_mode)) return sap_fail(device, SAP_ERROR_IO, "cannot read '%s': not a regular file", path);
    int got = sap_saved_read(file, &header, sizeof header);
    if (got < 0) return unreadable(device, path);
    if (got == 0)
        return bad_byte(device, path, (size_t)target.st_size, "the file ends within the header of a saved tree");
    sap_status status = check_header(device, path, &header, (uint64_t)target.st_size);
    if (status == SAP_OK) status = take_header(tree, path, &header);
    if (status == SAP_OK) status = map_or_read(tree, path, file);
    if (status == SAP_OK) status = check_arrays(tree, path, &header);
    return status;
}

static void forget_arrays(sap_tree* tree) {
    if (tree->mapping)
        sap_tree_unmap(tree);
    else
        sap_memory_release(tree->device, tree->arrays, tree->allocated);
    tree->arrays = NULL;
    tree->allocated = 0;
}

// Hands the arrays of a checked tree over to its device.
static sap_status move_to_device(sap_tree* tree) {
    sap_tree on_host = *tree;
    tree->arrays = NULL;
    tree->allocated = 0;
    tree->mapping = NULL;
    sap_status status = tree->device->table->make(tree, on_host.arrays);
    forget_arrays(&on_host);
    return status;
}

sap_status sap_tree_load(sap_device* device, const char* path, sap_tree** tree) {
    if (!device) return SAP_ERROR_ARGUMENT;
    if (!path) return sap_fail(device, SAP_ERROR_ARGUMENT, "path: is NULL");
    if (!tree) return sap_fail(device, SAP_ERROR_ARGUMENT, "tree: is NULL");
    // Opening a pipe must not wait for its writer.
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) return unreadable(device, path);
    sap_tree* loaded = sap_memory_allocate_zero(device, sizeof *loaded);
    sap_status status = SAP_ERROR_MEMORY;
    if (loaded) {
        loaded->device = device;
        status = load_open(loaded, path, file);
    } else {
        sap_fail(device, status, "no memory for a tree");
    }
    close(file);
    if (loaded && device->table->make) {
        if (status == SAP_OK)
            status = move_to_device(loaded);
        else
            forget_arrays(loaded);
    }
    if (status == SAP_OK)
        *tree = loaded;
    else
        sap_tree_free(loaded);
    return status;
}

void sap_tree_unmap(sap_tree* tree) {
    munmap(tree->mapping, tree->mapping_bytes);
    tree->mapping = NULL;
    tree->arrays = NULL;
}
