// Merges pairs of runs: a thread for each RUN points of what they become, which finds by bisection where they begin in both.
#include "webgpu/build/told.glsl"
#include "webgpu/build/order.glsl"
layout(std430, binding = 4) readonly buffer sorted_runs { uvec2 pairs[]; };
layout(std430, binding = 5) buffer merged_runs { uvec2 merged[]; };

void main() {
    int i = thread_number();
    if (i >= threads) return;
    int parts = (count + RUN - 1) / RUN; // of an axis
    int axis = i / parts;
    int list = axis * count;
    int from = (i - axis * parts) * RUN;
    int points = min(RUN, count - from);
    int first = from / (2 * width) * (2 * width);
    int second = min(first + width, count);
    int end = min(second + width, count);
    int before = from - first; // points of both runs
    int low = max(0, before - (end - second));
    int high = min(before, second - first);
    while (low < high) {
        int middle = (low + high) / 2;
        bool is_one = comes_before(pairs[list + first + middle], pairs[list + second + before - 1 - middle], axis);
        low = is_one ? middle + 1 : low;
        high = is_one ? high : middle;
    }
    int one = first + low;
    int other = second + before - low;
    uvec2 pair_one = pairs[list + min(one, count - 1)];
    uvec2 pair_other = pairs[list + min(other, count - 1)];
    for (int j = 0; j < points; ++j) {
        bool takes_one = pair_one.x < pair_other.x;
        if (pair_one.x == pair_other.x) takes_one = tied_before(pair_one.y, pair_other.y, axis);
        takes_one = other >= end || (takes_one && one < second);
        uvec2 taken = takes_one ? pair_one : pair_other;
        merged[list + from + j] = taken;
        one += takes_one ? 1 : 0;
        other += takes_one ? 0 : 1;
        uvec2 next = pairs[list + min(takes_one ? one : other, count - 1)];
        pair_one = takes_one ? next : pair_one;
        pair_other = takes_one ? pair_other : next;
    }
}
