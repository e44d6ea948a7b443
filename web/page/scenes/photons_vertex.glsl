// The scene Photons. SAP_PASS: 0 the room and what stands in it; 1 photons as discs; 2 ends of flights; 3 the lamp.
layout(location = 0) in vec3 position;
#if SAP_PASS == 1 || SAP_PASS == 2
layout(location = 1) in vec4 normal;
layout(location = 2) in vec4 power;
#endif
uniform mat4 project;
uniform vec3 eye;
uniform mat3 turn;    // to the right, upwards, towards the eye
uniform float size;   // radius of a disc
uniform float pixels; // of the picture's height, over the tangent of half its angle
uniform int maps;
uniform vec4 lamp;    // its middle, and its side
out vec3 at;
#if SAP_PASS == 1 || SAP_PASS == 2
flat out vec3 facing;   // the normal as seen by the eye
flat out vec4 tone;     // colours and way
flat out float nearness; // 1 / distance from the eye's plane
out float part;
#endif

void main() {
    at = position;
#if SAP_PASS == 3
    vec2 corner = vec2(gl_VertexID % 2, gl_VertexID / 2) - 0.5;
    at = lamp.xyz + vec3(corner * max(lamp.w, 0.06), 0.0);
#endif
    gl_Position = project * vec4(at, 1.0);
#if SAP_PASS == 1 || SAP_PASS == 2
    tone = power;
    part = normal.w;
    nearness = 1.0 / gl_Position.w;
    facing = turn * normal.xyz;
    bool by_caustics = abs(power.w * 255.0 - 1.0) < 0.5;
    bool hidden = (maps & (by_caustics ? 2 : 1)) == 0;
#if SAP_PASS == 1
    hidden = hidden || dot(normal.xyz, eye - position) < 0.0;
    facing = normalize(vec3(facing.xy, max(facing.z, 0.2)));
    gl_PointSize = max(1.5, size * pixels * nearness);
#endif
    if (hidden) gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
#endif
}
