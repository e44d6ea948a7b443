// One page of the texts that the page is made of, and of what there is to read about it, for the links "Source" and "Docs":
// it needs neither a server nor an address of a repository.
import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../', import.meta.url));
const escape = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
const titles = { docs: 'How the page is made', package: 'The npm package', shell: 'The shell' };
const manuals = [['docs', 'docs/page.md'], ['package', 'web/package/README.md']];

// A scene's files begin with its name; what several scenes share stands with the shell.
async function groups(scenes) {
  const files = (await readdir(`${root}web/page`, { recursive: true })).map((name) => `web/page/${name.replaceAll('\\', '/')}`)
    .filter((name) => /\.(ts|c|h|glsl|css|html)$/.test(name) && !name.endsWith('/fields.ts')).sort();
  const owner = (name) => scenes.find((scene) => name.startsWith(`web/page/scenes/${scene}`)) ?? 'shell';
  return [...scenes, 'shell'].map((group) => [group, files.filter((name) => owner(name) === group)]);
}

export async function sourcePage() {
  const index = await readFile(`${root}web/page/scenes/index.ts`, 'utf8');
  const scenes = /=> Scene\)\[\] = \[([^\]]*)\]/.exec(index)[1].split(',').map((name) => name.trim());
  const all = [...manuals.map(([group, file]) => [group, [file]]), ...(await groups(scenes))];
  const titleOf = (group) => titles[group] ?? group[0].toUpperCase() + group.slice(1);
  const shown = async (file) => {
    const text = escape(await readFile(root + file, 'utf8'));
    return file.endsWith('.md') ? `<pre class="prose" tabindex="0">${text}</pre>` : `<details><summary>${file}</summary><pre tabindex="0">${text}</pre></details>`;
  };
  const sections = [];
  for (const [group, files] of all)
    sections.push(`<section id="${group}">\n<h2>${titleOf(group)}</h2>\n${(await Promise.all(files.map(shown))).join('\n')}\n</section>`);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Source and docs · Sapwood</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<style>
:root { --paper: #f7f4ee; --ink: #211c16; --accent: #a4530f; --line: #e3dccf; font: 15px/1.5 system-ui, sans-serif; }
@media (prefers-color-scheme: dark) { :root { --paper: #151310; --ink: #efe9df; --accent: #e8a562; --line: #38322a; } }
body { max-width: 1000px; margin: 0 auto; padding: 24px 16px 80px; background: var(--paper); color: var(--ink); }
a { color: var(--accent); }
nav { display: flex; flex-wrap: wrap; gap: 4px 18px; }
pre { overflow-x: auto; padding: 12px; border: 1px solid var(--line); border-radius: 8px; font-size: .85rem; }
.prose { white-space: pre-wrap; }
summary { cursor: pointer; padding: 6px 0; font-family: ui-monospace, monospace; }
</style>
</head>
<body>
<header>
<h1>Source and docs</h1>
<p>The texts of this page as they were when it was built. What they call, the library, is the repository's folders <code>include</code> and <code>src</code>. <a href="./">Back to the pictures</a></p>
<nav aria-label="Contents">${all.map(([group]) => `<a href="#${group}">${titleOf(group)}</a>`).join('\n')}</nav>
</header>
<main>
${sections.join('\n')}
</main>
</body>
</html>
`;
}
