// The service worker: keeps the page's files, so that it opens without a network. One version's files are kept under that version's
// name, all or none; web/build.mjs says which they are and how they begin and end: their digests.
import { programName } from './shell/loader.js';

declare const VERSION: string;
declare const FILES: Record<string, string>; // SHA-256 in hexadecimal by name; '': the page itself, which has its version in it

interface Waiting extends Event {
  waitUntil(work: Promise<unknown>): void;
}
interface Fetching extends Event {
  readonly request: Request;
  respondWith(response: Promise<Response>): void;
}
const scope = self as unknown as {
  addEventListener(type: 'install' | 'activate', use: (event: Waiting) => void): void;
  addEventListener(type: 'fetch', use: (event: Fetching) => void): void;
  addEventListener(type: 'message', use: (event: MessageEvent) => void): void;
  skipWaiting(): Promise<void>;
  clients: { claim(): Promise<void> };
  registration: { scope: string };
};

const SOURCE = 'source.html'; // large, and rarely read: kept when it is first asked for
const PREFIX = `sapwood ${scope.registration.scope} `; // several copies may share a host
const name = PREFIX + VERSION;
const addressOf = (file: string): string => new URL(file, scope.registration.scope).href;

async function digest(bytes: ArrayBuffer): Promise<string> {
  return [...new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

// A file of this very version, even while a host is being given another. Hosts may add to the page itself, but to no other file.
async function keep(cache: Cache, file: string, wanted: string): Promise<void> {
  const response = await fetch(addressOf(file), { cache: 'no-cache' });
  const bytes = await response.clone().arrayBuffer();
  const same = file === '' ? new TextDecoder().decode(bytes).includes(VERSION) : (await digest(bytes)) === wanted;
  if (!response.ok || !same) throw new Error(`${file || 'The page'} is not that of version ${VERSION}.`);
  // As the host sends it, but unpacked, and not as something redirected, which may not answer for the page.
  const headers = new Headers(response.headers);
  for (const packed of ['content-encoding', 'content-length']) headers.delete(packed);
  await cache.put(addressOf(file), new Response(bytes, { headers }));
}

async function install(): Promise<void> {
  const other = programName() === 'page' ? 'page-plain.' : 'page.';
  const files = Object.entries(FILES).filter(([file]) => file !== SOURCE && !file.startsWith(other));
  const cache = await caches.open(name);
  try {
    await Promise.all(files.map(([file, wanted]) => keep(cache, file, wanted)));
  } catch (error) {
    await caches.delete(name);
    throw error;
  }
}

async function activate(): Promise<void> {
  const old = (await caches.keys()).filter((key) => key.startsWith(PREFIX) && key !== name);
  await Promise.all(old.map((key) => caches.delete(key)));
  await scope.clients.claim();
}

// The kept file for an address: the page itself whatever stands behind its ?.
function fileOf(request: Request): string | undefined {
  const base = scope.registration.scope;
  const address = request.url.replace(/[?#].*/, '');
  if (request.method !== 'GET' || !address.startsWith(base)) return undefined;
  const file = address.slice(base.length);
  return file === 'index.html' ? '' : file in FILES ? file : undefined;
}

async function answer(request: Request, file: string): Promise<Response> {
  const cache = await caches.open(name);
  const kept = await cache.match(addressOf(file));
  if (kept || file !== SOURCE) return kept ?? fetch(request);
  await keep(cache, file, FILES[file]!).catch(() => undefined);
  return (await cache.match(addressOf(file))) ?? fetch(request);
}

scope.addEventListener('install', (event) => event.waitUntil(install()));
scope.addEventListener('activate', (event) => event.waitUntil(activate()));
scope.addEventListener('message', ({ data }) => {
  if (data === 'use') void scope.skipWaiting();
});
scope.addEventListener('fetch', (event) => {
  const file = fileOf(event.request);
  if (file !== undefined) event.respondWith(answer(event.request, file));
});
