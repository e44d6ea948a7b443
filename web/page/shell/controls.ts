// The elements of a scene's table of controls: labelled, described, usable by keyboard.
import { element } from './element.js';
import { count } from './words.js';
import type { Button, Choice, Control, Slider, Switch, Value, Values } from './scene.js';

const STEPS = 200; // of a logarithmic slider
const FEW = 4; // options that stand side by side; more are a menu

interface Shown {
  control: Exclude<Control, { kind: 'hidden' }>;
  box: HTMLElement;
  put(value: Value): void;
  range?(least: number, most: number): void;
}

export class Controls {
  private readonly shown: Shown[] = [];

  constructor(
    place: HTMLElement,
    controls: readonly Control[],
    private readonly values: Values,
    private readonly changed: (id: string, value: Value) => void,
  ) {
    place.replaceChildren();
    let group: string | undefined;
    let section: HTMLElement = element('section');
    for (const control of controls) {
      if (control.kind === 'hidden') continue;
      if (control.group !== group || !section.parentElement) {
        group = control.group;
        section = element('section', { class: 'group' });
        if (group) section.append(element('h2', {}, group));
        place.append(section);
      }
      const made = this.make(control);
      this.shown.push(made);
      section.append(made.box);
    }
    this.update();
  }

  // A value that the scene set.
  put(id: string, value: Value): void {
    this.shown.find((s) => s.control.id === id)?.put(value);
    this.update();
  }

  range(id: string, least: number, most: number): void {
    this.shown.find((s) => s.control.id === id)?.range?.(least, most);
  }

  // The key of a control was pressed: whether it has one.
  key(key: string): boolean {
    const found = this.shown.find((s) => s.control.key === key && !s.box.hidden);
    if (!found) return false;
    const { control } = found;
    if (control.kind === 'button') this.use(control.id, true);
    if (control.kind === 'switch') this.use(control.id, !this.values[control.id]);
    if (control.kind === 'choice') {
      const at = control.options.findIndex((o) => o.value === this.values[control.id]);
      this.use(control.id, control.options[(at + 1) % control.options.length]!.value);
    }
    this.put(control.id, this.values[control.id] ?? true);
    return true;
  }

  private use(id: string, value: Value): void {
    this.changed(id, value);
    this.update();
  }

  private update(): void {
    for (const { control, box } of this.shown) box.hidden = control.shown ? !control.shown(this.values) : false;
    for (const { box } of this.shown) {
      const section = box.parentElement!;
      section.hidden = [...section.children].every((child) => child.tagName === 'H2' || (child as HTMLElement).hidden);
    }
  }

  private make(control: Exclude<Control, { kind: 'hidden' }>): Shown {
    const help = control.help ? element('span', { id: `help-${control.id}`, class: 'unseen' }, control.help) : undefined;
    const made = control.kind === 'slider' ? this.slider(control)
      : control.kind === 'choice' ? this.choice(control)
      : control.kind === 'switch' ? this.toggle(control) : this.button(control);
    if (help) {
      made.box.title = control.help!;
      made.box.append(help);
    }
    return { control, ...made };
  }

  private slider(control: Slider): Omit<Shown, 'control'> {
    const { id, label } = control;
    let { least, most } = control;
    const position = (value: number): number =>
      control.logarithmic ? (STEPS * Math.log(value / least)) / Math.log(most / least) : value;
    const value = (at: number): number => {
      if (!control.logarithmic) return at;
      const exact = least * (most / least) ** (at / STEPS);
      const unit = 10 ** Math.max(0, Math.floor(Math.log10(exact)) - 1);
      return Math.min(most, Math.max(least, Math.round(exact / unit) * unit));
    };
    const text = control.text ?? count;
    const output = element('output', { for: `control-${id}` });
    const input = element('input', { type: 'range', id: `control-${id}`, ...describe(control) });
    const limits = (): void => {
      input.min = String(control.logarithmic ? 0 : least);
      input.max = String(control.logarithmic ? STEPS : most);
      input.step = String(control.logarithmic ? 1 : (control.step ?? 1));
    };
    const put = (to: Value): void => {
      input.value = String(position(to as number));
      show(to as number);
    };
    const show = (to: number): void => {
      output.value = text(to);
      input.setAttribute('aria-valuetext', output.value);
      input.style.setProperty('--part', `${(100 * (Number(input.value) - Number(input.min))) / (Number(input.max) - Number(input.min) || 1)}%`);
    };
    input.addEventListener('input', () => {
      const to = value(Number(input.value));
      show(to);
      this.use(id, to);
    });
    limits();
    put(this.values[id]!);
    const head = element('div', { class: 'row' }, element('label', { for: `control-${id}` }, label), output);
    return {
      box: element('div', { class: 'control slider' }, head, input),
      put,
      range: (from, to) => {
        least = from;
        most = to;
        limits();
        put(this.values[id]!);
      },
    };
  }

  private choice(control: Choice): Omit<Shown, 'control'> {
    const { id, label, options } = control;
    const letters = options.reduce((sum, o) => sum + o.label.length, 0);
    if (options.length > FEW || letters > 34) {
      const select = element('select', { id: `control-${id}`, ...describe(control) });
      for (const option of options) select.append(element('option', { value: option.value }, option.label));
      select.value = String(this.values[id]);
      select.addEventListener('change', () => this.use(id, select.value));
      const box = element('div', { class: 'control menu' }, element('label', { for: `control-${id}` }, label, hint(control)), select);
      return { box, put: (to) => (select.value = String(to)) };
    }
    const inputs = options.map((option) =>
      element('input', { type: 'radio', name: `control-${id}`, value: option.value, id: `control-${id}-${option.value}` }));
    const put = (to: Value): void => inputs.forEach((input) => (input.checked = input.value === to));
    put(this.values[id]!);
    inputs.forEach((input) => input.addEventListener('change', () => input.checked && this.use(id, input.value)));
    const segments = element('div', { class: 'segments' });
    inputs.forEach((input, i) => segments.append(input, element('label', { for: input.id }, options[i]!.label)));
    const box = element('fieldset', { class: 'control choice', ...describe(control) }, element('legend', {}, label, hint(control)), segments);
    return { box, put };
  }

  private toggle(control: Switch): Omit<Shown, 'control'> {
    const { id, label } = control;
    const input = element('input', { type: 'checkbox', role: 'switch', id: `control-${id}`, ...describe(control) });
    const put = (to: Value): void => void (input.checked = to === true);
    put(this.values[id]!);
    input.addEventListener('change', () => this.use(id, input.checked));
    const box = element('div', { class: 'control switch' }, element('label', { for: `control-${id}` }, label, hint(control)), input);
    return { box, put };
  }

  private button(control: Button): Omit<Shown, 'control'> {
    const button = element('button', { type: 'button', ...describe(control) }, control.label, hint(control));
    button.addEventListener('click', () => this.use(control.id, true));
    return { box: element('div', { class: 'control press' }, button), put: () => undefined };
  }
}

function describe(control: Control): Record<string, string> {
  const found: Record<string, string> = {};
  if ('help' in control && control.help) found['aria-describedby'] = `help-${control.id}`;
  if ('key' in control && control.key) found['aria-keyshortcuts'] = control.key;
  return found;
}
function hint(control: { key?: string }): Node | string {
  return control.key ? element('kbd', { 'aria-hidden': 'true' }, control.key) : '';
}
