// The scene Isosurface: corners of triangles and ends of lines.
layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
uniform mat4 project;
out vec3 place;
out vec3 out_of_body;

void main() {
    place = position;
    out_of_body = normal;
    gl_Position = project * vec4(position, 1.0);
}
