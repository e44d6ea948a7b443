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

// "-" is standard output. What is no regular file is written in place.
sap_cli_exit sap_cli_file_open(sap_cli* cli, const char* path, sap_cli_file* file);
// Completes the file, or removes it and says why it could not be written.
sap_cli_exit sap_cli_file_close(sap_cli* cli, sap_cli_file* file);
void sap_cli_file_discard(sap_cli_file* file);

// ---- picture.c
// Refuses a path that names no kind of picture that this build writes.
sap_cli_exit sap_cli_picture_check(sap_cli* cli, const char* path);
// The camera that the options ask for, looking at a tree; `middle` is that of the tree.
sap_cli_exit sap_cli_camera_place(sap_cli* cli, const sap_mesh_tree* tree, const float up[3], sap_camera* camera,
                                  float middle[3]);
// Writes pixels[3*width*height], sRGB: PNG or, to other paths, PPM.
sap_cli_exit sap_cli_picture_write(sap_cli* cli, const char* path, const uint8_t* pixels, int32_t width,
                                   int32_t height);

#endif
