/** Quiets what would warn only because a test is no browser: Lit's development build, and axe's look for a canvas. */
(globalThis as { litIssuedWarnings?: Set<string> }).litIssuedWarnings = new Set(['dev-mode']);
if ('HTMLCanvasElement' in globalThis) HTMLCanvasElement.prototype.getContext = () => null;
