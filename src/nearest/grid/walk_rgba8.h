// The nearest site to a place, over a tree in bytes with one site in each leaf: the published search of the WebGL Voronoi
// demo, with a bit mask of the levels whose far side has been visited, and the search with a stack that it was
// preferred to. All numbers are highp, and bytes are rounded. Loops of GLSL ES 1.00 need an end: 2^24 steps, more than
// any tree of the form takes. Text for GLSL ES 1.00 and 3.00.
//
// SAP_GLSL     100: GLSL ES 1.00, in which nodes are numbers in floats; 300: GLSL ES 3.00, in which they are integers
// SAP_AXES     2 or 3, the tree's dimensions
// SAP_CYCLE    the axis of a node is its depth modulo SAP_AXES; undefined: the node says it
// SAP_STACK    the search keeps a stack of so many nodes, at least the tree's depth; undefined: a bit mask
// SAP_MOST     the search ends after `most` steps with what it has found
#if SAP_GLSL == 100
#define NODE      float
#define LOWER(n)  (2.0 * (n))
#define UPPER(n)  (2.0 * (n) + 1.0)
#define PARENT(n) floor(0.5 * (n))
#else
#define NODE      uint
#define LOWER(n)  ((n) << 1)
#define UPPER(n)  (((n) << 1) | 1u)
#define PARENT(n) ((n) >> 1)
#endif

#if SAP_AXES == 2
#define PLACE vec2
#else
#define PLACE vec3
#endif

uniform sampler2D nodes; // sapwood/gl.h says which bits are what
uniform sampler2D ids;   // of the leaves' sites
uniform vec2 texels;     // of both textures
uniform int shift;       // the logarithm of the width, where nodes are integers
#ifdef SAP_MOST
uniform float most;
#endif

// What a search reads of a node.
struct site_or_plane {
    bool is_leaf;
    float aside;     // how far the query is from the plane
    float distance2; // and from the site
};

// Where a leaf's site is, and what an inner node says: its plane on the axis that it says.
struct fields {
    bool is_leaf;
    PLACE site;
    int axis;
    float plane;
};

#if SAP_GLSL == 100
vec4 bytes_at(sampler2D map, float number) {
    float y = floor((number + 0.5) / texels.x);
    return floor(texture2D(map, (vec2(number - y * texels.x, y) + 0.5) / texels) * 255.0 + 0.5);
}

fields read(float node) {
    vec4 at = bytes_at(nodes, node);
    fields node_is;
    node_is.is_leaf = at.r >= 128.0;
#if SAP_AXES == 2
    node_is.site = mod(at.rb, 128.0) * 256.0 + at.ga;
    node_is.axis = at.b >= 128.0 ? 1 : 0;
#else
    node_is.site = vec3(mod(at.r, 64.0) * 16.0 + floor(at.g / 16.0), mod(at.g, 16.0) * 64.0 + floor(at.b / 4.0),
                        mod(at.b, 4.0) * 256.0 + at.a);
    node_is.axis = int(floor(at.r / 32.0));
    node_is.plane = node_is.site.z;
#endif
    return node_is;
}
#else
vec4 bytes_at(sampler2D map, uint number) {
    int at = int(number);
    return floor(texelFetch(map, ivec2(at & ((1 << shift) - 1), at >> shift), 0) * 255.0 + 0.5);
}

fields read(uint node) {
    uvec4 at = uvec4(bytes_at(nodes, node));
    uint word = (at.r << 24) | (at.g << 16) | (at.b << 8) | at.a;
    fields node_is;
    node_is.is_leaf = (word >> 31) != 0u;
#if SAP_AXES == 2
    node_is.site = vec2(uvec2(word >> 16, word) & 32767u);
    node_is.axis = int((word >> 15) & 1u);
#else
    node_is.site = vec3(uvec3(word >> 20, word >> 10, word) & 1023u);
    node_is.axis = int(word >> 29);
    node_is.plane = node_is.site.z;
#endif
    return node_is;
}
#endif

site_or_plane look(NODE node, int axis, PLACE query) {
    fields at = read(node);
    PLACE apart = query - at.site;
    site_or_plane seen;
    seen.is_leaf = at.is_leaf;
    seen.distance2 = dot(apart, apart);
#ifndef SAP_CYCLE
    axis = at.axis;
#endif
#if SAP_AXES == 2
    seen.aside = axis == 0 ? apart.x : apart.y;
#else
    seen.aside = (axis == 0 ? query.x : axis == 1 ? query.y : query.z) - at.plane;
#endif
    return seen;
}

#ifdef SAP_CYCLE
#define DEEPER(axis) ((axis) == SAP_AXES - 1 ? 0 : (axis) + 1)
#define HIGHER(axis) ((axis) == 0 ? SAP_AXES - 1 : (axis)-1)
#else
#define DEEPER(axis) 0
#define HIGHER(axis) 0
#endif

#ifdef SAP_STACK
// Nodes that wait, the squared distances of the planes before them and, where it is computed, their axis. GLSL ES 1.00
// has no index but that of a loop: all places are looked at, and the one that is meant is taken.
#ifdef SAP_CYCLE
#define ENTRY              vec3
#define ENTRY_OF(n, a2, a) vec3(float(n), a2, float(a))
#define AXIS_OF(entry)     int(entry.z)
#else
#define ENTRY              vec2
#define ENTRY_OF(n, a2, a) vec2(float(n), a2)
#define AXIS_OF(entry)     0
#endif
ENTRY waiting[SAP_STACK];

void push(int count, ENTRY entry) {
#if SAP_GLSL == 100
    for (int i = 0; i < SAP_STACK; ++i)
        if (i == count) waiting[i] = entry;
#else
    waiting[count] = entry;
#endif
}

ENTRY pop(int count) {
#if SAP_GLSL == 100
    ENTRY popped = ENTRY(0.0);
    for (int i = 0; i < SAP_STACK; ++i)
        if (i == count) popped = waiting[i];
    return popped;
#else
    return waiting[count];
#endif
}
#endif

// What a search has found: the leaf of the nearest site so far, 0 if there is none, and its squared distance.
struct found {
    NODE best;
    float best2;
    bool going; // the loops ended before the search
};

// The nearest site to a place in units of the form.
found nearest(PLACE query) {
    NODE node = NODE(1);
    NODE best = NODE(0);
    float best2 = 1e30;
    int axis = 0; // of the node, where it is computed
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
                site_or_plane at = look(node, axis, query);
                float aside2 = at.aside * at.aside;
                descending = !at.is_leaf;
                if (at.is_leaf) {
                    if (at.distance2 < best2) {
                        best2 = at.distance2;
                        best = node;
                    }
                } else {
                    bool is_lower = at.aside <= 0.0;
                    axis = DEEPER(axis);
                    if (aside2 < best2) {
                        push(count, ENTRY_OF(is_lower ? UPPER(node) : LOWER(node), aside2, axis));
                        count += 1;
                    }
                    node = is_lower ? LOWER(node) : UPPER(node);
                }
            } else if (count > 0) {
                count -= 1;
                ENTRY popped = pop(count);
                descending = popped.y < best2;
                node = NODE(popped.x);
                axis = AXIS_OF(popped);
            } else {
                going = false;
            }
#else
            site_or_plane at = look(node, axis, query);
            bool is_lower = at.aside <= 0.0;
            if (descending && !at.is_leaf) {
                node = is_lower ? LOWER(node) : UPPER(node);
                level = LOWER(level);
                axis = DEEPER(axis);
            } else if (descending) {
                if (at.distance2 < best2) {
                    best2 = at.distance2;
                    best = node;
                }
                descending = false;
                node = PARENT(node);
                level = PARENT(level);
                axis = HIGHER(axis);
            } else if (looked < level && at.aside * at.aside < best2) {
                looked += level;
                node = is_lower ? UPPER(node) : LOWER(node);
                level = LOWER(level);
                axis = DEEPER(axis);
                descending = true;
            } else {
                looked -= looked < level ? NODE(0) : level;
                node = PARENT(node);
                level = PARENT(level);
                axis = HIGHER(axis);
            }
            going = level != NODE(0);
#endif
            if (!going) break;
        }
        if (!going) break;
    }
    found result;
    result.best = best;
    result.best2 = best2;
    result.going = going;
    return result;
}
