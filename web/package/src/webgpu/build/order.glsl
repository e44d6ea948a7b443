// The total order of an axis: by its coordinate, then by those of the axes after it, then by id.
layout(std430, binding = 3) readonly buffer ordered { uint keys[]; };

uint key_of(int axis, uint id) { return keys[axis * count + int(id)]; }

// Whether point a comes before point b, which has the same coordinate on this axis.
bool tied_before(uint a, uint b, int axis) {
    for (int i = 1; i < dims; ++i) {
        int next = axis + i;
        next -= next < dims ? 0 : dims;
        uint key_a = key_of(next, a);
        uint key_b = key_of(next, b);
        if (key_a != key_b) return key_a < key_b;
    }
    return a < b;
}

// The same of points with their coordinates on it.
bool comes_before(uvec2 a, uvec2 b, int axis) {
    if (a.x != b.x) return a.x < b.x;
    return tied_before(a.y, b.y, axis);
}
