// The state in the address: #scene?id=value&…, only what differs from the initial values, so that links stay short. A link
// holds settings. What else the picture shows, a file or edited sites, it names as what it lacks: &lacks=bunny.ply; but samples,
// which the page makes itself, it can give: &sample=galaxy.
import type { Control, Value, Values } from './scene.js';

export interface State {
  scene: string;
  values: Record<string, string>;
}

export function readAddress(hash: string): State {
  const [scene = '', query = ''] = hash.replace(/^#/, '').split('?', 2);
  return { scene: decode(scene), values: Object.fromEntries(new URLSearchParams(query)) };
}
function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}

export const LACKS = 'lacks';
export const SAMPLE = 'sample';

export function writeAddress(scene: string, controls: readonly Control[], values: Values, lacks: string, sample = ''): string {
  const query = new URLSearchParams();
  for (const control of controls) {
    if (control.kind === 'button') continue;
    const value = values[control.id]!;
    if (value === control.initial) continue;
    query.set(control.id, typeof value === 'boolean' ? (value ? '1' : '0') : String(value));
  }
  if (sample) query.set(SAMPLE, sample);
  else if (lacks) query.set(LACKS, lacks);
  const text = query.toString();
  return text ? `#${scene}?${text}` : `#${scene}`;
}

// The value that a text stands for; what cannot be is the initial value, what lies beyond a slider its end.
export function valueOf(control: Exclude<Control, { kind: 'button' }>, text: string | undefined): Value {
  if (text === undefined) return control.initial;
  if (control.kind === 'switch') return text === '1' ? true : text === '0' ? false : control.initial;
  if (control.kind === 'choice') return control.options.some((o) => o.value === text) ? text : control.initial;
  if (typeof control.initial === 'string') return text;
  const number = text.trim() === '' ? NaN : Number(text);
  if (!Number.isFinite(number)) return control.initial;
  return Math.min(control.most ?? Infinity, Math.max(control.least ?? -Infinity, number));
}

export function initialValues(controls: readonly Control[], texts: Record<string, string>): Values {
  const values: Values = {};
  for (const control of controls) if (control.kind !== 'button') values[control.id] = valueOf(control, texts[control.id]);
  return values;
}
