/**
 * Approving and denying an edit in the diff editor, and leaving changes out of it. Knows no editor: that is handed in.
 *
 * INVARIANT (nothing by accident): as on a card, an approval counts only half a second after everything was in view, in a
 * focused window. Denying is never delayed.
 *
 * INVARIANT (nothing unseen): each changed line was in view, in a diff that shows lines as they are. What a diff editor
 * cannot show truly, and what carries a risk that stands on the card, is approved there.
 */
import type { ApprovalsHost } from './approvals.ts';
import { ARMING_TIME } from './armingTime.ts';
import { type Change, changesOf, firstUnclear, isUnclear, withoutChanges } from './changes.ts';
import type { Desk } from './desk.ts';
import type { DiffEditor } from './diffEditor.ts';
import { DiffSeen } from './diffSeen.ts';
import { editableInput, withEdit } from './editedInput.ts';
import { type EditorText, editorText } from './editorText.ts';
import type { PickItem } from './editorWindow.ts';
import { headline, isElided, isTooLarge } from './subject.ts';
import type * as wire from './wire.gen.ts';

export interface DiffApprovalHost extends Pick<ApprovalsHost, 't' | 'detail'> {
  tell(level: 'info' | 'warning' | 'error', message: EditorText): void;
  /** Gives those that stay ticked; undefined if it was closed. All are ticked at first but those named. */
  pickMany<T extends PickItem & { picked: boolean }>(items: T[], placeHolder: EditorText): Promise<T[] | undefined>;
  setContext(key: string, value: unknown): void;
  windowFocused(): boolean;
  now(): number;
  /** Shows the card of what waits. */
  showCard(): void;
}

export interface DiffApproval {
  /** Opens the diff of a request, with Approve and Deny in its title bar. */
  open(approval: wire.ApprovalRequest): Promise<void>;
  /** For commands; `resource` is the diff they were called on. */
  approve(resource?: unknown): Promise<void>;
  deny(resource?: unknown): Promise<void>;
  leaveOut(resource?: unknown): Promise<void>;
  /** The editor shows something else, or the window's focus changed. */
  viewChanged(): void;
  /** Requests came or went. */
  approvalsChanged(): void;
}

interface OpenDiff {
  approvalId: string;
  digest: string;
  before: string;
  after: string;
  leftOut: ReadonlySet<number>;
  seen: DiffSeen;
  /** Since when all was seen and the diff stood in a focused window. */
  readySince?: number;
  /** When Approve was pressed last. */
  pressed?: number;
}

const LABEL_LIMIT = 80;
/** Lines; the editor compares longer texts for so long that it shows them without their changes at first. */
const COMPARED_LINES = 5000;

export function createDiffApproval(
  host: DiffApprovalHost,
  editor: Omit<DiffEditor, 'onChange'>,
  desk: () => Pick<Desk, 'approvals' | 'answer'>,
): DiffApproval {
  const diffs = new Map<string, OpenDiff>();
  const answering = new Set<string>();

  const requestOf = ({ approvalId, digest }: OpenDiff): wire.ApprovalRequest | undefined =>
    desk()
      .approvals()
      .find((approval) => approval.approvalId === approvalId && approval.digest === digest);

  /** The diff a command is about, and its request. Shows a message if there is no such diff. */
  function called(resource: unknown): [string, OpenDiff, wire.ApprovalRequest] | undefined {
    const id = editor.idOf(resource);
    const diff = id === undefined ? undefined : diffs.get(id);
    const approval = diff && requestOf(diff);
    if (id !== undefined && diff && approval) return [id, diff, approval];
    host.tell('info', host.t('This diff belongs to no open request; nothing was sent.'));
    return undefined;
  }

  async function show(approval: wire.ApprovalRequest, leftOut: ReadonlySet<number>): Promise<void> {
    const { preview, approvalId, digest } = approval;
    if (preview.kind !== 'diff') return;
    const before = preview.oldText ?? '';
    const whole = preview.operation === 'delete' ? '' : preview.newText;
    const after = withoutChanges(before, whole, leftOut);
    const question = headline(approval, host.t);
    const title =
      leftOut.size === 0
        ? question
        : host.t('{0} ({1} of {2} changes left out)', question, leftOut.size, changesOf(before, whole).length);
    const id = await editor.open(title, preview.path, before, after);
    diffs.set(id, { approvalId, digest, before, after, leftOut, seen: new DiffSeen(changesOf(before, after)) });
    viewChanged();
    approvalsChanged();
  }

  function viewChanged(): void {
    const views = editor.views();
    for (const [id, diff] of diffs) {
      const shown = views.filter((view) => view.id === id);
      if (host.windowFocused()) for (const view of shown) diff.seen.take(view);
      const ready = host.windowFocused() && shown.length > 0 && diff.seen.count === 0;
      diff.readySince = ready ? (diff.readySince ?? host.now()) : undefined;
    }
  }

  function approvalsChanged(): void {
    const open = [...diffs].flatMap(([id, diff]) => {
      const approval = requestOf(diff);
      if (!approval) diffs.delete(id);
      return approval ? [{ resource: editor.resourceOf(id), editable: mayLeaveOut(approval) }] : [];
    });
    host.setContext('countersign.openDiffs', resources(open));
    host.setContext('countersign.editableDiffs', resources(open.filter(({ editable }) => editable)));
  }

  /** Why the request cannot be approved here at all; undefined if it can. */
  function needsCard(id: string, { before, after }: OpenDiff, approval: wire.ApprovalRequest): EditorText | undefined {
    const { preview } = approval;
    if (
      preview.kind !== 'diff' ||
      approval.options.every(({ kind, scope }) => kind !== 'allow_once' || scope !== 'call')
    )
      return host.t('This request is approved on its card.');
    if (approval.risks.length > 0)
      return host.t(
        'This edit carries a risk, which its card names: {0}. Approve it there.',
        approval.risks.join(', '),
      );
    if (
      preview.operation === 'move' ||
      isElided(preview.path) ||
      preview.path.includes('\n') ||
      isUnclear(preview.path)
    )
      return host.t('The path of this edit is shown whole on its card. Approve it there.');
    if (before.split('\n').length + after.split('\n').length > COMPARED_LINES)
      return host.t('This edit is too long for a diff editor. Approve it on its card.');
    const drawing = editor.workspaceDrawing(id);
    if (drawing !== undefined)
      return host.t(
        'The workspace sets `{0}`, which changes how editors show text. Approve the edit on its card.',
        drawing,
      );
    if (!editor.wraps(id)) return host.t('Long lines are not wrapped in this diff. Approve the edit on its card.');
    const line = firstUnclear(before, after, editor.marksBlanks(id));
    return line === undefined
      ? undefined
      : host.t(
          'A diff editor does not show line {0} as it is: it is very long, has hidden or right-to-left characters, or changes only blanks at its ends. Approve the edit on its card.',
          line,
        );
  }

  async function approve(resource?: unknown): Promise<void> {
    const found = called(resource);
    if (!found) return;
    const [id, diff, approval] = found;
    const elsewhere = needsCard(id, diff, approval);
    if (elsewhere !== undefined) {
      if (isTooLarge(approval))
        return host.tell('info', host.t('This edit cannot be shown in full anywhere, so it can only be denied.'));
      host.tell('info', elsewhere);
      return host.showCard();
    }
    // A key that is held down goes on to every change and reads none.
    const repeats = diff.pressed !== undefined && host.now() - diff.pressed < ARMING_TIME;
    diff.pressed = host.now();
    viewChanged();
    const next = diff.seen.next;
    if (next) {
      if (!editor.reveal(id, next.side, next.line)) return toCard();
      return host.tell(
        'info',
        host.t('{0} changed lines were not in view yet; here are the next ones.', diff.seen.count),
      );
    }
    if (repeats || diff.readySince === undefined || host.now() - diff.readySince < ARMING_TIME)
      return host.tell('info', host.t('The diff changed a moment ago; nothing was sent. Press once more.'));
    const option = approval.options.find(
      ({ kind, scope, background }) => kind === 'allow_once' && scope === 'call' && !background,
    );
    const editedInput = diff.leftOut.size > 0 ? withEdit(approval, diff.after) : undefined;
    if (!option || (diff.leftOut.size > 0 && editedInput === undefined)) return toCard();
    await answer(diff, { optionId: option.optionId, ...(editedInput !== undefined && { editedInput }) });
  }

  function toCard(): void {
    host.tell('info', host.t('Not all of this edit is on the screen here. Approve it on its card.'));
    host.showCard();
  }

  async function deny(resource?: unknown): Promise<void> {
    const found = called(resource);
    const option = found?.[2].options.find(({ kind }) => kind === 'reject_once');
    if (found && option) await answer(found[1], { optionId: option.optionId });
  }

  /** Two presses are one answer. */
  async function answer(
    { approvalId, digest }: OpenDiff,
    chosen: { optionId: string; editedInput?: string },
  ): Promise<void> {
    if (answering.has(approvalId)) return;
    answering.add(approvalId);
    try {
      await desk().answer({ approvalId, digest, ...chosen });
    } finally {
      answering.delete(approvalId);
    }
  }

  async function leaveOut(resource?: unknown): Promise<void> {
    const found = called(resource);
    if (!found) return;
    const [, diff, approval] = found;
    const { preview } = approval;
    if (preview.kind !== 'diff' || !mayLeaveOut(approval))
      return host.tell('info', host.t('Changes of this request cannot be left out; approve or deny it as a whole.'));
    const changes = changesOf(preview.oldText ?? '', preview.newText);
    const kept = await host.pickMany(
      changes.map((change, index) => ({
        label: label(host, change),
        detail: editorText((change.added[0] ?? change.removed[0] ?? '').trim(), LABEL_LIMIT),
        picked: !diff.leftOut.has(index),
        index,
      })),
      host.t('Which changes may be made? Those without a tick are left out.'),
    );
    if (!kept) return;
    if (kept.length === 0) return host.tell('info', host.t('Nothing would be left of this edit; deny it instead.'));
    const indexes = new Set(kept.map(({ index }) => index));
    // The request may have ended while the person chose.
    if (requestOf(diff)) await show(approval, new Set([...changes.keys()].filter((index) => !indexes.has(index))));
  }

  return {
    open: (approval) => show(approval, new Set()),
    approve,
    deny,
    leaveOut,
    viewChanged,
    approvalsChanged,
  };
}

/** The rest becomes an edited call, which only the built-in agent's can. */
function mayLeaveOut(approval: wire.ApprovalRequest): boolean {
  const { preview } = approval;
  return (
    preview.kind === 'diff' &&
    editableInput(approval) !== undefined &&
    changesOf(preview.oldText ?? '', preview.newText).length > 1
  );
}

function label(host: Pick<DiffApprovalHost, 't'>, { oldStart, newStart, added, removed }: Change): EditorText {
  return host.t('Line {0}: +{1} −{2}', (added.length > 0 ? newStart : oldStart) + 1, added.length, removed.length);
}

function resources(open: readonly { resource: string | undefined }[]): string[] {
  return open.flatMap(({ resource }) => (resource === undefined ? [] : [resource]));
}
