// A camera that goes round the middle of something: by mouse, finger, pen and keys, and as text in the address.
import type { ScenePointer } from '../shell/scene.js';

const INITIAL = [0.7, 0.36, 1, 0, 0] as const;
const TURN = 0.08; // radians that a key turns
const NEARER = 1.12; // times that a key zooms in

export class Orbit {
  yaw = 0; // radians about the upright axis
  pitch = 0; // radians above the horizon
  zoom = 1;
  x = 0; // how far the middle is moved over the picture, to the right and up
  y = 0;

  // What text() gave, or where it begins.
  constructor(text = '') {
    const numbers = text.split(',').map(Number);
    const good = numbers.length === 5 && numbers.every((n) => Number.isFinite(n)) && numbers[2]! > 0;
    [this.yaw, this.pitch, this.zoom, this.x, this.y] = (good ? numbers : INITIAL) as [number, number, number, number, number];
    this.limit();
  }

  text(): string {
    return [this.yaw, this.pitch, this.zoom, this.x, this.y].map((n) => Number(n.toFixed(3))).join(',');
  }

  turn(by: number): void {
    this.yaw += by;
    this.limit();
  }

  // What a scene does with a pointer over its picture: whether the event is used. `moved` is called where it moved the camera.
  pointer(event: ScenePointer, picture: { width: number; height: number }, moved: () => void): boolean {
    const used = this.follow(event, 1 / Math.min(picture.width, picture.height));
    if (used) moved();
    return used || event.type === 'down';
  }

  // The same for a key.
  key(event: KeyboardEvent, moved: () => void): boolean {
    const used = !event.ctrlKey && !event.metaKey && !event.altKey && this.press(event.key);
    if (used) moved();
    return used;
  }

  private follow(event: ScenePointer, unit: number): boolean {
    const zooms = event.type === 'wheel' || event.type === 'pinch';
    if (zooms) this.zoom *= event.scale;
    else if (event.type !== 'move' || !event.held) return false;
    if (event.type === 'pinch' || (!zooms && event.shift)) {
      this.x += (1.2 * event.dx * unit) / this.zoom;
      this.y -= (1.2 * event.dy * unit) / this.zoom;
    } else if (!zooms) {
      this.yaw -= 4 * event.dx * unit;
      this.pitch += 4 * event.dy * unit;
    }
    this.limit();
    return true;
  }

  private press(key: string): boolean {
    if (key === 'ArrowLeft') this.yaw += TURN;
    else if (key === 'ArrowRight') this.yaw -= TURN;
    else if (key === 'ArrowUp') this.pitch -= TURN;
    else if (key === 'ArrowDown') this.pitch += TURN;
    else if (key === '+' || key === '=') this.zoom *= NEARER;
    else if (key === '-' || key === '−') this.zoom /= NEARER;
    else if (key === '0') Object.assign(this, new Orbit());
    else return false;
    this.limit();
    return true;
  }

  private limit(): void {
    this.pitch = Math.max(-1.5, Math.min(1.5, this.pitch));
    this.yaw = Math.atan2(Math.sin(this.yaw), Math.cos(this.yaw));
    this.zoom = Math.max(0.3, Math.min(20, this.zoom));
    this.x = Math.max(-2, Math.min(2, this.x));
    this.y = Math.max(-2, Math.min(2, this.y));
  }
}
