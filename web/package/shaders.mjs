// Makes WGSL of the shaders of WebGPU: GLSL with the library's shared texts, to SPIR-V (glslang), to WGSL (naga).
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { translate } from "naga-wasm";

const folders = ["../../src", "src"].map((path) => fileURLToPath(new URL(path, import.meta.url))); // of what is included
const before = `#version 310 es
#extension GL_GOOGLE_include_directive : require
precision highp float;
precision highp int;
`;

/** The WGSL of a file of GLSL with definitions. Names that the translators made long are short. */
function shader(file, definitions) {
  const folder = mkdtempSync(join(tmpdir(), "sapwood-"));
  try {
    const [text, spirv] = [join(folder, "shader.comp"), join(folder, "shader.spv")];
    writeFileSync(text, before + readFileSync(fileURLToPath(new URL(`src/webgpu/${file}`, import.meta.url)), "utf8"));
    const defined = Object.entries(definitions).map(([name, value]) => `-D${name}=${value}`);
    execFileSync("glslangValidator", ["-V", "--target-env", "vulkan1.1", "-S", "comp", ...folders.map((path) => `-I${path}`), ...defined, "-o", spirv, text], { stdio: ["ignore", "pipe", "inherit"] });
    const wgsl = translate({ from: "spirv", to: "wgsl", source: readFileSync(spirv) });
    const short = new Map();
    return wgsl
      .replace(/\b\w*_u00\w*/g, (name) => short.get(name) ?? short.set(name, `call_${short.size}`).get(name))
      .replaceAll("340282350000000000000000000000000000000f", "0x1.fffffep+127f") // the largest float, which naga rounds up
      .replace(/^\s+/gm, "");
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const run = 16; // points in order at first, in the lists of a build; then a thread's share of a merge

/** All of them: search[kind][capacity], rays, closest, build[pass]. */
export function shaders() {
  const search = (kind) => Object.fromEntries([-1, 0, 1, 8, 32, 128].map((capacity) =>
    [capacity, shader("search.glsl", { SAP_CAPACITY: capacity, ...kind })]));
  const build = Object.fromEntries(["load", "runs", "merge", "lists", "nodes", "sides", "counts", "sums", "before", "move", "leaves", "axes"].map((pass) =>
    [pass, shader(`build/${pass}.glsl`, { RUN: run })]));
  const [rays, closest] = [shader("rays.glsl", {}), shader("closest.glsl", {})];
  return { search: { balanced: search({}), explicit: search({ SAP_EXPLICIT: 1 }) }, rays, closest, build, run };
}

/** For esbuild: the module "webgpu:shaders". */
export const shadersPlugin = {
  name: "shaders",
  setup(build) {
    build.onResolve({ filter: /^webgpu:shaders$/ }, ({ path }) => ({ path, namespace: "shaders" }));
    build.onLoad({ filter: /.*/, namespace: "shaders" }, () => ({ contents: JSON.stringify(shaders()), loader: "json" }));
  },
};
