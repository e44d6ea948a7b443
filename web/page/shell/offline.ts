// Works without a network once it was loaded: ../offline.ts keeps the files. A newer version is fetched in the background, whole,
// and takes over when the reader says so, or when no tab shows the old one.
import { embedded } from './query.js';

export interface Told {
  ready(): void; // the page may be opened without a network from now on
  newer(use: () => void): void; // another version is here
}

async function register(base: string, told: Told): Promise<void> {
  const workers = navigator.serviceWorker;
  const registration = (await workers.register(new URL('offline.js', base))) as ServiceWorkerRegistration | undefined;
  if (!registration) return; // a browser that is told to block these
  const reload = (): void => location.reload();
  let using = false;
  let kept = workers.controller !== null; // this page came out of what is kept
  workers.addEventListener('controllerchange', () => {
    if (using) reload();
    else if (kept) told.newer(reload); // another tab did
    kept = true;
  });
  const look = (worker: ServiceWorker | null): void => {
    const installed = (): void => {
      if (worker!.state !== 'installed' || !registration.active || worker === registration.active) return;
      told.newer(() => {
        using = true;
        worker!.postMessage('use');
      });
    };
    worker?.addEventListener('statechange', installed);
    if (worker) installed();
  };
  registration.addEventListener('updatefound', () => look(registration.installing));
  look(registration.waiting);
  look(registration.installing);
  await workers.ready;
  told.ready();
}

// Where a browser, or an address that is not safe, has no service workers the page needs its network. So it does in frames,
// which keep nothing for themselves.
export function workOffline(base: string, told: Told): void {
  if (embedded || !('serviceWorker' in navigator)) return;
  // First the picture, then the files.
  setTimeout(() => void register(base, told).catch((error: unknown) => console.info('The page cannot be kept for later:', error)), 1500);
}
