// The page begins here.
import '../style.css';
import { scenes as makers } from '../scenes/index.js';
import { element } from './element.js';
import { listen as listenToFiles } from './files.js';
import { Jobs } from './jobs.js';
import { compile, instantiate } from './loader.js';
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
  $('explain').addEventListener('click', () => void shell.explain());
  $('theme').addEventListener('click', () => shell.toggleTheme());
  const file = $<HTMLInputElement>('file');
  $('open').addEventListener('click', () => file.click());
  listenToFiles(file, (files) => void shell.take(files));
  $('help').addEventListener('click', () => {
    const rows: [string, string][] = [[`1 … ${shell.scenes.length}`, 'choose a scene'], ['p', 'pause, go on'], ['v', 'verify'], ['s', 'save the picture'], ['e', 'explain it, step by step']];
    for (const control of shell.scene.controls)
      if (control.kind !== 'hidden' && control.key) rows.push([control.key, control.label.toLowerCase()]);
    $('keys').querySelector('table')!.replaceChildren(
      ...[...shell.scene.keys, ...rows].map(([key, what]) => element('tr', {}, element('th', { scope: 'row' }, element('kbd', {}, key)), element('td', {}, what))));
    $<HTMLDialogElement>('keys').showModal();
  });
  document.querySelector('nav')!.addEventListener('click', () => shell.flush());
  addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.repeat || event.ctrlKey || event.metaKey || event.altKey || writes(event.target) || document.querySelector('dialog[open]')) return;
    if (shell.key(event)) event.preventDefault();
  });
  addEventListener('error', (event) => {
    if (!event.message.startsWith('ResizeObserver loop')) shell.fail(event.error ?? event.message); // that one is harmless
  });
  document.querySelector('.skip')!.addEventListener('click', (event) => {
    event.preventDefault();
    document.querySelector('canvas')?.focus();
  });
  addEventListener('unhandledrejection', (event) => shell.fail(event.reason));
}

async function begin(): Promise<void> {
  const theme = new Theme(); // first, so that nothing flashes
  const scenes = makers.map((make) => make());
  document.querySelector('nav')!.append(...scenes.map((scene) => element('a', { href: `#${scene.name}` }, scene.title)));
  const base = import.meta.url;
  const program = compile(base);
  const jobs = new Jobs(new URL('worker.js', base), program);
  const shell = new Shell(await instantiate(await program), jobs, scenes, theme);
  wire(shell);
  Object.assign(window, { sapwood: shell }); // for tests and the curious
  await shell.go();
}

begin().catch((error: unknown) => {
  $('veil').textContent = error instanceof Error ? error.message : String(error);
  $('status').textContent = 'The page could not start.';
  $('status').classList.add('wrong');
});
