// A context, and calls of the module in it.
import { refuse, SapwoodError } from "../errors.js";
import { check, type Context, instantiate, type Module } from "./module.js";
import type { Source } from "../load.js";
import { keepState } from "./state.js";

/** A context's module, and all that lives there. */
export class Room {
  readonly #objects = new Set<Owned>();
  #open = true;
  #lost = false;
  readonly #handle: number;
  readonly #noticed = (): void => void (this.#lost = true);

  private constructor(readonly gl: Context, readonly module: Module) {
    this.#handle = module.GL.registerContext(gl, { majorVersion: "texImage3D" in gl ? 2 : 1, enableExtensionsByDefault: 0 });
    module.GL.makeContextCurrent(this.#handle);
    gl.canvas.addEventListener("webglcontextlost", this.#noticed);
  }

  static async open(gl: Context, wasm: Source | PromiseLike<Source> | undefined): Promise<Room> {
    if (gl.isContextLost()) throw new SapwoodError("DEVICE_LOST", "The context is lost.");
    const module = await instantiate(wasm);
    const room = new Room(gl, module);
    try {
      check(module, module._web_open!());
      keepState(gl, () => check(module, module._web_gl_open!()));
    } catch (error) {
      room.#leave();
      throw error;
    }
    return room;
  }

  #leave(): void {
    this.#open = false;
    this.gl.canvas.removeEventListener("webglcontextlost", this.#noticed);
    this.module.GL.deleteContext(this.#handle);
  }

  /** Runs calls in the context, whose state is then as it was. */
  work<R>(call: (module: Module) => R): R {
    if (!this.#open) throw new SapwoodError("FREED", "The context was used after close().");
    if (this.#lost || this.gl.isContextLost()) throw new SapwoodError("DEVICE_LOST", "The context was lost: close it, and open it again once it is restored.");
    return keepState(this.gl, () => call(this.module));
  }

  /** A call of C, whose status is checked. */
  call(name: string, ...numbers: number[]): void {
    check(this.module, this.module[`_web_${name}`]!(...numbers));
  }

  /** What a call has written: its integers, unsigned, and its numbers. */
  integers(): Uint32Array {
    const { HEAP32, _web_block } = this.module;
    return new Uint32Array(HEAP32.buffer, (_web_block!() >>> 0) + 16 * 8, 16).slice();
  }
  get numbers(): Float64Array {
    const { HEAPF64, _web_block } = this.module;
    return new Float64Array(HEAPF64.buffer, _web_block!() >>> 0, 16);
  }

  /** The texture that C knows by a name. */
  texture(name: number): WebGLTexture {
    return this.module.GL.textures[name]!;
  }

  /** Runs a call with a name for a texture of the caller's. */
  named<R>(texture: WebGLTexture, call: (name: number) => R): R {
    const { GL } = this.module;
    const name = GL.getNewId(GL.textures);
    GL.textures[name] = texture;
    try {
      return call(name);
    } finally {
      GL.textures[name] = null;
    }
  }

  add(object: Owned): void {
    this.#objects.add(object);
  }
  remove(object: Owned): void {
    this.#objects.delete(object);
  }

  /** Runs what gives memory back: in the context if it is still there; C frees its own memory in either case. */
  release(call: (module: Module) => void): void {
    if (!this.#open) return;
    if (this.#lost || this.gl.isContextLost()) call(this.module);
    else keepState(this.gl, () => call(this.module));
  }

  close(): void {
    if (!this.#open) return;
    for (const object of [...this.#objects].reverse()) object.free();
    this.release((module) => module._web_gl_close!());
    this.#leave();
  }
}

/** Something that lives in a context until it is freed, or the context is closed. */
export abstract class Owned {
  #free = false;

  constructor(protected readonly room: Room) {
    room.add(this);
  }

  /** Throws FREED if it is. */
  protected alive(): Room {
    if (this.#free) throw new SapwoodError("FREED", "The object was used after free().");
    return this.room;
  }

  /** Gives the memory back. The object cannot be used after that; further calls do nothing. */
  free(): void {
    if (this.#free) return;
    this.#free = true;
    this.room.remove(this);
    this.room.release((module) => this.release(module));
  }

  protected abstract release(module: Module): void;
}

/** The context that an argument is, or that a renderer of three.js has. */
export function contextOf(given: unknown): Context {
  const asked = given as { getContext?: () => Context } | null | undefined;
  const gl = typeof asked?.getContext === "function" ? asked.getContext() : (given as Context | null | undefined);
  if (typeof gl?.getParameter !== "function") refuse("context: is neither a context of WebGL nor a renderer that has one");
  return gl;
}
