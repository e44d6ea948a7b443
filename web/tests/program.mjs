// A C program in a tab: a page that runs it at once and keeps what it prints.

// The page of NAME.js beside it. It has canvases for contexts of WebGL 2 and of WebGL 1.
const page = (name, names) => `<!doctype html>
<title>${name}</title>
<canvas id="new" width="8" height="8"></canvas><canvas id="old" width="8" height="8"></canvas>
<script>
  var lines = [], print = (line) => lines.push(line);
  var Module = { arguments: ${JSON.stringify(names)}, print, printErr: print, onAbort: print };
</script>
<script async src="/${name}.js"></script>`;

// What program NAME.js of a server prints, up to a line that matches `end`, if it comes before the limit in ms.
export async function run(browser, address, name, names, end, limit) {
  const tab = await browser.newPage();
  const thrown = [];
  tab.on('pageerror', (error) => thrown.push(String(error)));
  await tab.route('**/program', (route) => route.fulfill({ contentType: 'text/html', body: page(name, names) }));
  await tab.goto(`${address}/program`);
  const ended = (pattern) => lines.some((line) => new RegExp(pattern).test(line));
  await tab.waitForFunction(ended, end.source, { timeout: limit, polling: 100 }).catch((error) => thrown.push(String(error)));
  const lines = await tab.evaluate(() => lines);
  await tab.close();
  return [...thrown, ...lines];
}
