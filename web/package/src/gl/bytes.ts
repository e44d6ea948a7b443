// Trees of four bytes a node, for WebGL 1 too.
import { borrowedInt32, integer, isObject, optionsOf, three } from "./arguments.js";
import { refuse } from "../errors.js";
import type { Room } from "./device.js";
import { type Context, lend, type Module } from "./module.js";
import { nameOf, textOf, type Uniform } from "./text.js";
import { type FrameAnswers, type Grid, putGrid, type Saved, ShaderTree, type Walk, walkOf, withBytes } from "./trees.js";

/** The domain of a tree in four bytes a node: a square or a cube. Sites beyond are moved to its border. */
export interface ByteTreeOptions {
  /** Its lower corner. */
  lower: ArrayLike<number>;
  /** How long its sides are. */
  side: number;
  /** What all names in the shader text begin with. Default: "tree". */
  name?: string;
}

function put(gl: Context, width: number, height: number, bytes: Uint8Array): WebGLTexture {
  const texture = gl.createTexture();
  gl.bindTexture(gl.TEXTURE_2D, texture);
  gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, width, height, 0, gl.RGBA, gl.UNSIGNED_BYTE, bytes);
  for (const filter of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER]) gl.texParameteri(gl.TEXTURE_2D, filter, gl.NEAREST);
  for (const wrap of [gl.TEXTURE_WRAP_S, gl.TEXTURE_WRAP_T]) gl.texParameteri(gl.TEXTURE_2D, wrap, gl.CLAMP_TO_EDGE);
  return texture!;
}

/** A tree of four bytes a node, as in `sap_rgba8_tree` of the C library's `sapwood/gl.h`: points are rounded to 1/32767 of the
 * domain's side in 2-D, to 1/1023 in 3-D. */
export class GLByteTree extends ShaderTree {
  readonly #form: number;
  readonly dims: number;
  readonly #cycles: boolean;
  readonly #size: [width: number, height: number];
  readonly #lower: number[];
  /** Units of the rounded coordinates for a length of 1. */
  readonly scale: number;
  readonly #textures: { nodes: WebGLTexture; ids: WebGLTexture };

  /** Use `GLDevice.byteTree` instead. */
  constructor(room: Room, tree: Saved, options: ByteTreeOptions) {
    if (!isObject(options)) refuse("options: lower and side are needed");
    const { lower, side, name } = optionsOf(options, "lower side name");
    super(room, nameOf(name, "tree"));
    try {
      const corner = three(lower, "lower", lower?.length === 2 ? 2 : 3);
      if (typeof side !== "number" || !(side > 0 && side < Infinity)) refuse(`side: ${String(side)} is not a length`);
      for (let a = 0; a < 3; a++) room.numbers[a] = corner[a] ?? 0;
      [this.#form, this.#size, this.dims, this.#cycles, this.#lower, this.scale, this.#textures] = room.work(() => {
        withBytes(room, tree, "nearest", (address, size, trusted) => room.call("bytes_build", address, size, trusted, side));
        const [form, width, height, dims, cycles, nodes, ids] = room.integers();
        const lower = Array.from(room.numbers.subarray(0, dims));
        const view = (at: number): Uint8Array => new Uint8Array(room.module.HEAPU8.buffer, at, 4 * width! * height!);
        const textures = { nodes: put(room.gl, width!, height!, view(nodes!)), ids: put(room.gl, width!, height!, view(ids!)) };
        return [form!, [width!, height!], dims!, cycles !== 0, lower, room.numbers[3]!, textures] as const;
      }) as [number, [number, number], number, boolean, number[], number, { nodes: WebGLTexture; ids: WebGLTexture }];
      if (corner.length !== this.dims) refuse(`lower: has ${corner.length} coordinates, not ${this.dims}`);
    } catch (error) {
      this.free();
      throw error;
    }
  }

  get textures(): { nodes: WebGLTexture; ids: WebGLTexture; width: number; height: number } {
    this.alive();
    return { ...this.#textures, width: this.#size[0], height: this.#size[1] };
  }

  /** Text for shaders in GLSL ES 3.00 or 1.00 (in contexts of WebGL 1 the default), to stand before what uses it: of a tree
   * called "tree" `tree_nearest(place, distance)`, which gives an id, as a float in 1.00; -1: there is none. */
  glsl(options?: { version?: 100 | 300; walk?: Walk }): string {
    const { gl } = this.alive();
    const { version = "texImage3D" in gl ? 300 : 100, walk } = optionsOf(options, "version walk");
    if (version !== 100 && version !== 300) refuse(`version: ${String(version)} is neither 100 nor 300`);
    const depth = Math.log2(this.#size[0] * this.#size[1]) - 1;
    return textOf("bytes", this.name, {
      GLSL: version, AXES: this.dims, CYCLE: this.#cycles, STACK: walkOf(walk) === 1 && Math.floor(depth / 4) * 4 + 4,
    });
  }

  protected override values(): Record<string, Uniform> {
    const [width, height] = this.#size;
    const { name } = this;
    return {
      [`${name}_nodes`]: { texture: this.#textures.nodes },
      [`${name}_ids`]: { texture: this.#textures.ids },
      [`${name}_texels`]: { kind: "f", value: [width, height] },
      [`${name}_shift`]: { kind: "i", value: [Math.log2(width)] },
      [`${name}_lower`]: { kind: "f", value: this.#lower },
      [`${name}_scale`]: { kind: "f", value: [this.scale] },
    };
  }

  /** The nearest site of every pixel of a picture, and how far it is; waits for the GPU. */
  nearest(grid: Grid, options: { width: number; height: number; walk?: Walk; version?: 100 | 300 }): FrameAnswers {
    const room = this.alive();
    const { width, height, walk, version = "texImage3D" in room.gl ? 300 : 100 } = optionsOf(options, "width height walk version");
    const count = integer(width, 1, 65536, "width") * integer(height, 1, 65536, "height");
    putGrid(room, grid, this.dims);
    return room.work((module) => lend(module, 8 * count, (address) => {
      room.call("bytes_nearest", this.#form, width, height, walkOf(walk), +(version === 300), address, address + 4 * count);
      return {
        ids: borrowedInt32(module.HEAPU8.buffer, address, count),
        distances: new Float32Array(module.HEAPU8.buffer, address + 4 * count, count).slice(),
      };
    }));
  }

  protected override release(module: Module): void {
    if (!this.#form) return;
    module._web_bytes_free!(this.#form);
    this.room.gl.deleteTexture(this.#textures.nodes);
    this.room.gl.deleteTexture(this.#textures.ids);
  }
}
