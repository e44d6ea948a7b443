// Serves a folder on localhost, as any static host would: node web/serve.mjs FOLDER [PORT]. Prints the address.
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join, normalize, sep } from 'node:path';
import { pathToFileURL } from 'node:url';

const types = {
  '.html': 'text/html; charset=utf-8', '.css': 'text/css; charset=utf-8', '.js': 'text/javascript; charset=utf-8',
  '.wasm': 'application/wasm', '.json': 'application/json', '.png': 'image/png', '.svg': 'image/svg+xml',
};

// A server of a folder, listening; port 0: any that is free; `headers` go with every file. Resolves to it and its address.
export function serve(folder, port = 0, headers = {}) {
  const root = normalize(folder.endsWith(sep) ? folder : folder + sep);
  const server = createServer(async (request, response) => {
    const refuse = (status) => response.writeHead(status, { 'content-type': 'text/plain' }).end(`${status}\n`);
    try {
      const path = decodeURIComponent(new URL(request.url, 'http://localhost').pathname);
      const file = join(root, path.endsWith('/') ? `${path}index.html` : path);
      if (!file.startsWith(root) || file.includes('\0')) return refuse(404);
      if (request.method !== 'GET' && request.method !== 'HEAD') return refuse(405);
      const found = await stat(file);
      if (found.isDirectory()) return response.writeHead(301, { location: `${path}/` }).end();
      response.writeHead(200, {
        ...headers, 'content-type': types[extname(file)] ?? 'application/octet-stream', 'content-length': found.size, 'cache-control': 'no-cache',
      });
      if (request.method === 'HEAD') return response.end();
      return createReadStream(file).on('error', () => response.destroy()).pipe(response);
    } catch {
      return refuse(404);
    }
  });
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, 'localhost', () => resolve({ server, address: `http://localhost:${server.address().port}/` }));
  });
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [folder, port] = process.argv.slice(2);
  const taken = (error) => {
    if (error.code === 'EADDRINUSE' && !port) return serve(folder);
    console.error(error.message);
    return process.exit(1);
  };
  const { address } = await serve(folder, port === undefined ? 8380 : Number(port)).catch(taken);
  console.log(address);
}
