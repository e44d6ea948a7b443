// A C program in a tab: a page that runs it at once and keeps what it prints.
import path from 'node:path';

// The page of NAME.js beside it. It has canvases for contexts of WebGL 2 and of WebGL 1. `more` stands before the program.
const page = (name, names, more) => `<!doctype html>
<title>${name}</title>
<canvas id="new" width="8" height="8"></canvas><canvas id="old" width="8" height="8"></canvas>
<script>
  var lines = [], print = (line) => lines.push(line);
  var Module = { arguments: ${JSON.stringify(names)}, print, printErr: print, onAbort: print };
</script>
${more}
<script async src="/${name}.js"></script>`;

// What program NAME.js of a server prints, up to a line that matches `end`, if it comes before the limit in ms. `beside`: a
// folder whose files the page has below its own address, and text of the page that stands before the program.
export async function run(browser, address, name, names, end, limit, beside = { folder: '', text: '' }) {
  const tab = await browser.newPage();
  const thrown = [];
  tab.on('pageerror', (error) => thrown.push(String(error)));
  await tab.route('**/beside/**', (route) =>
    route.fulfill({ path: path.join(beside.folder, path.posix.normalize(new URL(route.request().url()).pathname.slice('/beside'.length))) }));
  await tab.route('**/program', (route) => route.fulfill({ contentType: 'text/html', body: page(name, names, beside.text) }));
  await tab.goto(`${address}/beside/program`);
  const ended = (pattern) => lines.some((line) => new RegExp(pattern).test(line));
  await tab.waitForFunction(ended, end.source, { timeout: limit, polling: 100 }).catch((error) => thrown.push(String(error)));
  const lines = await tab.evaluate(() => lines);
  await tab.close();
  return [...thrown, ...lines];
}
