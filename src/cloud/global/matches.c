// Matches of two thinned clouds: points whose features are most like each other, both ways.
#include "cloud/global/global.h"
#include <math.h>

enum { PAD = 16, NUMBERS = SAP_FEATURE_NUMBERS };

// Number by number, padded by what is like nothing.
static void transpose(const sap_global_cloud* cloud, int64_t padded, float* to) {
    for (int b = 0; b < NUMBERS; b++)
        for (int64_t i = 0; i < padded; i++)
            to[b * padded + i] = i < cloud->count ? cloud->features[NUMBERS * i + b] : INFINITY;
}

// Points without a normal have features of 0 that say nothing.
static bool is_blank(const sap_global_cloud* cloud, int64_t i) {
    const float* n = cloud->normals + 3 * i;
    return n[0] == 0 && n[1] == 0 && n[2] == 0;
}

sap_status sap_global_match(sap_globe* g) {
    const sap_global_cloud *source = &g->source, *target = &g->target;
    const int64_t most = source->count > target->count ? source->count : target->count;
    const int64_t padded = (most + PAD - 1) / PAD * PAD;
    sap_scratch memory = {NULL, 0};
    size_t bytes, matches;
    if (!sap_size_multiply((uint64_t)padded, NUMBERS * sizeof(float) + 2 * (sizeof(int32_t) + sizeof(float)), &bytes) ||
        !sap_size_multiply((uint64_t)source->count, sizeof(sap_match), &matches) ||
        !sap_scratch_take(g->device, bytes + 1, &memory) ||
        !sap_scratch_take(g->device, matches + 1, &g->match_memory)) {
        sap_scratch_give(g->device, &memory);
        return sap_fail(g->device, SAP_ERROR_MEMORY, "no memory to match %lld features", (long long)most);
    }
    float* others = (float*)(void*)memory.memory;
    float *forth2 = others + NUMBERS * padded, *back2 = forth2 + padded;
    int32_t *forth = (int32_t*)(void*)(back2 + padded), *back = forth + padded;
    sap_feature_matching m = {
        g->device, source->features, source->count, others, (target->count + PAD - 1) / PAD * PAD, forth, forth2};
    transpose(target, m.padded, others);
    sap_status status = g->match(&m);
    m = (sap_feature_matching){
        g->device, target->features, target->count, others, (source->count + PAD - 1) / PAD * PAD, back, back2};
    transpose(source, m.padded, others);
    if (status == SAP_OK) status = g->match(&m);
    g->matches = (sap_match*)(void*)g->match_memory.memory;
    for (int64_t i = 0; status == SAP_OK && i < source->count; i++) {
        const int32_t j = forth[i];
        if (j < 0 || back[j] != i || is_blank(source, i) || is_blank(target, j)) continue;
        g->matches[g->match_count++] = (sap_match){(int32_t)i, j, forth2[i]};
    }
    sap_scratch_give(g->device, &memory);
    return status;
}
