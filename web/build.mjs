// Bundles the page's TypeScript and styles beside the module that CMake linked: node web/build.mjs OUT
import { build } from 'esbuild';
import { copyFile, mkdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

const page = fileURLToPath(new URL('page/', import.meta.url));
const out = process.argv[2];
if (!out) {
  console.error('usage: node web/build.mjs OUT');
  process.exit(2);
}
await mkdir(out, { recursive: true });
await build({
  entryPoints: { main: `${page}shell/main.ts`, guide: `${page}shell/guide.ts`, worker: `${page}worker.ts` },
  outdir: out, bundle: true, minify: true, format: 'esm', target: 'es2022', tsconfig: `${page}tsconfig.json`, logLevel: 'warning',
});
await copyFile(`${page}index.html`, `${out}/index.html`);
