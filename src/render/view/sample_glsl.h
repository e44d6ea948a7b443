// The well spread pairs of render/sample.h, in GLSL ES 3.00, which has other names for the types: bit for bit the same.

uint view_hash(uint x) {
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}

uint view_reverse_bits(uint x) {
    x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
    x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
    x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
    x = (x >> 8 & 0x00ff00ffu) | (x & 0x00ff00ffu) << 8;
    return x >> 16 | x << 16;
}

uint view_scramble_reversed(uint x, uint seed) {
    x += seed;
    x ^= x * 0x6c50b47cu;
    x ^= x * 0xb82f1e52u;
    x ^= x * 0xc7afe638u;
    return x ^ x * 0x8d22f6e6u;
}

uint view_sobol_second_reversed(uint index) {
    index ^= index >> 1 & 0x55555555u;
    index ^= index >> 2 & 0x33333333u;
    index ^= index >> 4 & 0x0f0f0f0fu;
    index ^= index >> 8 & 0x00ff00ffu;
    return index ^ index >> 16;
}

float view_fraction(uint bits) { return float(bits >> 8) * 5.9604644775390625e-8; } // 2^-24

vec2 view_sample(uint pixel, uint number, uint purpose) {
    uint seed = view_hash(pixel ^ view_hash(purpose));
    uint index = view_reverse_bits(view_scramble_reversed(view_reverse_bits(number), seed));
    uint first = view_scramble_reversed(index, view_hash(seed ^ 0x68bc21ebu));
    uint second = view_scramble_reversed(view_sobol_second_reversed(index), view_hash(seed ^ 0x02e5be93u));
    return vec2(view_fraction(view_reverse_bits(first)), view_fraction(view_reverse_bits(second)));
}

uint view_pixel_seed(ivec2 at) { return view_hash(uint(at.x) ^ view_hash(uint(at.y))); }
