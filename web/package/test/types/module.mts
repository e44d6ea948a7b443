// Compiled, not run: what the package's types promise, as an ES module.
import {
  allocate, Allocation, compact, type Hit, load, marchingCubes, MeshTree, type Neighbor, PointTree, SapwoodError,
  type Status, type Surface,
} from "sapwood";
import address from "sapwood/sapwood.wasm";
import { type GLFrame, type GLPointTree, type GLSurface, openGL, type TextureList } from "sapwood/gl";
import glAddress from "sapwood/gl.wasm";
import { type GpuBuildOptions, GpuMeshTree, type GpuPlaces, GpuPointTree } from "sapwood/webgpu";
import { PointTree as OnlyPoints, load as loadPoints } from "sapwood/points";

await load();
await load({ wasm: new URL("sapwood.wasm", "https://example.org") });
await load({ wasm: fetch("sapwood.wasm") });
await loadPoints({ wasm: new Uint8Array() });
await load({ threads: 4 });

const tree = new PointTree([1, 2], { dims: 2, type: Float32Array, split: "median", axis: "cycle", leafSize: 8 });
const nearest: Neighbor | null = tree.nearest(1, 2);
const { id, distance }: { id: number; distance: number } = tree.nearest([1, 2], 5)!;
const list: Neighbor[] = tree.knn(Float32Array.of(1, 2), 3, 5);
const ids: number[] = tree.within([1, 2], 3);
const boxed: number[] = tree.range([1, 2], [3, 4]);
const { offsets }: { offsets: Int32Array } = tree.rangeAll([1, 2], [3, 4], { sorted: true });
const counts: Int32Array = tree.withinCountAll([1, 2], 3, { out: new Int32Array(1) });
const room: Allocation<Float32Array> = allocate(Float32Array, 4);
const batch: { ids: Int32Array; distances: Float32Array | Float64Array } = tree.knnAll(room, 2, { squared: true, radius: 1 });
const masked: Int32Array = tree.withinCountAll([1, 2], 3, { keep: new Uint8Array(1) });
tree.knnSelf(1, { keep: allocate(Uint8Array, 1) }).ids satisfies Int32Array;
const period: number[] = new PointTree([1, 2], { period: [360, 0] }).period;
new PointTree([1, 2], { period: 1 });
const bytes: Uint8Array = tree.save();
const loaded: PointTree = PointTree.load(bytes);
const named: PointTree = PointTree.from(new Map([["a", 1]]), ([, x]) => [x, x]);
const where: GpuBuildOptions = { dims: 3, leafSize: 8, axis: "cycle" };
const gpu: GpuPointTree = await GpuPointTree.build(new Float32Array(6), where);
await GpuPointTree.build({ points: gpu.device.createBuffer({ size: 24, usage: 128 }), count: 2 }, { dims: 3, device: gpu.device });
const again: PointTree = PointTree.load(await gpu.save());
const near: Float32Array = (await (await GpuMeshTree.from(new MeshTree([], []))).closestPoints([[1, 2, 3]], { squared: true })).points;
declare const placed: GpuPlaces;
(await GpuMeshTree.from(new Uint8Array())).encodeClosest(gpu.device.createCommandEncoder(), placed);
void again, void near;
new OnlyPoints(new Float64Array(4)).rebuild([1, 2]);
PointTree.from([{ x: 1, y: 2 }], (p) => p.x, (p) => p.y, { leafSize: 4 });
new PointTree([[1, 2], [3, 4]]).within(1, 2, 3) satisfies number[];
await load({ wasm: address });

// Distances have the tree's precision.
const singles: Float32Array = new PointTree(new Float32Array(2)).nearestAll([1, 2]).distances;
const rounded: Float32Array = new PointTree([1, 2], { type: Float32Array }).withinAll([1, 2], 3).distances;
const doubles: Float64Array = new PointTree([[1, 2]]).knnSelf(1).distances;
const widened: Float64Array = new PointTree(allocate(Float32Array, 2), { type: Float64Array }).knnAll([1, 2], 1).distances;
const either: PointTree = new PointTree([1, 2]);
// @ts-expect-error: a tree of doubles has no distances of 32 bits
const wrong: Float32Array = new PointTree([1, 2]).nearestAll([1, 2]).distances;
// @ts-expect-error: there may be none
tree.nearest([1, 2]).id;
// @ts-expect-error: no such option
new PointTree([1, 2], { dim: 2 });

// @ts-expect-error: a length, or one for each axis
new PointTree([1, 2], { period: "360" });
// @ts-expect-error: a mask has bytes
tree.nearestAll([1, 2], { keep: [true] });

const mesh = new MeshTree(new Float32Array(9), new Uint16Array(3), { quality: "fast" });
const hit: Hit | null = mesh.trace([0, 0, 0], [0, 0, 1]);
const hits: { t: Float32Array; triangles: Int32Array } = mesh.trace(new Float32Array(8));
const one: boolean = mesh.occluded([0, 0, 0], [0, 0, 1], 0, 1);
const many: Uint8Array = mesh.occluded(new Float32Array(8), { out: allocate(Uint8Array, 1) });
const all: Hit[] = mesh.traceAll([0, 0, 0], [0, 0, 1], { limit: 3 });
const surface: Surface = marchingCubes(new Uint8Array(8), { size: [2, 2, 2], level: 1, spacing: 2, origin: [0, 0, 0] });
const kept: Int16Array = compact(new Int16Array(4), [true, false], 2);
const status: Status = new SapwoodError("ARGUMENT", "why").status;
{
  using scoped = new PointTree([1, 2]);
  scoped.count satisfies number;
}

// @ts-expect-error: a query is not a string
tree.nearest("1, 2");
// @ts-expect-error: k is needed
tree.knn([1, 2]);
// @ts-expect-error: no such split
new PointTree([1, 2], { split: "middle" });
// @ts-expect-error: coordinates are numbers
new PointTree(["1", "2"]);
// @ts-expect-error: no such type of volume
marchingCubes(new Float64Array(8), { size: [2, 2, 2], level: 1 });
// @ts-expect-error: the level is needed
marchingCubes(new Uint8Array(8), { size: [2, 2, 2] });
// @ts-expect-error: what is counted cannot be set
tree.count = 5;
// @ts-expect-error: no trees over meshes in the part for points
import { MeshTree as None } from "sapwood/points";
// @ts-expect-error: a miss is null
mesh.trace([0, 0, 0], [0, 0, 1]).t;

export { all, batch, doubles, either, rounded, singles, widened, wrong, counts, distance, hit, hits, id, ids, kept, list, loaded, many, masked, named, nearest, None, one, period, status, surface };

// Builds in workers, kdbush, three.js.
const built: Float32Array = (await PointTree.build(new Float32Array(2), { dims: 2 })).nearestAll([1, 2]).distances;
const others: PointTree = PointTree.from({ ids: new Uint16Array(1), coords: new Float64Array(2) }, { leafSize: 4 });
const attribute = { count: 3, itemSize: 3, array: new Float32Array(9), getX: (i: number) => i, getY: () => 0, getZ: () => 0 };
const geometry = { attributes: { position: attribute }, index: null };
const ofGeometry: MeshTree = await MeshTree.build(geometry, { quality: "fast" });
new MeshTree(geometry, { quality: "fast" }).rebuild(geometry);
class Vector { constructor(public x: number, public y: number, public z: number) {} }
const raycaster = { ray: { origin: new Vector(0, 0, 0), direction: new Vector(0, 0, 1) }, near: 0, far: Infinity };
const object = { geometry, material: {}, matrixWorld: { elements: new Float32Array(16) }, name: "x" };
const [met] = ofGeometry.raycast(raycaster, object);
const point: Vector = met!.point;
const name: string = met!.object.name;
void built, void others, void point, void name;

// WebGL.
declare const gl: WebGL2RenderingContext;
const device = await openGL(gl, { wasm: glAddress });
await openGL({ getContext: () => gl });
const textures: GLPointTree = device.tree(tree, { name: "sites" });
const text: string = textures.glsl({ k: 2, walk: "stack", visit: true });
const next: number = textures.bind(gl.createProgram()!, 3);
const uniforms: Record<string, { value: Date | number | number[] }> = textures.uniforms(() => new Date());
const frame: GLFrame = textures.frame({ width: 2, height: 2, k: 3 });
const done: boolean = frame.step(4);
const unknown: undefined = frame.step(4, { wait: false });
device.byteTree(bytes, { lower: [0, 0], side: 1 }).glsl({ version: 100 }) satisfies string;
device.mesh(ofGeometry).textures.nodes satisfies WebGLTexture;
const cells: TextureList = device.compactTexture(gl.createTexture()!, { width: 2, height: 2, cells: "uint4" });
const isosurface: GLSurface = device.marchingCubes(new Uint8Array(8), { size: [2, 2, 2], level: 1 });
void text, void next, void uniforms, void done, void unknown, void cells, void isosurface;
