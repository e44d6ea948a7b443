// Pictures with depth, for stories: where a place is seen, and the ray of a pixel.
import { spaceCamera, spaceRay } from '../fields.js';
import type { PageModule } from '../shell/module.js';
import type { Point } from '../shell/story.js';

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
