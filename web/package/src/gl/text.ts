// Shader text to include, and the uniforms that it reads. Texts come from the library's own files (web/gl/text): build.mjs
// puts @ where a name begins with the tree's, and @@ where with its capitals.
import bytesText from "../../../gl/text/bytes.glsl";
import meshText from "../../../gl/text/mesh.glsl";
import pointsText from "../../../gl/text/points.glsl";
import { refuse } from "../errors.js";
import type { Context } from "./module.js";

const texts = { points: pointsText, bytes: bytesText, mesh: meshText };

/** A name that shader text may begin with: checked. */
export function nameOf(name: unknown, otherwise: string): string {
  if (name === undefined) return otherwise;
  if (typeof name !== "string" || !/^[a-z][a-z0-9]{0,31}$/.test(name) || /^(gl|webgl)/.test(name))
    refuse(`name: ${JSON.stringify(name)} is not a small letter and at most 31 more or digits`);
  return name;
}

/** A text for a tree of a name. */
export function textOf(which: keyof typeof texts, name: string, defines: Record<string, number | boolean | undefined>): string {
  const lines = Object.entries(defines)
    .filter(([, value]) => value !== undefined && value !== false)
    .map(([define, value]) => `#define @@_${define}${value === true ? "" : ` ${value}`}\n`);
  return (lines.join("") + texts[which]).replaceAll("@@", name.toUpperCase()).replaceAll("@", name);
}

/** A uniform: a texture to be bound, or numbers of a type. */
export type Uniform =
  | { readonly texture: WebGLTexture }
  | { readonly kind: "i" | "ui" | "f"; readonly value: readonly number[] };

/** Sets uniforms of a program, which becomes the current one, and binds textures to units from `unit` on. The next unit that
 * is free. */
export function bindUniforms(gl: Context, program: WebGLProgram, unit: number, uniforms: Record<string, Uniform>): number {
  gl.useProgram(program);
  for (const [name, uniform] of Object.entries(uniforms)) {
    const at = gl.getUniformLocation(program, name);
    if (!at) continue; // the compiler has removed it
    if ("texture" in uniform) {
      gl.activeTexture(gl.TEXTURE0 + unit);
      gl.bindTexture(gl.TEXTURE_2D, uniform.texture);
      gl.uniform1i(at, unit++);
    } else {
      const { kind, value } = uniform;
      (gl as unknown as Record<string, (at: WebGLUniformLocation, value: readonly number[]) => void>)[`uniform${value.length}${kind}v`]!(at, value);
    }
  }
  return unit;
}

/** The same uniforms as three.js takes them: `wrap` makes its texture of one of WebGL. */
export function wrapUniforms<T>(uniforms: Record<string, Uniform>, wrap: (texture: WebGLTexture) => T): Record<string, { value: T | number | number[] }> {
  return Object.fromEntries(Object.entries(uniforms).map(([name, uniform]) =>
    [name, { value: "texture" in uniform ? wrap(uniform.texture) : uniform.value.length === 1 ? uniform.value[0]! : [...uniform.value] }]));
}
