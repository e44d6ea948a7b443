// Light and dark: the system's, unless the reader chose, or the address says.
import { askedTheme } from './query.js';
import type { Color, Colors } from './scene.js';

const KEY = 'sapwood-theme';
const system = matchMedia('(prefers-color-scheme: dark)');

function stored(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null; // storage may be forbidden
  }
}

export class Theme {
  private chosen: string | null = askedTheme ?? stored();

  changed = (): void => undefined;

  constructor() {
    system.addEventListener('change', () => this.apply());
    addEventListener('storage', (event) => { // another tab chose
      if (event.key !== KEY && event.key !== null) return;
      this.chosen = stored();
      this.apply();
    });
    this.apply();
  }

  get dark(): boolean {
    return this.chosen ? this.chosen === 'dark' : system.matches;
  }

  toggle(): void {
    this.chosen = this.dark ? 'light' : 'dark';
    if ((this.chosen === 'dark') === system.matches) this.chosen = null;
    try {
      if (this.chosen) localStorage.setItem(KEY, this.chosen);
      else localStorage.removeItem(KEY);
    } catch {
      // then it lasts as long as the page
    }
    this.apply();
  }

  private apply(): void {
    document.documentElement.dataset['theme'] = this.dark ? 'dark' : 'light';
    this.changed();
  }

  colors(): Colors {
    const style = getComputedStyle(document.documentElement);
    const color = (name: string): Color => {
      const bits = parseInt(style.getPropertyValue(name).trim().slice(1), 16);
      return [(bits >> 16) / 255, ((bits >> 8) & 255) / 255, (bits & 255) / 255];
    };
    return { dark: this.dark, paper: color('--paper'), ink: color('--ink'), muted: color('--muted'), accent: color('--accent') };
  }
}
