// Skinning on the CPU: threads share the vertices.
#include "base/team.h"
#include "move/ops.h"
#include "move/skin.h"

enum { GRAIN = 4096 };

typedef struct skinning {
    const sap_skin* skin;
    const float* motions;
    float *moved, *turned;
    int64_t wrong; // the first vertex that follows a bone that there is none of
} skinning;

static void move(void* context, int64_t from, int64_t to, int32_t worker) {
    skinning* s = context;
    (void)worker;
    for (int64_t i = from; i < to; i++)
        if (!sap_skin_vertex(s->skin, s->motions, i, s->moved, s->turned)) sap_team_lower(&s->wrong, i);
}

sap_status sap_skin_cpu(sap_device* device, const sap_skin* skin, float* moved, float* turned) {
    skinning s = {skin, skin->matrices, moved, turned, skin->count};
    sap_scratch memory = {NULL, 0};
    if (skin->blend == SAP_SKIN_DUAL_QUATERNIONS) {
        if (!sap_scratch_take(device, (size_t)skin->matrix_count * SAP_DUAL_NUMBERS * sizeof(float), &memory))
            return sap_fail(device, SAP_ERROR_MEMORY, "no memory for %d bones", (int)skin->matrix_count);
        float* duals = (float*)(void*)memory.memory;
        for (int64_t b = 0; b < skin->matrix_count; b++)
            sap_skin_dual_of(skin->matrices + 12 * b, duals + SAP_DUAL_NUMBERS * b);
        s.motions = duals;
    }
    sap_team_loop(device->options.threads, skin->count, GRAIN, move, &s);
    sap_scratch_give(device, &memory);
    return s.wrong < skin->count ? sap_skin_refuse(device, skin, s.wrong) : SAP_OK;
}
