// Pictures: where the camera stands, and files, PNG where the build has zlib, OpenEXR where it has that, PPM and PFM.
#include "file.h"

#include <string.h>

sap_cli_exit sap_cli_picture_check(sap_cli* cli, const char* path) {
    if (!strcmp(path, "-") || sap_cli_has_suffix(path, ".ppm")) return SAP_EXIT_OK;
    if (!sap_cli_has_suffix(path, ".png"))
        return sap_cli_usage(cli, "%s: unknown suffix of a picture; use .png or .ppm", path);
#if defined(SAP_HAVE_ZLIB)
    return SAP_EXIT_OK;
#else
    return sap_cli_usage(cli, "%s: this build has no zlib; use .ppm", path);
#endif
}

bool sap_cli_is_light(const char* path) { return sap_cli_has_suffix(path, ".pfm") || sap_cli_has_suffix(path, ".exr"); }

sap_cli_exit sap_cli_light_check(sap_cli* cli, const char* path) {
#if defined(SAP_HAVE_OPENEXR)
    (void)cli, (void)path;
#else
    if (sap_cli_has_suffix(path, ".exr"))
        return sap_cli_usage(
            cli,
            "%s: this build has no OpenEXR; use .pfm, or install libopenexr-dev (3.1 or later) and build "
            "Sapwood again",
            path);
#endif
    return SAP_EXIT_OK;
}

static bool put_picture(FILE* stream, bool as_png, const uint8_t* pixels, int32_t width, int32_t height) {
#if defined(SAP_HAVE_ZLIB)
    if (as_png) return sap_cli_png_write(stream, pixels, width, height);
#else
    (void)as_png;
#endif
    size_t bytes = 3 * (size_t)width * (size_t)height;
    return fprintf(stream, "P6\n%d %d\n255\n", (int)width, (int)height) > 0 &&
           fwrite(pixels, 1, bytes, stream) == bytes;
}

static bool put_light(FILE* stream, bool as_exr, const float* light, int32_t width, int32_t height) {
#if defined(SAP_HAVE_OPENEXR)
    if (as_exr) return sap_cli_exr_write(stream, light, width, height);
#else
    (void)as_exr;
#endif
    const uint16_t one = 1;
    const bool little = *(const uint8_t*)&one == 1; // the sign of the scale says so
    bool good = fprintf(stream, "PF\n%d %d\n%s\n", (int)width, (int)height, little ? "-1.0" : "1.0") > 0;
    const size_t row = 3 * (size_t)width;
    for (int32_t y = height; y-- > 0 && good;)
        good = fwrite(light + (size_t)y * row, sizeof *light, row, stream) == row;
    return good;
}

static sap_cli_exit begin_file(sap_cli* cli, const char* path, sap_cli_file* file) {
    const char* place;
    sap_cli_exit result = sap_cli_together_add(cli, path, &place);
    if (result == SAP_EXIT_OK) result = sap_cli_file_open(cli, place, file);
    file->path = path;
    return result;
}

static sap_cli_exit end_file(sap_cli* cli, sap_cli_file* file, bool is_written) {
    const char* path = file->path;
    const sap_cli_exit result = sap_cli_file_close(cli, file); // which says what is wrong
    if (result != SAP_EXIT_OK || is_written) return result;
    return sap_cli_error(cli, "%s: the picture could not be written", path);
}

sap_cli_exit sap_cli_picture_write(sap_cli* cli, const char* path, const uint8_t* pixels, int32_t width,
                                   int32_t height) {
    sap_cli_file file = {0};
    if (begin_file(cli, path, &file) != SAP_EXIT_OK) return SAP_EXIT_FAILED;
    return end_file(cli, &file, put_picture(file.stream, sap_cli_has_suffix(path, ".png"), pixels, width, height));
}

sap_cli_exit sap_cli_light_write(sap_cli* cli, const char* path, const float* light, int32_t width, int32_t height) {
    sap_cli_file file = {0};
    if (begin_file(cli, path, &file) != SAP_EXIT_OK) return SAP_EXIT_FAILED;
    return end_file(cli, &file, put_light(file.stream, sap_cli_has_suffix(path, ".exr"), light, width, height));
}

sap_cli_exit sap_cli_camera_place(sap_cli* cli, const float lower[3], const float upper[3], const double origin[3],
                                  const float up[3], sap_camera* camera, float middle[3]) {
    const sap_cli_options* o = cli->options;
    sap_camera framed = {.fov = (float)o->fov};
    if (sap_cli_given(o, "up") && up[0] == 0 && up[1] == 0 && up[2] == 0)
        return sap_cli_usage(cli, "--up 0,0,0 is not a direction");
    memcpy(framed.up, up, sizeof framed.up);
    if (sap_camera_frame_box(lower, upper, o->size[0], o->size[1], &framed) != SAP_OK)
        return sap_cli_error(cli, "the camera cannot be placed");
    *camera = framed;
    memcpy(middle, framed.at, sizeof framed.at);
    if (sap_cli_given(o, "at"))
        for (int a = 0; a < 3; a++) {
            camera->at[a] = (float)(o->at[a] - origin[a]);
            camera->eye[a] = framed.eye[a] - framed.at[a] + camera->at[a];
        }
    for (int a = 0; a < 3 && sap_cli_given(o, "eye"); a++) camera->eye[a] = (float)(o->eye[a] - origin[a]);
    const float *eye = camera->eye, *at = camera->at;
    if (eye[0] == at[0] && eye[1] == at[1] && eye[2] == at[2])
        return sap_cli_usage(cli, "the camera is at the point that it looks at; --eye and --at must differ");
    return SAP_EXIT_OK;
}
