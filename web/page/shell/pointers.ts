// Mouse, touch and pen as one kind of event, in pixels of the drawing buffer; two fingers pinch.
import type { ScenePointer } from './scene.js';

const CLICK = 6; // CSS pixels that a click may move

export function listen(canvas: HTMLCanvasElement, use: (event: ScenePointer) => boolean): void {
  const fingers = new Map<number, { x: number; y: number }>();
  let travelled = 0;
  let multiple = false; // more than one finger has been down since the first

  const place = (event: MouseEvent): { x: number; y: number } => {
    const box = canvas.getBoundingClientRect();
    const ratio = canvas.width / (box.width || 1);
    return { x: (event.clientX - box.left) * ratio, y: (event.clientY - box.top) * ratio };
  };
  const make = (type: ScenePointer['type'], event: MouseEvent, more: Partial<ScenePointer> = {}): ScenePointer => ({
    type, ...place(event), dx: 0, dy: 0, held: fingers.size > 0, scale: 1,
    touch: (event as PointerEvent).pointerType === 'touch',
    shift: event.shiftKey || event.ctrlKey || event.metaKey || event.altKey,
    ...more,
  });
  const middle = (): { x: number; y: number; apart: number } => {
    const [a, b] = [...fingers.values()] as [{ x: number; y: number }, { x: number; y: number }];
    return { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2, apart: Math.hypot(a.x - b.x, a.y - b.y) || 1 };
  };

  canvas.addEventListener('pointerdown', (event) => {
    if (event.button !== 0) return;
    canvas.setPointerCapture(event.pointerId);
    fingers.set(event.pointerId, place(event));
    if (fingers.size === 1) {
      travelled = 0;
      multiple = false;
      use(make('down', event));
    } else if (!multiple) {
      multiple = true;
      use(make('cancel', event));
    }
  });
  canvas.addEventListener('pointermove', (event) => {
    const before = fingers.get(event.pointerId);
    const now = place(event);
    if (!before) {
      if (fingers.size === 0) use(make('move', event));
      return;
    }
    if (fingers.size === 2) {
      const old = middle();
      fingers.set(event.pointerId, now);
      const fresh = middle();
      use(make('pinch', event, { x: fresh.x, y: fresh.y, dx: fresh.x - old.x, dy: fresh.y - old.y, scale: fresh.apart / old.apart }));
      return;
    }
    fingers.set(event.pointerId, now);
    const dx = now.x - before.x;
    const dy = now.y - before.y;
    travelled += Math.hypot(dx, dy);
    if (!multiple) use(make('move', event, { dx, dy }));
  });
  const end = (event: PointerEvent): void => {
    if (!fingers.delete(event.pointerId) || fingers.size) return;
    if (multiple) return;
    const gone = event.type === 'pointercancel';
    use(make(gone ? 'cancel' : 'up', event));
    const ratio = canvas.width / (canvas.clientWidth || 1);
    if (!gone && travelled <= CLICK * ratio) use(make('click', event));
  };
  canvas.addEventListener('pointerup', end);
  canvas.addEventListener('pointercancel', end);
  canvas.addEventListener('pointerleave', (event) => {
    if (!fingers.size) use(make('leave', event));
  });
  canvas.addEventListener('wheel', (event) => {
    const step = event.deltaY * (event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? 400 : 1);
    const scale = Math.exp(-Math.max(-240, Math.min(240, step)) * 0.0022);
    if (use(make('wheel', event, { scale }))) event.preventDefault();
  }, { passive: false });
  // Only of a mouse: a finger that rests and the menu key ask for the browser's menu as well.
  let right = false;
  canvas.addEventListener('pointerdown', (event) => (right = event.button === 2 && event.pointerType === 'mouse'));
  canvas.addEventListener('contextmenu', (event) => {
    if (fingers.size) event.preventDefault();
    if (fingers.size || !right) return;
    right = false;
    if (use(make('menu', event))) event.preventDefault();
  });
}
