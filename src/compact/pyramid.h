// Histopyramids: what the room's files share, in every build. What works on textures is there only with OpenGL.
#ifndef SAPWOOD_COMPACT_PYRAMID_H
#define SAPWOOD_COMPACT_PYRAMID_H

#include "compact/ops.h"

enum {
    SAP_PYRAMID_SEPARATE = 3, // levels with a texture each
    SAP_PYRAMID_LEVELS = 16   // levels at most
};

struct sap_gl_pyramid {
    sap_device* device;
    sap_gl_pyramid_options options;         // defaults filled in
    int32_t levels;                         // above the cells
    uint32_t nodes[SAP_PYRAMID_LEVELS + 1]; // of each level; level 0: cells
    bool bytes;                             // SAP_GL_FLOAT in bytes
    bool filled;                            // its levels have been made over a base
    // Integers: of the levels 1, 2, 3 and, in one, all above. Floats: all levels, one level while it is made, the
    // total.
    uint32_t texture[4];
    uint32_t work;                       // integers: a high level while it is made
    int32_t shift[4];                    // their widths' logarithms
    int32_t row[SAP_PYRAMID_LEVELS + 1]; // where each level begins in its texture
    uint32_t list;                       // the pyramid's own
    int32_t list_size[2];
};

#endif
