// A tile's answers into those of the whole picture: id (2^32-1: none), bits of the squared distance, nodes looked at.
// PAGE_LEFT: this pass writes something only where a walk has not ended.
uniform usampler2D place;
uniform usampler2D counts;
uniform ivec2 corner_of_tile;
layout(location = 0) out uvec4 answer;

void main() {
    ivec2 here = ivec2(gl_FragCoord.xy) - corner_of_tile;
    uvec4 found = texelFetch(place, here, 0);
#ifdef PAGE_LEFT
    if (found.x == 0u) discard;
#endif
    answer = uvec4(found.z, found.w, texelFetch(counts, here, 0).x, 0u);
}
