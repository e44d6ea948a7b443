// Loading, for both entries.
import { SapwoodError } from "./errors.js";
import { hireBy } from "./elsewhere.js";
import { adoptThreads, type Hire, threadsOf } from "./threads.js";
import { adopt, crew, imports, wasm } from "./wasm.js";

/** The module: its address, an answer to `fetch`, its bytes, or what was compiled of them. */
export type Source = string | URL | Response | ArrayBuffer | ArrayBufferView | WebAssembly.Module;

export interface LoadOptions {
  /** The module to load, instead of the one beside the package's own file. */
  wasm?: Source | PromiseLike<Source>;
  /** Threads that a call may run on, 1 to 64. Default: 1. More take the module `sapwood-threads.wasm` and, in a browser,
   * a page that is cross-origin isolated. */
  threads?: number;
}

/** What an entry knows: where its own modules are, how an address is opened, and how a thread is started. */
export interface Host {
  own(): Source;
  threaded(): Source;
  open(address: string | URL): Source | Promise<Source>;
  readonly hire: Hire;
}

/** Whether the module with vectors can be loaded here: a function that uses one, nothing else. */
export function hasVectors(): boolean {
  return WebAssembly.validate(
    Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15, 253, 98, 11));
}

/** What went wrong in loading, as an error of the package. */
export function unloadable(error: unknown): SapwoodError {
  if (error instanceof SapwoodError) return error;
  return new SapwoodError("IO", `The WebAssembly module could not be loaded: ${String(error)}`);
}

/** Makes an entry's `load`. */
export function loader(host: Host): (options?: LoadOptions) => Promise<void> {
  let loading: Promise<void> | undefined;
  hireBy(host.hire);
  const begin = async (options: LoadOptions | undefined, threads: number): Promise<void> => {
    if (wasm) return;
    const source = (await options?.wasm) ?? (threads > 1 ? host.threaded() : host.own());
    const opened = typeof source === "string" || source instanceof URL ? await host.open(source) : source;
    const module = await compiled(opened);
    if (threads > 1) await adoptThreads(module, threads, host.hire);
    else adopt(await WebAssembly.instantiate(module, imports), module);
  };
  return async (options) => {
    try {
      const threads = threadsOf(options?.threads);
      loading ??= begin(options, threads).catch((error: unknown) => {
        loading = undefined; // so that it can be tried again
        throw error;
      });
      await loading;
      if (options?.threads !== undefined && threads !== crew)
        throw new SapwoodError("UNSUPPORTED", `threads: Sapwood is loaded already, with ${crew} of them`);
    } catch (error) {
      throw unloadable(error);
    }
  };
}

type Opened = Exclude<Source, string | URL>;

/** What is compiled of what was opened. */
export async function compiled(source: Opened): Promise<WebAssembly.Module> {
  if (source instanceof WebAssembly.Module) return source;
  if (!(source instanceof Response)) return WebAssembly.compile(source as BufferSource);
  return streams(source) ? WebAssembly.compileStreaming(source) : WebAssembly.compile(await source.arrayBuffer());
}

// Whether an answer can be compiled while its bytes arrive, which asks for the right type: servers that do not know that
// of .wasm files are common. Throws what a server refuses.
function streams(answer: Response): boolean {
  if (!answer.ok) throw new SapwoodError("IO", `${answer.url}: ${answer.status} ${answer.statusText}`);
  return answer.headers.get("content-type")?.startsWith("application/wasm") ?? false;
}

/** An address that has to be fetched. */
export async function fetched(address: string | URL): Promise<Response> {
  try {
    return await fetch(address);
  } catch (error) {
    throw new SapwoodError("IO", `${String(address)}: ${String(error)}`);
  }
}
