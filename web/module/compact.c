// Stream compaction.
#include "module.h"

/** Keeps the items whose flag is not 0: integers[0] says how many. `out` may be `items`. */
SAP_EXPORT sap_status web_compact(const void* items, int32_t count, int32_t item_bytes, const uint8_t* keep,
                                  void* out) {
    int64_t kept = 0;
    const sap_status status = sap_compact(web_device, items, count, (size_t)item_bytes, keep, out, &kept);
    web_shared.integers[0] = (int32_t)kept;
    return status;
}
