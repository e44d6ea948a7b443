// The picture over the whole screen: as the reader asks, and by itself on a phone that lies on its side.

const lying = matchMedia('(orientation: landscape) and (max-height: 480px) and (pointer: coarse)');

export class Full {
  private on = false;

  constructor(private readonly button: HTMLElement) {}

  follow(): void {
    this.button.addEventListener('click', () => {
      this.set(!this.on);
      // Where an element may have the screen it gets that, too; elsewhere the window must do.
      if (this.on) document.documentElement.requestFullscreen?.().catch(() => undefined);
      else if (document.fullscreenElement) void document.exitFullscreen();
    });
    document.addEventListener('fullscreenchange', () => {
      if (!document.fullscreenElement && !lying.matches) this.set(false);
    });
    lying.addEventListener('change', () => this.set(lying.matches || document.fullscreenElement !== null));
    this.set(lying.matches);
  }

  private set(on: boolean): void {
    this.on = on;
    document.body.classList.toggle('full', on);
    this.button.textContent = on ? 'Leave full screen' : 'Full screen';
  }
}
