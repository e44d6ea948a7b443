// What tests of sapwood/gl do with three.js in the browser.
import * as THREE from "three";
import { load, marchingCubes, MeshTree, PointTree } from "/sapwood/sapwood.js";
import { openGL } from "/sapwood/gl.js";
import { equal, knot, random, SIDE } from "./page.js";

await load();

function scene(renderer) {
  const made = new THREE.Scene();
  const mesh = new THREE.Mesh(new THREE.BoxGeometry(1, 1, 1), new THREE.MeshNormalMaterial());
  mesh.rotation.set(0.5, 0.7, 0);
  const data = new THREE.DataTexture(Uint8Array.from({ length: 64 }, (_, i) => 40 * (i % 7)), 4, 4);
  data.needsUpdate = true;
  const textured = new THREE.Mesh(new THREE.PlaneGeometry(3, 3), new THREE.MeshBasicMaterial({ map: data }));
  textured.position.z = -1;
  made.add(mesh, textured);
  const camera = new THREE.PerspectiveCamera(50, 1, 0.1, 100);
  camera.position.z = 4;
  return () => {
    renderer.setRenderTarget(null);
    renderer.render(made, camera);
    const gl = renderer.getContext();
    const pixels = new Uint8Array(4 * SIDE * SIDE);
    gl.readPixels(0, 0, SIDE, SIDE, gl.RGBA, gl.UNSIGNED_BYTE, pixels);
    return pixels;
  };
}

function rendering() {
  const renderer = new THREE.WebGLRenderer({ preserveDrawingBuffer: true });
  renderer.setSize(SIDE, SIDE, false);
  return renderer;
}
const wrap = (texture) => new THREE.ExternalTexture(texture);

// Draws a picture of answers, floats, with a fragment shader in a material of three.js.
function answers(renderer, fragmentShader, uniforms) {
  const target = new THREE.WebGLRenderTarget(SIDE, SIDE, { type: THREE.FloatType, minFilter: THREE.NearestFilter, magFilter: THREE.NearestFilter, depthBuffer: false });
  const material = new THREE.ShaderMaterial({ glslVersion: THREE.GLSL3, uniforms, vertexShader: "void main(){gl_Position=vec4(position.xy,0.,1.);}", fragmentShader });
  const picture = new THREE.Scene();
  const mesh = new THREE.Mesh(new THREE.PlaneGeometry(2, 2), material);
  mesh.frustumCulled = false;
  picture.add(mesh);
  renderer.setRenderTarget(target);
  renderer.render(picture, new THREE.Camera());
  const floats = new Float32Array(4 * SIDE * SIDE);
  renderer.readRenderTargetPixels(target, 0, 0, SIDE, SIDE, floats);
  renderer.setRenderTarget(null);
  return floats;
}

export async function search() {
  const renderer = rendering();
  const show = scene(renderer);
  const before = show();
  if (new Set(before).size < 10) throw new Error("the scene is empty");
  const device = await openGL(renderer);
  equal(show(), before, "the scene after opening");
  const next = random(1);
  const coords = Float32Array.from({ length: 4000 }, next);
  const tree = new PointTree(coords);
  const there = device.tree(tree, { name: "sites" });
  equal(show(), before, "the scene after a tree");
  const at = Float32Array.from({ length: 2 * SIDE * SIDE }, (_, i) => ((i % 2 ? Math.floor(i / 2 / SIDE) : Math.floor(i / 2) % SIDE) + 0.5) / SIDE);
  const floats = answers(renderer, `${there.glsl({ walk: "stack" })}\nout vec4 put;void main(){float d;int id=sites_nearest(gl_FragCoord.xy/${SIDE}.,1e38,d);put=vec4(float(id),d,float(sites_within(gl_FragCoord.xy/${SIDE}.,0.01)),1.);}`, there.uniforms(wrap));
  const expected = tree.nearestAll(at, { squared: true });
  const counts = tree.withinCountAll(at, 0.1);
  equal(floats.filter((_, i) => i % 4 === 0), Float32Array.from(expected.ids), "ids");
  equal(floats.filter((_, i) => i % 4 === 1), expected.distances, "distances");
  if (counts.some((count, i) => Math.abs(count - floats[4 * i + 2]) > 1)) throw new Error("counts"); // 0.01 is not the square of 0.1 in floats
  const frame = there.frame({ width: 16, height: 16 });
  frame.begin({ origin: [0, 0], right: [1 / 16, 0], down: [0, 1 / 16] });
  while (!frame.step());
  frame.read();
  equal(show(), before, "the scene after a frame");
  device.close();
  equal(show(), before, "the scene after closing");
}

// Needs no float target, and a driver that compiles rays soon.
export async function rays() {
  const renderer = rendering();
  const device = await openGL(renderer);
  const [vertices, triangles] = knot(40);
  const tree = new MeshTree(vertices, triangles);
  const there = device.mesh(tree);
  const floats = answers(renderer, `${there.glsl()}\nout vec4 put;void main(){mesh_ray_result hit=mesh_trace(vec3(8.*gl_FragCoord.xy/${SIDE}.-4.,-5.),vec3(0,0,1),0.,1e30);put=vec4(float(hit.triangle),hit.t,hit.u,hit.v);}`, there.uniforms(wrap));
  const asked = Float32Array.from({ length: 8 * SIDE * SIDE }, (_, i) => [(8 * ((Math.floor(i / 8) % SIDE) + 0.5)) / SIDE - 4, (8 * (Math.floor(i / 8 / SIDE) + 0.5)) / SIDE - 4, -5, 0, 0, 0, 1, 1e30][i % 8]);
  const hits = tree.trace(asked);
  equal(floats.filter((_, i) => i % 4 === 0), Float32Array.from(hits.triangles), "triangles");
  for (const [i, name] of [[1, "t"], [2, "u"], [3, "v"]])
    equal(floats.filter((_, j) => j % 4 === i).map((value, j) => (hits.triangles[j] < 0 ? 0 : value)), hits[name].map((value, j) => (hits.triangles[j] < 0 ? 0 : value)), name);
  device.close();
}

export async function surface() {
  const renderer = rendering();
  const device = await openGL(renderer);
  const gl = renderer.getContext();
  const n = 24;
  const volume = Float32Array.from({ length: n ** 3 }, (_, i) => Math.hypot((i % n) - 11.5, 1.3 * ((Math.floor(i / n) % n) - 11.5), Math.floor(i / n ** 2) - 11.5));
  const options = { size: [n, n, n], level: 9, lowInside: true, origin: [-11.5, -11.5, -11.5] };
  const there = device.marchingCubes(volume, options);
  const mesh = marchingCubes(volume, options);
  const ours = new THREE.BufferGeometry();
  ours.setAttribute("position", new THREE.GLBufferAttribute(there.positions, gl.FLOAT, 4, 4, there.count));
  ours.setAttribute("normal", new THREE.GLBufferAttribute(there.normals, gl.FLOAT, 4, 4, there.count));
  ours.boundingSphere = new THREE.Sphere(new THREE.Vector3(), 20);
  const theirs = new THREE.BufferGeometry();
  theirs.setAttribute("position", new THREE.BufferAttribute(mesh.vertices, 3));
  theirs.setAttribute("normal", new THREE.BufferAttribute(mesh.normals, 3));
  theirs.setIndex(new THREE.BufferAttribute(mesh.triangles, 1));
  const camera = new THREE.PerspectiveCamera(50, 1, 0.1, 100);
  camera.position.z = 35;
  const [one, other] = [ours, theirs].map((geometry) => {
    const made = new THREE.Scene();
    made.add(new THREE.Mesh(geometry, new THREE.MeshNormalMaterial()));
    renderer.render(made, camera);
    const pixels = new Uint8Array(4 * SIDE * SIDE);
    gl.readPixels(0, 0, SIDE, SIDE, gl.RGBA, gl.UNSIGNED_BYTE, pixels);
    return pixels;
  });
  if (new Set(other).size < 20) throw new Error("nothing is drawn");
  const wrong = one.filter((value, i) => Math.abs(value - other[i]) > 1).length;
  if (wrong) throw new Error(`${wrong} values of pixels differ`);
  device.close();
}
