// The order in which incoherent rays are traced: rays with near origins and similar directions follow each other. The
// origin matters most.
#include "ray/ray.h"
#include <string.h>

enum { DIGIT_BITS = 9, DIGITS = 1 << DIGIT_BITS, KEY_BITS = SAP_RAY_ORDER_BITS };

// The cell of x among 2^bits, `scale` to a unit from `low` on; 0 for NaN.
static uint32_t cell_of(float x, float low, float scale, int bits) {
    float cell = (x - low) * scale, last = (float)((1 << bits) - 1);
    cell = cell > 0 ? cell : 0;
    return (uint32_t)(cell < last ? cell : last);
}

sap_ray_key sap_ray_key_of(const sap_ray* ray, const float lower[3], const float upper[3], uint32_t i) {
    uint32_t class_of = sap_ray_class(ray), z = class_of >> 3, x = z == 2 ? 0 : z + 1, y = x == 2 ? 0 : x + 1;
    float along = (float)(1 << SAP_RAY_DIRECTION_BITS) / __builtin_fabsf(ray->direction[z]), side = 0;
    uint32_t u = cell_of(__builtin_fabsf(ray->direction[x]), 0, along, SAP_RAY_DIRECTION_BITS);
    uint32_t v = cell_of(__builtin_fabsf(ray->direction[y]), 0, along, SAP_RAY_DIRECTION_BITS), origin[3];
    for (int k = 0; k < 3; k++) side = upper[k] - lower[k] > side ? upper[k] - lower[k] : side;
    float scale = (float)(1 << SAP_RAY_ORIGIN_BITS) / side;
    for (int k = 0; k < 3; k++) origin[k] = cell_of(ray->origin[k], lower[k], scale, SAP_RAY_ORIGIN_BITS);
    uint32_t order = sap_ray_order(origin[0], origin[1], origin[2], class_of & 7, z, u, v);
    SAP_ASSERT(order >> KEY_BITS == 0 && z < 3);
    return (sap_ray_key){order, i};
}

sap_ray_key* sap_ray_keys_sort(sap_ray_key* keys, sap_ray_key* other, int64_t count) {
    for (int shift = 0; shift < KEY_BITS; shift += DIGIT_BITS) {
        uint32_t place[DIGITS] = {0}, sum = 0;
        for (int64_t i = 0; i < count; i++) place[keys[i].order >> shift & (DIGITS - 1)]++;
        for (int d = 0; d < DIGITS; d++) {
            uint32_t next = sum + place[d];
            place[d] = sum;
            sum = next;
        }
        SAP_ASSERT(sum == (uint64_t)count);
        for (int64_t i = 0; i < count; i++) other[place[keys[i].order >> shift & (DIGITS - 1)]++] = keys[i];
        sap_ray_key* swap = keys;
        keys = other;
        other = swap;
    }
    return keys;
}
