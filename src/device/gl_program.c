// Programs for passes: compiled when they are first needed, and kept.
#include "base/assert.h"
#include "device/gl.h"
#include <string.h>

static const char* const vertex_300 = "#version 300 es\n"
                                      "layout(location = 0) in vec2 corner;\n"
                                      "void main() { gl_Position = vec4(corner, 0.0, 1.0); }\n";
// GLSL ES 1.00 has gl_FragCoord in medium precision, which Mesa makes 16 bits: texels beyond 1024 are not told apart.
static const char* const vertex_100 = "#version 100\n"
                                      "attribute vec2 corner;\n"
                                      "varying highp vec2 covered;\n"
                                      "void main() {\n"
                                      "    covered = 0.5 * corner + 0.5;\n"
                                      "    gl_Position = vec4(corner, 0.0, 1.0);\n"
                                      "}\n";
#define PRECISIONS_300                                                                                                 \
    "#version 300 es\n"                                                                                                \
    "precision highp float;\n"                                                                                         \
    "precision highp int;\n"                                                                                           \
    "precision highp sampler2D;\n"                                                                                     \
    "precision highp sampler3D;\n"                                                                                     \
    "precision highp isampler2D;\n"                                                                                    \
    "precision highp usampler2D;\n"                                                                                    \
    "precision highp isampler3D;\n"                                                                                    \
    "precision highp usampler3D;\n"
static const char* const before_300 = PRECISIONS_300;
static const char* const before_vertex = PRECISIONS_300 "#define SAP_VERTEX\n";
static const char* const before_100 = "#version 100\n"
                                      "precision highp float;\n"
                                      "precision highp int;\n"
                                      "precision highp sampler2D;\n"
                                      "varying highp vec2 covered;\n";

#define PRECISIONS_310                                                                                                 \
    "#version 310 es\n"                                                                                                \
    "precision highp float;\n"                                                                                         \
    "precision highp int;\n"                                                                                           \
    "precision highp sampler2D;\n"                                                                                     \
    "precision highp isampler2D;\n"                                                                                    \
    "precision highp usampler2D;\n"
static const char* const before_310 =
    PRECISIONS_310 "precision highp uimage2D;\nlayout(local_size_x = 8, local_size_y = 8) in;\n";
static const char* const before_buffers =
    PRECISIONS_310 "precision highp sampler3D;\nprecision highp isampler3D;\nprecision highp usampler3D;\n";
_Static_assert(SAP_GL_GROUP_X == 8 && SAP_GL_GROUP_Y == 8, "as before_310 says");

enum { COMPUTE_SHADER = 0x91B9 };

// The driver's message about a text that it refuses.
static GLuint refuse(sap_gl_call* call, const char* doing, const char* what, const char* log) {
    if (sap_gl_check(call, doing)) sap_gl_fail(call, SAP_ERROR_UNSUPPORTED, "the driver refuses a %s: %s", what, log);
    return 0;
}

static GLuint compile(sap_gl_call* call, GLenum type, const char* const texts[3]) {
    const sap_gl_calls* f = call->f;
    GLuint shader = f->CreateShader(type);
    GLint compiled = 0;
    f->ShaderSource(shader, 3, texts, NULL);
    f->CompileShader(shader);
    f->GetShaderiv(shader, GL_COMPILE_STATUS, &compiled);
    if (compiled) return shader;
    char log[300] = "";
    f->GetShaderInfoLog(shader, sizeof log, NULL, log);
    f->DeleteShader(shader);
    return refuse(call, "compiling a shader", "shader", log);
}

static GLuint link(sap_gl_call* call, GLuint vertex, GLuint fragment) {
    const sap_gl_calls* f = call->f;
    GLuint program = f->CreateProgram();
    GLint linked = 0;
    if (vertex) f->AttachShader(program, vertex);
    f->AttachShader(program, fragment);
    f->BindAttribLocation(program, 0, "corner");
    f->LinkProgram(program);
    f->GetProgramiv(program, GL_LINK_STATUS, &linked);
    if (linked) return program;
    char log[300] = "";
    f->GetProgramInfoLog(program, sizeof log, NULL, log);
    f->DeleteProgram(program);
    return refuse(call, "linking a program", "program", log);
}

static bool begins(const char* defines, const char* with) { return !strncmp(defines, with, strlen(with)); }

static GLuint make_compute(sap_gl_call* call, const char* text, const char* defines) {
    const char* const texts[3] = {begins(defines, SAP_GLSL_COMPUTE) ? before_310 : before_buffers, defines, text};
    GLuint shader = compile(call, COMPUTE_SHADER, texts);
    GLuint program = shader ? link(call, 0, shader) : 0;
    if (shader) call->f->DeleteShader(shader);
    return program;
}

static GLuint make(sap_gl_call* call, const char* text, const char* defines) {
    const bool old = begins(defines, SAP_GLSL_100), drawn = begins(defines, SAP_GLSL_DRAWN);
    const char* const for_vertex[3] = {drawn ? before_vertex
                                       : old ? vertex_100
                                             : vertex_300,
                                       drawn ? defines : "", drawn ? text : ""};
    const char* const for_fragment[3] = {old ? before_100 : before_300, defines, text};
    GLuint program = 0, vertex = compile(call, GL_VERTEX_SHADER, for_vertex);
    GLuint fragment = vertex ? compile(call, GL_FRAGMENT_SHADER, for_fragment) : 0;
    if (fragment) program = link(call, vertex, fragment);
    if (fragment) call->f->DeleteShader(fragment);
    if (vertex) call->f->DeleteShader(vertex);
    return program;
}

GLuint sap_gl_program(sap_gl_call* call, const char* text, const char* defines) {
    sap_gl* gl = call->gl;
    if (call->status != SAP_OK) return 0;
    for (int i = 0; i < gl->programs; i++) {
        const sap_gl_program_entry* entry = &gl->program[i];
        if (entry->text == text && !strcmp(entry->defines, defines)) return entry->program;
    }
    if (gl->programs == SAP_GL_PROGRAMS || strlen(defines) >= sizeof gl->program->defines) {
        sap_gl_fail(call, SAP_ERROR_UNSUPPORTED, "a device keeps at most %d programs", SAP_GL_PROGRAMS);
        return 0;
    }
    if (gl->version < 30 && strncmp(defines, SAP_GLSL_100, strlen(SAP_GLSL_100)) != 0) {
        sap_gl_fail(call, SAP_ERROR_UNSUPPORTED, "OpenGL ES 2.0 (WebGL 1) has no shaders in GLSL ES 3.00");
        return 0;
    }
    const bool computes =
        begins(defines, SAP_GLSL_COMPUTE) || (sap_gl_has_buffers(gl) && begins(defines, SAP_GLSL_BUFFERS));
    GLuint program = (computes ? make_compute : make)(call, text, defines);
    if (!program || !sap_gl_check_pass(call, "making a program")) return 0;
    SAP_ASSERT(gl->programs < SAP_GL_PROGRAMS);
    sap_gl_program_entry* entry = &gl->program[gl->programs++];
    entry->text = text;
    entry->program = program;
    memcpy(entry->defines, defines, strlen(defines) + 1);
    return program;
}

// Where a uniform is, of a program that is made current; -1, which OpenGL ignores: nowhere.
static GLint locate(sap_gl_call* call, GLuint program, const char* name) {
    call->f->UseProgram(program);
    return call->f->GetUniformLocation(program, name);
}

void sap_gl_set_int(sap_gl_call* call, GLuint program, const char* name, int32_t value) {
    if (call->status == SAP_OK) call->f->Uniform1i(locate(call, program, name), value);
}

void sap_gl_set_uint(sap_gl_call* call, GLuint program, const char* name, uint32_t value) {
    if (call->status == SAP_OK) call->f->Uniform1ui(locate(call, program, name), value);
}

void sap_gl_set_float(sap_gl_call* call, GLuint program, const char* name, float value) {
    if (call->status == SAP_OK) call->f->Uniform1f(locate(call, program, name), value);
}

void sap_gl_set_ints(sap_gl_call* call, GLuint program, const char* name, int count, const int32_t* values) {
    if (call->status != SAP_OK) return;
    SAP_ASSERT(count >= 2 && count <= 4);
    GLint at = locate(call, program, name);
    if (count == 2) call->f->Uniform2i(at, values[0], values[1]);
    if (count == 3) call->f->Uniform3i(at, values[0], values[1], values[2]);
    if (count == 4) call->f->Uniform4i(at, values[0], values[1], values[2], values[3]);
}

void sap_gl_set_floats(sap_gl_call* call, GLuint program, const char* name, int count, const float* values) {
    if (call->status != SAP_OK) return;
    SAP_ASSERT(count >= 2 && count <= 4);
    GLint at = locate(call, program, name);
    if (count == 2) call->f->Uniform2f(at, values[0], values[1]);
    if (count == 3) call->f->Uniform3f(at, values[0], values[1], values[2]);
    if (count == 4) call->f->Uniform4f(at, values[0], values[1], values[2], values[3]);
}
