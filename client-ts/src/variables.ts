/**
 * Environment variables that commands do not get because they look like secrets, and the one press that passes one of
 * them in this workspace. Which are withheld is the server's to say.
 *
 * INVARIANT (asked again): a variable is passed only after the person said yes in a modal that the extension drew; the
 * button that Enter presses changes nothing.
 */
import type { Modals } from './editorText.ts';
import type { Link } from './link.ts';

/** Longer names are in no environment that a person could judge. */
const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;

export async function passVariable(link: Pick<Link, 'request'>, host: Modals, name: string): Promise<void> {
  if (!NAME.test(name)) return;
  const pass = host.t('Pass in This Workspace');
  const pressed = await host.choose(
    host.t('Pass {0} to commands?', name),
    host.detail(
      'Every command in this workspace gets the value of {0} from now on, also one that runs without asking you, and can send it wherever it reaches. The name is kept in .vscode/settings.json as countersign.shell.env.pass; the value is not.',
      name,
    ),
    host.safeButton('changeNothing'),
    pass,
  );
  if (pressed === pass) await link.request('environment/pass', { name });
}
