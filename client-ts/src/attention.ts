/**
 * Telling the person that something waits: badge, status bar, a notification when they look elsewhere, and a quick pick
 * where the webview cannot be shown. Drawn from the desk's open approvals each time; keeps no queue of its own.
 */
import type { Desk } from './desk.ts';
import { block, type EditorText, editorText, type Modals, ownText, paragraphs } from './editorText.ts';
import type { PickItem } from './editorWindow.ts';
import type { LinkState } from './link.ts';
import type { Panel } from './panel.ts';
import { headline, isTooLarge, subjectText } from './subject.ts';
import type { Lack, SystemNotification, SystemNotifier } from './systemNotifications.ts';
import type * as wire from './wire.gen.ts';

export interface AttentionHost extends Modals {
  showStatus(text: EditorText, tooltip: EditorText, command: string, urgent: boolean): void;
  /** Shown while an agent acts without asking; undefined hides it. */
  showBypass(text: EditorText | undefined, tooltip: EditorText, command: string): void;
  setContext(key: string, value: unknown): void;
  notify(message: EditorText, ...buttons: EditorText[]): Promise<string | undefined>;
  pick<T extends PickItem>(items: T[], placeHolder: EditorText): Promise<T | undefined>;
  windowFocused(): boolean;
  /** `away`, `always` or `never`. */
  notifications(): string;
  notificationSound(): boolean;
  /** By setting. */
  systemNotifications(): boolean;
  systemNotifier: SystemNotifier;
  /** Brings the window to the front, where the editor can. */
  raiseWindow(): void;
  tell(level: 'info', message: EditorText): void;
  run(command: string): void;
}

export interface Attention {
  approvalsChanged(): void;
  stateChanged(state: LinkState, message?: string): void;
  ledgerChanged(status: Pick<wire.LedgerStatus, 'state'>): void;
  /** Shows the view with the pending card focused; where that cannot be done, asks by quick pick. */
  review(): Promise<void>;
  /** Says how a person who looks elsewhere hears of what waits, and shows a notification of that kind. */
  tryNotification(): Promise<void>;
}

/** Webviews take about a second on a busy machine. */
const WEBVIEW_TIMEOUT = 5000;
const NAME_LIMIT = 80;
/** Of an agent's name in the status bar. */
const STATUS_NAME_LIMIT = 30;

export function createAttention(
  host: AttentionHost,
  desk: Pick<Desk, 'approvals' | 'agents' | 'questions' | 'postponed' | 'answer'>,
  panel: Pick<Panel, 'setBadge' | 'isVisible' | 'whenReady' | 'postToView' | 'postToVisible' | 'showCardInTab'>,
): Attention {
  let state: LinkState = 'stopped';
  let problem: string | undefined;
  let ledgerBroken = false;
  const announced = new Set<string>();
  /** Agents whose notification stands unanswered. */
  const notified = new Set<string>();
  /** Notifications of the operating system that stand, by agent. */
  const outside = new Map<string, SystemNotification>();
  /** Agents that a sound was played for, until all that they wait with is answered. */
  const sounded = new Set<string>();

  function approvalsChanged(): void {
    const waiting = desk.approvals();
    const questions = desk.questions();
    const names = [...new Set([...waiting, ...questions].map(({ agentName }) => agentName))];
    const words = waitingWords(waiting.length, questions.length);
    const tooltip = names.length > 0 ? host.t('{0} ({1})', words, names.join(', ')) : words;
    const total = waiting.length + questions.length;
    panel.setBadge(total, tooltip);
    host.setContext('countersign.waiting', total > 0);
    showStatus(waiting.length, questions.length, names, tooltip);
    showBypass();
    // Answered all: what it asks next is news, whether the last notification was closed or not.
    for (const names of [notified, sounded])
      for (const name of names)
        if (![...waiting, ...questions].some(({ agentName }) => agentName === name)) names.delete(name);
    for (const [name, notification] of outside) if (!notified.has(name)) takeBack(name, notification);
    for (const approval of waiting) if (!approval.postponed && !announced.has(approval.approvalId)) announce(approval);
    for (const question of questions) if (!announced.has(question.elicitationId)) announceQuestion(question);
    const open = new Set([...waiting.map((one) => one.approvalId), ...questions.map((one) => one.elicitationId)]);
    for (const id of announced) if (!open.has(id)) announced.delete(id);
  }

  function waitingWords(approvals: number, questions: number): EditorText {
    if (questions === 0)
      return approvals === 1 ? host.t('1 approval waits for you') : host.t('{0} approvals wait for you', approvals);
    if (approvals === 0)
      return questions === 1 ? host.t('1 question waits for you') : host.t('{0} questions wait for you', questions);
    return host.t('Waiting for you: approvals {0}, questions {1}', approvals, questions);
  }

  function showStatus(waiting: number, questions: number, names: readonly string[], tooltip: EditorText): void {
    if (state === 'stopped' && problem)
      host.showStatus(
        ownText('$(shield) $(warning)'),
        host.t('Countersign is not running: {0}', problem),
        'countersign.restartServer',
        true,
      );
    else if (state === 'starting')
      host.showStatus(
        ownText('$(shield) $(loading~spin)'),
        host.t('Countersign is starting'),
        'countersign.openChat',
        false,
      );
    else if (ledgerBroken)
      host.showStatus(
        ownText('$(shield) $(warning)'),
        host.t('The ledger is damaged, so only reads run'),
        'countersign.newLedgerChain',
        true,
      );
    else if (questions > 0)
      host.showStatus(statusWords(waiting, questions, names), tooltip, 'countersign.focusPending', true);
    else if (waiting > 0)
      host.showStatus(
        statusWords(waiting, questions, names),
        tooltip,
        'countersign.focusPending',
        waiting > desk.postponed().size,
      );
    else
      host.showStatus(
        ownText('$(shield)'),
        host.t('Countersign: nothing waits for you'),
        'countersign.openChat',
        false,
      );
  }

  /** How many wait, and which agent it is that waits, if it is one alone. */
  function statusWords(waiting: number, questions: number, [name, ...others]: readonly string[]): EditorText {
    const total = waiting + questions;
    if (name === undefined || others.length > 0) {
      if (questions > 0) return host.t('$(shield) {0} waiting', total);
      return host.t('$(shield) {0} approvals', waiting);
    }
    const agent = editorText(name, STATUS_NAME_LIMIT);
    if (questions > 0) return host.t('$(shield) {0}: {1} waiting', agent, total);
    return waiting === 1
      ? host.t('$(shield) {0}: 1 approval', agent)
      : host.t('$(shield) {0}: {1} approvals', agent, waiting);
  }

  function showBypass(): void {
    const names = desk
      .agents()
      .filter((agent) => agent.bypass)
      .map((agent) => agent.agentName);
    host.setContext('countersign.bypassing', names.length > 0);
    const text =
      names.length === 0
        ? undefined
        : names.length === 1
          ? host.t('$(warning) {0}: permissions bypassed', editorText(names[0]!, NAME_LIMIT))
          : host.t('$(warning) {0} agents: permissions bypassed', names.length);
    host.showBypass(
      text,
      host.t('Acts without asking you: {0}. Press to turn that off.', names.join(', ')),
      'countersign.endBypass',
    );
  }

  /** One notification for each agent that waits, and none for what the person can see. It never approves. */
  function announce(approval: wire.ApprovalRequest): void {
    const { agentName } = approval;
    if (!mayNotify(approval.approvalId, approval)) return;
    const review = host.t('Review');
    const deny = host.t('Deny');
    const toast = async (): Promise<void> => {
      const pressed = await host.notify(about(approval), review, deny);
      notified.delete(agentName);
      if (pressed === review) return reviewOne(approval);
      if (pressed === deny) return denyOne(approval);
    };
    void notify(agentName, () => reviewOne(approval), toast);
  }

  /** It leads to the question and answers nothing. */
  function announceQuestion({ elicitationId, agentName, threadId }: wire.ElicitationRequest): void {
    if (!mayNotify(elicitationId, { agentName, threadId })) return;
    const show = host.t('Show');
    const toast = async (): Promise<void> => {
      const pressed = await host.notify(host.t('{0} asks a question', editorText(agentName, NAME_LIMIT)), show);
      notified.delete(agentName);
      const open = desk.questions().some((question) => question.elicitationId === elicitationId);
      if (pressed === show && open) await review();
    };
    void notify(agentName, review, toast);
  }

  /**
   * Outside a window that has no focus, where the desktop can; it names the agent and nothing of what it wants. Where that
   * one ends without a click, the editor's is there for it.
   */
  async function notify(agentName: string, lead: () => Promise<void>, toast: () => Promise<void>): Promise<void> {
    const notification = host.windowFocused() || !host.systemNotifications() ? undefined : showOutside(agentName);
    if (!notification) return toast();
    outside.set(agentName, notification);
    const clicked = await notification.clicked;
    // Taken back, since everything was answered meanwhile.
    if (outside.get(agentName) !== notification) return;
    outside.delete(agentName);
    if (!clicked) return toast();
    notified.delete(agentName);
    host.raiseWindow();
    return lead();
  }

  function showOutside(agentName: string): SystemNotification | undefined {
    return host.systemNotifier.show(host.t('{0} waits for you', editorText(agentName, NAME_LIMIT)), host.t('Review'));
  }

  function takeBack(agentName: string, notification: SystemNotification): void {
    outside.delete(agentName);
    notification.close();
  }

  async function tryNotification(): Promise<void> {
    const { found, takesClicks } = host.systemNotifier;
    if (host.notifications() === 'never')
      return host.tell(
        'info',
        host.t('Notifications are off in your settings; badge and status bar say what waits for you.'),
      );
    if (!host.systemNotifications())
      return host.tell(
        'info',
        host.t('The editor shows notifications: those of the operating system are off in your settings.'),
      );
    if ('lack' in found) return host.tell('info', lackWords(found.lack));
    host.systemNotifier.show(host.t('This is how Countersign tells that an agent waits for you'), host.t('Review'));
    host.tell(
      'info',
      (await takesClicks())
        ? host.t(
            'The operating system shows notifications while this window has no focus ({0}); a click on one leads to the card.',
            found.program,
          )
        : host.t(
            'The operating system shows notifications while this window has no focus ({0}); it does not pass clicks on, so the editor shows one with buttons, too.',
            found.program,
          ),
    );
  }

  function lackWords(lack: Lack): EditorText {
    const words: Record<Lack, () => EditorText> = {
      remote: () =>
        host.t('The editor shows notifications, because Countersign runs on another machine than this window.'),
      browser: () => host.t('The editor shows notifications, because this window is a page of a browser.'),
      platform: () =>
        host.t(
          'The editor shows notifications: Countersign can use those of the operating system on Linux and macOS only.',
        ),
      desktop: () =>
        host.t(
          'The editor shows notifications, because it was started without a desktop: neither DISPLAY nor WAYLAND_DISPLAY is set.',
        ),
      program: () =>
        host.t(
          'The editor shows notifications, because the program that shows those of the operating system is missing: install notify-send (libnotify).',
        ),
    };
    return words[lack]();
  }

  function mayNotify(id: string, { agentName, threadId }: { agentName: string; threadId: string }): boolean {
    announced.add(id);
    sound(agentName, threadId);
    const wanted = host.notifications();
    const seen = panel.isVisible(threadId) && host.windowFocused();
    if (wanted === 'never' || (wanted !== 'always' && seen)) return false;
    // One that stands there already leads to all that its agent waits with.
    if (notified.has(agentName)) return false;
    notified.add(agentName);
    return true;
  }

  /** Whatever notifications are shown. Only the webview can play one, so a hidden one plays none. */
  function sound(agentName: string, threadId: string): void {
    if (!host.notificationSound() || host.windowFocused() || !panel.isVisible(threadId) || sounded.has(agentName))
      return;
    sounded.add(agentName);
    panel.postToVisible({ type: 'sound' });
  }

  function about(approval: wire.ApprovalRequest): EditorText {
    return host.t('{0}: {1}', editorText(approval.agentName, NAME_LIMIT), headline(approval, host.t));
  }

  async function denyOne(approval: wire.ApprovalRequest): Promise<void> {
    const option = approval.options.find((one) => one.kind === 'reject_once');
    if (option)
      await desk.answer({ approvalId: approval.approvalId, digest: approval.digest, optionId: option.optionId });
  }

  /** This one; if it was answered meanwhile, the next of its agent. */
  async function reviewOne({ approvalId, agentName }: wire.ApprovalRequest): Promise<void> {
    const open = desk.approvals();
    const approval =
      open.find((one) => one.approvalId === approvalId) ??
      open.find((one) => one.agentName === agentName && !one.postponed);
    if (approval) await show([approval.threadId], approval);
  }

  async function review(): Promise<void> {
    await show([...desk.approvals(), ...desk.questions()].map(({ threadId }) => threadId));
  }

  /** What waits in these chats, or this one request. */
  async function show(threads: string[], approval?: wire.ApprovalRequest): Promise<void> {
    if (panel.showCardInTab(new Set(threads), approval?.approvalId)) return;
    host.run('countersign.chat.focus');
    if (await panel.whenReady(WEBVIEW_TIMEOUT))
      return panel.postToView({
        type: 'act',
        action: 'focus',
        ...(approval && { approvalId: approval.approvalId }),
      });
    await ask(approval ? [approval] : desk.approvals());
  }

  /** Without a webview: which one, and then the whole subject in a modal. */
  async function ask(approvals: readonly wire.ApprovalRequest[]): Promise<void> {
    const items = approvals.map((approval) => ({
      label: headline(approval, host.t),
      description: editorText(approval.agentName, NAME_LIMIT),
      detail: editorText(subjectText(approval), 200),
      approval,
    }));
    if (items.length === 0) return;
    const picked = items.length === 1 ? items[0] : await host.pick(items, host.t('Which request?'));
    if (!picked) return;
    const { approval } = picked;
    const subject = subjectText(approval);
    const approve = host.t('Approve');
    const deny = host.safeButton('deny');
    const whole = block(subject).rest === 0 && !isTooLarge(approval);
    // An approval that is kept for the chat says so on its card.
    const option = approval.options.find(
      ({ kind, scope, background }) => kind === 'allow_once' && scope === 'call' && !background,
    );
    const detail = whole
      ? paragraphs(
          host.detail('{0}\n\n{1}', block(subject), host.fromServer(approval.reason)),
          approval.risks.length > 0 &&
            host.detail('Risks:\n{0}', block(approval.risks.map((risk) => host.fromServer(risk)).join('\n'))),
        )
      : host.detail(
          '{0}\n\nToo long to be shown whole here, so it can only be approved in the chat view.',
          block(subject),
        );
    const pressed = await host.choose(about(approval), detail, deny, ...(whole && option ? [approve] : []));
    if (pressed === deny) return denyOne(approval);
    if (pressed === approve && whole && option)
      await desk.answer({ approvalId: approval.approvalId, digest: approval.digest, optionId: option.optionId });
  }

  return {
    approvalsChanged,
    review,
    tryNotification,
    stateChanged(next, message) {
      state = next;
      problem = message;
      if (next !== 'running') ledgerBroken = false;
      approvalsChanged();
    },
    ledgerChanged(status) {
      ledgerBroken = status.state === 'broken';
      approvalsChanged();
    },
  };
}
