// Pictures with depth: a camera about the middle of a box, and a framebuffer, multisampled if it is to be fine, whose
// picture is copied to the canvas when it is finished.
#ifndef SAPWOOD_PAGE_SPACE_H
#define SAPWOOD_PAGE_SPACE_H

#include "../page.h"
#include "space_fields.h"

// A scene's own; all zero at first.
typedef struct page_space {
    float from[3], to[3];                    // corners of the box: the scene's to set
    GLuint framebuffer, resolved;            // multisampled; and what it becomes
    GLuint color, depth, texture, one_depth; // of them
    GLuint copy;                             // program
    int32_t width, height;                   // of the framebuffers
    float eye[3], project[16];
    float turn[9];   // rows: to the right, upwards, towards the eye
    float tangent;   // of half the angle from the picture's bottom to its top
    float depths[2]; // at a distance w from the eye's plane the depth, -1 to 1, is depths[0] + depths[1] / w
    bool fine;
} page_space;

// Where the camera is: angles in radians, z up; at zoom 1 the box fits. A shift is in halves of the box's diagonal.
typedef struct page_view {
    double yaw, pitch, zoom, shift_x, shift_y;
} page_view;

// Begins a picture of so many pixels: makes what is missing, looks, and clears. False, with a sentence: it failed.
bool page_space_begin(page_space* space, int32_t width, int32_t height, const page_view* view, bool fine);
// What is drawn now goes into the picture, with a test of depth; and after that no more.
void page_space_enter(const page_space* space);
void page_space_leave(void);
// Puts the picture on the canvas.
void page_space_show(const page_space* space);
// Where the last picture is seen from (space_camera); valid until the next call.
double* page_space_camera(const page_space* space);
// Frees what the context holds, also after it was lost.
void page_space_free(page_space* space);

#endif
