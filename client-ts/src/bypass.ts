/**
 * Bypass of one agent's permissions, as a person turns it on and off: from a card, from the palette, from the composer.
 * Whether it counts is the server's to say.
 *
 * INVARIANT (asked again): bypass is turned on only after the person chose how long it lasts in a modal that the
 * extension drew; the button that Enter presses changes nothing. Turning it off narrows, and needs no question.
 */
import type { Modals } from './editorText.ts';
import type { Link } from './link.ts';
import type * as wire from './wire.gen.ts';

/** How long the person wants bypass to last; undefined if they want none. */
export async function askBypass(host: Modals, agentName: string): Promise<wire.BypassScope | undefined> {
  const workspace = host.t('Bypass Permissions');
  const session = host.t('Bypass Until Window Closes');
  const pressed = await host.choose(
    host.t('Bypass permissions for {0}?', agentName),
    host.detail(
      '{0} will act in this workspace without asking you, from now on. Outside the workspace it may read and write too. Protected files, keys in your home folder, and your own ask and deny rules still stop it.\n\n“Bypass Permissions” is kept in .vscode/settings.json as bypassPermissions. “Bypass Until Window Closes” is kept nowhere.',
      agentName,
    ),
    host.safeButton('changeNothing'),
    session,
    workspace,
  );
  return pressed === workspace ? 'workspace' : pressed === session ? 'session' : undefined;
}

/** Turns it on for an agent, once the person has said how long. */
export async function startBypass(link: Pick<Link, 'request'>, host: Modals, agentName: string): Promise<void> {
  // INVARIANT (asked again)
  const scope = await askBypass(host, agentName);
  if (scope) await link.request('agent/setBypass', { agentName, scope, on: true });
}

/** Turns it off at once, where it was turned on. */
export async function endBypass(link: Pick<Link, 'request'>, agent: wire.AgentView): Promise<void> {
  await link.request('agent/setBypass', {
    agentName: agent.agentName,
    scope: agent.bypassScope ?? 'workspace',
    on: false,
  });
}
