// What the parts of the scene Voronoi agree on: sites are made and trees are built in the worker (voronoi_sites.c),
// pictures are searched (voronoi_search.c) and drawn (voronoi_paint.c) on the page's thread, which voronoi.c serves.
#ifndef SAPWOOD_PAGE_VORONOI_H
#define SAPWOOD_PAGE_VORONOI_H

#include "page.h"
#include "scenes/voronoi_fields.h"
#include <sapwood/gl.h>

enum {
    VORONOI_LEAF = 8,       // sites a leaf: shaders scan leaves a texel, four sites, at a time
    VORONOI_FEW = 100,      // below which trees are there to be looked at, and have leaves of one or two sites
    VORONOI_MOST = 1 << 22, // sites
    VORONOI_CHOSEN = 9      // sites that are pointed at: the nearest and its neighbours
};

// The scene on the page's thread.
typedef struct voronoi_scene {
    int32_t width, height;  // of the picture
    double origin[2], step; // of the pixel (0, 0), its corner; from pixel to pixel. y grows downwards
    double field[2];        // width and height
    float* sites;           // [2*count]
    int64_t count;
    int version;         // of the sites; 0: there were none yet
    bool compact;        // the form in four bytes a node is shown, else the tree
    sap_tree* tree;      // on the device of the context
    sap_rgba8_tree form; // its arrays are the scene's
    GLuint answers[2];   // of the picture: RGBA32UI in the first; in WebGL 1 RGBA8 ids and distances
    int32_t answered[2]; // their width and height
    int32_t chosen[VORONOI_CHOSEN];
    int chosen_count;
    double pointer[2]; // where the sites were asked for
    int view;          // of voronoi_view
    int levels;        // of the tree to be drawn over it
    bool dots;
    double ratio; // pixels of the picture a pixel of the page
} voronoi_scene;

extern voronoi_scene voronoi;

// The place that pixel (x, y from above) of the picture asked about.
void voronoi_place(int32_t x, int32_t y, float place[2]);
// Binds a framebuffer of one texture.
void voronoi_aim(GLuint texture);
void voronoi_search_stop(void);

// Draws what is on the textures' rectangle (y from above); marks, if it is the whole picture (voronoi_paint.c).
sap_status voronoi_draw(const int32_t rectangle[4], bool marks);
void voronoi_draw_stop(void);
void voronoi_told_stop(void);

#endif
