// Pictures with depth, for stories: where a place is seen, and the ray of a pixel.
import { spaceCamera, spaceRay } from '../fields.js';
import type { PageModule } from '../shell/module.js';
import { shape, type Point } from '../shell/story.js';

export type Place = readonly [number, number, number];
const dot = (a: Place, b: Place): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];

export class Lens {
  private readonly numbers: Float64Array;

  // at: what the scene's …_seen() gave.
  constructor(module: PageModule, at: number, private readonly canvas: HTMLCanvasElement) {
    const from = (at >>> 0) / 8;
    this.numbers = module.HEAPF64.slice(from, from + spaceCamera.aspect + 1);
  }

  private three(at: number): Place {
    return [this.numbers[at]!, this.numbers[at + 1]!, this.numbers[at + 2]!];
  }

  // In CSS pixels.
  seen(place: Place): Point {
    const eye = this.three(spaceCamera.eye);
    const to: Place = [place[0] - eye[0], place[1] - eye[1], place[2] - eye[2]];
    const half = -dot(to, this.three(spaceCamera.back)) * this.numbers[spaceCamera.tangent]!;
    const { clientWidth, clientHeight } = this.canvas;
    return {
      x: (0.5 + (0.5 * dot(to, this.three(spaceCamera.right))) / (half * this.numbers[spaceCamera.aspect]!)) * clientWidth,
      y: (0.5 - (0.5 * dot(to, this.three(spaceCamera.up))) / half) * clientHeight,
    };
  }

  line(over: SVGElement, from: Place, to: Place, style: string, width: number): void {
    const [a, b] = [this.seen(from), this.seen(to)];
    const ends = { x1: a.x, y1: a.y, x2: b.x, y2: b.y };
    shape(over, 'line', { class: 'rim', ...ends, 'stroke-width': width + 3 });
    shape(over, 'line', { class: style, ...ends, 'stroke-width': width });
  }

  dot(over: SVGElement, place: Place, style: string, r: number): void {
    const { x, y } = this.seen(place);
    shape(over, 'circle', { class: style, cx: x, cy: y, r });
  }

  area(over: SVGElement, corners: readonly Place[], style: string): void {
    const points = corners.map((corner) => this.seen(corner));
    shape(over, 'polygon', { class: style, points: points.map(({ x, y }) => `${x.toFixed(1)},${y.toFixed(1)}`).join(' ') });
  }

  // A disc about a place, at right angles to a normal.
  disc(over: SVGElement, at: Place, normal: Place, radius: number, style: string): void {
    const tangents = acrossOf(normal);
    this.area(over, Array.from({ length: 33 }, (_, i) => {
      const [c, s] = [Math.cos((i * Math.PI) / 16) * radius, Math.sin((i * Math.PI) / 16) * radius];
      return [0, 1, 2].map((a) => at[a]! + c * tangents[0][a]! + s * tangents[1][a]!) as unknown as Place;
    }), style);
  }

  // Of a pixel of the canvas.
  ray(at: Point): number[] {
    const { width, height } = this.canvas;
    const half = this.numbers[spaceCamera.tangent]!;
    const [x, y] = [((2 * (at.x + 0.5)) / width - 1) * half * this.numbers[spaceCamera.aspect]!, (1 - (2 * (at.y + 0.5)) / height) * half];
    const [right, up, back] = [this.three(spaceCamera.right), this.three(spaceCamera.up), this.three(spaceCamera.back)];
    const ray: number[] = [];
    for (let i = 0; i < 3; i++) {
      ray[spaceRay.eye + i] = this.three(spaceCamera.eye)[i]!;
      ray[spaceRay.direction + i] = x * right[i]! + y * up[i]! - back[i]!;
    }
    return ray;
  }

  toString(): string {
    return this.numbers.join(' ');
  }
}

// Two directions at right angles to one, and to each other.
function acrossOf(normal: Place): [Place, Place] {
  const least = normal.reduce((best, v, i) => (Math.abs(v) < Math.abs(normal[best]!) ? i : best), 0);
  const axis: Place = [least === 0 ? 1 : 0, least === 1 ? 1 : 0, least === 2 ? 1 : 0];
  const cross = (a: Place, b: Place): Place => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
  const first = cross(normal, axis);
  const length = Math.hypot(...first) || 1;
  const one: Place = [first[0] / length, first[1] / length, first[2] / length];
  return [one, cross(normal, one)];
}
