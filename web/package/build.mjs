// Makes the npm package: node build.mjs MODULES FOLDER. MODULES holds the .wasm files (packaging/web.cmake); FOLDER is
// then what `npm pack` packs.
import { build, transformSync } from "esbuild";
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { shadersPlugin } from "./shaders.mjs";

const here = fileURLToPath(new URL(".", import.meta.url));
const root = join(here, "..", "..");
const [modules, folder] = process.argv.slice(2).map((path) => resolve(path));
if (!folder) throw new Error("usage: node build.mjs MODULES FOLDER");

rmSync(folder, { recursive: true, force: true });
mkdirSync(join(folder, "types", "cjs"), { recursive: true });

// Types, for both kinds of modules: a package.json says of a folder which it is.
const tsc = join(here, "..", "node_modules", "typescript", "bin", "tsc");
for (const types of ["types", "types/cjs"])
  execFileSync(process.execPath, [tsc, "-p", here, "--outDir", join(folder, types)], { stdio: "inherit" });
writeFileSync(join(folder, "types", "cjs", "package.json"), '{ "type": "commonjs" }\n');

// Shader text that a program includes: the library's own, with each `#include` replaced by that file of src/, without
// comments, and with @ and @@ where names begin with the tree's (src/gl/text.ts). Most begin with sap_ or SAP_; the others are
// listed here. What is not for shaders is left out: three.js looks for includes there, too.
const ours = ["NODE", "LOWER", "UPPER", "PARENT", "PLACE", "ENTRY", "ENTRY_OF", "AXIS_OF", "DEEPER", "HIGHER", "nodes", "ids",
  "texels", "shift", "most", "site_or_plane", "fields", "found", "bytes_at", "read", "look", "waiting", "push", "pop", "nearest",
  "ray", "nothing"];
const uniforms = "(?:tree|mesh)_(?=(?:nodes|smallest|boxes|blocks|depth|quads|shifts|triangles|lower|upper|scale|largest)\\b)";
function expanded(path) {
  return forShaders(readFileSync(path, "utf8")).replace(/^#include "(.+)"$/gm, (_, name) => expanded(join(root, "src", name)));
}
function forShaders(text) {
  const kept = [];
  const open = []; // of each condition whether it asks for GL_ES, and whether its lines are kept
  for (const line of text.split("\n")) {
    const [, word, rest] = /^#(if|ifdef|ifndef|else|elif|endif)\b *(.*)$/.exec(line) ?? [];
    const asks = /^GL_ES\b/.test(rest ?? "");
    if (word?.startsWith("if")) open.push({ asks, kept: !asks || word === "ifdef" });
    const at = open.at(-1);
    if (word === "endif") open.pop();
    if (word === "else" && at.asks) at.kept = !at.kept;
    else if (!(word && at.asks) && open.every((one) => one.kept)) kept.push(line);
  }
  return kept.join("\n");
}
const shaders = {
  name: "shaders",
  setup: (building) => building.onLoad({ filter: /\.glsl$/ }, ({ path }) => ({
    loader: "text",
    contents: expanded(path).replace(/\/\/.*$/gm, "").replace(/[ ]*\n[\s]*/g, "\n").trimStart()
      .replace(new RegExp(`\\b(?:${ours.join("|")})\\b`, "g"), "@_$&").replace(new RegExp(`\\b${uniforms}`, "g"), "@_")
      .replace(/\bsap_/g, "@_").replace(/\bSAP(?:WOOD)?_/g, "@@_"),
  })),
};

// What workers run is a string in the source; it is made as small as the rest.
const workers = {
  name: "workers",
  setup: (building) => building.onLoad({ filter: /(threads|elsewhere)\.ts$/ }, ({ path }) => ({
    loader: "ts",
    contents: readFileSync(path, "utf8").replace(/`(const work = .*?\n};\n)`/s, (_, text) => JSON.stringify(transformSync(text, { minify: true, target: "es2022" }).code)),
  })),
};

const version = readFileSync(join(root, "VERSION"), "utf8").trim();
const banner = { js: `// Sapwood ${version}, MIT licence` };
const common = { bundle: true, target: "es2022", banner, logLevel: "warning" };
for (const [entry, file] of [["sapwood", "sapwood.js"], ["only_points", "points.js"], ["webgpu", "webgpu.js"]])
  await build({ ...common, entryPoints: [join(here, "src", `${entry}.ts`)], format: "esm", minify: true,
    plugins: [shadersPlugin, workers], outfile: join(folder, file) });
await build({ ...common, entryPoints: [join(here, "src", "node.ts")], format: "cjs", platform: "node",
  outfile: join(folder, "sapwood.cjs") });
await build({ ...common, entryPoints: [join(here, "src", "gl.ts")], format: "esm", minify: true, plugins: [shaders],
  alias: { "sapwood-gl-module": join(modules, "gl.js") }, outfile: join(folder, "gl.js") });
// One instance for both kinds of modules in Node.
writeFileSync(join(folder, "node.js"), 'export * from "./sapwood.cjs";\n');

for (const file of ["sapwood.wasm", "sapwood-plain.wasm", "sapwood-threads.wasm", "points.wasm", "points-plain.wasm", "gl.wasm"])
  cpSync(join(modules, file), join(folder, file));
cpSync(join(here, "README.md"), join(folder, "README.md"));
cpSync(join(root, "LICENSE"), join(folder, "LICENSE"));
const described = JSON.parse(readFileSync(join(here, "package.json"), "utf8"));
writeFileSync(join(folder, "package.json"), JSON.stringify({ ...described, version }, undefined, 2) + "\n");

// ---- What readers of a page wait for, compressed.

const compressed = (file) => gzipSync(readFileSync(join(folder, file)), { level: 9 }).length;
const kilobytes = (bytes) => `${(bytes / 1000).toFixed(1)} KB`;
const most = { "gl": 110_000, "points": 125_000, "points-plain": 130_000, "sapwood": 185_000, "sapwood-plain": 200_000 }; // as the README says
const tooLarge = [];
for (const part of ["points", "sapwood", "gl"])
  for (const kind of part === "gl" ? [""] : ["", "-plain"]) {
    const [script, module] = [compressed(`${part}.js`), compressed(`${part}${kind}.wasm`)];
    console.log(`${`${part}${kind}`.padEnd(14)} ${kilobytes(script + module)} gzipped: script ${kilobytes(script)}, module ${kilobytes(module)}`);
    if (script + module > most[`${part}${kind}`]) tooLarge.push(`${part}${kind}`);
  }
if (tooLarge.length) throw new Error(`larger than the README says: ${tooLarge.join(", ")}`);
