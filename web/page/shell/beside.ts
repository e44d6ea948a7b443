// Beside the free picture: what a scene's story knows of the place that is pointed at.
import { element } from './element.js';
import type { Free, Point, Stage } from './story.js';
import { Telling } from './telling.js';

export class Beside {
  private readonly telling = new Telling();
  private readonly note = element('p', { class: 'guide-text' });
  private readonly box: HTMLElement;
  private told = false; // something has been

  constructor(stage: Stage, private readonly free: Free) {
    const { telling } = this;
    telling.moments.hidden = !free.unit;
    telling.unit.textContent = free.unit ?? '';
    telling.over.classList.toggle('passing', !free.stays);
    this.box = element('section', { class: 'beside', 'aria-label': free.title },
      element('h2', {}, free.title), telling.moments, telling.figure, telling.words, telling.facts, this.note);
    stage.details.append(this.box);
    for (const type of ['pointerenter', 'focusin']) this.box.addEventListener(type, () => stage.redraw()); // nobody has looked meanwhile
  }

  // null: there is no such place at present.
  tell(at: Point | null): void {
    const { free, telling } = this;
    telling.over.toggleAttribute('hidden', !at);
    if (!at) return telling.halt();
    if (this.told && getComputedStyle(telling.over).display === 'none') return; // nobody looks: guide.css hides marks that pass
    const there = free.ask(at);
    if (there === undefined) return;
    if (!there) return telling.clear();
    this.told = true;
    // Who looks at the end goes on doing so.
    telling.begin(free.moments(), telling.moment < telling.most ? telling.moment : Infinity, (moment) => free.show(moment, telling.over, telling.figure));
    this.note.textContent = free.note?.() ?? '';
  }

  close(): void {
    this.telling.halt();
    this.telling.over.remove();
    this.box.remove();
  }
}
