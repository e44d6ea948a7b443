// The little that the Node entry uses of Node.
declare module "node:fs" {
  export function readFileSync(path: string): Uint8Array;
}
declare module "node:path" {
  export function join(...parts: string[]): string;
}
declare module "node:worker_threads" {
  export class Worker {
    constructor(text: string, options: { eval: true; execArgv: readonly string[] });
    once(event: "message" | "error", listener: (value: unknown) => void): void;
    postMessage(message: unknown, transfer?: ArrayBuffer[]): void;
    unref(): void;
    terminate(): Promise<number>;
  }
}
declare module "node:url" {
  export function fileURLToPath(url: string): string;
}
// What web/package/shaders.mjs makes.
declare module "webgpu:shaders" {
  type Search = Readonly<Record<string, string>>; // by capacity
  type Pass = "load" | "runs" | "merge" | "lists" | "nodes" | "sides" | "counts" | "sums" | "before" | "move" | "leaves" | "axes";
  const shaders: {
    readonly search: { readonly balanced: Search; readonly explicit: Search };
    readonly rays: string;
    readonly closest: string;
    readonly build: Readonly<Record<Pass, string>>;
    readonly run: number;
  };
  export default shaders;
}
// What TypeScript's lib.dom.d.ts lacks of WebGPU.
declare const GPUBufferUsage: Readonly<Record<"MAP_READ" | "COPY_SRC" | "COPY_DST" | "UNIFORM" | "STORAGE", number>>;
declare const GPUMapMode: Readonly<Record<"READ", number>>;
// What build.mjs puts in the place of these imports: shader text whose names have @ and @@ before them (gl/text.ts), and
// Emscripten's glue of the module for WebGL.
declare module "*.glsl" {
  const text: string;
  export default text;
}
declare module "sapwood-gl-module" {
  export default function create(options: object): Promise<unknown>;
}
