/**
 * The sound when an agent begins to wait: one short tone, made by Web Audio, since the content policy loads no media. When
 * to play it is attention.ts's. A hidden page plays nothing, and neither does one that was not used yet: the browser would
 * keep the tone back and play it at the first press.
 */

const VOLUME = 0.15;
const LENGTH = 0.35;

export function playSound(): void {
  if (document.visibilityState !== 'visible' || !navigator.userActivation?.hasBeenActive) return;
  const context = new AudioContext();
  const tone = new OscillatorNode(context, { type: 'sine', frequency: 660 });
  const volume = new GainNode(context, { gain: VOLUME });
  // Faded out, since a tone that stops at once ends in a click.
  volume.gain.exponentialRampToValueAtTime(0.001, context.currentTime + LENGTH);
  tone.connect(volume).connect(context.destination);
  tone.addEventListener('ended', () => void context.close(), { once: true });
  tone.start();
  tone.stop(context.currentTime + LENGTH);
}
