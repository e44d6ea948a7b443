// Marching cubes on the GPU.
import { integer, isObject, optionsOf, three } from "./arguments.js";
import { refuse, SapwoodError } from "../errors.js";
import { Owned, type Room } from "./device.js";
import type { Volume } from "../surface.js";

/** What to extract from a volume. */
export interface GLSurfaceOptions {
  /** Samples along x, y, z. */
  size: ArrayLike<number>;
  /** Samples of at least this value are inside. */
  level: number;
  /** From one sample to the next along x, y, z; one number for all. Default: 1. */
  spacing?: number | ArrayLike<number>;
  /** Where the first sample lies. Default: 0, 0, 0. */
  origin?: ArrayLike<number>;
  /** Low values are the body, as with signed distances below 0: fronts and normals then face higher values. */
  lowInside?: boolean;
}

const MOST = 2 ** 126; // of a sample
const ROW = 16; // bytes of a corner: four floats

/** A surface in two buffers of WebGL: triangles, three corners each, without an index. */
export class GLSurface extends Owned {
  #buffers: [positions: WebGLBuffer, normals: WebGLBuffer] | undefined;
  #room = 0; // of each buffer, in bytes
  #count = 0;
  readonly #size: number[];
  readonly #place: { spacing: number[]; origin: number[]; lowInside: boolean };
  #volume: WebGLTexture | undefined; // if it is this object's

  readonly #gl: WebGL2RenderingContext;
  readonly #source: WebGLTexture;

  /** Use `GLDevice.marchingCubes` instead. */
  constructor(room: Room, volume: Volume | WebGLTexture, options: GLSurfaceOptions) {
    if (!isObject(options)) refuse("options: size and level are needed");
    const { size, level, spacing = 1, origin = [0, 0, 0], lowInside } = optionsOf(options, "size level spacing origin lowInside");
    if (!("texImage3D" in room.gl)) throw new SapwoodError("UNSUPPORTED", "Volumes need WebGL 2.");
    super(room);
    this.#gl = room.gl;
    try {
      this.#size = three(size, "size").map((side, i) => integer(side, 2, 2147483647, `size[${i}]`));
      this.#place = {
        spacing: typeof spacing === "number" ? [spacing, spacing, spacing] : three(spacing, "spacing"),
        origin: three(origin, "origin"), lowInside: !!lowInside,
      };
      this.#place.spacing.forEach((step, i) => {
        if (!(step > 0 && step < Infinity)) refuse(`spacing[${i}]: ${step} is not above 0`);
      });
      this.#source = ArrayBuffer.isView(volume) ? this.#upload(volume as Volume) : volume;
      if (!isObject(this.#source)) refuse("volume: is neither a typed array nor a texture of WebGL");
      this.update(level);
    } catch (error) {
      this.free();
      throw error;
    }
  }

  // A volume as a texture of floats.
  #upload(volume: Volume): WebGLTexture {
    const [x, y, z] = this.#size as [number, number, number];
    if (!(volume instanceof Float32Array || volume instanceof Uint8Array || volume instanceof Uint8ClampedArray || volume instanceof Int16Array || volume instanceof Uint16Array))
      refuse("volume: is none of Float32Array, Uint8Array, Int16Array and Uint16Array");
    if (volume.length !== x * y * z) refuse(`volume: has ${volume.length} samples, not ${this.#size.join(" x ")}`);
    const values = volume instanceof Float32Array ? volume : Float32Array.from(volume);
    const wrong = volume === values ? values.findIndex((value) => !(Math.abs(value) <= MOST)) : -1;
    if (wrong >= 0) throw new SapwoodError("NOT_FINITE", `volume: sample ${wrong} is not finite, or above 2^126 in magnitude`);
    const gl = this.#gl;
    const most = gl.getParameter(gl.MAX_3D_TEXTURE_SIZE) as number;
    if (Math.max(x, y, z) > most) throw new SapwoodError("RANGE", `size: ${this.#size.join(" x ")} samples; MAX_3D_TEXTURE_SIZE here is ${most}`);
    return this.room.work(() => {
      const texture = gl.createTexture()!;
      gl.bindTexture(gl.TEXTURE_3D, texture);
      for (const filter of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER]) gl.texParameteri(gl.TEXTURE_3D, filter, gl.NEAREST);
      gl.texImage3D(gl.TEXTURE_3D, 0, gl.R32F, x, y, z, 0, gl.RED, gl.FLOAT, values);
      if (gl.getError() === gl.OUT_OF_MEMORY) throw new SapwoodError("DEVICE_MEMORY", "WebGL has no memory for the volume.");
      return (this.#volume = texture);
    });
  }

  /** The surface at another level, or anew of a texture that has changed. The buffers may be others afterwards. */
  update(level: number): void {
    const room = this.alive();
    if (typeof level !== "number" || !Number.isFinite(Math.fround(level))) refuse(`level: ${String(level)} is not finite`);
    const { spacing, origin, lowInside } = this.#place;
    room.numbers.set([...spacing, ...origin]);
    room.work((module) => {
      room.named(this.#source, (volume) => {
        room.call("surface_begin", volume, ...this.#size, level, +lowInside);
        const [surface, corners, width, most] = room.integers();
        try {
          this.#copy(surface!, corners!, width!, most!);
          this.#count = corners!;
        } finally {
          module._web_surface_free!(surface!);
        }
      });
    });
  }

  // Copies rows of corners into the buffers: on the GPU, which a buffer of pixels is of.
  #copy(surface: number, corners: number, width: number, most: number): void {
    const gl = this.#gl;
    const room = this.room;
    const rows = corners ? Math.ceil(corners / width) : 0;
    this.#reserve(rows * width * ROW);
    const framebuffer = gl.createFramebuffer();
    try {
      for (let row = 0; row < rows; row += most) {
        const some = Math.min(most, rows - row);
        room.call("surface_rows", surface, row, some);
        const names = room.integers();
        gl.bindFramebuffer(gl.READ_FRAMEBUFFER, framebuffer);
        this.#buffers!.forEach((buffer, i) => {
          gl.framebufferTexture2D(gl.READ_FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, room.texture(names[i]!), 0);
          gl.bindBuffer(gl.PIXEL_PACK_BUFFER, buffer);
          gl.readPixels(0, 0, width, some, gl.RGBA_INTEGER, gl.UNSIGNED_INT, row * width * ROW);
        });
        gl.bindBuffer(gl.PIXEL_PACK_BUFFER, null);
      }
    } finally {
      gl.deleteFramebuffer(framebuffer);
    }
  }

  #reserve(bytes: number): void {
    const gl = this.#gl;
    this.#buffers ??= [gl.createBuffer()!, gl.createBuffer()!];
    if (bytes <= this.#room) return;
    for (const buffer of this.#buffers) {
      gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
      gl.bufferData(gl.ARRAY_BUFFER, bytes, gl.DYNAMIC_COPY);
    }
    this.#room = 0;
    if (gl.getError() === gl.OUT_OF_MEMORY) throw new SapwoodError("DEVICE_MEMORY", `WebGL has no memory for a surface of ${2 * bytes} bytes.`);
    this.#room = bytes;
  }

  /** Corners: three a triangle, in the order of `marchingCubes`. */
  get count(): number {
    this.alive();
    return this.#count;
  }
  /** x, y, z, 1 of each corner, floats: an attribute of four numbers, or of three with a stride of 16 bytes. */
  get positions(): WebGLBuffer {
    this.alive();
    return this.#buffers![0];
  }
  /** x, y, z, 0 of each corner's normal, of length 1, out of the body. */
  get normals(): WebGLBuffer {
    this.alive();
    return this.#buffers![1];
  }

  protected override release(): void {
    for (const buffer of this.#buffers ?? []) this.#gl.deleteBuffer(buffer);
    this.#gl.deleteTexture(this.#volume ?? null);
  }
}
