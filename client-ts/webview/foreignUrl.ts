/** An address that an agent wants a person to open: whole, with what is to be known of its host. Opening it is not done here. */
import { html, type TemplateResult } from 'lit';

import type * as wire from '../src/wire.gen.ts';
import { icon, revealed } from './drawn.ts';
import { t } from './l10n.ts';

export const foreignUrl = (url: string, notes: wire.UrlNote[] = []): TemplateResult =>
  html`<p class="question-url" data-testid="question-url"><code>${revealed(url)}</code></p>
    ${notes.map((note) => html`<p class="question-warning">${icon('warning')}<span>${note === 'internationalName' ? t('The name of this host is written with letters that can look like others (xn--). Make sure that it is the one you expect.') : t('The connection is not encrypted: others can read what you enter there.')}</span></p>`)}`;
