// A canvas with a context of WebGL.
import { element } from './element.js';
import { SceneError, type Scene } from './scene.js';

export interface Surface {
  canvas: HTMLCanvasElement;
  gl: WebGL2RenderingContext | WebGLRenderingContext;
  version: 1 | 2;
}

const options = { alpha: false, antialias: false, depth: false, stencil: false, preserveDrawingBuffer: true };

// What a canvas has of the version that is wanted; null: it has none.
export function contextOf(canvas: HTMLCanvasElement, version: 1 | 2): Surface['gl'] | null {
  return canvas.getContext(version === 2 ? 'webgl2' : 'webgl', options) as Surface['gl'] | null;
}

// With the version that is wanted, or with 1 if there is no other and the scene can do with it; else a SceneError.
export function makeSurface(scene: Scene, wanted: 1 | 2): Surface {
  const canvas = element('canvas', {
    tabindex: 0, role: 'application', 'aria-label': `${scene.title} picture`, 'aria-describedby': 'about', 'data-testid': 'canvas',
  });
  if (wanted === 2) {
    const gl = contextOf(canvas, 2);
    if (gl) return { canvas, gl, version: 2 };
  }
  const gl = scene.webgl1 ? contextOf(canvas, 1) : null;
  if (gl) return { canvas, gl, version: 1 };
  throw new SceneError(`${scene.title} draws with WebGL${scene.webgl1 ? '' : ' 2'}, which this browser does not offer here. Perhaps it is switched off, or the graphics driver is blocked.`);
}
