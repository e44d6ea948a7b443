// Trees over triangles as textures, and rays in shaders.
import type { Room } from "./device.js";
import type { Module } from "./module.js";
import { nameOf, textOf, type Uniform } from "./text.js";
import { type Saved, ShaderTree, withBytes } from "./trees.js";

/** A tree over triangles, in textures of WebGL 2. */
export class GLMeshTree extends ShaderTree {
  #tree = 0;
  #depth!: number;
  #shifts!: [number, number];
  #numbers!: number[];
  #textures!: { nodes: WebGLTexture; triangles: WebGLTexture };

  /** Use `GLDevice.mesh` instead. */
  constructor(room: Room, tree: Saved, name: string | undefined) {
    super(room, nameOf(name, "mesh"));
    try {
      this.#take(tree);
    } catch (error) {
      this.free();
      throw error;
    }
  }

  #take(tree: Saved): void {
    const room = this.alive();
    room.work((module) => {
      withBytes(room, tree, "trace", (address, size, trusted) => room.call("mesh_take", address, size, trusted));
      if (this.#tree) module._web_mesh_free!(this.#tree);
      this.#tree = room.integers()[0]!;
      room.call("mesh_describe", this.#tree);
    });
    const [nodes, triangles, ofNodes, ofTriangles, depth] = room.integers();
    this.#textures = { nodes: room.texture(nodes!), triangles: room.texture(triangles!) };
    this.#shifts = [ofNodes!, ofTriangles!];
    this.#depth = depth!;
    this.#numbers = Array.from(room.numbers.subarray(0, 7));
  }

  get textures(): { nodes: WebGLTexture; triangles: WebGLTexture } {
    this.alive();
    return this.#textures;
  }

  /** Puts another tree in this one's place, for meshes that move: `bind` or `uniforms` anew. If it fails, this one stays. */
  update(tree: Saved): void {
    this.#take(tree);
  }

  /**
   * Text for shaders in GLSL ES 3.00, to stand before what uses it: of a tree called "mesh"
   * `mesh_trace(origin, direction, tMin, tMax)`, whose answer has `triangle` (-1: a miss), `t`, `u` and `v`, and
   * `mesh_occluded` with the same arguments. It must be made anew when an update makes the tree deeper.
   */
  glsl(): string {
    this.alive();
    return textOf("mesh", this.name, { MESH_STACK: Math.floor(this.#depth / 16) * 16 + 16 });
  }

  protected override values(): Record<string, Uniform> {
    const { name } = this;
    return {
      [`${name}_nodes`]: { texture: this.#textures.nodes },
      [`${name}_triangles`]: { texture: this.#textures.triangles },
      [`${name}_shifts`]: { kind: "i", value: this.#shifts },
      [`${name}_lower`]: { kind: "f", value: this.#numbers.slice(0, 3) },
      [`${name}_upper`]: { kind: "f", value: this.#numbers.slice(3, 6) },
      [`${name}_largest`]: { kind: "f", value: [this.#numbers[6]!] },
      [`${name}_nothing`]: { kind: "ui", value: [0] },
    };
  }

  protected override release(module: Module): void {
    if (this.#tree) module._web_mesh_free!(this.#tree);
  }
}
