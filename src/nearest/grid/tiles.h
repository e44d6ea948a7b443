// Tiles of pixels of a grid whose nearest points one walk finds together: a node or a point that is read serves all of
// them. Text for GLSL ES 3.00; part of nearest.glsl, for one neighbour on balanced trees. Ids are floats here, which
// select more cheaply: they are below 2^24. Loops test at their end; rounds that have nothing to do change nothing.
//
// SAP_TILES   1: this pass finds the nearest points of a tile; 2: this one gives each pixel its own

// A tile has 4 x 2 pixels, as nearest/grid/walk_gl.c has it: a vector holds a row.

#if SAP_TILES == 1
// Ids and squared distances of a row, then of the next. -1 - id: the tile's walk has not ended.
SAP_OUT(1, out_distance0)
SAP_OUT(2, out_place1)
SAP_OUT(3, out_distance1)

// Four pixels in a row, and the nearest that they have.
struct row {
    vec4 at[SAP_AXES];
    vec4 distance2;
    vec4 id;
};

row row_at(ivec2 first, float far2) {
    sap_point a = query_at(first), b = query_at(min(first + ivec2(1, 0), size - 1)),
              c = query_at(min(first + ivec2(2, 0), size - 1)), d = query_at(min(first + ivec2(3, 0), size - 1));
    row made;
    made.at[0] = vec4(a.at[0], b.at[0], c.at[0], d.at[0]);
    made.at[1] = vec4(a.at[1], b.at[1], c.at[1], d.at[1]);
#if SAP_AXES == 3
    made.at[2] = vec4(a.at[2], b.at[2], c.at[2], d.at[2]);
#endif
    made.distance2 = vec4(far2);
    made.id = vec4(SAP_NO_ID);
    return made;
}

vec4 row_distance2(row pixels, vec3 point) {
    vec4 offset = pixels.at[0] - point.x;
    vec4 sum = SAP_ROUNDED(offset * offset);
    offset = pixels.at[1] - point.y;
    sum = sum + SAP_ROUNDED(offset * offset);
#if SAP_AXES == 3
    offset = pixels.at[2] - point.z;
    sum = sum + SAP_ROUNDED(offset * offset);
#endif
    return sum;
}

// The row after four points have been offered to it: as their ids ascend, the first of equally near ones is taken.
row row_offered(row pixels, vec4 x, vec4 y, vec4 z, vec4 ids) {
    vec4 least = row_distance2(pixels, vec3(x.x, y.x, z.x));
    vec4 id = vec4(ids.x);
    vec4 next = row_distance2(pixels, vec3(x.y, y.y, z.y));
    id = mix(id, vec4(ids.y), lessThan(next, least));
    least = min(least, next);
    next = row_distance2(pixels, vec3(x.z, y.z, z.z));
    id = mix(id, vec4(ids.z), lessThan(next, least));
    least = min(least, next);
    next = row_distance2(pixels, vec3(x.w, y.w, z.w));
    id = mix(id, vec4(ids.w), lessThan(next, least));
    least = min(least, next);
    bvec4 nearer = lessThan(least, pixels.distance2);
    bvec4 first = lessThan(mix(vec4(SAP_NO_ID), id, equal(least, pixels.distance2)), pixels.id);
    pixels.id = mix(mix(pixels.id, id, first), id, nearer);
    pixels.distance2 = min(least, pixels.distance2);
    return pixels;
}

float greatest(vec4 values) { return max(max(values.x, values.y), max(values.z, values.w)); }

// How far from a point the row's farthest pixel is, squared.
float row_radius2(row pixels, sap_point from) {
    vec3 point = vec3(0.0);
    point.xy = vec2(from.at[0], from.at[1]);
#if SAP_AXES == 3
    point.z = from.at[2];
#endif
    return greatest(row_distance2(pixels, point));
}

// How far the pixels of the row are from a box at least, squared: as sap_node_bound2 has it.
vec4 row_bound2(row pixels, vec3 lower, vec3 upper) {
    vec4 apart = max(max(lower.x - pixels.at[0], pixels.at[0] - upper.x), 0.0);
    vec4 sum = SAP_ROUNDED(apart * apart);
    apart = max(max(lower.y - pixels.at[1], pixels.at[1] - upper.y), 0.0);
    sum = sum + SAP_ROUNDED(apart * apart);
#if SAP_AXES == 3
    apart = max(max(lower.z - pixels.at[2], pixels.at[2] - upper.z), 0.0);
    sum = sum + SAP_ROUNDED(apart * apart);
#endif
    return sum;
}

// The greatest id that the row has at a distance that is a bound's; -1: none.
float row_tied(row pixels, vec4 bound2) {
    return greatest(mix(vec4(-1.0), pixels.id, equal(bound2, pixels.distance2)));
}

void tile(ivec2 here) {
    ivec2 first = here * ivec2(4, 2);
    ivec2 middle_pixel = min(first + ivec2(2, 1), size - 1);
    sap_point middle = query_at(middle_pixel);
    uvec4 hint = texelFetch(hints, middle_pixel >> LARGE, 0);
    row top = row_at(first, 0.0), bottom = row_at(min(first + ivec2(0, 1), size - 1), 0.0);
    // What underflows is less than the last addend.
    float radius = sqrt(max(row_radius2(top, middle), row_radius2(bottom, middle))) * 1.0001 + 1e-18;
    float far = hinted_far(hint, middle_pixel, LARGE) + radius;
    float far2 = far < 1e18 ? min(far * far * 1.0001 + 1e-30, limit2) : limit2;
    top.distance2 = bottom.distance2 = vec4(far2);
    float reach = (radius + far) * 1.0001 + 1e-18;
    uint node = hint.x, pending = 0u;
    int left = leaves;
    bool going, tied = false;
    do {
        do {
            sap_inner inner = sap_inner_at(node);
            float aside = sap_point_on(middle, inner.axis) - inner.split;
            // Of equal points those below the lower child have smaller ids.
            uint child = tied || aside <= 0.0 ? inner.lower : inner.upper;
            uint waits = tied || abs(aside) <= reach ? 1u : 0u;
            node = inner.is_leaf ? node : child;
            pending = inner.is_leaf ? pending : pending + pending + waits;
        } while (node < sap_first_leaf);
        sap_leaf leaf = sap_leaf_at(node);
        int quad = 0;
        do {
            vec4 x = uintBitsToFloat(sap_block_quad(leaf.at + quad));
            vec4 y = uintBitsToFloat(sap_block_quad(leaf.at + leaf.quads + quad));
#if SAP_AXES == 3
            vec4 z = uintBitsToFloat(sap_block_quad(leaf.at + 2 * leaf.quads + quad));
#else
            vec4 z = vec4(0.0);
#endif
            vec4 ids = vec4(sap_quad_ids(leaf, quad));
            top = row_offered(top, x, y, z, ids);
            bottom = row_offered(bottom, x, y, z, ids);
            quad += 1;
        } while (quad < leaf.quads);
        reach = (radius + sqrt(max(greatest(top.distance2), greatest(bottom.distance2)))) * 1.0001 + 1e-18;
        left -= 1;
        do {
            going = pending != 0u;
            pending = max(pending, 1u);
            node = sap_above_zeros(node, pending) ^ 1u;
            pending = sap_above_zeros(pending, pending) ^ 1u;
#if SAP_AXES == 2
            vec4 box = texelFetch(tree_boxes, SAP_TEXEL(int(node), z), 0);
            vec3 lower = box.xyy, upper = box.zww;
#else
            vec3 lower = texelFetch(tree_boxes, SAP_TEXEL(2 * int(node), z), 0).xyz;
            vec3 upper = texelFetch(tree_boxes, SAP_TEXEL(2 * int(node) + 1, z), 0).xyz;
#endif
            vec4 above = row_bound2(top, lower, upper), below = row_bound2(bottom, lower, upper);
            tied = !any(lessThan(above, top.distance2)) && !any(lessThan(below, bottom.distance2));
            if (tied)
                going = going && float(sap_smallest_id(node)) < max(row_tied(top, above), row_tied(bottom, below));
        } while (pending != 0u && !going);
    } while (going && left > 0);
    SAP_PUT(out_place, floatBitsToUint(going ? -1.0 - top.id : top.id));
    SAP_PUT(out_distance0, floatBitsToUint(top.distance2));
    SAP_PUT(out_place1, floatBitsToUint(going ? -1.0 - bottom.id : bottom.id));
    SAP_PUT(out_distance1, floatBitsToUint(bottom.distance2));
}
#else
uniform usampler2D ids0;
uniform usampler2D ids1;
uniform usampler2D distances0;
uniform usampler2D distances1;

uint of_column(uvec4 values, int column) {
    uvec2 pair = column > 1 ? values.zw : values.xy;
    return (column & 1) == 1 ? pair.y : pair.x;
}

// The texel of a pixel's walk. If its tile's has not ended, it begins with what that has found.
void tile(ivec2 pixel) {
    ivec2 at = ivec2(pixel.x >> 2, pixel.y >> 1);
    int column = pixel.x & 3;
    bool is_lower = (pixel.y & 1) == 1;
    uvec4 ids = is_lower ? texelFetch(ids1, at, 0) : texelFetch(ids0, at, 0);
    uvec4 distances = is_lower ? texelFetch(distances1, at, 0) : texelFetch(distances0, at, 0);
    float id = uintBitsToFloat(of_column(ids, column));
    uint begins = 0u;
    if (id < 0.0) {
        begins = texelFetch(hints, pixel >> LARGE, 0).x;
        id = -1.0 - id;
    }
    SAP_PUT(out_place, uvec4(begins, 0u, id > 1e9 ? uint(SAP_NO_ID) : uint(id), of_column(distances, column)));
}
#endif
