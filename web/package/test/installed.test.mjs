// The tarball, installed into an empty folder, as a stranger would use it: both kinds of modules, types, a bundler, the
// examples of the README, and modules that are fetched.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";
import { folder as built, points, sphere } from "./tools.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const typescript = join(here, "..", "..", "node_modules", "typescript", "bin", "tsc");
let folder;

const run = (program, ...args) => execFileSync(program, args, { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
const write = (name, text) => writeFileSync(join(folder, name), text);

before(() => {
  folder = mkdtempSync(join(tmpdir(), "sapwood-"));
  const tarball = readFileSync(join(built, "..", "tarball.txt"), "utf8").trim().split("\n").pop();
  write("package.json", '{ "private": true }');
  run("npm", "install", "--offline", "--no-audit", "--no-fund", "--loglevel=error", join(built, "..", tarball));
});
after(() => rmSync(folder, { recursive: true, force: true }));

test("the tarball holds what it should, and nothing else", () => {
  const files = readdirSync(join(folder, "node_modules", "sapwood")).sort();
  assert.deepEqual(files, [
    "LICENSE", "README.md", "gl.js", "gl.wasm", "node.js", "package.json", "points-plain.wasm", "points.js", "points.wasm",
    "sapwood-plain.wasm", "sapwood-threads.wasm", "sapwood.cjs", "sapwood.js", "sapwood.wasm", "types", "webgpu.js",
  ]);
});

test("import and require give one and the same, loaded when it is needed", () => {
  write("one.mjs", `
    import assert from "node:assert/strict";
    import { createRequire } from "node:module";
    import * as modules from "sapwood";
    import { PointTree } from "sapwood/points";
    const common = createRequire(import.meta.url)("sapwood");
    assert.equal(modules.PointTree, common.PointTree);
    assert.equal(PointTree, common.PointTree);
    assert.deepEqual(Object.keys(modules).filter((name) => !(name in common)), ["default", "module.exports"].filter((name) => name in modules));
    assert.deepEqual(new PointTree([1, 2]).nearest(1, 2), { id: 0, distance: 0 });
    await Promise.all([modules.load(), common.load()]);
  `);
  write("race.mjs", `
    import assert from "node:assert/strict";
    import { readFileSync } from "node:fs";
    import { load, PointTree } from "sapwood";
    const path = new URL("node_modules/sapwood/sapwood-plain.wasm", import.meta.url);
    const later = load({ wasm: new Promise((resolve) => setTimeout(() => resolve(readFileSync(path)), 20)) });
    const tree = new PointTree([1, 2, 3, 4]); // loads at once
    await Promise.all([later, load({ wasm: path }), load()]);
    assert.deepEqual(tree.nearest(3, 4), { id: 1, distance: 0 });
  `);
  write("wrong.mjs", `
    import assert from "node:assert/strict";
    import { load, PointTree, SapwoodError } from "sapwood";
    const other = Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0); // a module without anything in it
    const wrong = [Uint8Array.of(1, 2, 3), other, new WebAssembly.Module(other), "nowhere.wasm", "http://127.0.0.1:1/x.wasm", { then: (_, no) => no("no") }];
    for (const wasm of wrong)
      await assert.rejects(load({ wasm }), (error) => error instanceof SapwoodError && error.status === "IO");
    assert.equal(new PointTree([1, 2]).count, 1);
  `);
  write("two.cjs", `
    const { PointTree } = require("sapwood");
    if (new PointTree([1, 2]).nearest(1, 2).id !== 0) process.exit(1);
  `);
  run("node", "one.mjs");
  for (const script of ["two.cjs", "race.mjs", "wrong.mjs"]) run("node", script);
});

test("the types, strict, for both kinds of modules", () => {
  cpSync(join(here, "types"), folder, { recursive: true });
  const common = ["--noEmit", "--strict", "--target", "es2022", "--lib", "es2022,dom", "--types", ""];
  const compile = (...args) => {
    try {
      run("node", typescript, ...common, ...args);
    } catch (error) {
      assert.fail(error.stdout);
    }
  };
  compile("--module", "nodenext", "module.mts", "commonjs.cts");
  compile("--module", "esnext", "--moduleResolution", "bundler", "module.mts");
});

// An example's line `expression; // → value` becomes a check.
function checked(example) {
  return example.replace(/^( *)(.+); \/\/ → (.+?)( in any order)?$/gm, (_, indent, expression, value, any) => {
    const expected = value.replace(/^(\w+Array) \[(.*)\]$/, "$1.of($2)");
    return `${indent}{ const got = ${expression}; assert.deepEqual(${any ? "got.sort()" : "got"}, ${expected}); globalThis.checks++; }`;
  });
}

test("the examples of the README", async () => {
  const text = readFileSync(join(folder, "node_modules", "sapwood", "README.md"), "utf8");
  const examples = [...text.matchAll(/(<!-- not run[^\n]*\n)?```js\n(.*?)```/gs)].filter(([, skipped]) => !skipped);
  assert.ok(examples.length >= 8);
  globalThis.checks = 0;
  for (const [i, [, , example]] of examples.entries()) {
    write(`example${i}.mjs`, `import assert from "node:assert/strict";\n${checked(example)}`);
    await import(pathToFileURL(join(folder, `example${i}.mjs`)));
  }
  assert.equal(globalThis.checks, text.match(/^.*; \/\/ → /gm).length, "every result that the README states was checked");
});

test("bundled by esbuild for a browser", async () => {
  write("page.js", `
    import { load, PointTree } from "sapwood/points";
    import wasm from "sapwood/points.wasm";
    await load({ wasm });
    export const found = new PointTree([1, 2, 3, 4]).nearest(3, 3);
    export const kind = typeof PointTree.prototype.save;
  `);
  await build({ absWorkingDir: folder, entryPoints: ["page.js"], bundle: true, format: "esm", outfile: "page.mjs", loader: { ".wasm": "binary" }, platform: "browser", target: "es2022", logLevel: "silent" });
  const { found } = await import(pathToFileURL(join(folder, "page.mjs")));
  assert.deepEqual(found, { id: 1, distance: 1 });
});

// A copy of the browsers' entry is a module of its own, not loaded yet.
let copies = 0;
function fresh() {
  const name = `fresh${copies++}.mjs`;
  cpSync(join(folder, "node_modules", "sapwood", "sapwood.js"), join(folder, name));
  return import(pathToFileURL(join(folder, name)));
}

test("the modules with and without vectors give the same bytes", async () => {
  const answers = async (file) => {
    const { load, marchingCubes, MeshTree, PointTree } = await fresh();
    await load({ wasm: readFileSync(join(folder, "node_modules", "sapwood", file)) });
    const given = [];
    for (const type of [Float32Array, Float64Array])
      for (const dims of [2, 3, 5])
        for (const [family, period] of [["clusters", 0], ["duplicates", 0], ["uniform", 1]]) {
          const tree = new PointTree(type.from(points(family, 2000, dims)), { dims, period });
          const queries = type.from(points(family, 200, dims, 5));
          given.push(tree.save(), tree.nearestAll(queries), tree.knnAll(queries, 9), tree.withinAll(queries, 0.1));
        }
    const { vertices, triangles } = sphere(4);
    const mesh = new MeshTree(vertices, triangles);
    const rays = Float32Array.from({ length: 800 }, (_, i) => (i % 8 === 3 ? 0 : i % 8 === 7 ? 9 : Math.sin(i * i)));
    given.push(mesh.save(), mesh.trace(rays), mesh.closestPoints(vertices.map((x) => 1.1 * x)));
    given.push(marchingCubes(Float32Array.from(points("uniform", 1000, 1)), { size: [10, 10, 10], level: 0.5 }));
    return given;
  };
  const [vectors, plain] = [await answers("sapwood.wasm"), await answers("sapwood-plain.wasm")];
  for (const [i, answer] of vectors.entries()) assert.deepEqual(plain[i], answer, `answer ${i}`);
});

test("modules that are fetched: good, absent, damaged, of a wrong type", async () => {
  const files = { "/right.wasm": "application/wasm", "/untyped.wasm": "text/plain" };
  const server = createServer((request, response) => {
    if (request.url === "/damaged.wasm") return response.end("not a module");
    if (!files[request.url]) return response.writeHead(404).end();
    response.writeHead(200, { "content-type": files[request.url] });
    response.end(readFileSync(join(folder, "node_modules", "sapwood", "sapwood-plain.wasm")));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = (name) => `http://127.0.0.1:${server.address().port}/${name}`;
  try {
    const bytes = readFileSync(join(folder, "node_modules", "sapwood", "sapwood.wasm"));
    const compiled = new WebAssembly.Module(bytes);
    for (const wasm of [address("right.wasm"), new URL(address("untyped.wasm")), fetch(address("right.wasm")), bytes, compiled, Promise.resolve(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length))]) {
      const { load, PointTree } = await fresh();
      assert.throws(() => new PointTree([1, 2]), { name: "SapwoodError", status: "NOT_LOADED" });
      await Promise.all([load({ wasm }), load()]);
      assert.equal(new PointTree([1, 2]).nearest(0, 0).id, 0);
    }
    const { load, MeshTree } = await fresh();
    await assert.rejects(load({ wasm: address("absent.wasm") }), { status: "IO", message: /404/ });
    await assert.rejects(load({ wasm: address("damaged.wasm") }), { status: "IO", message: /./ });
    await assert.rejects(load({ wasm: "http://127.0.0.1:1/refused.wasm" }), { status: "IO", message: /./ });
    await load({ wasm: address("right.wasm") });
    assert.equal(new MeshTree([0, 0, 0, 1, 0, 0, 0, 1, 0]).count, 1);
  } finally {
    server.close();
  }
});
