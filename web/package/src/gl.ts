// The entry for WebGL: what the C library's sapwood/gl.h offers, in a program's own context.
import { optionsOf } from "./gl/arguments.js";
import { type ByteTreeOptions, GLByteTree } from "./gl/bytes.js";
import { type CompactTextureOptions, TextureList } from "./gl/compaction.js";
import { contextOf, Room } from "./gl/device.js";
import { GLMeshTree } from "./gl/meshes.js";
import type { Context } from "./gl/module.js";
import { GLSurface, type GLSurfaceOptions } from "./gl/surfaces.js";
import { GLPointTree, type Saved } from "./gl/trees.js";
import type { Source } from "./load.js";
import type { Volume } from "./surface.js";

export { SapwoodError } from "./errors.js";
export type { Status } from "./errors.js";
export type { ByteTreeOptions, CompactTextureOptions, Context, GLByteTree, GLMeshTree, GLPointTree, GLSurface, GLSurfaceOptions, Saved, Source, TextureList, Volume };
export type { FrameAnswers, FrameOptions, GLFrame, Grid, TreeTextures, Walk } from "./gl/trees.js";

/**
 * What is offered in one context of WebGL. Calls put back the state of the context that they change. After the context was
 * lost, calls throw DEVICE_LOST: `close` this, and open the context again when it has been restored. Trees are of
 * the package's other entries: build them there.
 */
export class GLDevice {
  readonly #room: Room;

  /** Use `openGL` instead. */
  constructor(room: Room) {
    this.#room = room;
  }

  /** What the context can do: texels on a side of a texture, textures that one pass writes, whether passes write floats, and
   * the version of OpenGL ES, 30 for WebGL 2, 20 for WebGL 1. */
  get info(): { maxTextureSize: number; maxDrawBuffers: number; floatTargets: boolean; version: number } {
    this.#room.call("gl_describe");
    const [maxTextureSize, maxDrawBuffers, floats, version] = this.#room.integers();
    return { maxTextureSize: maxTextureSize!, maxDrawBuffers: maxDrawBuffers!, floatTargets: floats !== 0, version: version! };
  }

  /** The textures of a tree over points of floats in 2 or 3 dimensions (WebGL 2), of a `PointTree` or its `save()`. Throws
   * UNSUPPORTED, RANGE (larger than textures can be), FORMAT, MEMORY, DEVICE_MEMORY, DEVICE_LOST. */
  tree(tree: Saved, options?: { name?: string }): GLPointTree {
    return new GLPointTree(this.#room, tree, optionsOf(options, "name").name);
  }

  /** A tree in four bytes a node, for WebGL 1 too: of a balanced `PointTree` of floats in 2 or 3 dimensions with `leafSize` 1. */
  byteTree(tree: Saved, options: ByteTreeOptions): GLByteTree {
    return new GLByteTree(this.#room, tree, options);
  }

  /** The textures of a tree over triangles (WebGL 2), of a `MeshTree` or its `save()`. */
  mesh(tree: Saved, options?: { name?: string }): GLMeshTree {
    return new GLMeshTree(this.#room, tree, optionsOf(options, "name").name);
  }

  /** Lists the cells of a texture that are not 0, in another texture: stream compaction by histopyramids. O(cells). */
  compactTexture(texture: WebGLTexture, options: CompactTextureOptions): TextureList {
    return new TextureList(this.#room, texture, options);
  }

  /** The surface of a volume at a level, in buffers of the context (WebGL 2): marching cubes as `marchingCubes` has them, but
   * without an index. A volume in a 3-D texture is one of floats as shaders read them, such as R32F, R16F or R8, and
   * finite. The call waits for the GPU once, to learn how large the surface is. */
  marchingCubes(volume: Volume | WebGLTexture, options: GLSurfaceOptions): GLSurface {
    return new GLSurface(this.#room, volume, options);
  }

  /** Frees all that was made here. Further calls do nothing. */
  close(): void {
    this.#room.close();
  }
}

/**
 * Opens a context of WebGL: a `WebGL2RenderingContext`, a `WebGLRenderingContext`, or what has one, as a renderer of three.js
 * does. The first call fetches `gl.wasm` from beside this script, or takes `wasm` for it, as `load` does. Throws NO_DEVICE,
 * DEVICE_LOST, IO.
 */
export async function openGL(
  context: Context | { getContext(): Context }, options?: { wasm?: Source | PromiseLike<Source> },
): Promise<GLDevice> {
  const { wasm } = optionsOf(options, "wasm");
  return new GLDevice(await Room.open(contextOf(context), wasm));
}
