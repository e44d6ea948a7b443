// Finds NCCL's library.
#include "cluster/nccl/nccl.h"
#include <string.h>

#if defined(__linux__)
#include <dlfcn.h>

// An address of data as one of a function, which C has no cast for.
static void assign(void* function, void* address) { memcpy(function, &address, sizeof address); }

sap_status sap_nccl_load(const sap_device* device, const sap_nccl_options* options, sap_nccl_calls* calls) {
    const char* name = options->library ? options->library : "libnccl.so.2";
    // Never closed again: its threads may outlast its communicators.
    void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return sap_fail(device, SAP_ERROR_UNSUPPORTED,
                        "NCCL was looked for as %s, and not found; options.library may say where it is: %s", name,
                        dlerror());
    const char* missing = NULL;
#define FIND(type, name, parameters)                                                                                   \
    assign((void*)&calls->name, dlsym(library, "nccl" #name));                                                         \
    if (!calls->name && !missing) missing = "nccl" #name;
    SAP_NCCL_EACH(FIND)
#undef FIND
    int version = 0;
    if (calls->GetVersion && (calls->GetVersion(&version) != SAP_NCCL_SUCCESS || version < SAP_NCCL_OLDEST))
        return sap_fail(device, SAP_ERROR_UNSUPPORTED, "%s is NCCL %d.%d; 2.14 or a later one is needed", name,
                        version / (version < 10000 ? 1000 : 10000), version / 100 % (version < 10000 ? 10 : 100));
    if (missing) return sap_fail(device, SAP_ERROR_UNSUPPORTED, "%s has no function %s", name, missing);
    return SAP_OK;
}

#else

sap_status sap_nccl_load(const sap_device* device, const sap_nccl_options* options, sap_nccl_calls* calls) {
    (void)options;
    (void)calls;
    return sap_fail(device, SAP_ERROR_UNSUPPORTED, "NCCL is not looked for on this system: it is a library for Linux");
}

#endif
