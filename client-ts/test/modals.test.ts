/** Modals: one function shows them all, and the button that Enter presses widens and loses nothing. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { beforeEach, describe, expect, it, vi } from 'vitest';

const shown = vi.hoisted(() => [] as unknown[][]);
vi.mock('vscode', () => ({ window: { showWarningMessage: async (...given: unknown[]) => void shown.push(given) } }));

import { createTexts, type DialogText, type EditorText, type SafeButton, type SafeKind } from '../src/editorText.ts';
import { showModal } from '../src/editorWindow.ts';

const { t, detail, safeButton } = createTexts((message) => message);
const SOURCES = path.join(import.meta.dirname, '../src');
/** What a default button may say. A new one is entered here by somebody who thought about Enter. */
const SAFE: Record<SafeKind, string> = {
  changeNothing: 'Change Nothing',
  deny: 'Deny',
  keepIgnoring: 'Keep Ignoring',
};

beforeEach(() => void shown.splice(0));

describe('the first button of a modal, which Enter presses', () => {
  it.each(Object.entries(SAFE) as [SafeKind, string][])('can be %s', async (kind, label) => {
    await showModal(t('Begin?'), detail('More.'), safeButton(kind), t('Begin'));
    expect(shown).toEqual([['Begin?', { modal: true, detail: 'More.' }, label, 'Begin']]);
  });

  it('cannot be any other text: it would not compile', () => {
    const choose = (_message: EditorText, _detail: DialogText, safe: SafeButton, ..._acting: EditorText[]) => safe;
    // @ts-expect-error -- the button that acts must not come first
    expect(choose(t('Begin?'), detail('More.'), t('Begin'))).toBe('Begin');
    // @ts-expect-error -- nor may there be none
    expect(choose(t('Begin?'), detail('More.'))).toBeUndefined();
    // @ts-expect-error -- nor one that the table does not list
    expect(() => safeButton('begin')).toThrow();
  });
});

it('one function shows every modal, and it takes a safe button first', () => {
  const modal = /\bmodal\s*:\s*true\b/g;
  const found = readdirSync(SOURCES).flatMap((name) =>
    [...readFileSync(path.join(SOURCES, name), 'utf8').matchAll(modal)].map(() => name),
  );
  // Other files cannot call the editor's messages at all (lint/editorText.mjs).
  expect(found).toEqual(['editorWindow.ts']);
});

it('whoever asks in a modal does so through a parameter that only a safe button fits', () => {
  const declared = /\b(?:choose|showModal)\(\s*message: EditorText,\s*detail: DialogText,\s*(\w+: \w+)/g;
  const types = readdirSync(SOURCES).flatMap((name) =>
    [...readFileSync(path.join(SOURCES, name), 'utf8').matchAll(declared)].map(([, type]) => `${name} ${type}`),
  );
  expect(types.toSorted()).toEqual([
    'editorText.ts safe: SafeButton',
    'editorWindow.ts safe: SafeButton',
    'host.ts safe: SafeButton',
  ]);
});
