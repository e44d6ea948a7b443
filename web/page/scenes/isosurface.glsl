// The scene Isosurface. SAP_PASS: 0 the surface; 1 the volume's edges.
in vec3 place;
in vec3 out_of_body;
uniform vec3 eye;
uniform vec3 middle;
uniform float size; // the volume's longest side
uniform vec3 paper;
uniform vec3 ink;
uniform vec3 accent;
uniform bool facets;
uniform int colors;

// Far parts fade a little into the paper.
vec3 with_distance(vec3 lit) {
    float behind = (length(eye - place) - length(eye - middle)) / size;
    return mix(lit, paper, clamp(0.30 * (behind + 0.35), 0.0, 0.38));
}

#if SAP_PASS == 1
void main() { color = vec4(with_distance(mix(paper, ink, 0.34)), 1.0); }
#else
void main() {
    vec3 to_eye = normalize(eye - place);
    vec3 face = normalize(cross(dFdx(place), dFdy(place))); // turned to the eye, up to its sign
    if (dot(face, to_eye) < 0.0) face = -face;
    float smooth_length = length(out_of_body);
    vec3 normal = facets || smooth_length < 0.5 ? face : out_of_body / smooth_length;
    bool outside = facets || smooth_length < 0.5 ? gl_FrontFacing : dot(out_of_body, face) > 0.0;
    if (!outside && !facets) normal = -normal;
    if (colors == 1) {
        color = vec4(with_distance(0.5 + 0.5 * (outside ? normal : -normal)), 1.0);
        return;
    }
    // Warm outside, cool inside. The light stands above the left shoulder; the sky is brighter than the ground.
    vec3 body = outside ? mix(accent, vec3(1.0, 0.93, 0.84), 0.52) : vec3(0.22, 0.42, 0.46);
    vec3 right = normalize(cross(vec3(0.0, 0.0, 1.0), to_eye));
    vec3 light = normalize(to_eye + 0.55 * vec3(0.0, 0.0, 1.0) - 0.65 * right);
    float lit = max(dot(normal, light), 0.0);
    float sky = 0.5 + 0.5 * normal.z;
    float shine = pow(max(dot(normal, normalize(light + to_eye)), 0.0), 48.0);
    float edge = pow(1.0 - max(dot(normal, to_eye), 0.0), 3.0);
    vec3 shade = body * (0.16 + 0.30 * sky + 0.68 * lit);
    shade += 0.16 * shine + edge * mix(vec3(0.02), 0.22 * paper, 0.7);
    color = vec4(with_distance(shade), 1.0);
}
#endif
