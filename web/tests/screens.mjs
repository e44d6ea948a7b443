// Pictures of the page for people to look at: six scenes, light and dark, as wide as a phone, a tablet and a desk, into
// build/web/screens.
//
//   node web/tests/screens.mjs [swiftshader|llvmpipe]
import fs from 'node:fs';
import path from 'node:path';
import { launch } from './browser.mjs';
import { folder, idle, open, said, scenes } from './page.mjs';
import { serve } from './serve.mjs';

const sizes = [[390, 844], [1024, 768], [1900, 1200]];
const out = path.join(folder, '../screens');
fs.mkdirSync(out, { recursive: true });
const server = await serve(folder);
const browser = await launch(process.argv[2] ?? 'llvmpipe');
for (const scene of scenes)
  for (const [width, height] of sizes)
    for (const scheme of ['light', 'dark']) {
      const { page, context, complaints } = await open(browser, server.address, scene, { width, height, scheme });
      await idle(page);
      const file = path.join(out, `${scene}-${width}-${scheme}.png`);
      await page.screenshot({ path: file });
      console.log(path.relative('.', file), '·', await said(page), ...complaints);
      await context.close();
    }
await browser.close();
server.close();
