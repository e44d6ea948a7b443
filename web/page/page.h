// The C side of the page: what its scenes share. The module runs twice, on the page's thread with a context of WebGL,
// and in a worker without one. JavaScript calls functions marked PAGE_EXPORT, one call at a time.
//
// A scene draws by functions NAME_… of its own; what takes long is a job, which runs in the worker: a function
// `sap_status job_NAME(page_job*)`. Both keep what they have made in static memory of their file.
#ifndef SAPWOOD_PAGE_H
#define SAPWOOD_PAGE_H

#include "fields.h"
#include <GLES3/gl3.h>
#include <emscripten.h>
#include <sapwood/sapwood.h>

#define PAGE_EXPORT EMSCRIPTEN_KEEPALIVE

// ---- Jobs (jobs.c).

// A call's input and answer; shell/module.ts knows the layout. What stands where the headers *fields.h say (fields.h).
// Input buffers are freed after the call, but for those whose `in` the job sets to NULL: they are its own then
// (page_allocate's). What stands in `out` is copied away and freed.
typedef struct page_job {
    double number[PAGE_MOST_NUMBERS]; // arguments; afterwards the answer's
    void* in[PAGE_MOST_BUFFERS];
    uint32_t in_bytes[PAGE_MOST_BUFFERS];
    void* out[PAGE_MOST_BUFFERS];
    uint32_t out_bytes[PAGE_MOST_BUFFERS];
} page_job;

// Memory at a multiple of 64, as saved trees want it, for free(); NULL: there is none.
void* page_allocate(size_t bytes);
// Room for the next answer of so many bytes, from page_allocate; NULL (and a sentence) if there is none.
void* page_answer(page_job* answered, size_t bytes);
// Fails with a sentence for the user, printf style; returns the status.
__attribute__((format(printf, 2, 3))) sap_status page_fail(sap_status status, const char* format, ...);
// The sentence of the failure last told, in at most so many bytes.
enum { PAGE_SENTENCE = 600 };
const char* page_sentence(void);
// The library's log: give it to devices that are opened elsewhere. Sentences with SAP_OK are passed over.
void page_log(void* user, sap_status status, const char* text);

// ---- Trees that the worker hands over (handed.c).

// Loads of bytes that a job of this page has saved a moment ago, out of a tree that it built: all that the page's
// thread loads, and nothing else, goes through here.
sap_status page_take_tree(sap_device* device, const void* bytes, size_t size, sap_tree** tree);
sap_status page_take_mesh_tree(sap_device* device, const void* bytes, size_t size, sap_mesh_tree** tree);

// ---- Devices (devices.c).

// The CPU device of this instance, opened when it is first asked for; NULL: there is no memory.
sap_device* page_cpu(void);
// The device of the current context; NULL while there is none.
sap_device* page_gl(void);
// 1 or 2: the version of WebGL of the current context.
int page_gl_version(void);

// ---- Drawing (draw.c).

// A program of a fragment shader in the manner of src: its text without #version, `defines` ahead of it. In WebGL 2 it
// is GLSL ES 3.00, `out vec4 color` being declared; in WebGL 1 GLSL ES 1.00 with SAP_GLSL 100. `vertex` NULL: a
// triangle over the viewport. 0, and a sentence, on failure.
GLuint page_program(const char* vertex, const char* fragment, const char* defines);
// Vertex attribute 0, `corner`, is so many floats from a buffer. The library keeps its own in a vertex array object:
// bind none (glBindVertexArray(0)), as this does, before attributes are touched.
void page_vertices(GLuint buffer, int axes);
// Draws the program over a rectangle (x, y from below, width, height) of the framebuffer that is bound.
void page_rectangle(GLuint program, const int32_t rectangle[4]);
// Binds a texture to a unit and names it to the program, which becomes the current one. kind 0: GL_TEXTURE_2D.
void page_texture(GLuint program, const char* name, int unit, GLenum kind, GLuint texture);
// A place for a uniform, of the current program.
GLint page_uniform(GLuint program, const char* name);
// The theme (enum page_color): red, green, blue of each; 0 … 1.
extern float page_colors[PAGE_COLOR_FIELDS][3];

#endif
