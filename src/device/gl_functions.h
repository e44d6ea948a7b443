// The functions of OpenGL ES 3.0 that Sapwood calls, once as a list: SAP_GL_EACH(F) is F(type, name, parameters,
// arguments) for those without a value and SAP_GL_EACH_VALUED(F) the same for the others. The table of device/gl.h is
// made of it, so is what loads it, and so are the wrappers with which tests count calls and lose contexts.
// SAP_GL_EACH_NATIVE and SAP_GL_EACH_NATIVE_VALUED are what browsers lack: buffers that are mapped, and of OpenGL ES 3.1
// compute shaders and buffers that they write. They are NULL where a context has none.
#ifndef SAPWOOD_DEVICE_GL_FUNCTIONS_H
#define SAPWOOD_DEVICE_GL_FUNCTIONS_H

// clang-format off
#define SAP_GL_EACH(F)                                                                                                 \
    F(void, ActiveTexture, (GLenum unit), (unit))                                                                      \
    F(void, AttachShader, (GLuint program, GLuint shader), (program, shader))                                          \
    F(void, BindAttribLocation, (GLuint program, GLuint at, const GLchar* name), (program, at, name))                  \
    F(void, BindBuffer, (GLenum target, GLuint buffer), (target, buffer))                                              \
    F(void, BindFramebuffer, (GLenum target, GLuint framebuffer), (target, framebuffer))                               \
    F(void, BindSampler, (GLuint unit, GLuint sampler), (unit, sampler))                                               \
    F(void, BindTexture, (GLenum target, GLuint texture), (target, texture))                                           \
    F(void, BindVertexArray, (GLuint array), (array))                                                                  \
    F(void, BufferData, (GLenum target, GLsizeiptr bytes, const void* data, GLenum usage), (target, bytes, data, usage)) \
    F(void, BufferSubData, (GLenum target, GLintptr at, GLsizeiptr bytes, const void* data), (target, at, bytes, data)) \
    F(void, ClearBufferfv, (GLenum buffer, GLint draw, const GLfloat* value), (buffer, draw, value))                   \
    F(void, ClearBufferiv, (GLenum buffer, GLint draw, const GLint* value), (buffer, draw, value))                     \
    F(void, ClearBufferuiv, (GLenum buffer, GLint draw, const GLuint* value), (buffer, draw, value))                   \
    F(void, ColorMask, (GLboolean r, GLboolean g, GLboolean b, GLboolean a), (r, g, b, a))                             \
    F(void, CompileShader, (GLuint shader), (shader))                                                                  \
    F(void, CopyTexSubImage2D, (GLenum target, GLint level, GLint to_x, GLint to_y, GLint x, GLint y, GLsizei width, GLsizei height), (target, level, to_x, to_y, x, y, width, height)) \
    F(void, DeleteBuffers, (GLsizei count, const GLuint* names), (count, names))                                       \
    F(void, DeleteFramebuffers, (GLsizei count, const GLuint* names), (count, names))                                  \
    F(void, DeleteProgram, (GLuint program), (program))                                                                \
    F(void, DeleteShader, (GLuint shader), (shader))                                                                   \
    F(void, DeleteTextures, (GLsizei count, const GLuint* names), (count, names))                                      \
    F(void, DeleteVertexArrays, (GLsizei count, const GLuint* names), (count, names))                                  \
    F(void, Disable, (GLenum what), (what))                                                                            \
    F(void, DisableVertexAttribArray, (GLuint at), (at))                                                               \
    F(void, DrawArrays, (GLenum mode, GLint first, GLsizei count), (mode, first, count))                               \
    F(void, DrawArraysInstanced, (GLenum mode, GLint first, GLsizei count, GLsizei instances), (mode, first, count, instances)) \
    F(void, DrawBuffers, (GLsizei count, const GLenum* buffers), (count, buffers))                                     \
    F(void, Enable, (GLenum what), (what))                                                                             \
    F(void, EnableVertexAttribArray, (GLuint at), (at))                                                                \
    F(void, Finish, (void), ())                                                                                        \
    F(void, Flush, (void), ())                                                                                         \
    F(void, FramebufferTexture2D, (GLenum target, GLenum attachment, GLenum kind, GLuint texture, GLint level), (target, attachment, kind, texture, level)) \
    F(void, FramebufferTextureLayer, (GLenum target, GLenum attachment, GLuint texture, GLint level, GLint layer), (target, attachment, texture, level, layer)) \
    F(void, GenBuffers, (GLsizei count, GLuint* names), (count, names))                                                \
    F(void, GenFramebuffers, (GLsizei count, GLuint* names), (count, names))                                           \
    F(void, GenTextures, (GLsizei count, GLuint* names), (count, names))                                               \
    F(void, GenVertexArrays, (GLsizei count, GLuint* names), (count, names))                                           \
    F(void, GetBooleanv, (GLenum what, GLboolean* value), (what, value))                                               \
    F(void, GetIntegeri_v, (GLenum what, GLuint number, GLint* value), (what, number, value))                          \
    F(void, GetIntegerv, (GLenum what, GLint* value), (what, value))                                                   \
    F(void, GetProgramInfoLog, (GLuint program, GLsizei room, GLsizei* length, GLchar* text), (program, room, length, text)) \
    F(void, GetProgramiv, (GLuint program, GLenum what, GLint* value), (program, what, value))                         \
    F(void, GetShaderInfoLog, (GLuint shader, GLsizei room, GLsizei* length, GLchar* text), (shader, room, length, text)) \
    F(void, GetShaderiv, (GLuint shader, GLenum what, GLint* value), (shader, what, value))                            \
    F(void, LinkProgram, (GLuint program), (program))                                                                  \
    F(void, PixelStorei, (GLenum what, GLint value), (what, value))                                                    \
    F(void, ReadPixels, (GLint x, GLint y, GLsizei width, GLsizei height, GLenum format, GLenum type, void* to), (x, y, width, height, format, type, to)) \
    F(void, Scissor, (GLint x, GLint y, GLsizei width, GLsizei height), (x, y, width, height))                         \
    F(void, ShaderSource, (GLuint shader, GLsizei count, const GLchar* const* texts, const GLint* lengths), (shader, count, texts, lengths)) \
    F(void, TexImage2D, (GLenum target, GLint level, GLint internal, GLsizei width, GLsizei height, GLint border, GLenum format, GLenum type, const void* data), (target, level, internal, width, height, border, format, type, data)) \
    F(void, TexImage3D, (GLenum target, GLint level, GLint internal, GLsizei width, GLsizei height, GLsizei depth, GLint border, GLenum format, GLenum type, const void* data), (target, level, internal, width, height, depth, border, format, type, data)) \
    F(void, TexParameteri, (GLenum target, GLenum what, GLint value), (target, what, value))                           \
    F(void, TexStorage2D, (GLenum target, GLsizei levels, GLenum internal, GLsizei width, GLsizei height), (target, levels, internal, width, height)) \
    F(void, TexStorage3D, (GLenum target, GLsizei levels, GLenum internal, GLsizei width, GLsizei height, GLsizei depth), (target, levels, internal, width, height, depth)) \
    F(void, TexSubImage2D, (GLenum target, GLint level, GLint x, GLint y, GLsizei width, GLsizei height, GLenum format, GLenum type, const void* data), (target, level, x, y, width, height, format, type, data)) \
    F(void, TexSubImage3D, (GLenum target, GLint level, GLint x, GLint y, GLint z, GLsizei width, GLsizei height, GLsizei depth, GLenum format, GLenum type, const void* data), (target, level, x, y, z, width, height, depth, format, type, data)) \
    F(void, Uniform1f, (GLint at, GLfloat x), (at, x))                                                                 \
    F(void, Uniform1i, (GLint at, GLint x), (at, x))                                                                   \
    F(void, Uniform1ui, (GLint at, GLuint x), (at, x))                                                                 \
    F(void, Uniform2f, (GLint at, GLfloat x, GLfloat y), (at, x, y))                                                   \
    F(void, Uniform2i, (GLint at, GLint x, GLint y), (at, x, y))                                                       \
    F(void, Uniform3f, (GLint at, GLfloat x, GLfloat y, GLfloat z), (at, x, y, z))                                     \
    F(void, Uniform3i, (GLint at, GLint x, GLint y, GLint z), (at, x, y, z))                                           \
    F(void, Uniform4f, (GLint at, GLfloat x, GLfloat y, GLfloat z, GLfloat w), (at, x, y, z, w))                       \
    F(void, Uniform4i, (GLint at, GLint x, GLint y, GLint z, GLint w), (at, x, y, z, w))                               \
    F(void, UseProgram, (GLuint program), (program))                                                                   \
    F(void, VertexAttribPointer, (GLuint at, GLint size, GLenum type, GLboolean normalized, GLsizei stride, const void* offset), (at, size, type, normalized, stride, offset)) \
    F(void, Viewport, (GLint x, GLint y, GLsizei width, GLsizei height), (x, y, width, height))

#define SAP_GL_EACH_VALUED(F)                                                                                          \
    F(GLenum, CheckFramebufferStatus, (GLenum target), (target))                                                       \
    F(GLuint, CreateProgram, (void), ())                                                                               \
    F(GLuint, CreateShader, (GLenum type), (type))                                                                     \
    F(GLenum, GetError, (void), ())                                                                                    \
    F(const GLubyte*, GetString, (GLenum what), (what))                                                                \
    F(const GLubyte*, GetStringi, (GLenum what, GLuint number), (what, number))                                        \
    F(GLint, GetUniformLocation, (GLuint program, const GLchar* name), (program, name))                                \
    F(GLboolean, IsEnabled, (GLenum what), (what))                                                                     \
    F(GLboolean, IsTexture, (GLuint texture), (texture))

#define SAP_GL_EACH_NATIVE(F)                                                                                          \
    F(void, BindBufferBase, (GLenum target, GLuint at, GLuint buffer), (target, at, buffer))                           \
    F(void, BindBufferRange, (GLenum target, GLuint at, GLuint buffer, GLintptr from, GLsizeiptr bytes), (target, at, buffer, from, bytes)) \
    F(void, BindImageTexture, (GLuint unit, GLuint texture, GLint level, GLboolean layered, GLint layer, GLenum access, GLenum format), (unit, texture, level, layered, layer, access, format)) \
    F(void, BufferStorageEXT, (GLenum target, GLsizeiptr bytes, const void* data, GLbitfield flags), (target, bytes, data, flags)) \
    F(void, CopyBufferSubData, (GLenum from, GLenum to, GLintptr from_at, GLintptr to_at, GLsizeiptr bytes), (from, to, from_at, to_at, bytes)) \
    F(void, DeleteSync, (GLsync sync), (sync))                                                                         \
    F(void, DispatchCompute, (GLuint x, GLuint y, GLuint z), (x, y, z))                                                \
    F(void, DrawElementsIndirect, (GLenum mode, GLenum type, const void* offset), (mode, type, offset))                \
    F(void, MemoryBarrier, (GLbitfield barriers), (barriers))

#define SAP_GL_EACH_NATIVE_VALUED(F)                                                                                   \
    F(GLenum, ClientWaitSync, (GLsync sync, GLbitfield flags, GLuint64 nanoseconds), (sync, flags, nanoseconds))       \
    F(GLsync, FenceSync, (GLenum condition, GLbitfield flags), (condition, flags))                                     \
    F(void*, MapBufferRange, (GLenum target, GLintptr from, GLsizeiptr bytes, GLbitfield access), (target, from, bytes, access)) \
    F(GLboolean, UnmapBuffer, (GLenum target), (target))
// clang-format on

#endif
