// The modules of the package and of the page print sentences and lists alone. This is as much of printf as they need, in the
// place of the C library's, which would be a thirtieth of what a page downloads for points: %s %c %d %u %x %g with precisions, widths filled with zeros,
// and the lengths l, ll and z.
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

typedef struct text {
    char* at;
    size_t room, length;
} text;

static void put(text* t, char letter) {
    if (t->length + 1 < t->room) t->at[t->length] = letter;
    t->length++;
}

static void put_string(text* t, const char* string, int most) {
    for (; *string && most != 0; most--) put(t, *string++);
}

// Digits of a number, the last first; how many.
static int digits_of(unsigned long long number, unsigned base, int least, char* digits) {
    int count = 0;
    for (; number || count < least; number /= base) digits[count++] = "0123456789abcdef"[number % base];
    return count;
}

static void put_integer(text* t, unsigned long long number, unsigned base, int least) {
    char digits[64];
    for (int i = digits_of(number, base, least < 1 ? 1 : least, digits); i > 0; i--) put(t, digits[i - 1]);
}

// As %g: at most `most` digits, with an exponent where that is shorter.
static void put_real(text* t, double x, int most) {
    char digits[64];
    int exponent = 0, last = 0;
    double scale = 1;
    if (signbit(x)) put(t, '-');
    x = fabs(x);
    if (!(x < (double)INFINITY)) {
        put_string(t, x > 0 ? "inf" : "nan", -1);
        return;
    }
    for (; x >= 10; exponent++) x /= 10;
    for (; x > 0 && x < 1; exponent--) x *= 10;
    for (int i = 1; i < most; i++) scale *= 10;
    unsigned long long number = (unsigned long long)(x * scale + 0.5);
    if (number >= (unsigned long long)(10 * scale)) { // rounded up to one digit more
        number /= 10;
        exponent++;
    }
    digits_of(number, 10, most, digits); // digits[most - 1] is the first
    while (last < most - 1 && digits[last] == '0') last++;
    const int shown = exponent;
    if (exponent < -4 || exponent >= most) exponent = 0;
    for (int i = exponent; i < 0; i++) put_string(t, i == exponent ? "0." : "0", -1);
    for (int i = most - 1; i >= last || most - 1 - i <= exponent; i--) {
        put(t, digits[i]);
        if (most - 1 - i == exponent && i > last) put(t, '.');
    }
    if (shown == exponent) return;
    put_string(t, shown < 0 ? "e-" : "e+", -1);
    put_integer(t, (unsigned long long)(shown < 0 ? -shown : shown), 10, 2);
}

static int number_at(const char** format) {
    int number = 0;
    for (; **format >= '0' && **format <= '9'; ++*format) number = 10 * number + (**format - '0');
    return number;
}

int vsnprintf(char* restrict at, size_t room, const char* restrict given, va_list arguments) {
    const char* format = given;
    text t = {at, room, 0};
    va_list list;
    va_copy(list, arguments);
    for (; *format; format++) {
        if (*format != '%') {
            put(&t, *format);
            continue;
        }
        format++;
        const int width = number_at(&format);
        int precision = -1;
        if (*format == '.') {
            format++;
            precision = *format == '*' ? (format++, va_arg(list, int)) : number_at(&format);
        }
        size_t bytes = sizeof(int);
        for (; *format == 'l' || *format == 'z'; format++)
            bytes = *format == 'z' ? sizeof(size_t) : bytes == sizeof(int) && format[1] != 'l' ? sizeof(long) : 8;
        const bool is_wide = bytes == 8;
        if (*format == 's') {
            put_string(&t, va_arg(list, const char*), precision);
        } else if (*format == 'c') {
            put(&t, (char)va_arg(list, int));
        } else if (*format == 'g') {
            put_real(&t, va_arg(list, double), precision < 0 ? 6 : precision);
        } else if (*format == 'd') {
            const long long number = is_wide ? va_arg(list, long long) : va_arg(list, int);
            if (number < 0) put(&t, '-');
            put_integer(&t, number < 0 ? 0ULL - (unsigned long long)number : (unsigned long long)number, 10, width);
        } else if (*format == 'u' || *format == 'x') {
            const unsigned long long number = is_wide ? va_arg(list, unsigned long long) : va_arg(list, unsigned);
            put_integer(&t, number, *format == 'x' ? 16 : 10, width);
        } else {
            put(&t, *format);
        }
    }
    va_end(list);
    if (room) at[t.length < room ? t.length : room - 1] = 0;
    return (int)t.length;
}

int snprintf(char* restrict at, size_t room, const char* restrict format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(at, room, format, arguments);
    va_end(arguments);
    return length;
}
