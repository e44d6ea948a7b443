// A surface as it lies in buffers (SAP_TEXTURES 0) or textures (1), drawn: light from one side, more of it the more the
// surface faces it.
#ifdef SAP_VERTEX
uniform vec4 column_0; // of the matrix to clip space
uniform vec4 column_1;
uniform vec4 column_2;
uniform vec4 column_3;
out vec3 facing;

vec4 place(vec3 at) { return column_0 * at.x + column_1 * at.y + column_2 * at.z + column_3; }
#if SAP_TEXTURES
uniform highp usampler2D positions;
uniform highp usampler2D normals;
uniform highp usampler2D corners;
uniform highp usampler2D vertex_sums; // whose first texel has the total
uniform highp usampler2D triangle_sums;
uniform int vertex_width;
uniform int triangle_width;
uniform uint room;

uvec4 fetch(usampler2D list, int width, int i) { return texelFetch(list, ivec2(i % width, i / width), 0); }

void main() {
    int triangle = gl_VertexID / 3;
    uvec3 numbers = fetch(corners, triangle_width, triangle).xyz;
    uint vertices = min(texelFetch(vertex_sums, ivec2(0), 0).w, room);
    bool there = uint(triangle) < texelFetch(triangle_sums, ivec2(0), 0).w &&
                 max(numbers.x, max(numbers.y, numbers.z)) < vertices;
    int number = there ? int(numbers[gl_VertexID - 3 * triangle]) : 0;
    facing = uintBitsToFloat(fetch(normals, vertex_width, number).xyz);
    gl_Position = there ? place(uintBitsToFloat(fetch(positions, vertex_width, number).xyz)) : vec4(0.0);
}
#else
layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;

void main() {
    facing = normal;
    gl_Position = place(position);
}
#endif
#else
uniform vec3 light;
uniform vec3 color;
uniform float ambient;
in vec3 facing;
out vec4 pixel;

void main() {
    float length2 = dot(facing, facing);
    float part = length2 > 0.0 ? max(dot(facing, light) * inversesqrt(length2), 0.0) : 0.0;
    pixel = vec4(color * (ambient + (1.0 - ambient) * part), 1.0);
}
#endif
