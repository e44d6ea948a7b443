// The page begins here.
import '../style.css';
import { scenes as makers } from '../scenes/index.js';
import { element } from './element.js';
import { listen as listenToFiles } from './files.js';
import { Full } from './full.js';
import { Jobs } from './jobs.js';
import { compile, instantiate } from './loader.js';
import { workOffline } from './offline.js';
import { embedded } from './query.js';
import { Shell } from './shell.js';
import { Theme } from './theme.js';

const $ = <T extends HTMLElement>(id: string): T => document.getElementById(id) as T;

// Keys that a field uses itself.
function writes(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.matches('input:not([type=checkbox], [type=radio], [type=range]), select, textarea') || target.isContentEditable);
}

function wire(shell: Shell): void {
  $('pause').addEventListener('click', () => shell.pause());
  $('verify').addEventListener('click', () => void shell.verify());
  $('save').addEventListener('click', () => shell.save());
  $('copy').addEventListener('click', () => void shell.copyLink());
  $('gallery').addEventListener('click', () => shell.openSamples());
  $('explain').addEventListener('click', () => void shell.explain());
  $('theme').addEventListener('click', () => shell.toggleTheme());
  const file = $<HTMLInputElement>('file');
  $('open').addEventListener('click', () => shell.openFile());
  listenToFiles(file, (files) => void shell.take(files));
  $('help').addEventListener('click', () => {
    $('keys').querySelector('table')!.replaceChildren(
      ...shell.keys().map(([key, what]) => element('tr', {}, element('th', { scope: 'row' }, element('kbd', {}, key)), element('td', {}, what))));
    $<HTMLDialogElement>('keys').showModal();
  });
  for (const links of ['nav', '.mark']) document.querySelector(links)!.addEventListener('click', () => shell.flush());
  const whole = $<HTMLAnchorElement>('whole');
  whole.addEventListener('click', () => {
    shell.flush();
    whole.href = `./${location.hash}`;
  });
  addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.repeat || event.ctrlKey || event.metaKey || event.altKey || writes(event.target) || document.querySelector('dialog[open]')) return;
    if (shell.key(event)) event.preventDefault();
  });
  addEventListener('error', (event) => {
    if (!event.message.startsWith('ResizeObserver loop')) shell.fail(event.error ?? event.message); // that one is harmless
  });
  document.querySelector('.skip')!.addEventListener('click', (event) => {
    event.preventDefault();
    document.querySelector<HTMLElement>('#door a, #canvas-place canvas')?.focus();
  });
  addEventListener('unhandledrejection', (event) => shell.fail(event.reason));
}

// Says that a newer version is here, until it is used.
function tellNewer(use: () => void): void {
  document.getElementById('news')?.remove();
  const button = element('button', { type: 'button' }, 'Load it');
  button.addEventListener('click', use);
  document.body.append(element('p', { id: 'news', role: 'status' }, 'A newer version of this page is here. ', button));
}

async function begin(): Promise<void> {
  const theme = new Theme(); // first, so that nothing flashes
  const atDoor = !embedded && location.hash.length < 2;
  document.body.classList.toggle('door', atDoor);
  document.body.classList.toggle('embedded', embedded);
  const scenes = makers.map((make) => make());
  document.querySelector('nav')!.append(...scenes.map((scene) => element('a', { href: `#${scene.name}` }, scene.title)));
  const base = import.meta.url;
  const program = compile(base);
  const worker = (early = true): Jobs => new Jobs(new URL('worker.js', base), program, early);
  const jobs = worker(!atDoor);
  let first = atDoor ? worker() : undefined; // of the front door's
  const take = (): Jobs => {
    const taken = first ?? worker();
    first = undefined;
    return taken;
  };
  const shell = new Shell(await instantiate(await program), jobs, scenes, theme, { makers, jobs: take });
  wire(shell);
  new Full($('full')).follow();
  Object.assign(window, { sapwood: shell }); // for tests and the curious
  await shell.go();
  workOffline(base, {
    ready: () => shell.tellOffline('From now on this page opens without a network, too.'),
    newer: tellNewer,
  });
}

begin().catch((error: unknown) => {
  $('veil').textContent = error instanceof Error ? error.message : String(error);
  $('status').textContent = 'The page could not start.';
  $('status').classList.add('wrong');
});
