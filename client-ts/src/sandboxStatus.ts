/** Shows what the sandbox of this machine holds, or why there is none, in the server's sentences. */
import { editorText, type EditorText, type Texts } from './editorText.ts';
import type { PickItem } from './editorWindow.ts';
import { asServerError, type Link } from './link.ts';
import type * as wire from './wire.gen.ts';

export interface SandboxHost extends Texts {
  pick<T extends PickItem>(items: T[], placeHolder: EditorText): Promise<T | undefined>;
  tell(level: 'info' | 'warning' | 'error', message: EditorText): void;
}

/** What a row shows of one sentence. */
const SENTENCE_LIMIT = 400;

export async function showSandboxStatus(link: Pick<Link, 'request'>, host: SandboxHost): Promise<void> {
  let status: wire.SandboxStatus;
  try {
    status = await link.request('sandbox/status', {});
  } catch (error) {
    const reason = editorText(asServerError(error).message, SENTENCE_LIMIT);
    return host.tell('error', host.t('The sandbox was not looked at: {0}', reason));
  }
  const rows = status.available ? status.holds : [status.reason ?? ''];
  await host.pick(
    rows.map((sentence) => ({ label: editorText(sentence, SENTENCE_LIMIT) })),
    headline(status, host.t),
  );
}

function headline(status: wire.SandboxStatus, t: SandboxHost['t']): EditorText {
  if (!status.available)
    return status.mode === 'off'
      ? t('There is no sandbox here. It is not turned on either (sandbox.mode is off).')
      : t('There is no sandbox here, so every command asks (sandbox.mode is on).');
  if (status.mode === 'off')
    return t('A sandbox is available and sandbox.mode is off: only commands that just read run in it. It holds:');
  return t('Commands run in the sandbox. It holds:');
}
