sapwood convert triangle.off -q -o a.obj && sapwood convert a.obj -q -o a.off && cmp a.off triangle.off && cat a.off | sapwood render - --size 2x2 -o a.ppm
