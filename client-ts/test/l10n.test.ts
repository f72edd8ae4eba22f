/** Texts for translators, and the languages there are: nothing is missing, and nothing but the words differs. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { describe, expect, it } from 'vitest';

import { BUNDLE, bundle } from '../l10n.mjs';

const CLIENT = path.join(import.meta.dirname, '..');
const texts = (file: string): Record<string, string> =>
  JSON.parse(readFileSync(path.join(CLIENT, file), 'utf8')) as Record<string, string>;
/** Values, icons and code in a text, which every language holds as they are. */
const kept = (text: string): string[] => (text.match(/\{\w+\}|\$\(\w+\)|`|\n/g) ?? []).toSorted();

it('every string that a person reads is in the bundle for translators; `npm run l10n` writes it', () => {
  expect(readFileSync(BUNDLE, 'utf8')).toBe(bundle());
});

describe.each(['de', 'ja'])('the language %s', (language) => {
  it.each([
    ['l10n/bundle.l10n.json', `l10n/bundle.l10n.${language}.json`],
    ['package.nls.json', `package.nls.${language}.json`],
    ['l10n/reasons.json', `l10n/reasons.${language}.json`],
  ])('has every text of %s, with its values', (english, translated) => {
    const [from, to] = [texts(english), texts(translated)];
    expect(Object.keys(to)).toEqual(Object.keys(from));
    const wrong = Object.entries(from).filter(
      ([key, text]) => !to[key]?.trim() || kept(to[key]).join() !== kept(text).join(),
    );
    expect(wrong).toEqual([]);
    // Names, units and texts that hold nothing but values are the same everywhere; sentences are not.
    expect(Object.entries(from).filter(([key, text]) => text.split(' ').length > 3 && to[key] === text)).toEqual([]);
  });
});

it.each(['de', 'ja'])('code in the server’s texts stands in %s as it is, and so do the values in it', (language) => {
  const code = (text: string): string => (text.match(/`[^`]*`/g) ?? []).toSorted().join();
  const translated = Object.entries(texts(`l10n/reasons.${language}.json`));
  expect(translated.filter(([template, translation]) => code(translation) !== code(template))).toEqual([]);
});

it('each language has a bundle and texts of the manifest, and the manifest names no text that there is not', () => {
  const languages = (folder: string, name: RegExp): string[] =>
    readdirSync(path.join(CLIENT, folder)).flatMap((file) => name.exec(file)?.[1] ?? []);
  expect(languages('l10n', /^bundle\.l10n\.(\w+)\.json$/)).toEqual(languages('.', /^package\.nls\.(\w+)\.json$/));
  expect(languages('l10n', /^reasons\.(\w+)\.json$/)).toEqual(languages('l10n', /^bundle\.l10n\.(\w+)\.json$/));
  const named = [...readFileSync(path.join(CLIENT, 'package.json'), 'utf8').matchAll(/"%([\w.]+)%"/g)].map(
    ([, name]) => name ?? '',
  );
  expect([...new Set(named)].toSorted()).toEqual(Object.keys(texts('package.nls.json')).toSorted());
});

it('every title, description and picture of the manifest has words that are translated', () => {
  const found: string[] = [];
  const look = (value: unknown, name: string): void => {
    if (typeof value === 'string' && ['title', 'description', 'altText'].includes(name)) found.push(value);
    else if (typeof value === 'object' && value !== null)
      for (const [key, inner] of Object.entries(value)) look(inner, key);
  };
  look(JSON.parse(readFileSync(path.join(CLIENT, 'package.json'), 'utf8')), '');
  expect(found.length).toBeGreaterThan(40);
  // The product's name is the same in every language.
  expect(found.filter((text) => text !== 'Countersign' && !/^%[\w.]+%$/.test(text))).toEqual([]);
});

it('every setting is described by texts that are translated', () => {
  const WORDS = new Set(['description', 'markdownDescription', 'enumDescriptions', 'deprecationMessage']);
  const found: string[] = [];
  const look = (value: unknown, described: boolean): void => {
    if (typeof value === 'string' && described) found.push(value);
    if (typeof value !== 'object' || value === null) return;
    for (const [key, inner] of Object.entries(value)) look(inner, Array.isArray(value) ? described : WORDS.has(key));
  };
  const manifest = JSON.parse(readFileSync(path.join(CLIENT, 'package.json'), 'utf8')) as {
    contributes: { configuration: { properties: Record<string, unknown> } };
  };
  look(manifest.contributes.configuration.properties, false);
  expect(found.length).toBeGreaterThanOrEqual(Object.keys(manifest.contributes.configuration.properties).length);
  expect(found.filter((text) => !/^%[\w.]+%$/.test(text))).toEqual([]);
});
