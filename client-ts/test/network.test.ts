import { expect, it } from 'vitest';

import { networkOf } from '../src/network.ts';

const PROXY = 'http://me:secret@proxy.example:8080';

it.each([
  ['nothing is set', {}, { noProxy: [], strictTls: true }],
  ['a proxy', { proxy: PROXY, proxySupport: 'override' }, { proxy: PROXY, noProxy: [], strictTls: true }],
  ['a proxy that is off', { proxy: PROXY, proxySupport: 'off' }, { noProxy: [], strictTls: true }],
  ['no proxy', { proxy: '' }, { noProxy: [], strictTls: true }],
  [
    'hosts without it, and certificates that are not checked',
    { proxy: PROXY, noProxy: ['a.example', 7], proxyStrictSSL: false },
    { proxy: PROXY, noProxy: ['a.example'], strictTls: false },
  ],
  ['values of another type', { proxy: 7, noProxy: 'x', proxyStrictSSL: 'no' }, { noProxy: [], strictTls: true }],
])('%s', (_, settings: Record<string, unknown>, network) => {
  expect(networkOf((name) => settings[name])).toEqual(network);
});
