// Draws web/page/card.png, what other pages show of a link to this one: node web/card.mjs PAGE [OUT], after ./run web --out PAGE.
// The page's scenes draw the pictures; a palette keeps the file small.
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { deflateSync } from 'node:zlib';
import { launch } from './tests/browser.mjs';
import { serve } from './serve.mjs';

const WIDTH = 1200, HEIGHT = 630, TITLE = 170;
const scenes = [
  { width: 220, at: '#voronoi?sites=260&motion=0' },
  { width: 270, at: '#compaction?size=16' },
  { width: 220, at: '#isosurface?camera=0.7,0.36,1.5,0,0' },
  { width: 240, at: '#rays?zoom=2.7' },
  { width: 250, at: '#cloud?points=9000&camera=0.7,0.36,1.1,0,0', steps: 12 },
];

async function draw(browser, address, { width, at, steps = 0 }) {
  const page = await browser.newPage({ viewport: { width, height: HEIGHT - TITLE }, colorScheme: 'dark', reducedMotion: 'reduce' });
  await page.goto(`${address}?embed${at}`);
  await page.waitForFunction(() => window.sapwood?.running, null, { timeout: 240000 });
  await page.evaluate(() => window.sapwood.idle());
  for (let i = 0; i < steps; i++) await page.evaluate(() => window.sapwood.scene.step());
  await page.evaluate(() => window.sapwood.idle());
  const picture = await page.evaluate(() => window.sapwood.canvas.toDataURL());
  await page.close();
  return picture;
}

const compose = (pictures) => `<!doctype html><style>
body { margin: 0; width: ${WIDTH}px; height: ${HEIGHT}px; background: #151310; color: #efe9df; font-family: system-ui, "Noto Sans", "DejaVu Sans", sans-serif; }
header { display: flex; align-items: center; gap: 28px; height: ${TITLE}px; padding: 0 48px; }
svg { width: 84px; height: 84px; } h1 { margin: 0; font-size: 58px; letter-spacing: -1px; line-height: 1; } p { margin: 12px 0 0; font-size: 27px; color: #a89d8f; }
main { display: flex; } img { display: block; }
</style><header><svg viewBox="0 0 20 20"><rect width="20" height="20" rx="5" fill="#e8a562"/><path d="M8 3v14M8 8h9M3 12h5M13 8v9" stroke="#151310" stroke-width="1.6" stroke-linecap="round" fill="none"/></svg>
<div><h1>Sapwood</h1><p>K-d trees, seen at work: cells, lists, surfaces, rays, clouds</p></div></header>
<main>${pictures.map((picture) => `<img src="${picture}">`).join('')}</main>`;

// ---- PNG of 256 colours

// Splits the box of colours that spreads widest, again and again; each box's mean is a colour of the palette.
function paletteOf(pixels) {
  const counts = new Map();
  for (let i = 0; i < pixels.length; i += 4) {
    const key = (pixels[i] << 16) | (pixels[i + 1] << 8) | pixels[i + 2];
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  const channel = (key, axis) => (key >> (16 - 8 * axis)) & 255;
  const measure = (keys) => {
    let best = { axis: 0, spread: -1 };
    for (let axis = 0; axis < 3; axis++) {
      let least = 255, most = 0;
      for (const key of keys) {
        least = Math.min(least, channel(key, axis));
        most = Math.max(most, channel(key, axis));
      }
      if (most - least > best.spread) best = { axis, spread: most - least };
    }
    return { keys, ...best, weight: best.spread * Math.cbrt(keys.reduce((sum, key) => sum + counts.get(key), 0)) };
  };
  const boxes = [measure([...counts.keys()])];
  while (boxes.length < 256) {
    const widest = boxes.reduce((at, box, i) => (box.weight > boxes[at].weight ? i : at), 0);
    const { keys, axis, spread } = boxes[widest];
    if (spread === 0) break;
    keys.sort((a, b) => channel(a, axis) - channel(b, axis));
    const total = keys.reduce((sum, key) => sum + counts.get(key), 0);
    let cut = 0;
    for (let sum = 0; cut < keys.length - 1 && sum < total / 2; cut++) sum += counts.get(keys[cut]);
    boxes.splice(widest, 1, measure(keys.slice(0, cut)), measure(keys.slice(cut)));
  }
  const indices = new Map();
  const palette = Buffer.alloc(3 * boxes.length);
  boxes.forEach(({ keys }, i) => {
    const total = keys.reduce((sum, key) => sum + counts.get(key), 0);
    for (let axis = 0; axis < 3; axis++)
      palette[3 * i + axis] = Math.round(keys.reduce((sum, key) => sum + counts.get(key) * channel(key, axis), 0) / total);
    for (const key of keys) indices.set(key, i);
  });
  return { palette, indexOf: (at) => indices.get((pixels[at] << 16) | (pixels[at + 1] << 8) | pixels[at + 2]) };
}

function crc32(bytes) {
  let crc = ~0;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc >>> 0;
}

function encode(pixels) {
  const { palette, indexOf } = paletteOf(pixels);
  const rows = Buffer.alloc(HEIGHT * (WIDTH + 1)); // each begins with 0: no filter
  for (let y = 0; y < HEIGHT; y++)
    for (let x = 0; x < WIDTH; x++) rows[y * (WIDTH + 1) + 1 + x] = indexOf(4 * (y * WIDTH + x));
  const head = Buffer.alloc(13);
  head.writeUInt32BE(WIDTH, 0);
  head.writeUInt32BE(HEIGHT, 4);
  head.set([8, 3], 8); // bits of an index, of a palette
  const chunk = (name, data) => {
    const body = Buffer.concat([Buffer.from(name, 'latin1'), data]);
    const bytes = Buffer.alloc(body.length + 8);
    bytes.writeUInt32BE(data.length, 0);
    body.copy(bytes, 4);
    bytes.writeUInt32BE(crc32(body), body.length + 4);
    return bytes;
  };
  return Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), chunk('IHDR', head), chunk('PLTE', palette), chunk('IDAT', deflateSync(rows, { level: 9 })), chunk('IEND', Buffer.alloc(0))]);
}

const [folder, out = fileURLToPath(new URL('page/card.png', import.meta.url))] = process.argv.slice(2);
if (!folder) {
  console.error('usage: node web/card.mjs PAGE [OUT]');
  process.exit(2);
}
const { server, address } = await serve(folder);
const browser = await launch('llvmpipe');
const pictures = [];
for (const scene of scenes) pictures.push(await draw(browser, address, scene));
const page = await browser.newPage({ viewport: { width: WIDTH, height: HEIGHT } });
await page.setContent(compose(pictures));
const shot = `data:image/png;base64,${(await page.screenshot()).toString('base64')}`;
const pixels = await page.evaluate(async ([data, width, height]) => {
  const image = new Image();
  image.src = data;
  await image.decode();
  const context = Object.assign(document.createElement('canvas'), { width, height }).getContext('2d');
  context.drawImage(image, 0, 0);
  return [...context.getImageData(0, 0, width, height).data];
}, [shot, WIDTH, HEIGHT]);
const bytes = encode(pixels);
await writeFile(out, bytes);
console.log(`${out}: ${WIDTH} × ${HEIGHT}, ${bytes.length} bytes`);
await browser.close();
server.close();
