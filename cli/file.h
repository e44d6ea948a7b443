// Files that verbs write themselves, and pictures.
#ifndef SAPWOOD_CLI_FILE_H
#define SAPWOOD_CLI_FILE_H

#include "output.h"

#include "sapwood/render.h"

// A file being written, which takes the place of an older one only when it is complete. All zero can be discarded.
typedef struct sap_cli_file {
    FILE* stream;
    const char* path;
    char *target, *temporary; // NULL: written in place
} sap_cli_file;

// Whether a path ends so, in any case, and begins with something else.
bool sap_cli_has_suffix(const char* path, const char* suffix);

// "-" is standard output. What is no regular file is written in place.
sap_cli_exit sap_cli_file_open(sap_cli* cli, const char* path, sap_cli_file* file);
// Completes the file, or removes it and says why it could not be written.
sap_cli_exit sap_cli_file_close(sap_cli* cli, sap_cli_file* file);
void sap_cli_file_discard(sap_cli_file* file);

// ---- interrupted.c
// From now on SIGINT, SIGTERM, SIGHUP and SIGXFSZ remove files that are not yet in their places before they end the
// program.
void sap_cli_interrupted_watch(void);
// Has them remove a file that is closed already too; NULL: none. The string must stay.
void sap_cli_interrupted_removes(int place, const char* path);

// ---- together.c
// Outputs that are files, if there are several, wait for one another from now on.
void sap_cli_together_begin(sap_cli* cli, const sap_cli_output* outputs, int count);
// Where to write an output: its path, or that of a file which waits until sap_cli_together_end.
sap_cli_exit sap_cli_together_add(sap_cli* cli, const char* path, const char** place);
// Puts all files that wait into their places, or removes them if the result is a failure. Returns the result.
sap_cli_exit sap_cli_together_end(sap_cli* cli, sap_cli_exit result);
// As sap_cli_failed, of an output that was written to a place of sap_cli_together_add.
sap_cli_exit sap_cli_together_failed(sap_cli* cli, sap_status status, const char* path, const char* place);

// ---- png.c: only where the build has zlib
bool sap_cli_png_write(FILE* stream, const uint8_t* pixels, int32_t width, int32_t height);

// ---- exr.c: only where the build has OpenEXR
bool sap_cli_exr_write(FILE* stream, const float* light, int32_t width, int32_t height);

// ---- picture.c
// Refuses a path that names no kind of picture that this build writes.
sap_cli_exit sap_cli_picture_check(sap_cli* cli, const char* path);
// The camera that the options ask for, looking at what lies in a box, and relative to its origin; `middle` is that of the
// box.
sap_cli_exit sap_cli_camera_place(sap_cli* cli, const float lower[3], const float upper[3], const double origin[3],
                                  const float up[3], sap_camera* camera, float middle[3]);
// Writes pixels[3*width*height], sRGB: PNG or, to other paths, PPM.
sap_cli_exit sap_cli_picture_write(sap_cli* cli, const char* path, const uint8_t* pixels, int32_t width,
                                   int32_t height);
// Whether a path names a file of linear light; and refuses one of a kind that this build does not write.
bool sap_cli_is_light(const char* path);
sap_cli_exit sap_cli_light_check(sap_cli* cli, const char* path);
// Linear light as OpenEXR, or as PFM: floats, rows from the bottom up.
sap_cli_exit sap_cli_light_write(sap_cli* cli, const char* path, const float* light, int32_t width, int32_t height);

#endif
