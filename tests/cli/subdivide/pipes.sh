closed_cube | sapwood subdivide - --input-format obj -o - | sapwood info - | head -4
