// How many points of lower halves there are before each block of a list: a workgroup for each list.
#include "webgpu/build/told.glsl"
layout(std430, binding = 10) buffer totals { uint total[]; };

shared uint sums[64];

void main() {
    int lane = int(gl_LocalInvocationID.x);
    int blocks = (count + block - 1) / block;
    int share = (blocks + 63) / 64; // of a lane
    int list = int(gl_WorkGroupID.x);
    int from = min(lane * share, blocks);
    int to = min(from + share, blocks);
    uint own = 0u;
    for (int i = from; i < to; ++i) own += total[list * blocks + i];
    uint sum = own;
    sums[lane] = sum;
    barrier();
    for (int by = 1; by < 64; by *= 2) {
        uint other = sums[max(lane - by, 0)];
        barrier();
        sum += lane >= by ? other : 0u;
        sums[lane] = sum;
        barrier();
    }
    uint before = sum - own;
    for (int i = from; i < to; ++i) {
        uint here = total[list * blocks + i];
        total[list * blocks + i] = before;
        before += here;
    }
}
