// Takes over the points: a thread for each coordinate.
#include "webgpu/build/told.glsl"
layout(std430, binding = 3) buffer ordered { uint keys[]; };             // [dims][count]: ordinals by axis, then id
layout(std430, binding = 11) readonly buffer given { uint coords[]; };   // [count][dims]
layout(std430, binding = 12) buffer refused { uint bad[]; };             // 1: a coordinate is not finite, or too large

void main() {
    int i = thread_number();
    if (i >= threads) return;
    uint bits = coords[i];
    bits = bits == sign_bit ? 0u : bits; // minus zero becomes zero
    int id = i / dims;
    keys[(i - id * dims) * count + id] = ordinal(bits);
    if ((bits & ~sign_bit) > most) bad[0] = 1u;
}
