// What searches on GPUs share: the device, buffers, what it says of errors.
import { SapwoodError, type Status } from "../errors.js";

/** Which GPU takes the tree. */
export interface GpuOptions {
  /** The device. Default: that of the adapter which the browser prefers, shared by all trees. */
  device?: GPUDevice;
}

export const threads = 64; // of a workgroup, as the shaders say
const mostAcross = 32768; // workgroups in a row

export function fail(status: Status, message: string): never {
  throw new SapwoodError(status, message);
}

/** Places of arrays behind one another, as words of 32 bits. */
export class Places {
  #end = 0;
  next(bytes: number): number {
    const begin = this.#end;
    this.#end += Math.ceil(bytes / 64) * 64;
    return begin / 4;
  }
  /** The bytes of all of them. */
  get bytes(): number {
    return this.#end;
  }
  /** Throws INTERNAL unless the arrays end here. */
  check(arrays: Uint8Array): void {
    if (this.#end !== arrays.length) fail("INTERNAL", "tree: is not laid out as this version of Sapwood does");
  }
}

/** Rows of numbers as floats, `width` each. */
export function flattened(rows: ArrayLike<number> | ArrayLike<ArrayLike<number>>, width: number, what: string): Float32Array<ArrayBuffer> {
  if (typeof rows !== "object" || rows === null || typeof rows.length !== "number") fail("ARGUMENT", `${what}: is not an array of numbers`);
  if (ArrayBuffer.isView(rows) || typeof rows[0] === "number" || rows.length === 0) {
    if (rows.length % width) fail("ARGUMENT", `${what}: ${rows.length} numbers are no whole number of rows of ${width}`);
    return new Float32Array(rows as ArrayLike<number>);
  }
  const flat = new Float32Array(rows.length * width);
  for (let i = 0; i < rows.length; i++) {
    const row = (rows as ArrayLike<ArrayLike<number>>)[i]!;
    if (row.length !== width) fail("ARGUMENT", `${what}: each is an array of ${row.length} numbers, not of ${width}`);
    flat.set(row, i * width);
  }
  return flat;
}

let preferred: Promise<GPUDevice> | undefined;

async function preferredDevice(): Promise<GPUDevice> {
  const adapter = await globalThis.navigator?.gpu?.requestAdapter();
  if (!adapter) fail("UNSUPPORTED", "This browser offers no WebGPU.");
  const { maxStorageBufferBindingSize, maxBufferSize } = adapter.limits;
  const device = await adapter.requestDevice({ requiredLimits: { maxStorageBufferBindingSize, maxBufferSize } });
  void device.lost.then(() => (preferred = undefined));
  return device;
}

/** The device of the options, or the one that trees share. Throws UNSUPPORTED. */
export async function deviceOf(options: GpuOptions | undefined): Promise<GPUDevice> {
  if (options?.device) return options.device;
  preferred ??= preferredDevice();
  try {
    return await preferred;
  } catch (error) {
    preferred = undefined;
    throw error;
  }
}

/** The bytes that a buffer may have. */
export function mostBytes(device: GPUDevice): number {
  return Math.min(device.limits.maxStorageBufferBindingSize, device.limits.maxBufferSize);
}

/** A buffer with these bytes. */
export function filled(device: GPUDevice, from: Uint8Array | Int32Array | Float32Array, usage: number): GPUBuffer {
  const buffer = device.createBuffer({ size: Math.max(16, Math.ceil(from.byteLength / 16) * 16), usage, mappedAtCreation: true });
  new Uint8Array(buffer.getMappedRange()).set(new Uint8Array(from.buffer, from.byteOffset, from.byteLength));
  buffer.unmap();
  return buffer;
}

/** A buffer for answers. */
export function room(device: GPUDevice, bytes: number): GPUBuffer {
  return device.createBuffer({ size: Math.max(16, bytes), usage: GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC });
}

/** A copy of a tree's arrays. Throws UNSUPPORTED, MEMORY. */
export async function uploaded(device: GPUDevice, arrays: Uint8Array): Promise<GPUBuffer> {
  const most = mostBytes(device);
  if (arrays.length > most) fail("UNSUPPORTED", `tree: has ${arrays.length} bytes; a buffer of this GPU holds ${most}`);
  return checked(device, () => filled(device, arrays, GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC));
}

/** The first `bytes` of a buffer, once the GPU has written them. */
export async function read(device: GPUDevice, buffer: GPUBuffer, bytes: number): Promise<ArrayBuffer> {
  if (bytes === 0) return new ArrayBuffer(0);
  const copy = device.createBuffer({ size: bytes, usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST });
  const encoder = device.createCommandEncoder();
  encoder.copyBufferToBuffer(buffer, 0, copy, 0, bytes);
  device.queue.submit([encoder.finish()]);
  await copy.mapAsync(GPUMapMode.READ);
  const answer = copy.getMappedRange().slice(0);
  copy.destroy();
  return answer;
}

/** What a GPU says against some work, as an error. Throws MEMORY, INTERNAL. */
export async function checked<T>(device: GPUDevice, work: () => T): Promise<T> {
  device.pushErrorScope("out-of-memory");
  device.pushErrorScope("validation");
  let done: T;
  try {
    done = work();
  } catch (error) {
    await Promise.all([device.popErrorScope(), device.popErrorScope()]);
    if (error instanceof RangeError) fail("MEMORY", `The GPU has no memory for this: ${error.message}`);
    throw error;
  }
  const [invalid, memory] = await Promise.all([device.popErrorScope(), device.popErrorScope()]);
  if (memory) fail("MEMORY", `The GPU has no memory for this: ${memory.message}`);
  if (invalid) fail("INTERNAL", `WebGPU: ${invalid.message}`);
  return done;
}

const pipelines = new WeakMap<GPUDevice, Map<string, GPUComputePipeline>>();

function pipelineOf(device: GPUDevice, code: string): GPUComputePipeline {
  let made = pipelines.get(device);
  if (!made) pipelines.set(device, (made = new Map()));
  let pipeline = made.get(code);
  if (!pipeline) {
    pipeline = device.createComputePipeline({ label: "sapwood", layout: "auto", compute: { module: device.createShaderModule({ code }) } });
    made.set(code, pipeline);
  }
  return pipeline;
}

/** Buffers of a pass, by the numbers of their bindings; 2 is what the shader is told. */
export type Bindings = Record<number, GPUBuffer>;

/** Adds a pass to an encoder: a thread for each of `count`. `told` gets the threads in a row as its second number. */
export function encode(device: GPUDevice, encoder: GPUCommandEncoder, code: string, count: number, told: Int32Array, bindings: Bindings): void {
  const groups = Math.ceil(count / threads);
  if (groups === 0) return;
  const across = Math.min(groups, mostAcross);
  told[1] = across * threads;
  const pipeline = pipelineOf(device, code);
  const all: Bindings = { 2: filled(device, told, GPUBufferUsage.UNIFORM), ...bindings };
  const entries = Object.entries(all).map(([binding, buffer]) => ({ binding: Number(binding), resource: { buffer } }));
  const pass = encoder.beginComputePass();
  pass.setPipeline(pipeline);
  pass.setBindGroup(0, device.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries }));
  pass.dispatchWorkgroups(across, Math.ceil(groups / across));
  pass.end();
}

/** Runs such a pass. Throws MEMORY, INTERNAL. */
export async function run(device: GPUDevice, code: string, count: number, told: Int32Array, bindings: Bindings): Promise<void> {
  await checked(device, () => {
    const encoder = device.createCommandEncoder();
    encode(device, encoder, code, count, told, bindings);
    device.queue.submit([encoder.finish()]);
  });
}
