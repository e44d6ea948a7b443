// What a plane costs: the surface area heuristic (MacDonald and Booth 1990), and the voxel volume heuristic (Wald,
// Günther and Slusallek 2004), which is the same with the volumes of boxes grown by a radius.
// Shared text; needs math/dialect.h, double precision (C and CUDA) and SAP_TO_FLOAT(x), which rounds to a float.
//
// The measure of a part of a cell that is cut across an axis is a linear function of its length, so a cell needs two
// numbers an axis. They are relative to the whole cell's measure: the chance that what reaches the cell reaches the
// part. Computed in double, so that neither tiny nor huge cells leave the range of floats.

SAP_STRUCT(sap_measure)
struct sap_measure {
    float base[3]; // the share of a part of no length
    float per[3];  // what each unit of length adds
    bool split[3]; // whether the axis can be cut at all
};

// side_x, side_y, side_z: of the cell. radius: negative for the surface area heuristic. A cell without area is measured
// by the sum of its sides.
SAP_FN sap_measure sap_measure_of(float side_x, float side_y, float side_z, float radius) {
    sap_measure m;
    double side[3];
    double base[3];
    double per[3];
    double grow = radius < 0.0f ? 0.0 : 2.0 * radius;
    side[0] = side_x;
    side[1] = side_y;
    side[2] = side_z;
    double whole = side[0] * side[1] + side[1] * side[2] + side[2] * side[0];
    for (int a = 0; a < 3; ++a) {
        double u = side[a == 2 ? 0 : a + 1];
        double w = side[a == 0 ? 2 : a - 1];
        base[a] = u * w;
        per[a] = u + w;
    }
    if (radius >= 0.0f) {
        for (int a = 0; a < 3; ++a) {
            per[a] = (side[a == 2 ? 0 : a + 1] + grow) * (side[a == 0 ? 2 : a - 1] + grow);
            base[a] = per[a] * grow;
        }
        whole = (side[0] + grow) * per[0];
    }
    if (!(whole > 0.0)) {
        whole = side[0] + side[1] + side[2];
        for (int a = 0; a < 3; ++a) {
            base[a] = whole - side[a];
            per[a] = 1.0;
        }
    }
    for (int a = 0; a < 3; ++a) {
        m.base[a] = SAP_TO_FLOAT(whole > 0.0 ? base[a] / whole : 0.0);
        m.per[a] = SAP_TO_FLOAT(whole > 0.0 ? per[a] / whole : 0.0);
        m.split[a] = side[a] > 0.0 && m.per[a] <= 3.402823466e+38f;
    }
    return m;
}

// The share of a part of a length, from an axis' two numbers.
SAP_FN float sap_share(float base, float per, float part) { return base + per * part; }

// The cost of a plane whose sides have the measures `left` and `right` and hold so many triangles. An empty side makes
// it cheaper: a ray passes empty space in one step.
SAP_FN float sap_split_cost(float traversal, float intersection, float left, float right, float in_left,
                            float in_right) {
    SAP_ASSERT(in_left >= 0.0f && in_right >= 0.0f);
    float cost = traversal + intersection * (left * in_left + right * in_right);
    return in_left == 0.0f || in_right == 0.0f ? cost * 0.8f : cost;
}
