// Loading, for both entries.
import { SapwoodError } from "./errors.js";
import { adopt, imports, wasm } from "./wasm.js";

/** The module: its address, an answer to `fetch`, its bytes, or what was compiled of them. */
export type Source = string | URL | Response | ArrayBuffer | ArrayBufferView | WebAssembly.Module;

export interface LoadOptions {
  /** The module to load, instead of the one beside the package's own file. */
  wasm?: Source | PromiseLike<Source>;
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

/** Makes an entry's `load`: where its own module is, and how an address is opened. */
export function loader(
  own: () => Source, open: (address: string | URL) => Source | Promise<Source>,
): (options?: LoadOptions) => Promise<void> {
  let loading: Promise<void> | undefined;
  const begin = async (options: LoadOptions | undefined): Promise<void> => {
    if (!wasm) adopt(await instantiate((await options?.wasm) ?? own(), open));
  };
  return (options) => {
    loading ??= begin(options).catch((error: unknown) => {
      loading = undefined; // so that it can be tried again
      throw unloadable(error);
    });
    return loading;
  };
}

async function instantiate(
  source: Source, open: (address: string | URL) => Source | Promise<Source>,
): Promise<WebAssembly.Instance> {
  const bytes = typeof source === "string" || source instanceof URL ? await open(source) : source;
  if (bytes instanceof WebAssembly.Module) return WebAssembly.instantiate(bytes, imports);
  if (!(bytes instanceof Response)) return (await WebAssembly.instantiate(bytes as BufferSource, imports)).instance;
  if (!bytes.ok) throw new SapwoodError("IO", `${bytes.url}: ${bytes.status} ${bytes.statusText}`);
  // Servers that do not know the type of .wasm files are common; compiling while bytes arrive asks for it.
  if (bytes.headers.get("content-type")?.startsWith("application/wasm"))
    return (await WebAssembly.instantiateStreaming(bytes, imports)).instance;
  return (await WebAssembly.instantiate(await bytes.arrayBuffer(), imports)).instance;
}

/** An address that has to be fetched. */
export async function fetched(address: string | URL): Promise<Response> {
  try {
    return await fetch(address);
  } catch (error) {
    throw new SapwoodError("IO", `${String(address)}: ${String(error)}`);
  }
}
