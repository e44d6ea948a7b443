// Any bytes, read as a volume: as they are, and as raw samples whose size, type, order and start the first bytes tell.
#include "fuzz.h"
#include "sapwood/files.h"

static void read_volume(const uint8_t* data, size_t size, const sap_volume_read_options* options) {
    sap_device* device = fuzz_device();
    sap_volume_file* file = NULL;
    fuzz_largest_block = 16 * size + 256;
    fuzz_expect_packed(data, size);
    sap_status status = sap_volume_parse(device, data, size, options, &file);
    if ((status == SAP_OK) != (file != NULL)) abort();
    if (!file) return;
    static const size_t bytes[] = {4, 1, 2, 2};
    const sap_volume* v = &file->volume;
    volatile unsigned last = 0;
    for (size_t i = 0; i < bytes[v->type] * (size_t)(v->size[0] * v->size[1] * v->size[2]); i++)
        last = ((const uint8_t*)v->values)[i];
    (void)last;
    sap_volume_file_free(file);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    enum { TOLD = 6 };
    read_volume(data, size, NULL);
    if (size < TOLD) return 0;
    sap_volume_read_options options = {.type = (sap_voxel)(data[3] % 4), .big_endian = data[4] & 1, .skip = data[5]};
    options.order = data[4] & 4 ? SAP_ORDER_XYZ : SAP_ORDER_ZYX;
    for (int i = 0; i < 3; i++) options.size[i] = data[4] & 2 ? INT64_MAX >> data[i] % 63 : data[i];
    read_volume(data + TOLD, size - TOLD, &options);
    return 0;
}
