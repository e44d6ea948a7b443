// OpenGL ES contexts for the rooms: programs, textures, passes and readback, through a table that tests can
// replace.
//
// A room's function opens a sap_gl_call, draws passes into textures, reads them back and closes the call. Everything a
// pass computes is a function of its texel: one triangle covers a rectangle of the target. OpenGL's errors are looked
// for once at the end of a call, or after every pass where the table says so (tests do). The first failure stands in
// call->status; once that is not SAP_OK, all functions below do nothing.
//
// A device has a context of its own, current only during a call, or works in the caller's. In the caller's, a
// call puts back what it changes: program, framebuffers, vertex array, buffers, textures, viewport, masks and tests.
//
// Contexts of OpenGL ES 2.0 (WebGL 1) have textures RGBA8 and, where they can be written, RGBA32F, one target and
// shaders in GLSL ES 1.00: a room that needs more gets SAP_ERROR_UNSUPPORTED.
#ifndef SAPWOOD_DEVICE_GL_H
#define SAPWOOD_DEVICE_GL_H

#include "device/device.h"
#include "device/gl_functions.h"
#include "sapwood/gl.h"
#include <GLES3/gl3.h>

#ifndef GL_CONTEXT_LOST
#define GL_CONTEXT_LOST 0x0507
#endif

// ---- What tests replace.

typedef struct sap_gl_calls {
// NOLINTNEXTLINE(bugprone-macro-parentheses): a declaration takes none
#define SAP_GL_DECLARE(type, name, parameters, arguments) type(GL_APIENTRY* name) parameters;
    SAP_GL_EACH(SAP_GL_DECLARE)
    SAP_GL_EACH_VALUED(SAP_GL_DECLARE)
    SAP_GL_EACH_NATIVE(SAP_GL_DECLARE)
    SAP_GL_EACH_NATIVE_VALUED(SAP_GL_DECLARE)
#undef SAP_GL_DECLARE
    bool check_passes; // look for errors after every pass and transfer, not only at the end of a call
} sap_gl_calls;

typedef struct sap_gl sap_gl;

// Where contexts come from: EGL, or another in tests. `open` fills gl->calls and gl->context, or says in the log why
// there is none (SAP_ERROR_NO_DEVICE); `close` follows in either case. `enter` makes the context current on this thread
// and remembers in `before` what was; false: it cannot, and `*status` says whether it is lost. `leave` undoes that.
// `has` tells whether the entered context has an extension, by its full name, and `lost` whether it is lost, where that
// can be asked at any time (else NULL).
typedef struct sap_gl_before {
    void *display, *draw, *read, *context;
} sap_gl_before;

typedef struct sap_gl_platform {
    const char* library; // that the contexts are of
    sap_status (*open)(sap_device* device, sap_gl* gl);
    void (*close)(sap_device* device, sap_gl* gl);
    bool (*enter)(sap_gl* gl, sap_gl_before* before, sap_status* status);
    void (*leave)(sap_gl* gl, const sap_gl_before* before);
    bool (*has)(const sap_gl* gl, const char* extension);
    bool (*lost)(const sap_gl* gl);
    bool is_browser;
} sap_gl_platform;

extern const sap_gl_platform sap_gl_native; // of EGL, or in a browser of WebGL

// ---- The device.

enum {
    SAP_GL_PROGRAMS = 256, // programs that a device keeps: more than there are
    SAP_GL_UNITS = 12,     // most textures that a pass reads
    SAP_GL_OLD_UNITS = 2,  // the same of passes in GLSL ES 1.00
    SAP_GL_GROUP_X = 8,    // invocations of a group of compute shaders
    SAP_GL_GROUP_Y = 8,
    SAP_GL_TARGETS = 8, // most textures that a pass writes
    SAP_GL_GROUP = 256, // invocations of a group of compute shaders that have buffers: some contexts have only 128
    SAP_GL_BUFFERS = 4  // most buffers that a compute shader reads and writes: every context with any has so many
};

// A buffer in host memory into which the GPU copies what is read back, kept from call to call (device/gl_buffer.c).
typedef struct sap_gl_landing {
    GLuint buffer;
    int64_t bytes;
    void* mapped;  // for as long as it is there, where the context allows for that; else NULL
    GLuint source; // the buffer in the GPU's memory from which answers are copied there
    int64_t source_bytes;
    // The way there: a buffer in host memory that stays mapped, from which what is written to textures is copied.
    GLuint start;
    int64_t start_bytes;
    void* start_mapped;
    bool start_taken; // the GPU may still be reading it
} sap_gl_landing;

// A program that has been linked: of one text with one set of definitions.
typedef struct sap_gl_program_entry {
    const char* text;
    char defines[192];
    GLuint program;
} sap_gl_program_entry;

struct sap_gl {
    sap_gl_calls calls;
    const sap_gl_platform* platform;
    void *display, *context, *library; // the platform's
    bool own_context;                  // or the device's alone
    bool made_context;                 // in a browser: the context is the device's to delete
    int losses;                        // in a browser: of this context, before the device was opened
    bool lost;                         // for good
    int32_t version;                   // of OpenGL ES, 10 * major + minor; 20 in WebGL 1
    bool float_targets;                // textures of 16- and 32-bit floats can be written
    int32_t most_images;  // textures that a compute shader can write at once; 0: there are no compute shaders
    int32_t most_texture; // texels on a side, at most
    int32_t most_3d;      // the same of 3-D textures
    int32_t most_targets; // textures written at once, at most SAP_GL_TARGETS
    int64_t most_buffer;  // bytes of a buffer that a compute shader may see; 0: it sees none
    bool keeps_mapped;    // buffers can stay mapped (GL_EXT_buffer_storage)
    sap_gl_landing landing;
    int32_t most_rounds; // of all loops of a shader together, after which some drivers end them; INT32_MAX: any number
    char name[64];
    int lock;        // a context serves one call at a time
    uintptr_t owner; // the thread whose call that is; 0: none
    GLuint vertices, corners, framebuffer;
    int programs;
    sap_gl_program_entry program[SAP_GL_PROGRAMS];
    sap_device* host; // a CPU device that does what a context cannot, with this one's allocator, log and progress
};

static inline sap_gl* sap_gl_of(const sap_device* device) { return (sap_gl*)device->processor_state; }

// Whether compute shaders see buffers. Never in a browser, so that its compiler leaves out what needs them.
static inline bool sap_gl_has_buffers(const sap_gl* gl) {
#ifdef __EMSCRIPTEN__
    (void)gl;
    return false;
#else
    return gl->most_buffer > 0;
#endif
}

// Opens over another platform; sap_gl_open uses sap_gl_native.
sap_status sap_gl_open_with(sap_device* device, const sap_gl_platform* platform);

// ---- A call (device/gl_call.c).

// What a call found in the caller's context.
typedef struct sap_gl_found {
    GLint program, draw_framebuffer, read_framebuffer, vertices, corners, pack_buffer, unpack_buffer, unit;
    GLint texture[SAP_GL_UNITS], texture_3d[SAP_GL_UNITS], sampler[SAP_GL_UNITS];
    GLint viewport[4], pack[4], unpack[6], browser_unpack[2];
    GLboolean tests[8], mask[4];
} sap_gl_found;

typedef struct sap_gl_call {
    sap_device* device;
    sap_gl* gl;
    const sap_gl_calls* f; // the functions of OpenGL
    sap_status status;     // of the first failure
    bool entered;
    bool nested; // begun within another call of the same thread, by a callback of the caller
    sap_gl_before before;
    sap_gl_found found;
    char sentence[512]; // why the call failed: logged at its end, when other calls may begin
} sap_gl_call;

// Begins a call; SAP_ERROR_DEVICE_LOST if the context is lost, SAP_ERROR_ARGUMENT if the caller's context is not
// current, or if this thread is within another call on the device: the caller's allocator may run there. sap_gl_end
// must follow in any case.
sap_status sap_gl_begin(sap_gl_call* call, const sap_device* device);
// Looks for errors and leaves the context: the call's status, or `status` if it is an error that the room found.
sap_status sap_gl_end(sap_gl_call* call, sap_status status);
// Fails the call with a sentence (printf style), unless it has failed already.
__attribute__((format(printf, 3, 4))) void sap_gl_fail(sap_gl_call* call, sap_status status, const char* format, ...);
// Tells the progress callback how much is done, outside of the call, which ends and begins anew; the call fails with
// SAP_ERROR_CANCELLED if it asks to stop.
void sap_gl_report(sap_gl_call* call, double done);
// Looks for errors of OpenGL now; `doing` ("drawing …") goes into the sentence. Whether the call is still good.
bool sap_gl_check(sap_gl_call* call, const char* doing);
// The same, but only where the table asks for checks after every pass.
bool sap_gl_check_pass(sap_gl_call* call, const char* doing);

// ---- Programs (device/gl_program.c).

// The program of a fragment shader's text, compiled when it is first asked for. Texts are files src/ROOM/NAME.glsl,
// which the build makes into arrays (packaging/shaders.cmake): declare `extern const char sap_glsl_NAME[];`. They have
// no #version line and no precisions: GLSL ES 3.00 with everything highp stands before them, and after that `defines`
// ("#define …\n", at most 191 characters; "" for none), or GLSL ES 1.00 if those begin with SAP_GLSL_100. A text must
// not assume anything about varyings: gl_FragCoord tells it where it is, and in GLSL ES 1.00, where that has medium
// precision only, `covered`, which is 0 ... 1 over the rectangle that is drawn. 0 on failure.
#define SAP_GLSL_100 "#define SAP_GLSL 100\n"
// Defines that begin with this make a compute shader of GLSL ES 3.10 of a text, which then writes images called as its
// outputs would be, in groups of SAP_GL_GROUP_X x SAP_GL_GROUP_Y invocations.
#define SAP_GLSL_COMPUTE "#define SAP_COMPUTE\n"
// The same without images: the text says how large its groups are, and has buffers.
#define SAP_GLSL_BUFFERS "#define SAP_BUFFERS\n"
// Defines that begin with this make both shaders of a program of GLSL ES 3.00 of one text: the vertex shader where
// SAP_VERTEX is defined, else the fragment shader.
#define SAP_GLSL_DRAWN "#define SAP_DRAWN\n"
GLuint sap_gl_program(sap_gl_call* call, const char* text, const char* defines);
// Uniforms of a program, by name; the program becomes the current one. A name that the compiler removed is fine.
void sap_gl_set_int(sap_gl_call* call, GLuint program, const char* name, int32_t value);
void sap_gl_set_uint(sap_gl_call* call, GLuint program, const char* name, uint32_t value);
void sap_gl_set_float(sap_gl_call* call, GLuint program, const char* name, float value);
void sap_gl_set_ints(sap_gl_call* call, GLuint program, const char* name, int count, const int32_t* values);
void sap_gl_set_floats(sap_gl_call* call, GLuint program, const char* name, int count, const float* values);

// ---- Textures (device/gl_texture.c).

// How a sized internal format is transferred.
typedef struct sap_gl_format {
    GLenum internal, format, type;
    int32_t bytes;                 // a texel
    GLenum read_format, read_type; // that always may be read; 0: it cannot be a target
    int32_t read_bytes;
} sap_gl_format;

// Of R8, RGBA8, R8UI, R32UI, RG32UI, RGBA32UI, R32I, RGBA32I, R32F, RG32F, RGBA32F, R16UI, R16I. NULL for others.
const sap_gl_format* sap_gl_format_of(GLenum internal);

// A 2-D texture of one level, nearest filter, clamped; `data` (rows without gaps) or NULL. `what` names it in a
// sentence. 0 on failure: SAP_ERROR_RANGE beyond the context's limit, SAP_ERROR_UNSUPPORTED (a format that OpenGL
// ES 2.0 lacks), SAP_ERROR_DEVICE_MEMORY.
GLuint sap_gl_texture(sap_gl_call* call, GLenum internal, int32_t width, int32_t height, const void* data,
                      const char* what);
// Writes a rectangle of a texture's level.
void sap_gl_write(sap_gl_call* call, GLuint texture, GLenum internal, int32_t level, const int32_t rectangle[4],
                  const void* data);
// Deletes a texture; 0 is fine. It may be called on a call that has failed.
void sap_gl_texture_free(sap_gl_call* call, GLuint texture);

// A linear array of `count` texels as a 2-D texture: texel i is (i % width, i / width), and width is a power of two.
// Sizes of it: false (and the call fails with SAP_ERROR_RANGE) if the context's limit is too low.
bool sap_gl_array_size(sap_gl_call* call, int64_t count, const char* what, int32_t* width, int32_t* height);
// The logarithm of its width, for shaders.
static inline int32_t sap_gl_shift_of(int32_t width) { return 31 - __builtin_clz((uint32_t)width); }
// The texture of such an array: data[count] texels.
GLuint sap_gl_array(sap_gl_call* call, GLenum internal, int64_t count, const void* data, const char* what);

// Reads a rectangle (x, y, width, height) of a level of a texture, as rows without gaps of texels of the format's
// read_format and read_type: RGBA_INTEGER of 32 bits for integers, RGBA of floats for floats, RGBA bytes for the rest.
void sap_gl_read(sap_gl_call* call, GLuint texture, GLenum internal, int32_t level, const int32_t rectangle[4],
                 void* to);

// ---- Passes (device/gl_pass.c).

typedef struct sap_gl_input {
    const char* sampler; // its name in the text; NULL: no more inputs
    GLuint texture;
    GLenum kind; // 0: GL_TEXTURE_2D
} sap_gl_input;

typedef struct sap_gl_pass {
    GLuint program;
    sap_gl_input input[SAP_GL_UNITS];
    GLuint target[SAP_GL_TARGETS]; // in order of `layout(location = …)`; 0: no more
    bool is_shown;                 // draws into `framebuffer` instead
    GLuint framebuffer;
    int32_t level;        // of the targets
    int32_t rectangle[4]; // of the targets: x, y, width, height
    bool compute;         // the program is a compute shader; targets are its images, RGBA32UI all
    const char* name;     // for the sentence if it fails
} sap_gl_pass;

// Draws a rectangle: every texel of it is computed by the program (set its uniforms before).
void sap_gl_draw(sap_gl_call* call, const sap_gl_pass* pass);
// The parts of that for programs with a vertex shader of their own: the framebuffer, and program and textures. False:
// the targets do not fit together.
bool sap_gl_attach(sap_gl_call* call, const sap_gl_pass* pass);
void sap_gl_use(sap_gl_call* call, const sap_gl_pass* pass);

// ---- Buffers (device/gl_buffer.c), only where sap_gl_has_buffers.

// A buffer in the GPU's memory. 0 on failure: SAP_ERROR_RANGE beyond what shaders may see, SAP_ERROR_DEVICE_MEMORY.
GLuint sap_gl_buffer(sap_gl_call* call, int64_t bytes, const char* what);
// Deletes a buffer; 0 is fine. It may be called on a call that has failed.
void sap_gl_buffer_free(sap_gl_call* call, GLuint buffer);

// One that the device keeps, for what is to be read at once: whoever asks next has it.
GLuint sap_gl_kept_buffer(sap_gl_call* call, int64_t bytes);

typedef struct sap_gl_dispatch {
    GLuint program; // of SAP_GLSL_BUFFERS
    sap_gl_input input[SAP_GL_UNITS];
    GLuint buffer[SAP_GL_BUFFERS]; // by `binding`; 0: none there
    int64_t groups;                // the text numbers them gl_WorkGroupID.x + SAP_GL_GROUPS * gl_WorkGroupID.y
    const char* name;
} sap_gl_dispatch;

enum {
    SAP_GL_GROUPS = 1 << 15, // groups in a row: every context can have twice as many
    SAP_GL_LANDED = 1 << 26  // bytes that should be read at a time at most: so large the buffers stay that are kept
};

// Runs a compute shader over buffers, and has all later calls see what it writes.
void sap_gl_compute(sap_gl_call* call, const sap_gl_dispatch* dispatch);
// Copies bytes of a buffer to host memory; waits for the GPU.
void sap_gl_buffer_read(sap_gl_call* call, GLuint buffer, int64_t from, int64_t bytes, void* to);
// The same without the last copy: NULL on failure, else where the bytes stand until sap_gl_buffer_landed is called,
// which must be before anything else.
const void* sap_gl_buffer_land(sap_gl_call* call, GLuint buffer, int64_t from, int64_t bytes);
void sap_gl_buffer_landed(sap_gl_call* call);
// The same of a rectangle of a texture, of which a read is converted nowhere on the way (sap_gl_read).
const void* sap_gl_texture_land(sap_gl_call* call, const sap_gl_format* format, const int32_t rectangle[4]);
// Memory for so many bytes, SAP_GL_LANDED at most, that the next writes to textures are to read, from 0 on, until
// sap_gl_started is called; NULL: there is none, and they read the caller's memory.
void* sap_gl_start(sap_gl_call* call, int64_t bytes);
void sap_gl_started(sap_gl_call* call);
// Frees the buffers that are kept.
void sap_gl_free_landing(sap_gl_call* call);

#endif
