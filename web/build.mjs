// Bundles the page's TypeScript and styles beside the module that CMake linked: node web/build.mjs OUT [ADDRESS]
//
// ADDRESS is where the page is going to be: pictures on cards, which other pages show of a link, need a whole address.
import { build } from 'esbuild';
import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { minify } from 'terser';
import { sourcePage } from './source.mjs';

const page = fileURLToPath(new URL('page/', import.meta.url));
const [out, address] = process.argv.slice(2);
const fail = (sentence) => {
  console.error(sentence);
  process.exit(2);
};
const missing = (name) => fail(`${out} has no ${name}: build web_page and web_page-plain first.`);
if (!out) fail('usage: node web/build.mjs OUT [ADDRESS]');

// With its / at the end: a folder.
function folderOf(text) {
  if (!text) return '';
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.search || url.hash || /["<>]/.test(text))
    fail(`The page's address is to be one of http or https without ? and #, as https://example.org/sapwood/, not '${text}'.`);
  return url.href.replace(/\/?$/, '/');
}
const base = folderOf(address);

const options = { bundle: true, minify: true, format: 'esm', target: 'es2022', tsconfig: `${page}tsconfig.json`, logLevel: 'warning' };
await mkdir(out, { recursive: true });
const { metafile } = await build({ ...options, entryPoints: { main: `${page}shell/main.ts`, guide: `${page}shell/guide.ts`, worker: `${page}worker.ts` }, outdir: out, metafile: true });
const bundled = Object.keys(metafile.outputs).map((path) => basename(path)).sort();
// Terser leaves a sixth less of Emscripten's glue than esbuild, and a thirtieth less of what esbuild has bundled.
for (const name of [...bundled.filter((file) => file.endsWith('.js')), 'page.js', 'page-plain.js']) {
  const code = await readFile(`${out}/${name}`, 'utf8').catch(() => missing(name));
  await writeFile(`${out}/${name}`, (await minify(code, { module: true, ecma: 2020, compress: { passes: 2 } })).code);
}
await writeFile(`${out}/card.png`, await readFile(`${page}card.png`));
await writeFile(`${out}/source.html`, await sourcePage());

// Without an address the card's picture stands beside the page, where some readers of cards find it, too.
const text = (await readFile(`${page}index.html`, 'utf8'))
  .replaceAll('content="card.png"', `content="${base}card.png"`)
  .replace('<!-- address -->', base ? `<meta property="og:url" content="${base}">\n<link rel="canonical" href="${base}">` : '');

// A version is named for what is in its files.
const digest = (bytes) => createHash('sha256').update(bytes).digest('hex');
const files = {};
for (const name of [...bundled, 'page.js', 'page.wasm', 'page-plain.js', 'page-plain.wasm', 'source.html'])
  files[name] = digest(await readFile(`${out}/${name}`).catch(() => missing(name)));
const version = digest(text + JSON.stringify(files)).slice(0, 16);
await writeFile(`${out}/index.html`, text.replace('<!-- version -->', `<meta name="version" content="${version}">`));
await build({
  ...options, entryPoints: { offline: `${page}offline.ts` }, outdir: out, format: 'iife',
  define: { VERSION: JSON.stringify(version), FILES: JSON.stringify({ '': '', ...files }) },
});
