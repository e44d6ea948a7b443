// What scenes draw with: programs, rectangles, textures. All state that a pass needs is set anew, for the library and
// the scenes share the context.
#include "page.h"
#include <stdio.h>
#include <string.h>

float page_colors[PAGE_COLOR_FIELDS][3];

PAGE_EXPORT void page_color(int which, double red, double green, double blue) {
    page_colors[which][0] = (float)red;
    page_colors[which][1] = (float)green;
    page_colors[which][2] = (float)blue;
}

// Words that differ between the two languages: PAGE_ATTRIBUTE of a vertex, PAGE_TO the fragment shader, PAGE_FROM the
// vertex shader, `color` the pixel's.
static const char* const vertex_300 = "#version 300 es\n"
                                      "precision highp float;\n"
                                      "precision highp int;\n"
                                      "precision highp sampler2D;\n"
                                      "precision highp usampler2D;\n"
                                      "precision highp isampler2D;\n"
                                      "#define SAP_GLSL 300\n"
                                      "#define PAGE_ATTRIBUTE in\n"
                                      "#define PAGE_TO out\n";
static const char* const vertex_100 = "#version 100\n"
                                      "#define SAP_GLSL 100\n"
                                      "precision highp float;\n"
                                      "precision highp int;\n"
                                      "#define PAGE_ATTRIBUTE attribute\n"
                                      "#define PAGE_TO varying\n";
static const char* const fragment_300 = "#version 300 es\n"
                                        "precision highp float;\n"
                                        "precision highp int;\n"
                                        "precision highp sampler2D;\n"
                                        "precision highp sampler3D;\n"
                                        "precision highp usampler2D;\n"
                                        "precision highp isampler2D;\n"
                                        "#define SAP_GLSL 300\n"
                                        "#define PAGE_FROM in\n";
static const char* const fragment_100 = "#version 100\n"
                                        "#define SAP_GLSL 100\n"
                                        "precision highp float;\n"
                                        "precision highp int;\n"
                                        "precision highp sampler2D;\n"
                                        "#define PAGE_FROM varying\n"
                                        "#define color gl_FragColor\n";
static const char* const corners = "PAGE_ATTRIBUTE vec2 corner;\n"
                                   "void main() { gl_Position = vec4(corner, 0.0, 1.0); }\n";

static GLuint compile(GLenum type, const char* before, const char* defines, const char* text) {
    const char* const texts[3] = {before, defines, text};
    GLuint shader = glCreateShader(type);
    GLint compiled = 0;
    glShaderSource(shader, 3, texts, NULL);
    glCompileShader(shader);
    glGetShaderiv(shader, GL_COMPILE_STATUS, &compiled);
    if (compiled) return shader;
    char log[400] = "";
    glGetShaderInfoLog(shader, sizeof log, NULL, log);
    glDeleteShader(shader);
    page_fail(SAP_ERROR_UNSUPPORTED, "This graphics driver refuses a shader of the page: %s", log);
    return 0;
}

GLuint page_program(const char* vertex, const char* fragment, const char* defines) {
    const bool old = page_gl_version() == 1;
    char with_output[512];
    snprintf(with_output, sizeof with_output, "%s%s", old ? "" : "layout(location = 0) out vec4 color;\n", defines);
    if (strstr(defines, "PAGE_OUTPUTS")) snprintf(with_output, sizeof with_output, "%s", defines); // it has its own
    GLuint first = compile(GL_VERTEX_SHADER, old ? vertex_100 : vertex_300, defines, vertex ? vertex : corners);
    GLuint second = first ? compile(GL_FRAGMENT_SHADER, old ? fragment_100 : fragment_300, with_output, fragment) : 0;
    GLuint program = 0;
    GLint linked = 0;
    if (second) {
        program = glCreateProgram();
        glAttachShader(program, first);
        glAttachShader(program, second);
        glBindAttribLocation(program, 0, "corner");
        glLinkProgram(program);
        glGetProgramiv(program, GL_LINK_STATUS, &linked);
        if (!linked) {
            char log[400] = "";
            glGetProgramInfoLog(program, sizeof log, NULL, log);
            glDeleteProgram(program);
            program = 0;
            page_fail(SAP_ERROR_UNSUPPORTED, "This graphics driver refuses a program of the page: %s", log);
        }
    }
    if (first) glDeleteShader(first);
    if (second) glDeleteShader(second);
    return program;
}

GLint page_uniform(GLuint program, const char* name) { return glGetUniformLocation(program, name); }

void page_texture(GLuint program, const char* name, int unit, GLenum kind, GLuint texture) {
    glUseProgram(program);
    glActiveTexture(GL_TEXTURE0 + (GLenum)unit);
    glBindTexture(kind ? kind : GL_TEXTURE_2D, texture);
    glUniform1i(glGetUniformLocation(program, name), unit);
}

void page_vertices(GLuint buffer, int axes) {
    glBindVertexArray(0); // in WebGL 1 by an extension that all browsers have
    glBindBuffer(GL_ARRAY_BUFFER, buffer);
    glEnableVertexAttribArray(0);
    glVertexAttribPointer(0, axes, GL_FLOAT, GL_FALSE, 0, NULL);
}

void page_rectangle(GLuint program, const int32_t rectangle[4]) {
    static const float triangle[6] = {-1, -1, 3, -1, -1, 3};
    GLuint buffer = 0;
    glGenBuffers(1, &buffer);
    glUseProgram(program);
    glViewport(rectangle[0], rectangle[1], rectangle[2], rectangle[3]);
    page_vertices(buffer, 2);
    glBufferData(GL_ARRAY_BUFFER, sizeof triangle, triangle, GL_STREAM_DRAW);
    glDrawArrays(GL_TRIANGLES, 0, 3);
    glDisableVertexAttribArray(0);
    glBindBuffer(GL_ARRAY_BUFFER, 0);
    glDeleteBuffers(1, &buffer);
}
