// Pictures as files: PNG where the build has libpng, and PPM.
#include "file.h"

#include <string.h>
#include <strings.h>

#if defined(SAP_HAVE_PNG)
#include <png.h>
#endif

static bool has_suffix(const char* path, const char* suffix) {
    size_t length = strlen(path), end = strlen(suffix);
    return length > end && !strcasecmp(path + length - end, suffix);
}

sap_cli_exit sap_cli_picture_check(sap_cli* cli, const char* path) {
    if (!strcmp(path, "-") || has_suffix(path, ".ppm")) return SAP_EXIT_OK;
    if (!has_suffix(path, ".png"))
        return sap_cli_usage(cli, "%s: the suffix names no kind of picture; use .png or .ppm", path);
#if defined(SAP_HAVE_PNG)
    return SAP_EXIT_OK;
#else
    return sap_cli_usage(cli, "%s: this build has no libpng; use .ppm", path);
#endif
}

static bool put_picture(FILE* stream, bool as_png, const uint8_t* pixels, int32_t width, int32_t height) {
#if defined(SAP_HAVE_PNG)
    if (as_png) {
        png_image image = {.version = PNG_IMAGE_VERSION, .format = PNG_FORMAT_RGB};
        image.width = (png_uint_32)width;
        image.height = (png_uint_32)height;
        return png_image_write_to_stdio(&image, stream, 0, pixels, 0, NULL) != 0;
    }
#else
    (void)as_png;
#endif
    size_t bytes = 3 * (size_t)width * (size_t)height;
    return fprintf(stream, "P6\n%d %d\n255\n", (int)width, (int)height) > 0 &&
           fwrite(pixels, 1, bytes, stream) == bytes;
}

sap_cli_exit sap_cli_picture_write(sap_cli* cli, const char* path, const uint8_t* pixels, int32_t width,
                                   int32_t height) {
    sap_cli_file file;
    sap_cli_exit result = sap_cli_file_open(cli, path, &file);
    if (result != SAP_EXIT_OK) return result;
    bool written = put_picture(file.stream, has_suffix(path, ".png"), pixels, width, height);
    result = sap_cli_file_close(cli, &file); // which says what is wrong
    if (result == SAP_EXIT_OK && !written) return sap_cli_error(cli, "%s: libpng could not write the picture", path);
    return result;
}
