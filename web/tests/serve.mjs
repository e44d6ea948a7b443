// A server of static files for the tests: of several folders, with pages made up on the spot.
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';

const types = {
  '.css': 'text/css',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.json': 'application/json',
  '.mjs': 'text/javascript',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.wasm': 'application/wasm',
};

// Serves `folder`, and what `pages` has by its path: { '/name': text }. Gives { address, close }.
export async function serve(folder, pages = {}) {
  const server = http.createServer((request, response) => {
    const name = decodeURIComponent(new URL(request.url, 'http://localhost').pathname);
    const page = pages[name];
    const file = path.join(folder, name.endsWith('/') ? name + 'index.html' : name);
    const answer = (error, bytes) => {
      const type = page !== undefined ? types['.html'] : types[path.extname(file)];
      response.writeHead(error ? 404 : 200, { 'content-type': type ?? 'application/octet-stream' });
      response.end(error ? undefined : bytes);
    };
    if (page !== undefined) answer(null, page);
    else fs.readFile(file, answer);
  });
  await new Promise((ready) => server.listen(0, '127.0.0.1', ready));
  return { address: `http://127.0.0.1:${server.address().port}`, close: () => server.close() };
}
