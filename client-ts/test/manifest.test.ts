/** The manifest of the extension: what it names exists, and nothing is offered where it does nothing. */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { expect, it } from 'vitest';

import { commandTable } from '../src/commands.ts';

const CLIENT = path.join(import.meta.dirname, '..');
const manifest = JSON.parse(readFileSync(path.join(CLIENT, 'package.json'), 'utf8')) as {
  categories: string[];
  icon: string;
  galleryBanner: object;
  contributes: {
    commands: { command: string; title: string; category: string; icon?: string; enablement?: string }[];
    menus: Record<string, { command: string; when?: string }[]>;
    walkthroughs: { steps: { id: string; description: string; media: { image: Record<string, string> } }[] }[];
    configuration: { properties: Record<string, object> };
  };
};
const { commands, menus, walkthroughs, configuration } = manifest.contributes;
const texts = JSON.parse(readFileSync(path.join(CLIENT, 'package.nls.json'), 'utf8')) as Record<string, string>;
const names = commands.map(({ command }) => command);

it('every command has a handler, a category and an icon', () => {
  const handled = Object.keys(
    (commandTable as (...parts: unknown[]) => object)({ t: (text: string) => text }, {}, {}, {}, {}, {}, {}),
  );
  expect(names.toSorted()).toEqual(handled.toSorted());
  expect(commands.filter(({ category, icon }) => category !== 'Countersign' || !icon)).toEqual([]);
});

it('every entry of a menu names a command and says when', () => {
  for (const entries of Object.values(menus))
    for (const { command, when } of entries)
      expect([names.includes(command), when !== undefined]).toEqual([true, true]);
  // What needs a waiting card, or a bypass, is in the palette only then.
  const hidden = menus['commandPalette']!.map(({ command }) => command);
  expect(
    commands
      .filter(({ enablement }) => enablement)
      .map(({ command }) => command)
      .filter((name) => !hidden.includes(name)),
  ).toEqual([]);
});

it('the walkthrough leads to commands, settings and pictures that exist', () => {
  const steps = walkthroughs.flatMap((walkthrough) => walkthrough.steps);
  expect(steps.map(({ id }) => id)).toEqual(['python', 'agent', 'approve', 'rules', 'history']);
  for (const { description, media } of steps) {
    const words = texts[description.slice(1, -1)]!;
    for (const [, command, query] of words.matchAll(/\(command:([\w.]+)(?:\?([^)]*))?\)/g)) {
      if (query === undefined) expect(names).toContain(command);
      else
        for (const setting of JSON.parse(decodeURIComponent(query)) as string[])
          expect(configuration.properties).toHaveProperty([setting]);
    }
    for (const image of Object.values(media.image)) expect(existsSync(path.join(CLIENT, image))).toBe(true);
  }
});

it('it is found where chats are looked for', () => {
  expect(manifest.categories).toContain('Chat');
  expect(existsSync(path.join(CLIENT, manifest.icon))).toBe(true);
  expect(manifest.galleryBanner).toBeDefined();
});
