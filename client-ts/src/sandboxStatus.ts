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
/** Characters that fit in a row of the editor's list. */
const ROW_LENGTH = 88;

export async function showSandboxStatus(link: Pick<Link, 'request'>, host: SandboxHost): Promise<void> {
  let status: wire.SandboxStatus;
  try {
    status = await link.request('sandbox/status', {});
  } catch (error) {
    const reason = editorText(host.fromServer(asServerError(error).message), SENTENCE_LIMIT);
    return host.tell('error', host.t('The sandbox was not looked at: {0}', reason));
  }
  const rows = status.available ? status.holds : [status.reason ?? ''];
  await host.pick(
    rows.map((row) => asItem(host.fromServer(row))),
    headline(status, host.t),
  );
}

/** A sentence that one row would cut off goes on below, from its last clause that fits. */
function asItem(sentence: string): PickItem {
  const end = Math.max(...['; ', ', '].map((mark) => sentence.lastIndexOf(mark, ROW_LENGTH)));
  if (sentence.length <= ROW_LENGTH || end < 0) return { label: editorText(sentence, SENTENCE_LIMIT) };
  return {
    label: editorText(sentence.slice(0, end + 1), SENTENCE_LIMIT),
    detail: editorText(sentence.slice(end + 2), SENTENCE_LIMIT),
  };
}

function headline(status: wire.SandboxStatus, t: SandboxHost['t']): EditorText {
  if (!status.available)
    return status.mode === 'off'
      ? t('There is no sandbox here. It is not turned on either (sandbox.mode is off).')
      : t('There is no sandbox here, so every command asks (sandbox.mode is on).');
  if (status.mode === 'off')
    return t('A sandbox is available and sandbox.mode is off: only commands that just read run in it. It holds:');
  return status.mode === 'all'
    ? t('Commands and hosted agents run in the sandbox. It holds:')
    : t('Commands run in the sandbox. It holds:');
}
