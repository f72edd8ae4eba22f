/**
 * What a person says of an agent's label: what lowered it in this workspace shall no longer count.
 *
 * INVARIANT (asked again): asked in a modal that the extension drew; the button that Enter presses changes nothing.
 */
import type { Modals } from './editorText.ts';
import type { Link } from './link.ts';
import type * as wire from './wire.gen.ts';

export async function resetLabel(link: Pick<Link, 'request'>, host: Modals, agent: wire.AgentView): Promise<void> {
  const reset = host.t('Forget It');
  const pressed = await host.choose(
    host.t('Forget why {0} counts as unguarded?', agent.agentName),
    host.detail(
      '{0}\n\nIts label will say again what was measured, until the same happens once more.',
      host.fromServer(agent.detail ?? ''),
    ),
    host.safeButton('changeNothing'),
    reset,
  );
  // INVARIANT (asked again)
  if (pressed === reset) await link.request('agent/resetLabel', { agentName: agent.agentName });
}
