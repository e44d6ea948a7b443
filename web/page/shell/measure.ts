// How many pictures a second this GPU searches: the scene Voronoi, large, still, and with nothing else going on.
import { Booths } from './booths.js';
import { Superseded, type Jobs } from './jobs.js';
import type { PageModule } from './module.js';
import { SceneError, type Colors, type Scene } from './scene.js';

export const SITES = 1000000;
export const SIZE = [1900, 1200] as const;
export const PUBLISHED = '10 to 15'; // frames a second, of a GTX 550 Ti in 2013

const SHARE = 1 << 19; // pixels that are asked for at once: no GPU works on these for so long that a driver gives it up
const TOGETHER = 80; // ms of pictures that are drawn between two waits for the GPU, which take their time too
const ROUNDS = 7;
const PATIENCE = 6000; // ms after which what there is must do

export interface Measured {
  frames: number; // a second
  renderer: string;
}

function rendererOf(gl: WebGL2RenderingContext | WebGLRenderingContext): string {
  const plain: string | null = gl.getParameter(gl.RENDERER);
  const info = plain === 'WebKit WebGL' && gl.getExtension('WEBGL_debug_renderer_info'); // of which Firefox warns
  const name = String((info ? gl.getParameter(info.UNMASKED_RENDERER_WEBGL) : plain) || 'This browser’s GPU');
  return name.length > 90 ? `${name.slice(0, 88)} …` : name;
}

const median = (numbers: readonly number[]): number => [...numbers].sort((a, b) => a - b)[numbers.length >> 1]!;
const breath = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));

// Milliseconds a picture. What `stopped` says ends it early.
async function time(gl: WebGL2RenderingContext | WebGLRenderingContext, scene: Scene, stopped: () => boolean): Promise<number> {
  const pixel = new Uint8Array(4);
  const wait = (): void => gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel); // known when all is drawn
  const round = (pictures: number): number => {
    wait();
    const begun = performance.now();
    for (let i = 0; i < pictures; i++) {
      scene.change('x', 0.5); // searches anew, and shows the same
      while (scene.frame(SHARE)) gl.flush();
    }
    wait();
    return (performance.now() - begun) / pictures;
  };
  const begun = performance.now();
  const cold = round(1); // drivers compile late
  const one = cold > PATIENCE / 2 ? cold : round(1);
  const pictures = Math.min(64, Math.max(1, Math.round(TOGETHER / one)));
  const times = [one];
  while (times.length <= ROUNDS && performance.now() - begun < PATIENCE) {
    await breath();
    if (stopped()) throw new Superseded('Another scene was chosen.');
    times.push(round(pictures));
  }
  return median(times.length > 1 ? times.slice(1) : times);
}

export class Measurement {
  private readonly booths: Booths;
  private fail: (error: Error) => void = () => undefined;

  constructor(module: PageModule, jobs: Jobs, private readonly scene: Scene, colors: () => Colors) {
    this.booths = new Booths(module, jobs, ...SIZE, 1, colors, true, () => this.fail(new SceneError('The graphics context was lost while it was measured.')));
  }

  async run(): Promise<Measured> {
    const { booths, scene } = this;
    try {
      const failed = new Promise<never>((_, reject) => (this.fail = reject));
      await Promise.race([failed, new Promise<void>((resolve) => void booths.play([{
        scene, values: { sites: SITES, family: 'uniform', motion: 0, dots: false },
        drawn: () => resolve(),
        failed: (sentence) => this.fail(new SceneError(sentence)),
      }]))]);
      const milliseconds = await Promise.race([failed, time(booths.gl, scene, () => booths.isClosed)]);
      return { frames: 1000 / milliseconds, renderer: rendererOf(booths.gl) };
    } finally {
      booths.close();
    }
  }

  // At once: another context is about to be opened.
  stop(): void {
    this.booths.close();
    this.fail(new Superseded('Another scene was chosen.'));
  }
}
