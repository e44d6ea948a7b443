// The entry for browsers, workers and bundlers: the module is fetched.
import { SapwoodError } from "./errors.js";
import { hasVectors, type LoadOptions, type Source } from "./source.js";
import { adopt, imports, wasm } from "./wasm.js";

export * from "./api.js";
export type { LoadOptions, Source } from "./source.js";

let loading: Promise<void> | undefined;

/**
 * Loads the WebAssembly module; await it before anything else. Further calls wait for the same module. In Node it need
 * not be called. Throws IO if the module cannot be fetched.
 */
export function load(options?: LoadOptions): Promise<void> {
  loading ??= fetchAndAdopt(options).catch((error: unknown) => {
    loading = undefined; // so that it can be tried again
    throw error instanceof SapwoodError ? error : new SapwoodError("IO", `The WebAssembly module could not be loaded: ${String(error)}`);
  });
  return loading;
}

async function fetchAndAdopt(options: LoadOptions | undefined): Promise<void> {
  if (wasm) return;
  const source: Source = (await options?.wasm) ??
    (hasVectors() ? new URL("sapwood.wasm", import.meta.url) : new URL("sapwood-plain.wasm", import.meta.url));
  adopt(await instantiate(source));
}

async function instantiate(source: Source): Promise<WebAssembly.Instance> {
  if (source instanceof WebAssembly.Module) return WebAssembly.instantiate(source, imports);
  const bytes = typeof source === "string" || source instanceof URL ? await fetched(source) : source;
  if (!(bytes instanceof Response)) return (await WebAssembly.instantiate(bytes as BufferSource, imports)).instance;
  if (!bytes.ok) throw new SapwoodError("IO", `${bytes.url}: ${bytes.status} ${bytes.statusText}`);
  // Servers that do not know the type of .wasm files are common; compiling while bytes arrive asks for it.
  if (WebAssembly.instantiateStreaming && bytes.headers.get("content-type")?.startsWith("application/wasm"))
    return (await WebAssembly.instantiateStreaming(bytes, imports)).instance;
  return (await WebAssembly.instantiate(await bytes.arrayBuffer(), imports)).instance;
}

async function fetched(address: string | URL): Promise<Response> {
  try {
    return await fetch(address);
  } catch (error) {
    throw new SapwoodError("IO", `${String(address)}: ${String(error)}`);
  }
}
