// The nearest site of every pixel, over a tree in bytes with one site in each leaf: the published search of the WebGL
// Voronoi demo, with a bit mask of the levels whose far side has been visited, and the search with a stack that it was
// preferred to. All numbers are highp, and bytes are rounded. Loops of GLSL ES 1.00 need an end: 2^24 steps, more than
// any tree of the form takes.
//
// SAP_GLSL     100: GLSL ES 1.00, in which nodes are numbers in floats; 300: GLSL ES 3.00, in which they are integers
// SAP_OUTPUT   0: the id's four bytes, the highest first; 1: the distance in units of the form, 16.16 bits
// SAP_STACK    the search keeps a stack of so many nodes, at least the tree's depth; undefined: a bit mask
// SAP_MOST     the search ends after `most` steps with what it has found
#if SAP_GLSL == 100
#define NODE      float
#define LOWER(n)  (2.0 * (n))
#define UPPER(n)  (2.0 * (n) + 1.0)
#define PARENT(n) floor(0.5 * (n))
#define PUT       gl_FragColor
#else
#define NODE      uint
#define LOWER(n)  ((n) << 1)
#define UPPER(n)  (((n) << 1) | 1u)
#define PARENT(n) ((n) >> 1)
#define PUT       put
out vec4 put;
#endif

uniform sampler2D nodes; // leaf bit, 15 bits of x, axis bit, 15 bits of y
uniform sampler2D ids;   // of the leaves' sites
uniform vec2 texels;     // of both textures
uniform int shift;       // the logarithm of the width, where nodes are integers
uniform vec2 origin;     // the place of the pixel (0, 0), its corner, in units of the form
uniform vec2 right;
uniform vec2 down;
#ifdef SAP_MOST
uniform float most;
#endif

// What a search reads of a node.
struct site_or_plane {
    bool is_leaf;
    float aside;     // how far the query is from the plane
    float distance2; // and from the site
};

#if SAP_GLSL == 100
vec4 bytes_at(sampler2D map, float number) {
    float y = floor((number + 0.5) / texels.x);
    return floor(texture2D(map, (vec2(number - y * texels.x, y) + 0.5) / texels) * 255.0 + 0.5);
}

site_or_plane look(float node, vec2 query) {
    vec4 at = bytes_at(nodes, node);
    bool is_y = at.b >= 128.0;
    site_or_plane seen;
    seen.is_leaf = at.r >= 128.0;
    vec2 place = vec2((seen.is_leaf ? at.r - 128.0 : at.r) * 256.0 + at.g, (is_y ? at.b - 128.0 : at.b) * 256.0 + at.a);
    vec2 apart = query - place;
    seen.aside = is_y ? apart.y : apart.x;
    seen.distance2 = dot(apart, apart);
    return seen;
}
#else
vec4 bytes_at(sampler2D map, uint number) {
    int at = int(number);
    return floor(texelFetch(map, ivec2(at & ((1 << shift) - 1), at >> shift), 0) * 255.0 + 0.5);
}

site_or_plane look(uint node, vec2 query) {
    uvec4 at = uvec4(bytes_at(nodes, node));
    uint word = (at.r << 24) | (at.g << 16) | (at.b << 8) | at.a;
    vec2 apart = query - vec2(float((word >> 16) & 32767u), float(word & 32767u));
    site_or_plane seen;
    seen.is_leaf = (word >> 31) != 0u;
    seen.aside = (word & 32768u) != 0u ? apart.y : apart.x;
    seen.distance2 = dot(apart, apart);
    return seen;
}
#endif

#ifdef SAP_STACK
// Nodes that wait, and the squared distances of the planes before them. GLSL ES 1.00 has no index but that of a loop: all
// places are looked at, and the one that is meant is taken.
vec2 waiting[SAP_STACK];

void push(int count, NODE node, float aside2) {
#if SAP_GLSL == 100
    for (int i = 0; i < SAP_STACK; ++i)
        if (i == count) waiting[i] = vec2(node, aside2);
#else
    waiting[count] = vec2(float(node), aside2);
#endif
}

vec2 pop(int count) {
#if SAP_GLSL == 100
    vec2 popped = vec2(0.0);
    for (int i = 0; i < SAP_STACK; ++i)
        if (i == count) popped = waiting[i];
    return popped;
#else
    return waiting[count];
#endif
}
#endif

void main() {
    vec2 query = origin + gl_FragCoord.x * right + gl_FragCoord.y * down;
    NODE node = NODE(1);
    NODE best = NODE(0);
    float best2 = 1e30;
    bool descending = true;
    bool going = true;
#ifdef SAP_STACK
    int count = 0;
#else
    NODE level = NODE(1);  // 2^depth, the bit of this level
    NODE looked = NODE(0); // bits of the levels above whose far side was entered
#endif
    for (int outer = 0; outer < 4096; ++outer) {
        for (int inner = 0; inner < 4096; ++inner) {
#ifdef SAP_MOST
            if (float(outer) * 4096.0 + float(inner) >= most) going = false;
            if (!going) break;
#endif
#ifdef SAP_STACK
            if (descending) {
                site_or_plane at = look(node, query);
                float aside2 = at.aside * at.aside;
                descending = !at.is_leaf;
                if (at.is_leaf) {
                    if (at.distance2 < best2) {
                        best2 = at.distance2;
                        best = node;
                    }
                } else {
                    bool is_lower = at.aside <= 0.0;
                    if (aside2 < best2) {
                        push(count, is_lower ? UPPER(node) : LOWER(node), aside2);
                        count += 1;
                    }
                    node = is_lower ? LOWER(node) : UPPER(node);
                }
            } else if (count > 0) {
                count -= 1;
                vec2 popped = pop(count);
                descending = popped.y < best2;
                node = NODE(popped.x);
            } else {
                going = false;
            }
#else
            site_or_plane at = look(node, query);
            bool is_lower = at.aside <= 0.0;
            if (descending && !at.is_leaf) {
                node = is_lower ? LOWER(node) : UPPER(node);
                level = LOWER(level);
            } else if (descending) {
                if (at.distance2 < best2) {
                    best2 = at.distance2;
                    best = node;
                }
                descending = false;
                node = PARENT(node);
                level = PARENT(level);
            } else if (looked < level && at.aside * at.aside < best2) {
                looked += level;
                node = is_lower ? UPPER(node) : LOWER(node);
                level = LOWER(level);
                descending = true;
            } else {
                looked -= looked < level ? NODE(0) : level;
                node = PARENT(node);
                level = PARENT(level);
            }
            going = level != NODE(0);
#endif
            if (!going) break;
        }
        if (!going) break;
    }
#if SAP_OUTPUT == 0
    // No id: the search was cut short.
    PUT = going || best == NODE(0) ? vec4(1.0) : bytes_at(ids, best) / 255.0;
#else
    float length = min(sqrt(best2), 65535.0);
    float whole = floor(length);
    float rest = floor((length - whole) * 65536.0);
    PUT = vec4(floor(whole / 256.0), mod(whole, 256.0), floor(rest / 256.0), mod(rest, 256.0)) / 255.0;
#endif
}
