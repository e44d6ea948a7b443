// How long after its address was given a page shows its first picture: in a browser that was just started, on SwiftShader, pages side
// by side in turns.
//
//   node web/bench/first.mjs ROUNDS FOLDER[#SCENE] …
import { launch } from '../tests/browser.mjs';
import { serve } from '../tests/serve.mjs';

const [rounds, ...named] = process.argv.slice(2);
const pages = await Promise.all(named.map(async (name) => {
  const [folder, scene = ''] = name.split('#');
  return { name, server: await serve(folder), scene, times: [] };
}));
for (let round = 0; round < Number(rounds); round++)
  for (const { server, scene, times } of pages) {
    const browser = await launch('swiftshader');
    const context = await browser.newContext({ viewport: { width: 1280, height: 1000 }, serviceWorkers: 'block', reducedMotion: 'no-preference' });
    const tab = await context.newPage();
    await tab.goto(`${server.address}/#${scene}`);
    await tab.waitForFunction(() => performance.getEntriesByName('picture').length, null, { timeout: 120e3 });
    times.push(await tab.evaluate(() => performance.getEntriesByName('picture')[0].startTime));
    await browser.close();
  }
for (const { name, server, times } of pages) {
  times.sort((a, b) => a - b);
  console.log(`${name}: ${times[times.length >> 1].toFixed(0)} ms, median of ${times.map((time) => time.toFixed(0)).join(', ')}`);
  server.close();
}
