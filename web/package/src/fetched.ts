// Loading where modules are fetched: browsers, workers, Deno.
import { SapwoodError } from "./errors.js";
import type { LoadOptions, Source } from "./source.js";
import { adopt, imports, wasm } from "./wasm.js";

/** Makes an entry's `load`, for the module at an address. */
export function loader(address: () => URL): (options?: LoadOptions) => Promise<void> {
  let loading: Promise<void> | undefined;
  return (options) => {
    loading ??= fetchAndAdopt(options, address).catch((error: unknown) => {
      loading = undefined; // so that it can be tried again
      throw error instanceof SapwoodError
        ? error
        : new SapwoodError("IO", `The WebAssembly module could not be loaded: ${String(error)}`);
    });
    return loading;
  };
}

async function fetchAndAdopt(options: LoadOptions | undefined, address: () => URL): Promise<void> {
  if (wasm) return;
  adopt(await instantiate((await options?.wasm) ?? address()));
}

async function instantiate(source: Source): Promise<WebAssembly.Instance> {
  if (source instanceof WebAssembly.Module) return WebAssembly.instantiate(source, imports);
  const bytes = typeof source === "string" || source instanceof URL ? await fetched(source) : source;
  if (!(bytes instanceof Response)) return (await WebAssembly.instantiate(bytes as BufferSource, imports)).instance;
  if (!bytes.ok) throw new SapwoodError("IO", `${bytes.url}: ${bytes.status} ${bytes.statusText}`);
  // Servers that do not know the type of .wasm files are common; compiling while bytes arrive asks for it.
  if (bytes.headers.get("content-type")?.startsWith("application/wasm"))
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
