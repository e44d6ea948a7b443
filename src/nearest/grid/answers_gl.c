// Answers on their way to host memory where compute shaders have buffers: a pass puts them in order, and they are copied
// from where the GPU leaves them.
#include "base/assert.h"
#include "nearest/grid/walk_gl.h"
#include <stdio.h>

extern const char sap_glsl_answers[];

const void* sap_gl_walk_land(sap_gl_call* call, const sap_gl_frame* frame, const int32_t rectangle[4], bool distances) {
    static const char* const lists[SAP_GL_FRAME_LISTS] = {"list0", "list1", "list2", "list3"};
    const int count = frame->capacity > 1 ? frame->capacity / 2 : 0;
    const int64_t pixels = (int64_t)rectangle[2] * rectangle[3];
    const int64_t bytes = pixels * (frame->k > 1 ? frame->k : 1) * (distances ? 2 : 1) * (int64_t)sizeof(uint32_t);
    const GLuint* from = frame->state[frame->current];
    char defines[64];
    const int length = snprintf(defines, sizeof defines, SAP_GLSL_BUFFERS "#define SAP_LISTS %d\n", count);
    SAP_ASSERT(length > 0 && length < (int)sizeof defines && count <= SAP_GL_FRAME_LISTS);
    (void)length;
    const GLuint buffer = sap_gl_kept_buffer(call, bytes);
    sap_gl_dispatch dispatch = {.program = sap_gl_program(call, sap_glsl_answers, defines),
                                .input = {{"place", from[0], 0}},
                                .buffer = {buffer},
                                .groups = (pixels + SAP_GL_GROUP - 1) / SAP_GL_GROUP,
                                .name = "putting answers in order"};
    for (int i = 0; i < count; i++) dispatch.input[1 + i] = (sap_gl_input){lists[i], from[1 + i], 0};
    sap_gl_set_ints(call, dispatch.program, "rectangle", 4, rectangle);
    sap_gl_set_int(call, dispatch.program, "k", frame->k);
    sap_gl_set_int(call, dispatch.program, "with_distances", distances);
    sap_gl_compute(call, &dispatch);
    return sap_gl_buffer_land(call, buffer, 0, bytes);
}
