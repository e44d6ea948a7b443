// The nearest site of every pixel in GLSL ES 1.00, over a tree in bytes: the published search of the WebGL Voronoi
// demo, with one site in each leaf and a bit mask of the levels whose far side has been visited. All numbers are highp,
// and bytes are rounded. Loops of that language need an end: 2^24 steps, more than any tree of the form takes.
//
// SAP_OUTPUT   0: the id's four bytes, the highest first; 1: the distance in units of the form, 16.16 bits
#if SAP_GLSL == 100

uniform sampler2D nodes; // leaf bit, 15 bits of x, axis bit, 15 bits of y
uniform sampler2D ids;   // of the leaves' sites
uniform vec2 texels;     // of both textures
uniform vec2 origin;     // the place of the pixel (0, 0), its corner, in units of the form
uniform vec2 right;
uniform vec2 down;

vec4 bytes_at(sampler2D map, float number) {
    float y = floor((number + 0.5) / texels.x);
    return floor(texture2D(map, (vec2(number - y * texels.x, y) + 0.5) / texels) * 255.0 + 0.5);
}

void main() {
    vec2 query = origin + gl_FragCoord.x * right + gl_FragCoord.y * down;
    float node = 1.0;
    float level = 1.0; // 2^depth, the bit of this level
    float looked = 0.0; // bits of the levels above whose far side was entered
    float best2 = 1e30;
    float best = 0.0;
    bool descending = true;
    for (int outer = 0; outer < 4096; ++outer) {
        for (int inner = 0; inner < 4096; ++inner) {
            vec4 at = bytes_at(nodes, node);
            bool is_leaf = at.r >= 128.0;
            bool is_y = at.b >= 128.0;
            vec2 place = vec2((is_leaf ? at.r - 128.0 : at.r) * 256.0 + at.g, (is_y ? at.b - 128.0 : at.b) * 256.0 + at.a);
            float aside = is_y ? query.y - place.y : query.x - place.x;
            float nearer = aside <= 0.0 ? 2.0 * node : 2.0 * node + 1.0;
            float farther = 4.0 * node + 1.0 - nearer;
            if (descending && !is_leaf) {
                node = nearer;
                level *= 2.0;
            } else if (descending) {
                vec2 apart = query - place;
                float distance2 = dot(apart, apart);
                if (distance2 < best2) {
                    best2 = distance2;
                    best = node;
                }
                descending = false;
                node = floor(node * 0.5);
                level *= 0.5;
            } else if (looked < level && aside * aside < best2) {
                looked += level;
                node = farther;
                level *= 2.0;
                descending = true;
            } else {
                looked -= looked < level ? 0.0 : level;
                node = floor(node * 0.5);
                level *= 0.5;
            }
            if (level < 1.0) break;
        }
        if (level < 1.0) break;
    }
#if SAP_OUTPUT == 0
    gl_FragColor = level < 1.0 ? bytes_at(ids, best) / 255.0 : vec4(1.0); // no id: the walk was cut short
#else
    float length = min(sqrt(best2), 65535.0);
    float whole = floor(length);
    float rest = floor((length - whole) * 65536.0);
    gl_FragColor = vec4(floor(whole / 256.0), mod(whole, 256.0), floor(rest / 256.0), mod(rest, 256.0)) / 255.0;
#endif
}
#endif
