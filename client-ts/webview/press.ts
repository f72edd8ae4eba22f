/**
 * When a press began. A click or key that was begun before an approval could count was meant for what stood there
 * before, however long it was held.
 */
import type { ReactiveController, ReactiveControllerHost } from 'lit';

export class Press implements ReactiveController {
  /** When the press that is still held began. */
  private began: number | undefined;
  private readySince: number | undefined;

  constructor(host: ReactiveControllerHost) {
    host.addController(this);
  }

  /** Whether an approving input counts now, as far as its press goes. */
  get counts(): boolean {
    return this.readySince !== undefined && (this.began === undefined || this.began >= this.readySince);
  }

  /** Told after every drawing whether an approval could count. */
  follow(ready: boolean): void {
    if (!ready) this.readySince = undefined;
    else this.readySince ??= performance.now();
  }

  hostConnected(): void {
    for (const type of ['pointerdown', 'keydown'] as const) window.addEventListener(type, this.onBegin, true);
    for (const type of ['pointerup', 'pointercancel', 'keyup', 'blur'] as const)
      window.addEventListener(type, this.onEnd, true);
  }

  hostDisconnected(): void {
    for (const type of ['pointerdown', 'keydown'] as const) window.removeEventListener(type, this.onBegin, true);
    for (const type of ['pointerup', 'pointercancel', 'keyup', 'blur'] as const)
      window.removeEventListener(type, this.onEnd, true);
  }

  private readonly onBegin = (event: Event): void => {
    if (!(event instanceof KeyboardEvent && event.repeat)) this.began = performance.now();
  };

  /** The click comes after the release, in the same task. */
  private readonly onEnd = (): void => {
    const { began } = this;
    setTimeout(() => {
      if (this.began === began) this.began = undefined;
    }, 0);
  };
}
