/** The anchor is stored and returned; a broken chain is reported once, and replaced only after a modal is confirmed. */
import { beforeEach, describe, expect, it } from 'vitest';

import { createTexts } from '../src/editorText.ts';
import { createLedger } from '../src/ledger.ts';
import type * as wire from '../src/wire.gen.ts';

const head: wire.LedgerHead = { chainId: 'c1', seq: 7, hash: 'h7' };
const broken: wire.LedgerStatus = { state: 'broken', rows: 9, head: 'h9', brokenAt: 3, reason: 'row 3 was changed' };
let status: wire.LedgerStatus;
let kept: wire.LedgerHead | undefined;
let press: string | undefined;
/** The button that Enter presses, whatever it says. */
const ENTER = 'enter';
let said: string[];
let asked: [string, unknown][];

beforeEach(() => ([status, kept, press, said, asked] = [broken, undefined, undefined, [], []]));

const make = () =>
  createLedger(
    {
      async request(method: string, params: unknown): Promise<never> {
        asked.push([method, params]);
        return status as never;
      },
    },
    {
      ...createTexts((message) => message),
      choose: async (message, detail, safe) => (
        said.push(`modal ${message} | ${detail}`),
        press === ENTER ? safe : press
      ),
      notify: async (message) => void said.push(`note ${message}`),
      tell: (level, message) => void said.push(`${level} ${message}`),
      ledgerAnchor: () => kept,
      keepLedgerAnchor: (next) => void (kept = next),
    },
  );

it('keeps the end of the chain and hands it over at the next start', () => {
  expect(make().anchor()).toEqual({});
  make().moved(head);
  expect(make().anchor()).toEqual({ ledgerAnchor: head });
});

it('tells of a broken chain once, with the reason', () => {
  const ledger = make();
  for (const next of [{ ...broken, state: 'checking' as const }, broken, broken]) ledger.changed(next);
  expect(said).toHaveLength(1);
  expect(said[0]).toContain('row 3 was changed');
});

describe('a new chain', () => {
  it.each([
    ['begins after a press', 'Begin a New Chain', ['ledger/status', 'ledger/newChain']],
    ['does not begin where the modal was closed', undefined, ['ledger/status']],
    ['does not begin by Enter', ENTER, ['ledger/status']],
  ])('%s', async (_, pressed, methods) => {
    press = pressed;
    await make().newChain();
    expect(said[0]).toContain('row 3 was changed');
    expect(asked.map(([method]) => method)).toEqual(methods);
  });

  it('is not offered for a chain that holds', async () => {
    [status, press] = [{ ...broken, state: 'whole' }, 'Begin a New Chain'];
    await make().newChain();
    expect(asked.map(([method]) => method)).toEqual(['ledger/status']);
    expect(said).toEqual(['info The chain of the ledger is not broken.']);
  });
});
