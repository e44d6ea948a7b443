// How much work a GPU takes in a slice of a frame, and how long it worked: fences and timer queries.

const SLICE = 40; // ms that a call of frame() should keep the GPU busy

interface Timer {
  TIME_ELAPSED_EXT: number;
  GPU_DISJOINT_EXT: number;
}

export class Pace {
  share: number;
  private fence: WebGLSync | null = null;
  private begun = 0;
  private part = 1; // of its share that the last call did
  private idle = Infinity; // ms that even the least work takes until its fence is seen
  private readonly gl2: WebGL2RenderingContext | null;
  private readonly timer: Timer | null;
  private readonly pending: WebGLQuery[] = []; // of this picture
  private known = 0; // of those whose time was learned from
  private nanoseconds = 0;
  private open: WebGLQuery | null = null;

  constructor(
    gl: WebGL2RenderingContext | WebGLRenderingContext,
    private readonly limits: { first: number; least: number; most: number },
  ) {
    this.share = limits.first;
    this.gl2 = typeof WebGL2RenderingContext !== 'undefined' && gl instanceof WebGL2RenderingContext ? gl : null;
    this.timer = this.gl2 ? (gl.getExtension('EXT_disjoint_timer_query_webgl2') as Timer | null) : null;
  }

  // A new picture begins: what was measured belonged to another.
  restart(): void {
    for (const query of this.pending) this.gl2!.deleteQuery(query);
    this.pending.length = 0;
    this.known = 0;
    this.nanoseconds = 0;
  }

  // Whether the GPU has done what it was given. Learns from how long that took.
  ready(): boolean {
    if (!this.fence) return true;
    const gl = this.gl2!;
    if (gl.getSyncParameter(this.fence, gl.SYNC_STATUS) !== gl.SIGNALED && !gl.isContextLost()) return false;
    gl.deleteSync(this.fence);
    this.fence = null;
    this.learn(performance.now() - this.begun);
    return true;
  }

  // Runs one call and marks its end. `work` says whether there is more. `timed`: its time counts.
  slice(timed: boolean, work: (share: number) => boolean): boolean {
    const gl = this.gl2;
    let more = false;
    this.begun = performance.now();
    if (timed && gl && this.timer) {
      this.open = gl.createQuery();
      if (this.open) gl.beginQuery(this.timer.TIME_ELAPSED_EXT, this.open);
    }
    try {
      this.part = 1;
      more = work(this.share);
    } finally {
      if (gl && this.timer && this.open) {
        gl.endQuery(this.timer.TIME_ELAPSED_EXT);
        this.pending.push(this.open);
        this.open = null;
      }
    }
    if (gl) {
      this.fence = gl.fenceSync(gl.SYNC_GPU_COMMANDS_COMPLETE, 0);
      gl.flush();
    } else {
      this.learn(performance.now() - this.begun); // without fences the calls that read are all there is to see
    }
    return more;
  }

  // What the call that runs did was only a part of its share; NaN: nothing that the share measures.
  did(part: number): void {
    this.part = part;
  }

  // From what a timer query says, or else from the time until the fence was seen, less what passes in any case.
  private learn(milliseconds: number): void {
    this.idle = Math.min(this.idle * 1.05, milliseconds);
    const seen = milliseconds - 0.8 * this.idle;
    const late = seen > 4 * SLICE; // whatever the query says
    const cost = this.timer && !late ? this.last() : Math.max(4, seen);
    if (cost === undefined || (Number.isNaN(this.part) && !late)) return;
    const factor = Math.min(1.6, Math.max(0.35, ((this.part || 1) * SLICE) / cost));
    if (factor > 1 || cost > SLICE) this.share = Math.min(this.limits.most, Math.max(this.limits.least, this.share * factor));
  }

  private last(): number | undefined {
    const gl = this.gl2;
    const query = this.pending[this.pending.length - 1];
    if (!gl || !query || this.known === this.pending.length || !gl.getQueryParameter(query, gl.QUERY_RESULT_AVAILABLE)) return undefined;
    this.known = this.pending.length;
    return (gl.getQueryParameter(query, gl.QUERY_RESULT) as number) / 1e6;
  }

  // Milliseconds that the GPU worked on this picture; undefined: not yet known; null: this context does not tell.
  elapsed(): number | null | undefined {
    const gl = this.gl2;
    if (!gl || !this.timer) return null;
    if (gl.getParameter(this.timer.GPU_DISJOINT_EXT)) {
      this.restart();
      return null;
    }
    while (this.pending.length && gl.getQueryParameter(this.pending[0]!, gl.QUERY_RESULT_AVAILABLE)) {
      const query = this.pending.shift()!;
      this.known = Math.max(0, this.known - 1);
      this.nanoseconds += gl.getQueryParameter(query, gl.QUERY_RESULT) as number;
      gl.deleteQuery(query);
    }
    return this.pending.length ? undefined : this.nanoseconds / 1e6;
  }
}
