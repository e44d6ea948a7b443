// Arithmetic whose rounding GLSL ES leaves open, rounded as in C: products that are not fused with a sum, correctly
// rounded quotients, and the difference of two exact products without doubles. Text for GLSL ES 3.00; needs math/dialect.h.

float sap_without_sign_of_zero(float value) {
    return uintBitsToFloat(floatBitsToUint(value) == 0x80000000u ? 0u : floatBitsToUint(value));
}

#define sap_product(a, b) SAP_ROUNDED((a) * (b))

// The upper 12 of the 24 bits of a number: products of such halves are exact.
#define sap_upper_half(value) uintBitsToFloat(floatBitsToUint(value) & 0xfffff000u)

// a * b - product, exactly (Dekker 1971), unless it is too small for a float.
float sap_product_rest(float a, float b, float product) {
    float upper_a = sap_upper_half(a);
    float upper_b = sap_upper_half(b);
    float lower_a = a - upper_a;
    float lower_b = b - upper_b;
    float rest = sap_opaque(sap_product(upper_a, upper_b) - product);
    rest = sap_opaque(rest + sap_product(upper_a, lower_b));
    rest = sap_opaque(rest + sap_product(lower_a, upper_b));
    return sap_opaque(rest + sap_product(lower_a, lower_b));
}

// A power of two that scales numbers of a magnitude to near 1.
float sap_scale_of(float magnitude) {
    uint exponent = floatBitsToUint(magnitude) >> 23;
    return uintBitsToFloat((exponent < 1u ? 253u : exponent > 253u ? 1u : 254u - exponent) << 23);
}

#define sap_inverse_of_power(power) uintBitsToFloat((254u << 23) - floatBitsToUint(power))

bool sap_is_ordinary(float value) {
    uint size = floatBitsToUint(value) & 0x7fffffffu;
    return size > 0u && size < 0x7f800000u;
}

// GLSL's own quotient may be wrong by 2.5 units in the last place; the remainder of a gives the correction. Both
// operands are scaled to near 1 first, so that the remainder is exact.
float sap_quotient(float a, float b) {
    if (!sap_is_ordinary(a) || !sap_is_ordinary(b)) return a / b;
    float of_a = sap_scale_of(abs(a));
    float of_b = sap_scale_of(abs(b));
    float back = sap_inverse_of_power(of_a);
    float x = a * of_a;
    float y = b * of_b;
    float guess = sap_opaque(x / y);
    float product = sap_product(guess, y);
    float rest = sap_opaque(x - product) - sap_product_rest(guess, y, product);
    float near_one = sap_opaque(guess + rest / y);
    return back > 1.0 ? sap_opaque(near_one * back) * of_b : sap_opaque(near_one * of_b) * back;
}

// a*b - c*d with exact products. C rounds twice, to double and to float; this rounds once: the results differ one time
// in 2^29.
float sap_product_difference(float a, float b, float c, float d) {
    float of_ac = sap_scale_of(max(abs(a), abs(c)));
    float of_bd = sap_scale_of(max(abs(b), abs(d)));
    float x = a * of_ac;
    float y = b * of_bd;
    float z = c * of_ac;
    float w = d * of_bd;
    float p = sap_product(x, y);
    float q = sap_product(z, w);
    float difference = sap_opaque(p - q);
    float back = sap_opaque(difference - p);
    float lost = sap_opaque(p - sap_opaque(difference - back)) - sap_opaque(q + back);
    float rests = sap_opaque(lost + (sap_product_rest(x, y, p) - sap_product_rest(z, w, q)));
    float sum = rests == 0.0 ? difference : difference + rests; // -0 stays
    return sap_opaque(sum * sap_inverse_of_power(of_ac)) * sap_inverse_of_power(of_bd);
}
