// The caller's state of a context: what calls change there is put back, so that a program, or a library such as three.js
// that remembers what it has set, need not know of them. This is done here, not in the library: of objects that it has not
// made itself, the module knows no names.
import type { Context } from "./module.js";

const UNITS = 12; // most textures that a pass of the library reads
const packs = [3333, 3330, 3331, 3332]; // PACK_ALIGNMENT, PACK_ROW_LENGTH, PACK_SKIP_ROWS, PACK_SKIP_PIXELS
const unpacks = [3317, 3314, 3315, 3316, 32878, 32877]; // UNPACK_ALIGNMENT, _ROW_LENGTH, _SKIP_ROWS, _SKIP_PIXELS, _IMAGE_HEIGHT, _SKIP_IMAGES
const unpacksHere = [37440, 37441]; // UNPACK_FLIP_Y_WEBGL, UNPACK_PREMULTIPLY_ALPHA_WEBGL

function isNew(gl: Context): gl is WebGL2RenderingContext {
  return "texImage3D" in gl;
}

/** Runs a call, and puts back what it has changed. What it has deleted is bound no more. */
export function keepState<R>(gl: Context, call: () => R): R {
  const modern = isNew(gl) ? gl : undefined;
  const arrays = modern ? undefined : (gl.getExtension("OES_vertex_array_object") ?? undefined);
  for (let i = 0; i < 16 && gl.getError() !== gl.NO_ERROR; i++); // errors of the caller's are not the call's
  const get = (what: number): unknown => gl.getParameter(what);
  const program = get(gl.CURRENT_PROGRAM) as WebGLProgram | null;
  const framebuffer = get(gl.FRAMEBUFFER_BINDING) as WebGLFramebuffer | null;
  const reading = modern && (get(modern.READ_FRAMEBUFFER_BINDING) as WebGLFramebuffer | null);
  const vertices = modern ? (get(modern.VERTEX_ARRAY_BINDING) as WebGLVertexArrayObject | null) : arrays && (get(arrays.VERTEX_ARRAY_BINDING_OES) as WebGLVertexArrayObjectOES | null);
  const corners = get(gl.ARRAY_BUFFER_BINDING) as WebGLBuffer | null;
  const packing = modern && (get(modern.PIXEL_PACK_BUFFER_BINDING) as WebGLBuffer | null);
  const unpacking = modern && (get(modern.PIXEL_UNPACK_BUFFER_BINDING) as WebGLBuffer | null);
  const unit = get(gl.ACTIVE_TEXTURE) as number;
  const viewport = get(gl.VIEWPORT) as Int32Array;
  const mask = get(gl.COLOR_WRITEMASK) as boolean[];
  const tests = [gl.BLEND, gl.CULL_FACE, gl.DEPTH_TEST, gl.DITHER, gl.SCISSOR_TEST, gl.STENCIL_TEST, gl.SAMPLE_COVERAGE,
    ...(modern ? [modern.RASTERIZER_DISCARD] : [])].map((test) => [test, gl.isEnabled(test)] as const);
  const storage = (modern ? [...packs, ...unpacks, ...unpacksHere] : [packs[0]!, unpacks[0]!, ...unpacksHere])
    .map((what) => [what, get(what) as number | boolean] as const);
  const units = Math.min(UNITS, get(gl.MAX_TEXTURE_IMAGE_UNITS) as number);
  const textures = Array.from({ length: units }, (_, i) => {
    gl.activeTexture(gl.TEXTURE0 + i);
    return [get(gl.TEXTURE_BINDING_2D) as WebGLTexture | null, modern && (get(modern.TEXTURE_BINDING_3D) as WebGLTexture | null),
      modern && (get(modern.SAMPLER_BINDING) as WebGLSampler | null)] as const;
  });
  const there = (texture: WebGLTexture | null): WebGLTexture | null => (texture && gl.isTexture(texture) ? texture : null);
  try {
    // What calls of this package write on their own account they write as it is.
    if (modern) {
      modern.bindBuffer(modern.PIXEL_UNPACK_BUFFER, null);
      modern.bindBuffer(modern.PIXEL_PACK_BUFFER, null);
    }
    for (const [what] of storage) gl.pixelStorei(what, what === packs[0] || what === unpacks[0] ? 1 : 0);
    return call();
  } finally {
    gl.useProgram(program);
    gl.bindFramebuffer(gl.FRAMEBUFFER, framebuffer);
    if (modern) modern.bindFramebuffer(modern.READ_FRAMEBUFFER, reading!);
    if (modern) modern.bindVertexArray(vertices!);
    else arrays?.bindVertexArrayOES(vertices!);
    gl.bindBuffer(gl.ARRAY_BUFFER, corners && gl.isBuffer(corners) ? corners : null);
    if (modern) {
      modern.bindBuffer(modern.PIXEL_PACK_BUFFER, packing!);
      modern.bindBuffer(modern.PIXEL_UNPACK_BUFFER, unpacking!);
    }
    gl.viewport(viewport[0]!, viewport[1]!, viewport[2]!, viewport[3]!);
    gl.colorMask(mask[0]!, mask[1]!, mask[2]!, mask[3]!);
    for (const [test, on] of tests) (on ? gl.enable : gl.disable).call(gl, test);
    for (const [what, value] of storage) gl.pixelStorei(what, value as number);
    textures.forEach(([flat, solid, sampler], i) => {
      gl.activeTexture(gl.TEXTURE0 + i);
      gl.bindTexture(gl.TEXTURE_2D, there(flat));
      if (modern) modern.bindTexture(modern.TEXTURE_3D, there(solid!));
      if (modern) modern.bindSampler(i, sampler!);
    });
    gl.activeTexture(unit);
  }
}
