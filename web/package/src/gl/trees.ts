// Trees as textures, and searches of them in shaders.
import { borrowedInt32, integer, isObject, optionsOf, radiusOf, three } from "./arguments.js";
import { refuse } from "../errors.js";
import { Owned, type Room } from "./device.js";
import { lend } from "./module.js";
import { bindUniforms, nameOf, textOf, type Uniform, wrapUniforms } from "./text.js";

/** A tree of the package, or the bytes that its `save()` gave. */
export type Saved = { save(): Uint8Array } | Uint8Array | ArrayBuffer;

/** How a walk through a tree finds its way back: by a bit a level, or with a stack. Answers are the same. */
export type Walk = "stackless" | "stack";
const walks = { stackless: 0, stack: 1 } as const; // of sap_walk

export function walkOf(walk: unknown): number {
  if (walk === undefined) return walks.stackless;
  if (walk !== "stackless" && walk !== "stack") refuse(`walk: ${JSON.stringify(walk)} is none of "stackless", "stack"`);
  return walks[walk];
}

// A tree's bytes, and whether the package itself has just saved them, of a tree that has a method of its kind: those need not
// be checked.
function bytesOf(tree: Saved, method: string): [bytes: Uint8Array, trusted: number] {
  if (tree instanceof ArrayBuffer) return [new Uint8Array(tree), 0];
  if (ArrayBuffer.isView(tree)) return [new Uint8Array(tree.buffer, tree.byteOffset, tree.byteLength), 0];
  if (!isObject(tree) || typeof tree.save !== "function" || typeof (tree as Record<string, unknown>)[method] !== "function")
    refuse(`tree: is neither a tree that has ${method}() nor what its save() gave`);
  return [(tree as { save(): Uint8Array }).save(), 1];
}

/** Runs a call with a tree's bytes in the module's memory. */
export function withBytes<R>(room: Room, tree: Saved, method: "nearest" | "trace", call: (address: number, size: number, trusted: number) => R): R {
  const [bytes, trusted] = bytesOf(tree, method);
  return lend(room.module, bytes.length, (address) => {
    room.module.HEAPU8.set(bytes, address);
    return call(address, bytes.length, trusted);
  });
}

/** The places of a picture: the outer corner of its first column and row, and the ways to the next column and row. */
export interface Grid {
  origin: ArrayLike<number>;
  right: ArrayLike<number>;
  down: ArrayLike<number>;
}

export function putGrid(room: Room, grid: Grid, dims: number): void {
  if (!isObject(grid)) refuse("grid: origin, right and down are needed");
  const { numbers } = room;
  (["origin", "right", "down"] as const).forEach((name, i) => {
    const at = three(grid[name], `grid.${name}`, dims);
    for (let a = 0; a < 3; a++) numbers[3 * i + a] = at[a] ?? 0;
  });
}

/** What trees in textures have in common: text for shaders, and what it reads. */
export abstract class ShaderTree extends Owned {
  /** What all names in the shader text begin with. */
  readonly name: string;

  constructor(room: Room, name: string) {
    super(room);
    this.name = name;
  }

  protected abstract values(): Record<string, Uniform>;

  /** Uses a program and sets the uniforms that the text reads; textures go to units from `unit` on. The next unit that is free. */
  bind(program: WebGLProgram, unit: number = 0): number {
    return bindUniforms(this.alive().gl, program, unit, this.values());
  }

  /** The uniforms for a material of three.js: `(texture) => new THREE.ExternalTexture(texture)` makes textures of it. */
  uniforms<T>(wrap: (texture: WebGLTexture) => T): Record<string, { value: T | number | number[] }> {
    this.alive();
    return wrapUniforms(this.values(), wrap);
  }
}

/** A tree's textures; what is in them: `sap_gl_tree_textures` in the C library's `sapwood/gl.h`. */
export interface TreeTextures {
  nodes: WebGLTexture;
  smallest: WebGLTexture;
  boxes: WebGLTexture;
  blocks: WebGLTexture;
  widths: [number, number, number, number];
}

/** A tree over points of floats in 2 or 3 dimensions, in textures of WebGL 2. */
export class GLPointTree extends ShaderTree {
  #tree: number;
  #textures!: TreeTextures;
  /** Of the points: 2 or 3. */
  dims!: number;
  /** Levels of inner nodes. */
  depth!: number;
  #quads!: number;
  #balanced!: boolean;
  readonly #frames = new Set<GLFrame>(); // they go before their tree

  /** Use `GLDevice.tree` instead. */
  constructor(room: Room, tree: Saved, name: string | undefined) {
    super(room, nameOf(name, "tree"));
    this.#tree = 0;
    try {
      this.#take(tree);
    } catch (error) {
      this.free();
      throw error;
    }
  }

  #take(tree: Saved): void {
    const room = this.alive();
    room.work(() => {
      withBytes(room, tree, "nearest", (address, size, trusted) => room.call("tree_take", this.#tree, address, size, trusted));
      this.#tree = room.integers()[0]!;
      room.call("tree_describe", this.#tree);
    });
    const [nodes, smallest, boxes, blocks, w0, w1, w2, w3, dims, depth, quads, split] = room.integers();
    this.#textures = {
      nodes: room.texture(nodes!), smallest: room.texture(smallest!), boxes: room.texture(boxes!), blocks: room.texture(blocks!),
      widths: [w0!, w1!, w2!, w3!],
    };
    [this.dims, this.depth, this.#quads, this.#balanced] = [dims!, depth!, quads!, split === 0];
  }

  /** The textures that the tree is in now. */
  get textures(): TreeTextures {
    this.alive();
    return this.#textures;
  }

  /** Puts another tree of as many dimensions in this one's place: for points that move. Textures may be others afterwards:
   * `bind` or `uniforms` anew. If it fails, take no answers from the tree before an update that does not. */
  update(tree: Saved): void {
    this.#take(tree);
  }

  /**
   * Text for shaders in GLSL ES 3.00, to stand before what uses it: of a tree called "tree" `tree_nearest(place)`,
   * `tree_nearest(place, limit2, distance2)`, `tree_neighbors(place, limit2)` for `k` points and `tree_within(place, limit2)`.
   * It must be made anew when an update changes the kind of the tree, or with a stack its depth.
   */
  glsl(options?: { k?: number; walk?: Walk; visit?: boolean }): string {
    this.alive();
    const { k = 1, walk, visit } = optionsOf(options, "k walk visit");
    integer(k, 1, 64, "k");
    const stack = walkOf(walk) === walks.stack;
    if (stack && !this.#balanced) refuse("walk: only balanced trees are walked with a stack");
    return textOf("points", this.name, {
      AXES: this.dims, CAPACITY: k, EXPLICIT: !this.#balanced, STACK: stack && Math.floor(this.depth / 8) * 8 + 8, VISITED: !!visit,
    });
  }

  protected override values(): Record<string, Uniform> {
    const { nodes, smallest, boxes, blocks, widths } = this.#textures;
    return {
      [`${this.name}_nodes`]: { texture: nodes },
      [`${this.name}_smallest`]: { texture: smallest },
      [`${this.name}_boxes`]: { texture: boxes },
      [`${this.name}_blocks`]: { texture: blocks },
      [`${this.name}_depth`]: { kind: "i", value: [this.depth] },
      [`${this.name}_quads`]: { kind: "i", value: [this.#quads] },
      [`${this.name}_shifts`]: { kind: "i", value: widths.map(Math.log2) },
    };
  }

  /** Searches for every pixel of a picture, in steps that keep no GPU busy for long: `k` neighbours, 1 to 8, or, with 0,
   * how many points lie within the radius. */
  frame(options: FrameOptions): GLFrame {
    return new GLFrame(this.alive(), this, this.#tree, this.#frames, options);
  }

  /** Gives the memory back, and that of its frames. */
  override free(): void {
    for (const frame of [...this.#frames]) frame.free();
    super.free();
  }

  protected override release(): void {
    if (this.#tree) this.room.module._web_tree_free!(this.#tree);
  }
}

/** How a frame searches. */
export interface FrameOptions {
  width: number;
  height: number;
  /** Neighbours, 1 to 8; 0: points are counted. Default: 1. */
  k?: number;
  /** How far they may be. Default: any distance. */
  radius?: number;
  walk?: Walk;
}

/** Answers of a frame: in rows of k for each pixel; a missing one is -1 at Infinity. */
export interface FrameAnswers {
  /** Ids, or, where points are counted, how many there are. */
  ids: Int32Array;
  distances: Float32Array;
}

/** A picture's worth of searches, whose answers stay in textures. */
export class GLFrame extends Owned {
  #frame = 0;
  readonly #dims: number;
  readonly #size: [width: number, height: number];
  readonly #k: number;
  readonly #siblings: Set<GLFrame> | undefined;

  /** Use `GLPointTree.frame` instead. */
  constructor(room: Room, tree: GLPointTree, address: number, siblings: Set<GLFrame>, options: FrameOptions) {
    super(room);
    const { width, height, k = 1, radius = Infinity, walk } = optionsOf(options, "width height k radius walk");
    this.#dims = tree.dims;
    this.#size = [integer(width, 1, 65536, "width"), integer(height, 1, 65536, "height")];
    this.#k = integer(k, 0, 8, "k");
    const limit = radiusOf(radius) === Infinity ? 0 : radius || Number.MIN_VALUE;
    try {
      room.work(() => room.call("frame_create", address, width, height, k, limit, walkOf(walk)));
    } catch (error) {
      this.free();
      throw error;
    }
    this.#frame = room.integers()[0]!;
    this.#siblings = siblings.add(this);
  }

  /** Starts again with other places. */
  begin(grid: Grid): void {
    const room = this.alive();
    putGrid(room, grid, this.#dims);
    room.work(() => room.call("frame_begin", this.#frame, ...this.#size));
  }

  /** Lets every pixel's walk look at so many more leaves; gives whether all have ended, which waits for the GPU. With `wait`
   * false it does not ask, and gives undefined. */
  step(leaves?: number, options?: { wait?: true }): boolean;
  step(leaves: number, options: { wait: false }): undefined;
  step(leaves: number = 64, options?: { wait?: boolean }): boolean | undefined {
    const room = this.alive();
    const { wait = true } = optionsOf(options, "wait");
    integer(leaves, 1, 2147483647, "leaves");
    room.work(() => room.call("frame_step", this.#frame, leaves, +wait));
    return wait ? room.integers()[0] !== 0 : undefined;
  }

  /** The textures of the last step; what is in them: `sap_gl_frame_textures` in the C library's `sapwood/gl.h`. */
  get textures(): { place: WebGLTexture; lists: WebGLTexture[]; capacity: number } {
    const room = this.alive();
    room.call("frame_describe", this.#frame);
    const [place, ...lists] = room.integers();
    const capacity = lists[4]!;
    return { place: room.texture(place!), lists: lists.slice(0, capacity > 1 ? capacity / 2 : 0).map((name) => room.texture(name)), capacity };
  }

  /** Reads the answers of all pixels, as far as the steps have come; waits for them. */
  read(options?: { squared?: boolean }): FrameAnswers {
    const room = this.alive();
    const { squared } = optionsOf(options, "squared");
    const count = this.#size[0] * this.#size[1] * Math.max(1, this.#k);
    return room.work((module) => lend(module, 8 * count, (address) => {
      room.call("frame_read", this.#frame, 0, 0, ...this.#size, address, this.#k ? address + 4 * count : 0);
      const distances = new Float32Array(this.#k ? count : 0);
      if (this.#k) distances.set(new Float32Array(module.HEAPU8.buffer, address + 4 * count, count));
      if (!squared) for (let i = 0; i < distances.length; i++) distances[i] = Math.sqrt(distances[i]!);
      return { ids: borrowedInt32(module.HEAPU8.buffer, address, count), distances };
    }));
  }

  protected override release(): void {
    this.#siblings?.delete(this);
    if (this.#frame) this.room.module._web_frame_free!(this.#frame);
  }
}
