/**
 * How long a request has to stand unchanged before an approval counts, in milliseconds; for the card and the diff editor.
 * Longer than a keystroke or click that was meant for what stood there before, shorter than reading a card.
 */
export const ARMING_TIME = 500;
