// Draws the page's pictures of README with Chromium: node web/pictures.mjs PAGE OUT, after ./run web --out PAGE.
import { launch } from './tests/browser.mjs';
import { serve } from './serve.mjs';

const pictures = [
  { name: 'web-voronoi', at: '#voronoi?sites=1500&levels=5', dark: false },
  { name: 'web-compaction', at: '#compaction?size=64', dark: false },
  { name: 'web-isosurface', at: '#isosurface', dark: true },
  { name: 'web-rays', at: '#rays', dark: true },
  { name: 'web-cloud', at: '#cloud', dark: false, steps: 30 },
  { name: 'web-photons', at: '#photons?show=light&thing=knot&matter=tinted&caustics=400000', dark: true },
];

const [folder, out] = process.argv.slice(2);
const { server, address } = await serve(folder);
const browser = await launch('llvmpipe');
for (const { name, at, dark, steps = 0 } of pictures) {
  const page = await browser.newPage({
    viewport: { width: 1120, height: 700 }, colorScheme: dark ? 'dark' : 'light', reducedMotion: 'reduce',
  });
  await page.goto(address + at);
  await page.waitForFunction(() => window.sapwood?.running, null, { timeout: 60000 });
  await page.evaluate(() => window.sapwood.idle());
  for (let i = 0; i < steps; i++) await page.evaluate(() => window.sapwood.scene.step());
  await page.evaluate(() => window.sapwood.idle());
  await page.screenshot({ path: `${out}/${name}.jpg`, type: 'jpeg', quality: 84 });
  await page.close();
}
await browser.close();
server.close();
