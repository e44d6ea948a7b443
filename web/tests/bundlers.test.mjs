// The package in an empty folder, with three.js, bundled by esbuild, Vite and webpack: what comes out runs in Chromium.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { executable, launch, longest, patience } from './browser.mjs';
import { serve } from './serve.mjs';

const built = fileURLToPath(new URL('../../build/web', import.meta.url));
const modules = fileURLToPath(new URL('../node_modules', import.meta.url));
const skip = executable ? false : 'no Chromium here';
let folder, browser;

const program = (imports, load, gl) => `
import * as THREE from "three";
import { load, MeshTree, PointTree } from "sapwood";
${imports}
async function run() {
  await load(${load});
  const coords = Float32Array.of(1, 1, 4, 2, 3, 5);
  const tree = await PointTree.build(coords);
  const geometry = new THREE.TorusKnotGeometry();
  const mesh = new THREE.Mesh(geometry, new THREE.MeshBasicMaterial());
  const hits = new MeshTree(geometry).raycast(new THREE.Raycaster(new THREE.Vector3(1.2, 0.1, 9), new THREE.Vector3(0, 0, -1)), mesh);
  const { openGL } = await import("sapwood/gl");
  const device = await openGL(new THREE.WebGLRenderer(), ${gl});
  const frame = device.tree(tree).frame({ width: 2, height: 1 });
  frame.begin({ origin: [0, 0], right: [4, 0], down: [0, 4] });
  while (!frame.step());
  return { nearest: tree.nearest(3, 4), hits: hits.length > 0, ids: [...frame.read().ids] };
}
run().then((answer) => { window.answer = answer; }, (error) => { window.answer = String(error.stack); });
`;
const plain = program('', '', '{}');

before(async () => {
  if (skip) return;
  folder = mkdtempSync(join(tmpdir(), 'sapwood-bundled-'));
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }');
  const tarball = readFileSync(join(built, 'tarball.txt'), 'utf8').trim().split('\n').pop();
  execFileSync('npm', ['install', '--offline', '--no-audit', '--no-fund', '--loglevel=error', join(built, tarball)], { cwd: folder });
  symlinkSync(join(modules, 'three'), join(folder, 'node_modules', 'three'));
  writeFileSync(join(folder, 'main.js'), plain);
  writeFileSync(join(folder, 'index.html'), '<!doctype html><title>bundled</title><script type="module" src="/main.js"></script>');
  browser = await launch('swiftshader');
});
after(async () => {
  await browser?.close();
  if (folder) rmSync(folder, { recursive: true, force: true });
});

async function runs(out, modulesIn = out) {
  const copied = readdirSync(modulesIn, { recursive: true }).filter((name) => name.endsWith('.wasm'));
  assert.ok(copied.length >= 2, `modules: ${copied}`);
  const server = await serve(out);
  const page = await browser.newPage();
  page.setDefaultTimeout(patience);
  await page.goto(`${server.address}/index.html`);
  const answer = await page.waitForFunction('window.answer').then((handle) => handle.jsonValue());
  await page.close();
  await server.close();
  assert.deepEqual(answer, { nearest: { id: 2, distance: 1 }, hits: true, ids: [0, 1] });
}

test('esbuild', { skip, timeout: longest }, async () => {
  const { build } = await import('esbuild');
  const out = join(folder, 'esbuilt');
  mkdirSync(out);
  writeFileSync(join(folder, 'addressed.js'), program('import wasm from "sapwood/sapwood.wasm";\nimport glWasm from "sapwood/gl.wasm";', '{ wasm }', '{ wasm: glWasm }'));
  await build({ absWorkingDir: folder, entryPoints: { main: 'addressed.js' }, bundle: true, splitting: true, format: 'esm', outdir: out, loader: { '.wasm': 'file' }, logLevel: 'silent' });
  writeFileSync(join(out, 'index.html'), readFileSync(join(folder, 'index.html')));
  await runs(out);
});

const [major, minor] = process.versions.node.split('.').map(Number);
const old = major < 20 || (major === 20 && minor < 19) ? 'this Node is too old for Vite' : false;
test('Vite', { skip: skip || old, timeout: longest }, async () => {
  const { build } = await import('vite');
  await build({ root: folder, configFile: false, logLevel: 'silent', build: { outDir: 'vited' }, optimizeDeps: { exclude: ['sapwood'] } });
  await runs(join(folder, 'vited'));
});

test('webpack', { skip, timeout: longest }, async () => {
  const { default: webpack } = await import('webpack');
  const out = join(folder, 'webpacked');
  const stats = await new Promise((resolve, reject) => webpack({
    context: folder, entry: './main.js', mode: 'production', output: { path: out, filename: 'main.js' }, performance: { hints: false },
  }, (error, done) => (error ? reject(error) : resolve(done))));
  assert.ok(!stats.hasErrors() && !stats.hasWarnings(), stats.toString());
  writeFileSync(join(out, 'index.html'), readFileSync(join(folder, 'index.html')));
  await runs(out);
});
