// Geometries and rays of three.js: what its own Mesh.raycast finds is what the tree has to find.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as THREE from "three";
import { random, sapwood, sphere, throws } from "./tools.mjs";
const { MeshTree } = sapwood;

function knot() {
  const geometry = new THREE.TorusKnotGeometry(1, 0.35, 90, 12);
  return geometry;
}

// The same positions and texture coordinates, interleaved.
function interleaved(geometry) {
  const { position, normal, uv } = geometry.attributes;
  const rows = new Float32Array(10 * position.count);
  for (let i = 0; i < position.count; i++)
    rows.set([9, position.getX(i), position.getY(i), position.getZ(i), normal.getX(i), normal.getY(i), normal.getZ(i), uv.getX(i), uv.getY(i), 9], 10 * i);
  const buffer = new THREE.InterleavedBuffer(rows, 10);
  const made = new THREE.BufferGeometry();
  made.setAttribute("position", new THREE.InterleavedBufferAttribute(buffer, 3, 1));
  made.setAttribute("normal", new THREE.InterleavedBufferAttribute(buffer, 3, 4));
  made.setAttribute("uv", new THREE.InterleavedBufferAttribute(buffer, 2, 7));
  made.setIndex(geometry.index);
  return made;
}

// Positions as normalised integers of 16 bits.
function small(geometry) {
  const { position } = geometry.attributes;
  const made = new THREE.BufferGeometry();
  const values = Int16Array.from(position.array, (x) => Math.round((x / 2) * 32767));
  made.setAttribute("position", new THREE.BufferAttribute(values, 3, true));
  made.setIndex(geometry.index);
  return made;
}

function grouped(geometry) {
  const made = geometry.clone();
  const third = Math.floor(made.index.count / 9) * 3;
  made.clearGroups();
  made.addGroup(0, third, 0);
  made.addGroup(third, third, 1);
  made.addGroup(2 * third, Infinity, 2);
  return made;
}

function partly(geometry) {
  const made = geometry.clone();
  made.setDrawRange(300, 1500);
  return made;
}

const geometries = {
  indexed: knot, "not indexed": () => knot().toNonIndexed(), interleaved: () => interleaved(knot()), "16 bits": () => small(knot()),
  "in part": () => partly(knot()), "in part, not indexed": () => partly(knot().toNonIndexed()), "without normals": () => {
    const made = knot();
    made.deleteAttribute("normal");
    return made;
  },
};
const materials = [["front", THREE.FrontSide], ["back", THREE.BackSide], ["double", THREE.DoubleSide]];

function raycasters(count) {
  const next = random(3);
  return Array.from({ length: count }, (_, i) => {
    const from = new THREE.Vector3(next() - 0.5, next() - 0.5, next() - 0.5).multiplyScalar(12);
    const to = new THREE.Vector3(next() - 0.5, next() - 0.5, next() - 0.5).multiplyScalar(3);
    const raycaster = new THREE.Raycaster(from, to.sub(from).normalize());
    if (i % 5 === 1) [raycaster.near, raycaster.far] = [4, 6];
    return raycaster;
  });
}

const close = (got, expected, what, by = 1e-9) => assert.ok(Math.abs(got - expected) <= by * (1 + Math.abs(expected)), `${what}: ${got}, not ${expected}`);
const closeAll = (got, expected, what, by) => {
  for (const axis of ["x", "y", "z"]) if (axis in expected) close(got[axis], expected[axis], `${what}.${axis}`, by);
};

// three.js finds the same, or the ray passes through an edge within rounding.
function compare(tree, mesh, some) {
  let met = 0;
  for (const raycaster of raycasters(some)) {
    const expected = [];
    THREE.Mesh.prototype.raycast.call(mesh, raycaster, expected);
    expected.sort((a, b) => a.distance - b.distance);
    const got = tree.raycast(raycaster, mesh, [], THREE.Vector2);
    assert.deepEqual(got.map(({ faceIndex }) => faceIndex), expected.map(({ faceIndex }) => faceIndex));
    met += got.length;
    for (const [i, one] of got.entries()) {
      const other = expected[i];
      close(one.distance, other.distance, "distance");
      assert.ok(one.point instanceof THREE.Vector3 && one.face.normal instanceof THREE.Vector3);
      closeAll(one.point, other.point, "point");
      closeAll(one.face.normal, other.face.normal, "normal of the face");
      const { a, b, c, materialIndex } = other.face;
      assert.deepEqual([one.face.a, one.face.b, one.face.c, one.face.materialIndex], [a, b, c, materialIndex]);
      closeAll(one.barycoord, other.barycoord, "barycoord", 1e-6);
      assert.equal(one.object, mesh);
      assert.equal(one.uv === undefined, other.uv === undefined);
      if (other.uv) closeAll(one.uv, other.uv, "uv", 1e-6);
      if (other.uv) assert.ok(one.uv instanceof THREE.Vector2);
      assert.equal(one.normal === undefined, other.normal === undefined);
      if (other.normal) closeAll(one.normal, other.normal, "normal", 1e-6);
    }
  }
  assert.ok(met > some / 6, `${met} met`);
}

for (const [name, make] of Object.entries(geometries))
  test(`raycast as three.js: ${name}`, () => {
    const geometry = make();
    const tree = new MeshTree(geometry, { quality: "fast" });
    assert.equal(tree.count, name.startsWith("in part") ? 500 : (geometry.index ?? geometry.attributes.position).count / 3);
    for (const [, side] of materials) {
      const mesh = new THREE.Mesh(geometry, new THREE.MeshBasicMaterial({ side }));
      mesh.position.set(0.3, -0.2, 0.1);
      mesh.rotation.set(0.4, 1, -0.3);
      mesh.scale.set(1.5, 0.8, side === THREE.BackSide ? -1.2 : 1.2);
      mesh.updateMatrixWorld();
      compare(tree, mesh, 60);
    }
  });

test("raycast as three.js: groups with materials of their own", () => {
  const geometry = grouped(knot());
  const tree = new MeshTree(geometry);
  const mesh = new THREE.Mesh(geometry, materials.map(([, side]) => new THREE.MeshBasicMaterial({ side })));
  mesh.updateMatrixWorld();
  compare(tree, mesh, 100);
});

test("in the place of a mesh's own method, the first hit alone, moved parents, flat objects", () => {
  const geometry = knot();
  const tree = new MeshTree(geometry);
  const [plain, fast] = [0, 1].map(() => new THREE.Mesh(geometry, new THREE.MeshBasicMaterial({ side: THREE.DoubleSide })));
  fast.raycast = (raycaster, hits) => tree.raycast(raycaster, fast, hits);
  for (const mesh of [plain, fast]) {
    const group = new THREE.Group();
    group.position.x = 1;
    group.rotation.y = 2;
    group.add(mesh);
    group.updateMatrixWorld(true);
  }
  let met = 0;
  for (const raycaster of raycasters(100)) {
    const [expected, got] = [plain, fast].map((mesh) => raycaster.intersectObject(mesh.parent));
    assert.deepEqual(got.map(({ faceIndex }) => faceIndex), expected.map(({ faceIndex }) => faceIndex));
    raycaster.firstHitOnly = true;
    assert.deepEqual(raycaster.intersectObject(fast).map(({ faceIndex }) => faceIndex), expected.slice(0, 1).map(({ faceIndex }) => faceIndex));
    met += got.length;
  }
  assert.ok(met > 30);
  fast.scale.z = 0;
  fast.updateMatrixWorld();
  assert.deepEqual(tree.raycast(raycasters(1)[0], fast), []);
  fast.scale.z = 1;
  fast.updateMatrixWorld();
  const far = new THREE.Raycaster(new THREE.Vector3(100, 100, 100), new THREE.Vector3(1, 0, 0));
  assert.deepEqual(tree.raycast(far, fast), []);
  const uv = tree.raycast(raycasters(100).find((raycaster) => tree.raycast(raycaster, fast).length), fast)[0].uv;
  assert.deepEqual(Object.keys(uv), ["x", "y"]);
});

test("geometries that move, that are wrong, and the answers of arrays", async () => {
  const geometry = knot();
  const tree = new MeshTree(geometry);
  const { position } = geometry.attributes;
  assert.deepEqual(tree.save(), new MeshTree(position.array, geometry.index.array).save());
  assert.deepEqual(new MeshTree(geometry.toNonIndexed()).count, tree.count);
  assert.deepEqual((await MeshTree.build(geometry, { quality: "fast" })).save(), new MeshTree(geometry, { quality: "fast" }).save());
  for (let i = 0; i < position.count; i++) position.setY(i, 2 * position.getY(i));
  tree.rebuild(geometry);
  assert.deepEqual(tree.save(), new MeshTree(geometry).save());
  throws(() => new MeshTree({ attributes: {}, index: null }), "ARGUMENT", /positions/);
  throws(() => new MeshTree(geometry, [0, 1, 2]), "ARGUMENT", /its own/);
  throws(() => new MeshTree(geometry, { qualty: "fast" }), "ARGUMENT", /qualty/);
  const empty = new THREE.BufferGeometry();
  empty.setAttribute("position", new THREE.BufferAttribute(new Float32Array(0), 3));
  assert.equal(new MeshTree(empty).count, 0);
  geometry.index.array[3] = 60000;
  throws(() => new MeshTree(geometry), "RANGE", /triangle 1/);
  const { vertices } = sphere(1);
  vertices[4] = NaN;
  const broken = new THREE.BufferGeometry().setAttribute("position", new THREE.BufferAttribute(vertices.subarray(0, 9), 3));
  throws(() => new MeshTree(broken), "NOT_FINITE", /vertex 1/);
});
