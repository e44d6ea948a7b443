// The scene Cloud. SAP_PASS: 0 points as discs; 1 their normals, two ends an instance; 2 ends of pairs.
layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
layout(location = 2) in float value;
uniform mat4 project;
uniform vec3 eye;
uniform mat3 turn;        // to the right, upwards, towards the eye
uniform float size;       // radius of a disc; length of a normal
uniform float pixels;     // of the picture's height, over the tangent of half its angle
uniform int first;        // point that moves
uniform int every;        // how manieth normal is drawn
flat out vec3 facing;     // the normal as seen by the eye, towards it
flat out vec3 axis;       // the normal
flat out float worth;     // the value
flat out float moves;     // 1: it is of the scan that moves
flat out float turned;    // 1: it is seen from behind
flat out float nearness;  // 1 / distance from the eye's plane
out float behind;         // that distance

void main() {
    vec3 at = position;
#if SAP_PASS == 1
    at += normal * (size * float(gl_VertexID));
    bool left_out = gl_InstanceID % every != 0;
    moves = gl_InstanceID >= first ? 1.0 : 0.0;
#else
    moves = gl_VertexID >= first ? 1.0 : 0.0;
#endif
    gl_Position = project * vec4(at, 1.0);
    behind = gl_Position.w;
    nearness = 1.0 / gl_Position.w;
    facing = vec3(0.0, 0.0, 1.0);
    turned = 0.0;
    axis = normal;
    worth = value;
#if SAP_PASS == 0
    vec3 seen = turn * normal;
    if (dot(seen, seen) > 0.5) facing = seen.z < 0.0 ? -seen : seen;
    turned = dot(normal, eye - position) < 0.0 ? 1.0 : 0.0;
    facing = normalize(vec3(facing.xy, max(facing.z, 0.3)));
    gl_PointSize = max(2.0, size * pixels * nearness);
#elif SAP_PASS == 1
    if (left_out) gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
#endif
}
