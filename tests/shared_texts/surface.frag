// The shared texts of surfaces as a shader: of a volume in a texture, every fragment is a vertex, or the edge that a
// triangle's corner lies on. This program is compiled, not run. check.sh puts the version on top and each text in place
// of its include.
precision highp float;
precision highp int;
precision highp sampler3D;

#define SAP_VOLUME_PARAM
#define SAP_VOLUME

#include "math/dialect.h"

uniform sampler3D volume;
uniform vec3 origin;
uniform vec3 spacing;
uniform vec3 slopes;
uniform float level;
uniform float facing;
uniform bool asks_edge;

float sap_voxel_value(int x, int y, int z) { return texelFetch(volume, ivec3(x, y, z), 0).x; }

#include "surface/cases.h"
#include "surface/crossing.h"

layout(location = 0) out vec4 answer;

void main() {
    ivec2 at = ivec2(gl_FragCoord.xy);
    ivec3 size = textureSize(volume, 0);
    if (asks_edge) {
        SAP_BITS edge = sap_cube_edge(uint(at.x), uint(at.y));
        answer = vec4(float(sap_cube_triangles(uint(at.x))), float(sap_edge_axis(edge)), float(sap_edge_step(edge, 0u)),
                      float(sap_edge_step(edge, 2u)));
        return;
    }
    sap_lattice lattice;
    for (int i = 0; i < 3; i++) {
        lattice.sides[i] = size[i];
        lattice.origin[i] = origin[i];
        lattice.spacing[i] = spacing[i];
        lattice.slopes[i] = slopes[i];
    }
    lattice.level = level;
    lattice.facing = facing;
    sap_surface_vertex vertex = sap_surface_vertex_on(lattice, at.x, at.y, at.x + at.y, at.x % 3);
    answer = vec4(vertex.position[0], vertex.position[1], vertex.normal[0], vertex.normal[2]);
}
