import { readFileSync } from 'node:fs';

import { expect, it } from 'vitest';

import { BUNDLE, bundle } from '../l10n.mjs';

it('every string that a person reads is in the bundle for translators; `npm run l10n` writes it', () => {
  expect(readFileSync(BUNDLE, 'utf8')).toBe(bundle());
});
