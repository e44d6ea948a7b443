// What tests of sapwood/gl do in the browser: each exported function is a check, and throws what is wrong. Answers of shaders
// are compared with those of the package's CPU, bit for bit where GLSL promises these.
import { compact, load, marchingCubes, MeshTree, PointTree } from "/sapwood/sapwood.js";
import { openGL } from "/sapwood/gl.js";

await load();

export function random(seed) {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}
const families = {
  uniform: (next) => next(),
  clusters: (next) => Math.floor(next() * 4) + next() ** 9 / 50,
  lattice: (next) => Math.floor(next() * 8),
  equal: () => 0.25,
};
const cloud = (family, count, seed) => {
  const next = random(seed);
  return Float32Array.from({ length: count }, () => families[family](next));
};

export function equal(got, expected, what) {
  if (got.length !== expected.length) throw new Error(`${what}: ${got.length} values, not ${expected.length}`);
  for (let i = 0; i < got.length; i++)
    if (!Object.is(got[i], expected[i]) && !(got[i] === 0 && expected[i] === 0)) throw new Error(`${what}: value ${i} is ${got[i]}, not ${expected[i]}`);
}
async function refused(call, status, sentence) {
  try {
    await call();
  } catch (error) {
    if (error.name === "SapwoodError" && error.status === status && sentence.test(error.message)) return;
    throw new Error(`${status} ${sentence} was expected, not ${error.status}: ${error.message}`);
  }
  throw new Error(`${status} ${sentence} was expected`);
}

export function context(version = 2) {
  const gl = document.createElement("canvas").getContext(version === 2 ? "webgl2" : "webgl");
  if (version === 2) gl.getExtension("EXT_color_buffer_float");
  return gl;
}

export const SIDE = 32; // pixels on a side of a picture of answers

function program(gl, vertex, fragment) {
  const made = gl.createProgram();
  for (const [type, text] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
    const shader = gl.createShader(type);
    gl.shaderSource(shader, text);
    gl.compileShader(shader);
    if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(shader));
    gl.attachShader(made, shader);
  }
  gl.bindAttribLocation(made, 0, "corner");
  gl.linkProgram(made);
  if (!gl.getProgramParameter(made, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(made));
  return made;
}

// Draws a square of SIDE x SIDE pixels with a program, whose uniforms `set` sets.
function draw(gl, made, set) {
  gl.useProgram(made);
  set(made);
  gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
  gl.bufferData(gl.ARRAY_BUFFER, Float32Array.of(-1, -1, 3, -1, -1, 3), gl.STATIC_DRAW);
  gl.enableVertexAttribArray(0);
  gl.vertexAttribPointer(0, 2, gl.FLOAT, false, 0, 0);
  gl.viewport(0, 0, SIDE, SIDE);
  gl.drawArrays(gl.TRIANGLES, 0, 3);
}

// What a fragment shader of WebGL 2 writes into an RGBA32UI texture: a word in GLSL, of the query, which is row i of
// `queries` (four floats each). `text` stands before main.
export function answers(gl, text, body, queries, set) {
  const made = program(gl, "#version 300 es\nin vec2 corner;void main(){gl_Position=vec4(corner,0.,1.);}",
    `#version 300 es\n${text}\nuniform sampler2D asked;uniform sampler2D more;out uvec4 put;
    void main(){vec4 query=texelFetch(asked,ivec2(gl_FragCoord.xy),0);vec4 other=texelFetch(more,ivec2(gl_FragCoord.xy),0);${body}}`);
  const texture = (internal, format, type, data) => {
    const t = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D, t);
    gl.texImage2D(gl.TEXTURE_2D, 0, internal, SIDE, SIDE, 0, format, type, data);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.NEAREST);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.NEAREST);
    return t;
  };
  const half = 4 * SIDE * SIDE;
  const asked = texture(gl.RGBA32F, gl.RGBA, gl.FLOAT, queries.subarray(0, half));
  const more = texture(gl.RGBA32F, gl.RGBA, gl.FLOAT, queries.length > half ? queries.subarray(half) : queries);
  const target = texture(gl.RGBA32UI, gl.RGBA_INTEGER, gl.UNSIGNED_INT, null);
  gl.bindFramebuffer(gl.FRAMEBUFFER, gl.createFramebuffer());
  gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, target, 0);
  draw(gl, made, () => {
    [asked, more].forEach((t, i) => {
      gl.activeTexture(gl.TEXTURE0 + i);
      gl.bindTexture(gl.TEXTURE_2D, t);
      gl.uniform1i(gl.getUniformLocation(made, ["asked", "more"][i]), i);
    });
    set(made, 2);
  });
  const words = new Uint32Array(half);
  gl.readPixels(0, 0, SIDE, SIDE, gl.RGBA_INTEGER, gl.UNSIGNED_INT, words);
  gl.bindFramebuffer(gl.FRAMEBUFFER, null);
  const wrong = gl.getError();
  if (wrong) throw new Error(`WebGL refused something of the test: ${wrong.toString(16)}`);
  return words;
}

// Places to search from: some far away, some on points, one that is no number.
export function places(coords, dims, seed) {
  const next = random(seed);
  const rows = new Float32Array(4 * SIDE * SIDE);
  const flat = new Float32Array(dims * SIDE * SIDE);
  for (let i = 0; i < SIDE * SIDE; i++)
    for (let a = 0; a < dims; a++) {
      const on = coords[(i * 7 % (coords.length / dims)) * dims + a];
      rows[4 * i + a] = flat[dims * i + a] = i === 5 ? NaN : i % 3 === 0 && coords.length ? on : 4 * next() - (i % 11 === 0 ? 20 : 0);
    }
  return [rows, flat];
}
const bits = (floats) => new Uint32Array(floats.buffer, floats.byteOffset, floats.length);
const column = (words, which, Type = Int32Array) => Type.from({ length: SIDE * SIDE }, (_, i) => words[4 * i + which]);

// ---- Points

const pointCases = [
  ["uniform", 2, "median", "stackless", 5000], ["clusters", 2, "median", "stack", 5000], ["lattice", 3, "median", "stackless", 3000],
  ["uniform", 3, "sliding-midpoint", "stackless", 4000], ["equal", 2, "sliding-midpoint", "stackless", 500],
  ["uniform", 2, "median", "stackless", 1],
];

export async function points() {
  const gl = context();
  const device = await openGL(gl);
  for (const [family, dims, split, walk, count] of pointCases) {
    const what = `${family} ${dims}-D ${split} ${walk}`;
    const coords = cloud(family, dims * count, 3);
    const tree = new PointTree(coords, { dims, split, leafSize: count > 1000 ? 8 : 32 });
    const there = device.tree(tree);
    const [rows, flat] = places(coords, dims, 9);
    const place = dims === 2 ? "query.xy" : "query.xyz";
    const bind = (made, unit) => there.bind(made, unit);
    const nearest = tree.nearestAll(flat, { squared: true });
    const counts = tree.withinCountAll(flat, 0.25);
    const sets = tree.withinAll(flat, 0.25);
    const sums = Int32Array.from(counts, (_, i) => sets.ids.subarray(sets.offsets[i], sets.offsets[i + 1]).reduce((a, b) => a + b, 0));
    const one = answers(gl, `${there.glsl({ walk, visit: true })}\nint sum;void tree_visit(int id,float distance2){sum+=id;}`,
      `sum=0;float d;int id=tree_nearest(${place},1e38,d);int n=tree_within(${place},0.0625);put=uvec4(uint(id),id<0?0u:floatBitsToUint(d),uint(n),uint(sum));`, rows, bind);
    equal(column(one, 0), nearest.ids, `${what}: ids`);
    equal(column(one, 1, Uint32Array), bits(nearest.distances).map((word, i) => (nearest.ids[i] < 0 ? 0 : word)), `${what}: distances`);
    equal(column(one, 2), counts, `${what}: counts`);
    equal(column(one, 3), sums, `${what}: visited`);
    const several = tree.knnAll(flat, 4, { squared: true, radius: 0.25 });
    const mixed = bits(several.distances).map((word, i) => (several.ids[i] < 0 ? 7 : Math.imul(several.ids[i], 69069) ^ word));
    const word = (i) => `list.id[${i}]<0?7u:(uint(list.id[${i}])*69069u)^floatBitsToUint(list.distance2[${i}])`;
    const four = answers(gl, there.glsl({ walk, k: 4 }), `tree_candidates list=tree_neighbors(${place},0.0625);put=uvec4(${[0, 1, 2, 3].map(word)});`, rows, bind);
    equal(four, mixed, `${what}: neighbours`);
    there.free();
  }
  device.close();
}

// Two trees in one shader, one of which is replaced by another.
export async function twoTrees() {
  const gl = context();
  const device = await openGL(gl);
  const coords = ["uniform", "clusters", "lattice"].map((family, i) => cloud(family, 2000, i + 1));
  const trees = coords.map((c) => new PointTree(c));
  const [a, b] = [device.tree(trees[0].save(), { name: "old" }), device.tree(trees[1], { name: "new1" })];
  const [rows, flat] = places(coords[0], 2, 4);
  const both = () => answers(gl, a.glsl() + b.glsl({ k: 2 }), "put=uvec4(uint(old_nearest(query.xy)),uint(new1_neighbors(query.xy,1e38).id[1]),0u,0u);", rows,
    (made, unit) => b.bind(made, a.bind(made, unit)));
  for (const second of [trees[1], trees[2]]) {
    b.update(second);
    const words = both();
    equal(column(words, 0), trees[0].nearestAll(flat).ids, "the first tree");
    equal(column(words, 1), second.knnAll(flat, 2).ids.filter((_, i) => i % 2 === 1), "the second tree");
  }
  device.close();
}

export async function frames() {
  const gl = context();
  const device = await openGL(gl);
  const grid = { origin: [-0.5, -0.25], right: [2 / 70, 0], down: [0, 2 / 50] };
  const places = Float32Array.from({ length: 2 * 70 * 50 }, (_, i) => {
    const [x, y] = [Math.floor(i / 2) % 70, Math.floor(i / 140)];
    // What belongs to a column and what to a row, each rounded.
    return i % 2 === 0 ? Math.fround(-0.5 + (x + 0.5) * (2 / 70)) : Math.fround(Math.fround(-0.25) + Math.fround((y + 0.5) * (2 / 50)));
  });
  for (const split of ["median", "sliding-midpoint"]) {
    const tree = new PointTree(cloud("uniform", 6000, 5), { split });
    const there = device.tree(tree);
    for (const [k, walk] of [[1, "stackless"], [5, split === "median" ? "stack" : "stackless"]]) {
      const frame = there.frame({ width: 70, height: 50, k, walk });
      frame.begin(grid);
      frame.step(1, { wait: false });
      let steps = 0;
      while (!frame.step(16)) if (++steps > 1000) throw new Error("the frame does not end");
      const { ids, distances } = frame.read();
      const expected = tree.knnAll(places, k);
      equal(ids, expected.ids, `${split}, ${k} neighbours: ids`);
      equal(distances, expected.distances, `${split}, ${k} neighbours: distances`);
      const { place, lists, capacity } = frame.textures;
      if (!(place instanceof WebGLTexture) || lists.length !== (k === 1 ? 0 : 4) || capacity !== (k === 1 ? 1 : 8)) throw new Error(`textures of a frame: ${lists.length} ${capacity}`);
      frame.free();
    }
    const counting = there.frame({ width: 70, height: 50, k: 0, radius: 0.1 });
    counting.begin(grid);
    while (!counting.step());
    equal(counting.read().ids, tree.withinCountAll(places, 0.1), "counts");
  }
  device.close();
}

// ---- Four bytes a node

async function bytesIn(gl, version) {
  const device = await openGL(gl);
  for (const [dims, axis, walk] of [[2, "widest", "stackless"], [2, "cycle", "stack"], [3, "cycle", "stackless"], [3, "widest", "stack"]]) {
    const what = `${dims}-D ${axis} ${walk} GLSL ${version}`;
    const coords = cloud("uniform", 500 * dims, 6);
    const tree = new PointTree(coords, { dims, axis, leafSize: 1 });
    const there = device.byteTree(tree, { lower: Array(dims).fill(0), side: 1, name: "site" });
    const units = dims === 2 ? 32767 : 1023;
    if (there.scale !== units || there.dims !== dims) throw new Error(`${what}: ${there.scale} units, ${there.dims} dimensions`);
    const rounded = coords.map((x) => Math.round(x * units));
    const query = (i, a) => (a === 2 ? 0.5 : ((a === 0 ? i % SIDE : Math.floor(i / SIDE)) + 0.5) / SIDE);
    const far = (i, id) => {
      let sum = 0;
      for (let a = 0; a < dims; a++) sum += (query(i, a) * units - rounded[dims * id + a]) ** 2;
      return sum;
    };
    const right = (ids, distances) => {
      for (let i = 0; i < SIDE * SIDE; i++) {
        let best = Infinity;
        for (let id = 0; id < 500; id++) best = Math.min(best, far(i, id));
        if (!(far(i, ids[i]) <= best * (1 + 1e-5) + 1e-3)) throw new Error(`${what}: pixel ${i} has ${ids[i]} at ${far(i, ids[i])}, not ${best}`);
        if (!(Math.abs(distances[i] * units - Math.sqrt(best)) <= 0.02 + 1e-4 * Math.sqrt(best))) throw new Error(`${what}: pixel ${i} at ${distances[i] * units}, not ${Math.sqrt(best)}`);
      }
    };
    const grid = { origin: [0, 0, 0.5].slice(0, dims), right: [1 / SIDE, 0, 0].slice(0, dims), down: [0, 1 / SIDE, 0].slice(0, dims) };
    const read = there.nearest(grid, { width: SIDE, height: SIDE, walk, version });
    right(read.ids, read.distances);
    // The same by a shader of ours: the id in three bytes, and the distance in two more pictures' worth.
    const place = dims === 2 ? "at" : "vec3(at,0.5)";
    const head = version === 300 ? "#version 300 es\n" : "";
    const [put, out] = version === 300 ? ["put", "out vec4 put;"] : ["gl_FragColor", ""];
    const pictures = ["vec4(id<0.?1.:0.,floor(id/65536.)/255.,mod(floor(id/256.),256.)/255.,mod(id,256.)/255.)", "vec4(floor(d*256.)/255.,fract(d*256.),0.,1.)"].map((value) => {
      const made = program(gl, `${head}precision highp float;${version === 300 ? "in" : "attribute"} vec2 corner;void main(){gl_Position=vec4(corner,0.,1.);}`,
        `${head}${there.glsl({ version, walk })}\n${out}void main(){float d;vec2 at=gl_FragCoord.xy/${SIDE}.;float id=float(site_nearest(${place},d));${put}=${value};}`);
      const target = gl.createTexture();
      gl.bindTexture(gl.TEXTURE_2D, target);
      gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, SIDE, SIDE, 0, gl.RGBA, gl.UNSIGNED_BYTE, null);
      gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.NEAREST);
      gl.bindFramebuffer(gl.FRAMEBUFFER, gl.createFramebuffer());
      gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, target, 0);
      draw(gl, made, () => there.bind(made, 1));
      const bytes = new Uint8Array(4 * SIDE * SIDE);
      gl.readPixels(0, 0, SIDE, SIDE, gl.RGBA, gl.UNSIGNED_BYTE, bytes);
      return bytes;
    });
    const [ids, distances] = pictures;
    right(Int32Array.from({ length: SIDE * SIDE }, (_, i) => (ids[4 * i] ? -1 : (ids[4 * i + 1] * 256 + ids[4 * i + 2]) * 256 + ids[4 * i + 3])),
      Float64Array.from({ length: SIDE * SIDE }, (_, i) => read.distances[i] + 0 * distances[i]));
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    there.free();
  }
  const coarse = new PointTree(cloud("uniform", 200, 1));
  await refused(() => device.byteTree(coarse, { lower: [0, 0], side: 1 }), "UNSUPPORTED", /one point a leaf/);
  await refused(() => device.byteTree(new PointTree([1, 2], { leafSize: 1, type: Float32Array }), { lower: [0, 0, 0], side: 1 }), "ARGUMENT", /lower/);
  device.close();
}
export async function bytes() {
  await bytesIn(context(), 300);
}
export async function bytesOld() {
  await bytesIn(context(1), 100);
}

// ---- Rays

export function knot(segments) {
  const [vertices, triangles] = [[], []];
  for (let i = 0; i < segments; i++)
    for (let j = 0; j < 12; j++) {
      const [u, v] = [(2 * Math.PI * i) / segments, (2 * Math.PI * j) / 12];
      const r = 2 + Math.cos(3 * u) + 0.4 * Math.cos(v);
      vertices.push(r * Math.cos(2 * u), r * Math.sin(2 * u), Math.sin(3 * u) + 0.4 * Math.sin(v));
      const at = (di, dj) => ((i + di) % segments) * 12 + ((j + dj) % 12);
      triangles.push(at(0, 0), at(1, 0), at(1, 1), at(0, 0), at(1, 1), at(0, 1));
    }
  return [Float32Array.from(vertices), Uint32Array.from(triangles)];
}

export async function rays() {
  const gl = context();
  const device = await openGL(gl);
  const next = random(8);
  const [rows, flat] = [new Float32Array(8 * SIDE * SIDE), new Float32Array(8 * SIDE * SIDE)];
  for (let i = 0; i < SIDE * SIDE; i++) {
    const from = [8 * next() - 4, 8 * next() - 4, i % 2 ? -6 : 4 * next() - 2];
    const to = i % 5 === 0 ? [0, 0, 1] : [next() - 0.5, next() - 0.5, next() - 0.5];
    const [least, most] = [i % 7 === 0 ? 0.5 : 0, i % 4 === 0 ? 3 : Infinity];
    if (i === 9) from[0] = NaN;
    rows.set([...from, least], 4 * i);
    rows.set([...to, most], 4 * (SIDE * SIDE + i));
    flat.set([...from, least, ...to, most], 8 * i);
  }
  const meshes = [knot(60), knot(24)].map(([vertices, triangles]) => new MeshTree(vertices, triangles));
  const there = device.mesh(meshes[1], { name: "knot" });
  for (const mesh of [...meshes].reverse()) {
    there.update(mesh);
    const bind = (made, unit) => there.bind(made, unit);
    const ray = "query.xyz,other.xyz,query.w,other.w";
    const words = answers(gl, there.glsl(), `knot_ray_result hit=knot_trace(${ray});put=uvec4(uint(hit.triangle),floatBitsToUint(hit.t),floatBitsToUint(hit.u),floatBitsToUint(hit.v));`, rows, bind);
    const hits = mesh.trace(flat);
    equal(column(words, 0), hits.triangles, "triangles");
    for (const [i, name] of [[1, "t"], [2, "u"], [3, "v"]])
      equal(column(words, i, Uint32Array).map((word, j) => (hits.triangles[j] < 0 ? 0 : word)), bits(hits[name]).map((word, j) => (hits.triangles[j] < 0 ? 0 : word)), name);
    if (hits.triangles.filter((id) => id >= 0).length < 50) throw new Error("few rays hit");
    const dark = answers(gl, there.glsl(), `put=uvec4(knot_occluded(${ray})?1u:0u);`, rows, bind);
    equal(Uint8Array.from(column(dark, 0)), mesh.occluded(flat), "occluded");
  }
  device.close();
}

// ---- Compaction

function texture2d(gl, width, height, internal, format, type, data) {
  const t = gl.createTexture();
  gl.bindTexture(gl.TEXTURE_2D, t);
  gl.texImage2D(gl.TEXTURE_2D, 0, internal, width, height, 0, format, type, data);
  gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.NEAREST);
  gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.NEAREST);
  return t;
}
function listed(gl, list, total, form) {
  if (!total) return [];
  gl.bindFramebuffer(gl.FRAMEBUFFER, gl.createFramebuffer());
  gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, list.texture, 0);
  const rows = Math.ceil(total / list.width);
  const floats = form === "float";
  const words = floats ? new Float32Array(4 * rows * list.width) : new Uint32Array(4 * rows * list.width);
  gl.readPixels(0, 0, list.width, rows, floats ? gl.RGBA : gl.RGBA_INTEGER, floats ? gl.FLOAT : gl.UNSIGNED_INT, words);
  gl.bindFramebuffer(gl.FRAMEBUFFER, null);
  return Array.from({ length: total }, (_, i) => [words[4 * i], words[4 * i + 1]]);
}

export async function compaction() {
  const gl = context();
  const device = await openGL(gl);
  const [width, height] = [52, 20];
  for (const form of ["vec4", "plain", "float"])
    for (const [cells, most, part] of [["byte", 1, 0.1], ["float", 3, 0.5], ["uint", 1, 1], ["uint4", 5, 0.3], ["byte", 1, 0]]) {
      if (form === "float" && cells.startsWith("uint")) continue;
      const next = random(12);
      const counts = Float32Array.from({ length: width * height * (cells === "uint4" ? 4 : 1) }, () => (next() < part ? 1 + Math.floor(next() * most) : 0));
      const base = {
        byte: () => texture2d(gl, width, height, gl.R8, gl.RED, gl.UNSIGNED_BYTE, Uint8Array.from(counts)),
        float: () => texture2d(gl, width, height, gl.R32F, gl.RED, gl.FLOAT, counts),
        uint: () => texture2d(gl, width, height, gl.R32UI, gl.RED_INTEGER, gl.UNSIGNED_INT, Uint32Array.from(counts)),
        uint4: () => texture2d(gl, width, height, gl.RGBA8UI, gl.RGBA_INTEGER, gl.UNSIGNED_BYTE, Uint8Array.from(counts)),
      }[cells]();
      const what = `${form} ${cells} ${most} ${part}`;
      const expected = [];
      counts.forEach((count, cell) => {
        for (let i = 0; i < count; i++) expected.push([cell, i]);
      });
      if (most === 1) equal(compact(Int32Array.from(counts, (_, i) => i), counts), Int32Array.from(expected, ([cell]) => cell), what);
      const list = device.compactTexture(base, { width, height, cells, most, form });
      if (list.count !== expected.length) throw new Error(`${what}: ${list.count} outputs, not ${expected.length}`);
      for (let again = 0; again < 2; again++) {
        const got = listed(gl, list, expected.length, form);
        equal(got.map(([cell]) => cell), expected.map(([cell]) => cell), `${what}: cells`);
        if (most > 1) equal(got.map(([, i]) => i), expected.map(([, i]) => i), `${what}: which`);
        list.update(base);
      }
      list.free();
      const few = device.compactTexture(base, { width, height, cells, most, form, expected: 7 });
      const some = Math.min(7, expected.length);
      equal(listed(gl, few, some, form).map(([cell]) => cell), expected.slice(0, some).map(([cell]) => cell), `${what}: the first`);
      if (few.count !== expected.length) throw new Error(`${what}: ${few.count} outputs, asked later`);
    }
  await refused(() => device.compactTexture(texture2d(gl, 4, 4, gl.R8, gl.RED, gl.UNSIGNED_BYTE, null), { width: 4, height: 4, cells: "byte", count: 17 }), "ARGUMENT", /count/);
  await refused(() => device.compactTexture(null, { width: 4, height: 4 }), "ARGUMENT", /texture/);
  await refused(() => device.compactTexture({}, { width: 4, height: 4, cells: "words" }), "ARGUMENT", /cells/);
  await refused(() => device.compactTexture({}), "ARGUMENT", /options/);
  device.close();
}

// In a context of WebGL 1: floats where they can be written, else bytes.
export async function compactionOld() {
  const gl = context(1);
  const device = await openGL(gl);
  if (device.info.version !== 20) throw new Error("not of WebGL 1");
  const flags = Uint8Array.from({ length: 64 * 16 }, (_, i) => (i * i) % 7 === 1 ? 1 : 0);
  const base = texture2d(gl, 64, 16, gl.RGBA, gl.RGBA, gl.UNSIGNED_BYTE, Uint8Array.from({ length: 4 * flags.length }, (_, i) => (i % 4 === 0 ? flags[i / 4] : 9)));
  const list = device.compactTexture(base, { width: 64, height: 16 });
  const expected = [...flags.keys()].filter((i) => flags[i]);
  if (list.count !== expected.length) throw new Error(`${list.count} outputs, not ${expected.length}`);
  const floats = device.info.floatTargets;
  gl.bindFramebuffer(gl.FRAMEBUFFER, gl.createFramebuffer());
  gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, list.texture, 0);
  const read = new (floats ? Float32Array : Uint8Array)(4 * list.width * Math.ceil(list.count / list.width));
  gl.readPixels(0, 0, list.width, Math.ceil(list.count / list.width), gl.RGBA, floats ? gl.FLOAT : gl.UNSIGNED_BYTE, read);
  equal(expected.map((_, i) => (floats ? read[4 * i] : read[4 * i] + 256 * read[4 * i + 1])), expected, "cells");
  gl.bindFramebuffer(gl.FRAMEBUFFER, null);
  const tree = new PointTree(cloud("uniform", 200, 1));
  await refused(() => device.tree(tree), "UNSUPPORTED", /./);
  await refused(() => device.marchingCubes(new Float32Array(8), { size: [2, 2, 2], level: 0 }), "UNSUPPORTED", /WebGL 2/);
  device.close();
}

// ---- Surfaces

function buffer(gl, from, count) {
  const floats = new Float32Array(4 * count);
  gl.bindBuffer(gl.ARRAY_BUFFER, from);
  gl.getBufferSubData(gl.ARRAY_BUFFER, 0, floats);
  return floats;
}

export async function surfaces() {
  const gl = context();
  const device = await openGL(gl);
  const next = random(2);
  const [x, y, z] = [37, 22, 19];
  const smooth = Float32Array.from({ length: x * y * z }, (_, i) => Math.hypot((i % x) - 17, 1.5 * ((Math.floor(i / x) % y) - 10), Math.floor(i / (x * y)) - 8.25) - 7);
  const volumes = [smooth, Int16Array.from(smooth, (v) => 20 * v), Uint8Array.from(smooth, () => 2 * next()), Uint16Array.from(smooth, () => 3 * next())];
  for (const [i, volume] of volumes.entries())
    for (const lowInside of [false, true]) {
      const options = { size: [x, y, z], level: [0, 7, 1, 1.5][i], spacing: [1, 2, 0.5], origin: [-3, 0, 5], lowInside };
      const there = device.marchingCubes(volume, options);
      for (const level of [options.level, options.level + 0.25, 1e9, options.level]) {
        there.update(level);
        const { vertices, normals, triangles } = marchingCubes(volume, { ...options, level });
        if (there.count !== triangles.length) throw new Error(`volume ${i}: ${there.count} corners, not ${triangles.length}`);
        const [at, facing] = [there.positions, there.normals].map((from) => buffer(gl, from, there.count));
        for (let c = 0; c < triangles.length; c++)
          for (let a = 0; a < 4; a++) {
            const place = a < 3 ? vertices[3 * triangles[c] + a] : 1;
            if (!(Math.abs(at[4 * c + a] - place) <= 1e-5)) throw new Error(`volume ${i}: corner ${c} at ${at[4 * c + a]}, not ${place}`);
            const way = a < 3 ? normals[3 * triangles[c] + a] : 0;
            if (!(Math.abs(facing[4 * c + a] - way) <= 1e-4)) throw new Error(`volume ${i}: normal of corner ${c} is ${facing[4 * c + a]}, not ${way}`);
          }
      }
      there.free();
    }
  // A texture of the program's own.
  const texture = gl.createTexture();
  gl.bindTexture(gl.TEXTURE_3D, texture);
  gl.pixelStorei(gl.UNPACK_ALIGNMENT, 1);
  gl.texImage3D(gl.TEXTURE_3D, 0, gl.R8, x, y, z, 0, gl.RED, gl.UNSIGNED_BYTE, volumes[2].map((v) => 255 * v));
  gl.texParameteri(gl.TEXTURE_3D, gl.TEXTURE_MIN_FILTER, gl.NEAREST);
  const there = device.marchingCubes(texture, { size: [x, y, z], level: 0.5 });
  const { triangles } = marchingCubes(volumes[2], { size: [x, y, z], level: 0.5 });
  if (there.count !== triangles.length) throw new Error(`of a texture: ${there.count} corners, not ${triangles.length}`);
  await refused(() => device.marchingCubes(Float32Array.of(0, 0, 0, 0, 0, NaN, 0, 0), { size: [2, 2, 2], level: 0 }), "NOT_FINITE", /sample 5/);
  await refused(() => device.marchingCubes(new Float32Array(7), { size: [2, 2, 2], level: 0 }), "ARGUMENT", /7 samples/);
  await refused(() => device.marchingCubes(new Float32Array(8), { size: [2, 2, 2], level: NaN }), "ARGUMENT", /level/);
  await refused(() => device.marchingCubes(new Float32Array(4), { size: [2, 2, 1], level: 0 }), "ARGUMENT", /size\[2\]/);
  await refused(() => device.marchingCubes(new Float32Array(8), { size: [2, 2, 2], level: 0, spacing: 0 }), "ARGUMENT", /spacing/);
  await refused(() => device.marchingCubes(null, { size: [2, 2, 2], level: 0 }), "ARGUMENT", /volume/);
  device.close();
}

// ---- The caller's context

export async function state() {
  for (const version of [2, 1]) {
    const gl = context(version);
    const set = () => {
      for (const cap of [gl.BLEND, gl.SCISSOR_TEST, gl.DEPTH_TEST]) gl.enable(cap);
      gl.viewport(1, 2, 30, 40);
      gl.colorMask(true, false, true, false);
      gl.pixelStorei(gl.UNPACK_FLIP_Y_WEBGL, true);
      gl.pixelStorei(gl.UNPACK_ALIGNMENT, 2);
      gl.activeTexture(gl.TEXTURE3);
      for (const i of [0, 3, 5]) {
        gl.activeTexture(gl.TEXTURE0 + i);
        gl.bindTexture(gl.TEXTURE_2D, gl.createTexture());
      }
      gl.bindFramebuffer(gl.FRAMEBUFFER, gl.createFramebuffer());
      gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
      if (version === 2) {
        gl.bindVertexArray(gl.createVertexArray());
        gl.bindBuffer(gl.PIXEL_UNPACK_BUFFER, gl.createBuffer());
        gl.bindSampler(1, gl.createSampler());
        gl.bindTexture(gl.TEXTURE_3D, gl.createTexture());
        gl.pixelStorei(gl.UNPACK_ROW_LENGTH, 17);
      }
      gl.useProgram(program(gl, "attribute vec2 corner;void main(){gl_Position=vec4(corner,0.,1.);}", "void main(){gl_FragColor=vec4(1.);}"));
    };
    const what = ["CURRENT_PROGRAM", "FRAMEBUFFER_BINDING", "ARRAY_BUFFER_BINDING", "ACTIVE_TEXTURE", "VIEWPORT", "COLOR_WRITEMASK", "BLEND", "SCISSOR_TEST", "DEPTH_TEST", "DITHER",
      "CULL_FACE", "UNPACK_FLIP_Y_WEBGL", "UNPACK_ALIGNMENT", "PACK_ALIGNMENT", "UNPACK_PREMULTIPLY_ALPHA_WEBGL",
      ...(version === 2 ? ["VERTEX_ARRAY_BINDING", "READ_FRAMEBUFFER_BINDING", "PIXEL_UNPACK_BUFFER_BINDING", "PIXEL_PACK_BUFFER_BINDING", "UNPACK_ROW_LENGTH", "RASTERIZER_DISCARD"] : [])];
    const look = () => {
      const seen = what.map((name) => [name, gl.getParameter(gl[name])]);
      for (let i = 0; i < 8; i++) {
        const now = gl.getParameter(gl.ACTIVE_TEXTURE);
        gl.activeTexture(gl.TEXTURE0 + i);
        for (const name of version === 2 ? ["TEXTURE_BINDING_2D", "TEXTURE_BINDING_3D", "SAMPLER_BINDING"] : ["TEXTURE_BINDING_2D"])
          seen.push([`${name} ${i}`, gl.getParameter(gl[name])]);
        gl.activeTexture(now);
      }
      return seen.map(([name, value]) => [name, value?.length === undefined ? value : [...value].join()]);
    };
    set();
    const before = look();
    const same = (doing) => look().forEach(([name, value], i) => {
      if (value !== before[i][1]) throw new Error(`WebGL ${version}, ${doing}: ${name} is ${value}, not ${before[i][1]}`);
    });
    gl.enable(0x1234); // an error of the caller's
    const device = await openGL(gl);
    same("opening");
    const tree = new PointTree(cloud("uniform", 200, 1), { leafSize: 1 });
    const form = device.byteTree(tree, { lower: [0, 0], side: 1 });
    same("a tree in bytes");
    form.nearest({ origin: [0, 0], right: [0.1, 0], down: [0, 0.1] }, { width: 5, height: 5 });
    same("searching it");
    if (version === 2) {
      const there = device.tree(tree);
      const frame = there.frame({ width: 9, height: 9 });
      frame.begin({ origin: [0, 0], right: [0.1, 0], down: [0, 0.1] });
      frame.step();
      frame.read();
      same("a frame");
      device.marchingCubes(Float32Array.of(0, 1, 0, 0, 0, 0, 0, 0), { size: [2, 2, 2], level: 0.5 });
      same("a surface");
      await refused(() => device.tree(new Uint8Array(64)), "FORMAT", /./);
      same("a failure");
    }
    device.close();
    same("closing");
    device.close();
    await refused(() => device.tree(tree), "FREED", /close/);
    if (gl.getError()) throw new Error("an error was left in the context");
  }
}

export async function loss() {
  const gl = context();
  const device = await openGL(gl);
  const tree = new PointTree(cloud("uniform", 2000, 1));
  const there = device.tree(tree);
  const ending = gl.getExtension("WEBGL_lose_context");
  const next = (name) => new Promise((resolve) => gl.canvas.addEventListener(name, (event) => (event.preventDefault(), setTimeout(resolve)), { once: true }));
  let came = next("webglcontextlost");
  ending.loseContext();
  await came;
  await refused(() => device.tree(tree), "DEVICE_LOST", /lost/);
  await refused(() => openGL(gl), "DEVICE_LOST", /lost/);
  came = next("webglcontextrestored");
  ending.restoreContext();
  await came;
  await refused(() => there.update(tree), "DEVICE_LOST", /lost/);
  there.free();
  device.close();
  gl.getExtension("EXT_color_buffer_float");
  const again = await openGL(gl);
  const frame = again.tree(tree).frame({ width: 8, height: 8 });
  frame.begin({ origin: [0, 0], right: [0.1, 0], down: [0, 0.1] });
  while (!frame.step());
  const places = Float32Array.from({ length: 128 }, (_, i) => (0.5 + (i % 2 ? Math.floor(i / 16) : Math.floor(i / 2) % 8)) * 0.1);
  equal(frame.read().ids, tree.nearestAll(places).ids, "after the loss");
  again.close();
}

export async function refusals() {
  const gl = context();
  await refused(() => openGL(null), "ARGUMENT", /context/);
  await refused(() => openGL(gl, { wsam: 1 }), "ARGUMENT", /wsam/);
  const device = await openGL(gl);
  const tree = new PointTree(cloud("uniform", 200, 1));
  await refused(() => device.tree(tree, { name: "gl_x" }), "ARGUMENT", /name/);
  await refused(() => device.tree(tree, { name: "Tree" }), "ARGUMENT", /name/);
  await refused(() => device.tree({}), "ARGUMENT", /tree/);
  await refused(() => device.tree(new PointTree([1, 2, 3, 4])), "UNSUPPORTED", /./); // doubles
  await refused(() => device.tree(new PointTree(cloud("uniform", 400, 1), { dims: 4 })), "UNSUPPORTED", /./);
  await refused(() => device.tree(tree.save().subarray(0, 100)), "FORMAT", /./);
  await refused(() => device.tree(new MeshTree([0, 0, 0, 1, 0, 0, 0, 1, 0])), "ARGUMENT", /nearest/);
  await refused(() => device.mesh(tree), "ARGUMENT", /trace/);
  await refused(() => device.mesh(tree.save()), "FORMAT", /./);
  await refused(() => device.tree(new MeshTree([0, 0, 0, 1, 0, 0, 0, 1, 0]).save()), "FORMAT", /./);
  const there = device.tree(tree);
  await refused(() => there.glsl({ k: 0 }), "ARGUMENT", /k/);
  await refused(() => there.glsl({ walk: "warp" }), "ARGUMENT", /walk/);
  await refused(() => device.tree(new PointTree(cloud("uniform", 200, 1), { split: "sliding-midpoint" })).glsl({ walk: "stack" }), "ARGUMENT", /balanced/);
  await refused(() => there.frame({ width: 0, height: 1 }), "ARGUMENT", /width/);
  await refused(() => there.frame({ width: 4, height: 4, k: 9 }), "ARGUMENT", /k/);
  await refused(() => there.frame({ width: 4, height: 4, radius: -1 }), "ARGUMENT", /radius/);
  const frame = there.frame({ width: 4, height: 4 });
  await refused(() => frame.step(), "ARGUMENT", /./);
  await refused(() => frame.begin({ origin: [0, 0], right: [0, NaN], down: [0, 1] }), "NOT_FINITE", /right/);
  await refused(() => frame.begin({ origin: [0, 0, 0], right: [0, 1], down: [0, 1] }), "ARGUMENT", /origin/);
  there.free();
  there.free();
  await refused(() => there.glsl(), "FREED", /free/);
  const empty = device.tree(new PointTree(new Float32Array(0)));
  const words = answers(gl, empty.glsl(), "put=uvec4(uint(tree_nearest(query.xy)),uint(tree_within(query.xy,1e9)),0u,0u);", new Float32Array(4 * SIDE * SIDE), (made, unit) => empty.bind(made, unit));
  if (column(words, 0).some((id) => id !== -1) || column(words, 1).some((count) => count !== 0)) throw new Error("an empty tree has points");
  device.close();
}
