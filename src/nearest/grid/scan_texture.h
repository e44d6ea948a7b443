// The points of a leaf as candidates, four to a texel. A sibling of nearest/scan.h, because a texel holds one
// coordinate of four points. Text for GLSL ES 3.00; needs tree/forms/texture.h and nearest/walk_result.h. Unused slots
// are infinitely far.

sap_nearest_result sap_nearest_scan(uint node, sap_point query, int without, sap_nearest_result result) {
    int at = sap_block_at(node);
    for (int quad = 0; quad < tree_quads; ++quad) {
        vec4 offset = query.at[0] - uintBitsToFloat(sap_block_quad(at + quad));
        vec4 sum = offset * offset;
        for (int axis = 1; axis < SAP_AXES; ++axis) {
            offset = query.at[axis] - uintBitsToFloat(sap_block_quad(at + axis * tree_quads + quad));
            sum = sum + offset * offset;
        }
        if (any(lessThanEqual(sum, vec4(sap_candidates_limit2(result.list))))) {
            uvec4 ids = sap_block_quad(at + SAP_AXES * tree_quads + quad);
            result.list = sap_candidates_insert(result.list, sum.x, int(ids.x));
            result.list = sap_candidates_insert(result.list, sum.y, int(ids.y));
            result.list = sap_candidates_insert(result.list, sum.z, int(ids.z));
            result.list = sap_candidates_insert(result.list, sum.w, int(ids.w));
        }
    }
    result.leaves += 1;
    return result;
}
