/**
 * How the editor reaches the network, by the person's own settings: a workspace may not lead keys through its proxy.
 */
import type * as wire from './wire.gen.ts';

/** `own` gives a setting of `http` as the person's user settings have it, undefined where they do not. */
export function networkOf(own: (name: string) => unknown): wire.NetworkSettings {
  const proxy = own('proxySupport') === 'off' ? undefined : own('proxy');
  const noProxy = own('noProxy');
  return {
    ...(typeof proxy === 'string' && proxy && { proxy }),
    noProxy: Array.isArray(noProxy) ? noProxy.filter((host) => typeof host === 'string') : [],
    strictTls: own('proxyStrictSSL') !== false,
  };
}
