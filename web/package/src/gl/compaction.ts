// Compaction of textures.
import { integer, isObject, optionsOf } from "./arguments.js";
import { refuse } from "../errors.js";
import { Owned, type Room } from "./device.js";
import type { Module } from "./module.js";

/** What to list of a texture. */
export interface CompactTextureOptions {
  /** Of the texture, in texels. */
  width: number;
  height: number;
  /** What a texel holds: an unsigned integer in red; four of them, for four cells in a row (the fastest); a float in red,
   * rounded; or a byte from 0 to 1 in red, counting 0 … 255 (R8, RGBA8). Default: "byte". */
  cells?: "uint" | "uint4" | "float" | "byte";
  /** Cells that count, from the first on. Default: all. */
  count?: number;
  /** How often a cell is listed at most: what it holds. Default: 1, once if it is not 0. */
  most?: number;
  /** How sums are kept: running sums in four channels, a sum a texel, or, for contexts of WebGL 1, in floats or bytes. */
  form?: "vec4" | "plain" | "float";
  /** How many outputs are listed at most. With it no call waits for the GPU, and `count` is not known until it is asked for. */
  expected?: number;
}

const kinds = ["uint", "uint4", "float", "byte"] as const;
const forms = ["vec4", "plain", "float"] as const;

function place<T extends string>(value: T, of: readonly T[], what: string): number {
  const at = of.indexOf(value);
  if (at < 0) refuse(`${what}: ${JSON.stringify(value)} is none of ${of.map((name) => `"${name}"`).join(", ")}`);
  return at;
}

/**
 * The cells of a texture that are not 0, as a list in a texture: output i is texel (i % width, i / width), in red the number
 * of the cell in the order of rows and, where `most` is above 1, in green which of its outputs it is; unsigned integers, but in
 * the form "float" RGBA32F with column and row of the cell in blue and alpha, or RGBA8 with the cell's number as four bytes, the
 * lowest first. Texels beyond the last output hold nothing: 2^32-1, -1, or 255.
 */
export class TextureList extends Owned {
  #pyramid = 0;
  #expected: number;
  #count = -1;
  #list: [texture: WebGLTexture, width: number, height: number] | undefined;

  /** Use `GLDevice.compactTexture` instead. */
  constructor(room: Room, texture: WebGLTexture, options: CompactTextureOptions) {
    if (!isObject(options)) refuse("options: width and height are needed");
    const o = optionsOf(options, "width height cells count most form expected");
    super(room);
    this.#expected = o.expected === undefined ? 0 : integer(o.expected, 1, 2 ** 32 - 1, "expected");
    try {
      const form = place(o.form ?? ("texImage3D" in room.gl ? "vec4" : "float"), forms, "form");
      const cells = place(o.cells ?? "byte", kinds, "cells");
      const width = integer(o.width, 1, 65536, "width");
      const height = integer(o.height, 1, 65536, "height");
      const count = o.count === undefined ? 0 : integer(o.count, 1, 2 ** 32 - 1, "count");
      const most = o.most === undefined ? 0 : integer(o.most, 1, 2 ** 32 - 1, "most");
      room.work(() => room.call("pyramid_create", form, cells, width, height, count, most));
      this.#pyramid = room.integers()[0]!;
      this.update(texture);
    } catch (error) {
      this.free();
      throw error;
    }
  }

  /** Lists the cells of another texture of the same kind and size, or of the same one anew. `texture` may be another
   * afterwards. */
  update(texture: WebGLTexture): void {
    const room = this.alive();
    if (!isObject(texture)) refuse("texture: is not one of WebGL");
    const asks = this.#expected === 0;
    room.work(() => room.named(texture, (name) => room.call("pyramid_compact", this.#pyramid, name, this.#expected, +asks)));
    const [list, width, height] = room.integers();
    this.#list = list ? [room.texture(list), width!, height!] : undefined;
    this.#count = room.numbers[0]!;
  }

  /** The list; null where nothing is listed. */
  get texture(): WebGLTexture | null {
    this.alive();
    return this.#list?.[0] ?? null;
  }
  /** Of the list, in texels. */
  get width(): number {
    return this.#list?.[1] ?? 0;
  }
  get height(): number {
    return this.#list?.[2] ?? 0;
  }
  /** How many outputs there are, listed or not. Asked for the first time after a call that did not wait, it waits. */
  get count(): number {
    const room = this.alive();
    if (this.#count < 0) {
      room.work(() => room.call("pyramid_total", this.#pyramid));
      this.#count = room.numbers[0]!;
    }
    return this.#count;
  }

  protected override release(module: Module): void {
    if (this.#pyramid) module._web_pyramid_free!(this.#pyramid);
  }
}
