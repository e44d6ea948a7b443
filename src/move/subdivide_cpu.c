// Loop subdivision on the CPU: threads share the vertices of a level.
#include "base/team.h"
#include "move/ops.h"
#include "move/subdivision.h"

enum { GRAIN = 2048 };

typedef struct pass {
    sap_loop_level level;
    const float* from;
    float *to, *normals;
} pass;

static void refine(void* context, int64_t from, int64_t to, int32_t worker) {
    const pass* p = context;
    (void)worker;
    for (int64_t i = from; i < to; i++) sap_loop_refine(&p->level, p->from, i, p->to);
}

static void finish(void* context, int64_t from, int64_t to, int32_t worker) {
    const pass* p = context;
    (void)worker;
    for (int64_t i = from; i < to; i++) sap_loop_finish(&p->level, p->from, i, p->to, p->normals);
}

sap_status sap_subdivide_cpu(const sap_subdivision_owned* s, const float* vertices, float* refined, float* normals) {
    sap_device* device = s->device;
    const int32_t levels = s->shown.levels, kept = s->limit ? levels : levels - 1; // levels that are not the result
    size_t floats = 0;
    for (int32_t l = 1; l <= kept; l++) floats += 3 * (size_t)s->counts[l].vertices;
    sap_scratch memory = {NULL, 0};
    if (floats && !sap_scratch_take(device, floats * sizeof(float), &memory))
        return sap_fail(device, SAP_ERROR_MEMORY, "no memory for the levels of a mesh");
    float* level = (float*)(void*)memory.memory;
    const float* from = vertices;
    for (int32_t l = 0; l < levels; l++) {
        float* to = l < kept ? level : refined;
        pass p = {sap_loop_level_of(s, l), from, to, NULL};
        sap_team_loop(device->options.threads, s->counts[l + 1].vertices, GRAIN, refine, &p);
        level += l < kept ? 3 * s->counts[l + 1].vertices : 0;
        from = to;
    }
    if (levels == 0 && !s->limit) memcpy(refined, vertices, (size_t)s->shown.vertex_count * 3 * sizeof *vertices);
    if (s->limit || normals) {
        pass p = {sap_loop_level_of(s, levels), from, s->limit ? refined : NULL, normals};
        sap_team_loop(device->options.threads, s->shown.vertex_count, GRAIN, finish, &p);
    }
    sap_scratch_give(device, &memory);
    return SAP_OK;
}
