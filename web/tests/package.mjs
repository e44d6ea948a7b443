// What the npm package does on pages and in workers of browsers, as text, and what comes of it.
import { createHash } from 'node:crypto';

export const work = `async (entry) => {
  const { load, PointTree, MeshTree } = await import(entry);
  let early;
  try { new PointTree([1, 2]); } catch (error) { early = error.status; }
  await Promise.all([load(), load()]);
  const tree = new PointTree(Float32Array.of(1, 1, 4, 2, 3, 5));
  const found = tree.nearest(3, 4);
  const ids = [...PointTree.load(tree.save()).nearestAll([1, 1, 4, 4]).ids];
  const around = new PointTree([[179, 0], [0, 0]], { period: [360, 0] }).nearest(-180, 0);
  const hit = MeshTree ? new MeshTree([0, 0, 0, 1, 0, 0, 0, 1, 0]).trace([0.25, 0.25, -1], [0, 0, 1]).t : null;
  let bad;
  try { tree.rebuild([0, 0, 0, NaN]); } catch (error) { bad = [error.name, error.status]; }
  return { early, found, ids, around, hit, bad };
}`;
export const answer = (entry) => ({
  early: 'NOT_LOADED', found: { id: 2, distance: 1 }, ids: [0, 2], around: { id: 0, distance: 1 }, hit: entry === 'points.js' ? null : 1, bad: ['SapwoodError', 'NOT_FINITE'],
});

// Several threads: a page that is not isolated learns what it lacks; on one that is, and in its worker, answers are those
// of one thread.
export const threaded = `async (entry) => {
  const { load, PointTree } = await import(entry);
  let missing;
  await load({ threads: 3 }).catch(({ status, message }) => { missing = [status, message]; });
  if (missing) return missing;
  const coords = Float32Array.from({ length: 200000 }, (_, i) => Math.sin(i * i));
  const tree = new PointTree(coords);
  const ids = tree.nearestAll(coords).ids;
  const rows = tree.withinAll(coords, 0.02);
  const bytes = new Uint8Array(await crypto.subtle.digest("SHA-256", tree.save()));
  let bad;
  try { tree.rebuild([0, 0, 0, NaN]); } catch (error) { bad = [error.status, error.message.length > 0]; }
  return { count: tree.count, ids: ids.every((id, i) => id <= i && coords[2 * id] === coords[2 * i]), rows: rows.ids.length === rows.offsets[100000], bytes: bytes.join(), bad };
}`;

export async function threadedAnswer() { // of one thread
  const { load, PointTree } = await import('../../build/web/npm/node.js');
  await load();
  const tree = new PointTree(Float32Array.from({ length: 200000 }, (_, i) => Math.sin(i * i)));
  const bytes = createHash('sha256').update(tree.save()).digest();
  return { count: 100000, ids: true, rows: true, bytes: [...bytes].join(), bad: ['NOT_FINITE', true] };
}
// What a server sends with pages that may have threads.
export const isolated = { 'cross-origin-opener-policy': 'same-origin', 'cross-origin-embedder-policy': 'require-corp' };

// Runs such a text in a worker.
export const inWorker = ([text, entry]) => new Promise((resolve) => {
  const script = `(${text})(${JSON.stringify(entry)}).then(postMessage, (error) => postMessage(String(error)));`;
  const worker = new Worker(URL.createObjectURL(new Blob([script], { type: 'text/javascript' })), { type: 'module' });
  worker.onmessage = ({ data }) => resolve(data);
  worker.onerror = (event) => resolve(event.message);
});
