/** The commands of the palette: name and what each does. Those about a card only ask the webview, whose guards hold. */
import { canProbe } from './agentProbe.ts';
import type { Attention } from './attention.ts';
import type { Confirmations } from './confirmations.ts';
import type { Desk } from './desk.ts';
import type { DiffApproval } from './diffApproval.ts';
import { type EditorText, editorText, type Texts } from './editorText.ts';
import type { PickItem } from './editorWindow.ts';
import type { Keys } from './keys.ts';
import type { Ledger } from './ledger.ts';
import type { CardAction, Page } from './messages.ts';
import type { Panel } from './panel.ts';
import type { Server } from './server.ts';
import type { AgentView, Mode } from './wire.gen.ts';

export interface CommandsHost extends Texts {
  run(command: string, ...args: unknown[]): void;
  pick<T extends PickItem>(items: T[], placeHolder: EditorText): Promise<T | undefined>;
  showLog(): void;
  tell(level: 'info' | 'warning' | 'error', message: EditorText): void;
}

/** Webviews take about a second on a busy machine. */
const WEBVIEW_TIMEOUT = 5000;
const NAME_LIMIT = 80;

export function commandTable(
  host: CommandsHost,
  server: Pick<Server, 'restart'>,
  panel: Pick<Panel, 'postToView' | 'postToLast' | 'postToTab' | 'whenReady' | 'openInTab'>,
  attention: Attention,
  confirmations: Confirmations,
  desk: Pick<Desk, 'agents' | 'handle'>,
  ledger: Pick<Ledger, 'newChain'>,
  showSandbox: () => Promise<void>,
  keys: Pick<Keys, 'set'>,
  diffs: Pick<DiffApproval, 'approve' | 'deny' | 'leaveOut'>,
  importRules: () => Promise<void>,
): Record<string, (resource?: unknown) => unknown> {
  const openView = async (): Promise<boolean> => {
    host.run('countersign.chat.focus');
    return panel.whenReady(WEBVIEW_TIMEOUT);
  };
  // Without a webview there is no card that the person has seen: they are shown what waits first. Of several, the one that
  // had the focus before the palette is meant.
  const act = (action: CardAction) => async () => {
    if (!panel.postToLast({ type: 'act', action }) && action !== 'stop') await attention.review();
  };
  const openAndAct = (action: CardAction) => async () => {
    if (!panel.postToTab({ type: 'act', action }) && (await openView())) panel.postToView({ type: 'act', action });
  };
  const show = (page: Page) => async () => {
    if (await openView()) panel.postToView({ type: 'show', page });
  };
  const pickAgent = async (agents: readonly AgentView[], question: EditorText): Promise<AgentView | undefined> => {
    const items = agents.map((agent) => ({
      label: editorText(agent.agentName, NAME_LIMIT),
      ...(agent.bypass && { description: host.t('permissions bypassed') }),
      agent,
    }));
    if (items.length === 0) host.tell('info', host.t('There is no such agent, or the server is still starting.'));
    return items.length < 2 ? items[0]?.agent : (await host.pick(items, question))?.agent;
  };
  return {
    'countersign.openChat': show('chat'),
    'countersign.newChat': openAndAct('newChat'),
    'countersign.openInTab': () => panel.openInTab(),
    'countersign.approve': act('approve'),
    'countersign.deny': act('deny'),
    'countersign.allowForChat': act('allowChat'),
    'countersign.approveDiff': (resource) => diffs.approve(resource),
    'countersign.denyDiff': (resource) => diffs.deny(resource),
    'countersign.leaveOutChanges': (resource) => diffs.leaveOut(resource),
    'countersign.focusPending': () => attention.review(),
    'countersign.tryNotification': () => attention.tryNotification(),
    'countersign.nextApproval': openAndAct('next'),
    'countersign.previousApproval': openAndAct('previous'),
    'countersign.stop': act('stop'),
    'countersign.showChats': show('chats'),
    'countersign.showHistory': show('history'),
    'countersign.showShells': show('shells'),
    'countersign.manageRules': show('rules'),
    'countersign.importRules': () => importRules(),
    'countersign.restartServer': () => server.restart(),
    'countersign.showLog': () => host.showLog(),
    async 'countersign.bypass'() {
      const agent = await pickAgent(
        desk.agents().filter(({ bypass }) => !bypass),
        host.t('Bypass the permissions of which agent?'),
      );
      if (agent) await desk.handle({ type: 'bypassStart', agentName: agent.agentName });
    },
    async 'countersign.endBypass'() {
      const agent = await pickAgent(
        desk.agents().filter(({ bypass }) => bypass),
        host.t('Turn off bypass for which agent?'),
      );
      if (agent) await desk.handle({ type: 'bypassEnd', agentName: agent.agentName });
    },
    async 'countersign.probeAgent'() {
      const agent = await pickAgent(desk.agents().filter(canProbe), host.t('Probe which agent?'));
      if (agent) await desk.handle({ type: 'agentProbe', agentName: agent.agentName });
    },
    'countersign.openSession': () => desk.handle({ type: 'agentSessions' }),
    'countersign.addAgent': () => desk.handle({ type: 'agentAdd' }),
    'countersign.reviewSettings': () => confirmations.review(),
    'countersign.setModelKey': () => keys.set(),
    'countersign.newLedgerChain': () => ledger.newChain(),
    'countersign.showSandbox': () => showSandbox(),
    async 'countersign.setMode'() {
      const picked = await host.pick(modes(host.t), host.t('Mode of this chat'));
      if (picked && !panel.postToLast({ type: 'chooseMode', mode: picked.mode }) && (await openView()))
        panel.postToView({ type: 'chooseMode', mode: picked.mode });
    },
  };
}

function modes(t: CommandsHost['t']): { label: EditorText; detail: EditorText; mode: Mode }[] {
  return [
    { mode: 'plan', label: t('Plan'), detail: t('Reads and proposes; changes nothing') },
    { mode: 'default', label: t('Default'), detail: t('Reads in the workspace; asks before anything else') },
    {
      mode: 'acceptEdits',
      label: t('Accept edits'),
      detail: t('Edits files in the workspace; asks before commands and network'),
    },
    { mode: 'auto', label: t('Auto'), detail: t('Does everything your rules do not stop') },
    { mode: 'ask', label: t('Ask every time'), detail: t('Asks before every call, reading too') },
    { mode: 'dontAsk', label: t("Don't ask"), detail: t('Never asks: what is not allowed is denied') },
  ];
}
