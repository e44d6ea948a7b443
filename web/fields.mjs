// Makes page/fields.ts, which git ignores, of the enums in the headers *fields.h of the page: node web/fields.mjs
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const page = fileURLToPath(new URL('page/', import.meta.url));
const headers = ['', 'scenes/'].flatMap((folder) =>
  readdirSync(page + folder).filter((name) => name.endsWith('fields.h')).sort().map((name) => folder + name));
const camel = (name) => name.toLowerCase().replace(/_(\w)/g, (_, letter) => letter.toUpperCase());

// An enumerator is worth what it says, a number or one ahead of it in its header, or else one more than the last.
function objectsOf(header) {
  const text = readFileSync(page + header, 'utf8').replace(/\/\/.*/g, '');
  const worth = new Map();
  return [...text.matchAll(/\benum\s+(\w+)\s*\{([^}]*)\}/g)].map(([, tag, body]) => {
    const prefix = `${tag.toUpperCase()}_`;
    let next = 0;
    const fields = body.split(',').map((part) => part.trim()).filter(Boolean).flatMap((part) => {
      const [name, value] = part.split('=').map((side) => side.trim());
      if (value !== undefined) next = worth.get(value) ?? Number(value);
      if (!name.startsWith(prefix) || !Number.isInteger(next)) throw new Error(`${header}: enum ${tag}: cannot make a field of "${part}"`);
      worth.set(name, next);
      const field = `${camel(name.slice(prefix.length))}: ${next++}`;
      return name === `${prefix}FIELDS` ? [] : [field];
    });
    return `export const ${camel(tag)} = { ${fields.join(', ')} } as const;`;
  });
}

const parts = headers.map((header) => `\n// ${header}\n${objectsOf(header).join('\n')}\n`);
writeFileSync(`${page}fields.ts`, `// Made by web/fields.mjs.\n${parts.join('')}`);
