// How much work a GPU takes in a slice of a frame, and how long it worked. One slice is with the GPU at a time. Its end, and what
// it took, a timer query tells; where a context has none, a fence tells the end (software GPUs signal fences too early).

const SLICE = 40; // ms that a call of frame() should keep the GPU busy
const PATIENCE = 3000; // ms after which a timer query that says nothing is given up, and all others with it

interface Timer {
  TIME_ELAPSED_EXT: number;
  GPU_DISJOINT_EXT: number;
}

export class Pace {
  share: number;
  private readonly gl: WebGL2RenderingContext | null; // WebGL 1 has neither fences nor these queries
  private timer: Timer | null;
  private query: WebGLQuery | null = null; // of the slice that the GPU has
  private fence: WebGLSync | null = null; // the same
  private counted = false; // the slice belongs to the picture that is timed
  private begun = 0;
  private part = 1; // of its share that the last call did
  private idle = Infinity; // ms that even the least work takes until its fence is seen
  private total = 0; // ms of the picture so far
  private known: boolean; // all of the picture's slices were timed

  constructor(
    context: WebGL2RenderingContext | WebGLRenderingContext,
    private readonly limits: { first: number; least: number; most: number },
  ) {
    this.share = limits.first;
    this.gl = typeof WebGL2RenderingContext !== 'undefined' && context instanceof WebGL2RenderingContext ? context : null;
    this.timer = this.gl && (context.getExtension('EXT_disjoint_timer_query_webgl2') as Timer | null);
    this.known = this.timer !== null;
  }

  // A new picture begins.
  restart(): void {
    this.total = 0;
    this.known = this.timer !== null;
  }

  // Milliseconds that the GPU worked on the picture; null: this context does not tell.
  get elapsed(): number | null {
    return this.known ? this.total : null;
  }

  // What the call that runs did was only a part of its share; NaN: nothing that the share measures.
  did(part: number): void {
    this.part = part;
  }

  // Runs one call and marks its end. `work` says whether there is more. `counted`: it belongs to the picture that is timed.
  slice(counted: boolean, work: (share: number) => boolean): boolean {
    const { gl, timer } = this;
    this.begun = performance.now();
    this.counted = counted;
    this.part = 1;
    this.query = gl && timer && gl.createQuery();
    if (this.query) gl!.beginQuery(timer!.TIME_ELAPSED_EXT, this.query);
    try {
      return work(this.share);
    } finally {
      if (this.query) gl!.endQuery(timer!.TIME_ELAPSED_EXT);
      if (gl) {
        this.fence = gl.fenceSync(gl.SYNC_GPU_COMMANDS_COMPLETE, 0);
        gl.flush();
      } else {
        this.learn(performance.now() - this.begun); // without fences the calls that read are all there is to see
      }
    }
  }

  // Whether the GPU has done what it was given. Learns from how long that took.
  ready(): boolean {
    const { gl } = this;
    if (!gl || !this.fence || gl.isContextLost()) return true;
    const passed = performance.now() - this.begun;
    if (this.query && passed > PATIENCE && gl.getSyncParameter(this.fence, gl.SYNC_STATUS) === gl.SIGNALED &&
        !gl.getQueryParameter(this.query, gl.QUERY_RESULT_AVAILABLE)) {
      this.timer = null;
      this.known = false;
      gl.deleteQuery(this.query);
      this.query = null;
    }
    const ended = this.query
      ? (gl.getQueryParameter(this.query, gl.QUERY_RESULT_AVAILABLE) as boolean)
      : gl.getSyncParameter(this.fence, gl.SYNC_STATUS) === gl.SIGNALED;
    if (!ended) return false;
    gl.deleteSync(this.fence);
    this.fence = null;
    if (!this.query) {
      this.idle = Math.min(this.idle * 1.05, passed);
      this.learn(Math.max(4, passed - 0.8 * this.idle));
      return true;
    }
    const cost = (gl.getQueryParameter(this.query, gl.QUERY_RESULT) as number) / 1e6;
    gl.deleteQuery(this.query);
    this.query = null;
    if (gl.getParameter(this.timer!.GPU_DISJOINT_EXT)) {
      this.known &&= !this.counted;
    } else {
      if (this.counted) this.total += cost;
      this.learn(Math.max(0.5, cost));
    }
    return true;
  }

  private learn(cost: number): void {
    if (Number.isNaN(this.part)) return;
    const factor = Math.min(2, Math.max(0.35, (this.part * SLICE) / cost));
    if (factor > 1 || cost > SLICE) this.share = Math.min(this.limits.most, Math.max(this.limits.least, this.share * factor));
  }
}
