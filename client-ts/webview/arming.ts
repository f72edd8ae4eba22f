/** Half a second in which a card takes no approval: after it appeared, changed, or the window got the focus back. */
import type { ReactiveController, ReactiveControllerHost } from 'lit';

import { ARMING_TIME } from '../src/armingTime.ts';

export class Arming implements ReactiveController {
  private elapsed = false;
  private focused = true;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly host: ReactiveControllerHost) {
    host.addController(this);
  }

  get armed(): boolean {
    return this.elapsed && this.focused;
  }

  hostConnected(): void {
    this.restart();
  }

  hostDisconnected(): void {
    clearTimeout(this.timer);
    this.elapsed = false;
  }

  restart(): void {
    clearTimeout(this.timer);
    this.elapsed = false;
    this.timer = setTimeout(() => {
      this.elapsed = true;
      this.host.requestUpdate();
    }, ARMING_TIME);
  }

  /** Disarmed while the window is without focus; anew half a second after it came back. */
  follow(focused: boolean): void {
    if (focused && !this.focused) this.restart();
    this.focused = focused;
  }
}
