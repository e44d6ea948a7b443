// Several threads: the bytes and answers of one, for any number; what is refused; and programs that end by themselves.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { folder } from "./tools.mjs";

// Runs a script in a process of its own, for a process loads once; gives what it wrote.
function run(script, ...args) {
  const tools = JSON.stringify(new URL("tools.mjs", import.meta.url));
  const head = `import assert from "node:assert/strict";\nimport { createHash } from "node:crypto";\nimport * as tools from ${tools};\nconst { sapwood } = tools;\n`;
  return execFileSync(process.execPath, [...args, "--input-type=module", "-e", head + script], { encoding: "utf8", timeout: 240000, stdio: ["ignore", "pipe", "pipe"] }).trim();
}

const answers = (threads) => `
  const { compact, load, marchingCubes, MeshTree, PointTree } = sapwood;
  await load({ threads: ${threads} });
  const given = [];
  const tell = (name, answer) => {
    const hash = createHash("sha256");
    for (const array of ArrayBuffer.isView(answer) ? [answer] : Object.values(answer)) hash.update(array);
    given.push(name + " " + hash.digest("hex"));
  };
  for (const [type, ...all] of [[Float32Array, 2, 3, 5], [Float64Array, 3]])
    for (const dims of all)
      for (const family of ["uniform", "lattice"])
        for (const split of ["median", "sliding-midpoint"]) {
          const coords = type.from(tools.points(family, 30000, dims));
          const tree = new PointTree(coords, { dims, split, dropDuplicates: dims === 3, period: dims === 2 ? 0.8 : 0 });
          const queries = type.from(tools.points(family, 3000, dims, 5));
          const what = [type.name, dims, family, split].join(" ");
          tell(what, tree.save());
          tell(what + " nearest", tree.nearestAll(queries));
          tell(what + " k", tree.knnAll(queries, 9));
          if (family === "uniform") {
            tell(what + " self", tree.knnSelf(2));
            tell(what + " within", tree.withinAll(queries, 0.05, { sorted: true }));
            tell(what + " count", tree.withinCountAll(queries, 0.05));
            tree.rebuild(coords.map((x) => 1 - x));
            tell(what + " rebuilt", tree.save());
          }
          tree.free();
        }
  const { vertices, triangles } = tools.sphere(5);
  for (const quality of ["high", "fast"]) {
    const mesh = new MeshTree(vertices, triangles, { quality });
    const rays = Float32Array.from({ length: 16000 }, (_, i) => (i % 8 === 3 ? 0 : i % 8 === 7 ? 9 : Math.sin(i * i)));
    const places = vertices.map((x, i) => (1 + Math.sin(i)) * x);
    tell(quality, mesh.save());
    tell(quality + " rays", mesh.trace(rays));
    tell(quality + " occluded", mesh.occluded(rays));
    tell(quality + " closest", mesh.closestPoints(places));
    tell(quality + " inside", mesh.insideAll(places));
    tell(quality + " loaded", MeshTree.load(mesh.save()).save());
  }
  const apart = tools.points("uniform", 5000, 2);
  tell("in a worker", (await PointTree.build(apart)).save());
  if (!Buffer.from(new PointTree(apart).save()).equals((await PointTree.build(apart)).save())) throw new Error("a worker's tree is another");
  const volume = Float32Array.from(tools.points("uniform", 64 ** 3, 1));
  tell("surface", marchingCubes(volume, { size: [64, 64, 64], level: 0.5 }));
  tell("compact", compact(volume, volume.map((x) => x > 0.4)));
  const bad = Float32Array.from(tools.points("uniform", 50000, 2));
  bad[70001] = NaN;
  tools.throws(() => new PointTree(bad), "NOT_FINITE", /35000/);
  console.log(given.join("\\n"));
`;

test("two and three threads give the bytes of one", () => {
  const one = run(answers(1));
  assert.ok(one.split("\n").length > 70);
  for (const threads of [2, 3]) assert.equal(run(answers(threads)), one, `${threads} threads`);
});

test("memory that grows in any thread is seen, and views stay good", () => {
  run(`
    const { allocate, load, PointTree } = sapwood;
    await load({ threads: 4 });
    const coords = allocate(Float32Array, 40000);
    coords.array.set(tools.points("uniform", 20000, 2));
    const early = coords.array;
    const bytes = early.buffer.byteLength;
    const tree = new PointTree(coords);
    const rows = tree.withinAll(coords, 0.2); // tens of megabytes that threads collect
    assert.equal(rows.ids.length, rows.offsets[20000]);
    assert.ok(coords.array.buffer.byteLength > bytes && coords.array.buffer instanceof SharedArrayBuffer);
    assert.equal(tree.withinCount([0.5, 0.5], 0.3), tree.within(Array.from(coords.array.subarray(0, 2)), 9).length && tree.within([0.5, 0.5], 0.3).length);
    assert.deepEqual([...coords.array], [...early], "a view taken before shows the same memory");
    const ids = allocate(Int32Array, 20000);
    tree.nearestAll(early, { out: { ids } });
    assert.ok(ids.array.every((id, i) => id === i));
    tools.throws(() => new PointTree([0, NaN]), "NOT_FINITE", /point 0/);
    for (let i = 0; i < 300; i++) new PointTree(coords).free();
    tree.free(), coords.free(), ids.free();
  `);
});

test("what is refused", () => {
  run(`
    const { load, PointTree } = sapwood;
    const refused = (options, status, message) =>
      assert.rejects(load(options), (error) => (tools.throws(() => { throw error; }, status, message), true));
    for (const threads of [0, -1, 1.5, 65, NaN, "2", null]) await refused({ threads }, "ARGUMENT", /^threads: .* from 1 to 64/);
    await refused({ threads: 2, wasm: Uint8Array.of(1) }, "IO", /module/);
    await Promise.all([load({ threads: 2 }), load({ threads: 2 }), load()]);
    await refused({ threads: 3 }, "UNSUPPORTED", /already, with 2/);
    assert.equal(new PointTree([1, 2]).nearest(1, 2).id, 0);
  `);
  run(`
    new sapwood.PointTree([1, 2]); // loads at once
    await assert.rejects(sapwood.load({ threads: 2 }), { status: "UNSUPPORTED", message: /already, with 1/ });
    await sapwood.load({ threads: 1 });
  `);
  run(`
    const both = [sapwood.load({ threads: 3 }), sapwood.load()];
    new sapwood.PointTree([1, 2]); // loads at once, before the threads are there
    await assert.rejects(both[0], { status: "UNSUPPORTED", message: /already, with 1/ });
    await both[1];
  `);
  run(`
    const memory = globalThis.SharedArrayBuffer;
    delete globalThis.SharedArrayBuffer;
    await assert.rejects(sapwood.load({ threads: 2 }), { status: "UNSUPPORTED", message: /SharedArrayBuffer/ });
    globalThis.SharedArrayBuffer = memory;
    globalThis.crossOriginIsolated = false;
    await assert.rejects(sapwood.load({ threads: 2 }), { status: "UNSUPPORTED", message: /Cross-Origin-Opener-Policy/ });
    await sapwood.load({ threads: 1 });
    assert.equal(new sapwood.PointTree([1, 2]).count, 1);
  `);
});

test("require has threads, too, and the program ends by itself", () => {
  const script = `const { load, PointTree } = require(${JSON.stringify(join(folder, "sapwood.cjs"))});
    load({ threads: 3 }).then(() => console.log(new PointTree(new Float32Array(200000)).count));`;
  assert.equal(execFileSync(process.execPath, ["-e", script], { encoding: "utf8", timeout: 240000 }).trim(), "100000");
});
