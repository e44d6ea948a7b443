// Links to what is shown, for other people and for other pages.
import { pageAddress } from './query.js';

// Whether it could be copied: browsers allow it on safe addresses only, and frames may not.
export async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

// The code that shows a scene in another page.
export function frameCode(title: string, hash: string): string {
  const address = `${pageAddress()}?embed${hash}`.replaceAll('&', '&amp;').replaceAll('"', '&quot;');
  return `<iframe src="${address}" title="${title} · Sapwood" width="800" height="500" style="border: 0" loading="lazy" allow="fullscreen"></iframe>`;
}
