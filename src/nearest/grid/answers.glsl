// The answers of walks as host memory wants them, so that nothing is left to unpack there: from the textures of a frame
// into one buffer, ids first, then squared distances. k: neighbours asked for; 0: points are counted. SAP_LISTS:
// textures that hold two neighbours each.
layout(local_size_x = 256) in;

const uint GROUPS = 32768u; // in a row, as device/gl.h says

uniform usampler2D place;
#if SAP_LISTS > 0
uniform usampler2D list0;
#endif
#if SAP_LISTS > 1
uniform usampler2D list1;
#endif
#if SAP_LISTS > 2
uniform usampler2D list2;
uniform usampler2D list3;
#endif
uniform ivec4 rectangle; // of the frame: x, y, width, height
uniform int k;
uniform bool with_distances;

layout(std430, binding = 0) buffer Answers { uint answers[]; };

void put(int row, int which, uvec2 neighbor) {
    bool none = neighbor.x == 0x7fffffffu;
    int at = row * k + which;
    answers[at] = none ? 0xffffffffu : neighbor.x;
    if (with_distances) answers[rectangle.z * rectangle.w * k + at] = none ? 0x7f800000u : neighbor.y;
}

// The places of a list that are wanted are its last k.
void put_two(int row, int first, uvec4 two) {
    if (first >= 0) put(row, first, two.xy);
    if (first >= -1) put(row, first + 1, two.zw);
}

void main() {
    uint number = (gl_WorkGroupID.x + GROUPS * gl_WorkGroupID.y) * 256u + gl_LocalInvocationID.x;
    int row = int(number);
    if (number >= uint(rectangle.z * rectangle.w)) return;
    ivec2 at = rectangle.xy + ivec2(row % rectangle.z, row / rectangle.z);
#if SAP_LISTS == 0
    uvec4 walk = texelFetch(place, at, 0);
    if (k > 0) {
        put(row, 0, walk.zw);
    } else {
        answers[row] = walk.z;
    }
#else
    put_two(row, k - 2 * SAP_LISTS, texelFetch(list0, at, 0));
#if SAP_LISTS > 1
    put_two(row, k - 2 * SAP_LISTS + 2, texelFetch(list1, at, 0));
#endif
#if SAP_LISTS > 2
    put_two(row, k - 2 * SAP_LISTS + 4, texelFetch(list2, at, 0));
    put_two(row, k - 2 * SAP_LISTS + 6, texelFetch(list3, at, 0));
#endif
#endif
}
