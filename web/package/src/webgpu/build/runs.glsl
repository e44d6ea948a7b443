// Begins to sort the points along each axis: runs of RUN points, a thread for each, by insertion.
#include "webgpu/build/told.glsl"
#include "webgpu/build/order.glsl"
layout(std430, binding = 5) buffer sorted_runs { uvec2 pairs[]; }; // [dims][count]: ordinal, id

void main() {
    int i = thread_number();
    if (i >= threads) return;
    int runs = (count + RUN - 1) / RUN; // of an axis
    int axis = i / runs;
    int from = (i - axis * runs) * RUN;
    int points = min(RUN, count - from);
    uvec2 run[RUN];
    for (int j = 0; j < points; ++j) {
        uint id = uint(from + j);
        uvec2 pair = uvec2(key_of(axis, id), id);
        int place = j;
        while (place > 0) {
            if (!comes_before(pair, run[place - 1], axis)) break;
            run[place] = run[place - 1];
            --place;
        }
        run[place] = pair;
    }
    for (int j = 0; j < points; ++j) pairs[axis * count + from + j] = run[j];
}
