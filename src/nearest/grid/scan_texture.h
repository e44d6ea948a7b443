// The points of a leaf as candidates, four to a texel. A sibling of nearest/scan.h, because a texel holds one
// coordinate of four points. Text for GLSL ES 3.00; needs tree/forms/texture.h and nearest/walk_result.h.

// If all points are equal, the scan ends with the first that the list does not take, since ids ascend.
sap_nearest_result sap_nearest_scan(uint node, sap_point query, int without, sap_nearest_result result) {
    sap_leaf leaf = sap_leaf_at(node);
    bool going = true;
    for (int quad = 0; quad < leaf.quads && going; ++quad) {
        vec4 sum = sap_quad_distance2(leaf, quad, query);
        float limit2 = sap_candidates_limit2(result.list);
        if (any(lessThanEqual(sum, vec4(limit2)))) {
            uvec4 ids = sap_quad_ids(leaf, quad);
            going = !leaf.is_equal || sum.x < limit2 || int(ids.x) < sap_candidates_limit_id(result.list);
#if SAP_CAPACITY == 1
            // Only the nearest can be taken; of equally near ones the first, since ids ascend.
            bool second = sum.y < sum.x, fourth = sum.w < sum.z;
            float left = second ? sum.y : sum.x, right = fourth ? sum.w : sum.z;
            bool is_right = right < left;
            uint id = is_right ? (fourth ? ids.w : ids.z) : (second ? ids.y : ids.x);
            result.list = sap_candidates_insert(result.list, is_right ? right : left, int(id));
#else
            result.list = sap_candidates_insert(result.list, sum.x, int(ids.x));
            result.list = sap_candidates_insert(result.list, sum.y, int(ids.y));
            result.list = sap_candidates_insert(result.list, sum.z, int(ids.z));
            result.list = sap_candidates_insert(result.list, sum.w, int(ids.w));
#endif
        } else {
            going = !leaf.is_equal;
        }
    }
    result.leaves += 1;
    return result;
}
