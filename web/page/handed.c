// Trees on their way from the worker to the page's thread. Their bytes never leave the page, so that these two calls, and
// no others, trust what they are given; files of the reader's are read, and checked, in the worker.
#include "page.h"

static const sap_load_options trusting = {.trust = true};

sap_status page_take_tree(sap_device* device, const void* bytes, size_t size, sap_tree** tree) {
    return sap_tree_load_memory(device, bytes, (int64_t)size, &trusting, tree);
}

sap_status page_take_mesh_tree(sap_device* device, const void* bytes, size_t size, sap_mesh_tree** tree) {
    return sap_mesh_tree_load_memory(device, bytes, (int64_t)size, &trusting, tree);
}
