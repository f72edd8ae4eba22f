/** What is registered, and how the parts are joined. The editor calls `activate` once, after start-up. */
import type { ExtensionContext } from 'vscode';

import { createAttention } from './attention.ts';
import { commandTable } from './commands.ts';
import { createConfirmations } from './confirmations.ts';
import { createDesk } from './desk.ts';
import { createDiffApproval } from './diffApproval.ts';
import { createDiffEditor } from './diffEditor.ts';
import { createEditorModels } from './editorModels.ts';
import { editorTools } from './editorTools.ts';
import { createHost } from './host.ts';
import { createKeys } from './keys.ts';
import { createLedger } from './ledger.ts';
import { createPanel } from './panel.ts';
import { importRules } from './ruleImport.ts';
import { showSandboxStatus } from './sandboxStatus.ts';
import { createServer, type Server } from './server.ts';
import { createSettings } from './settings.ts';

let running: Server | undefined;

/** Commands that ask the server although no view is open. */
const ASKS_THE_SERVER: ReadonlySet<string> = new Set(
  [
    'bypass',
    'endBypass',
    'probeAgent',
    'openSession',
    'addAgent',
    'importRules',
    'reviewSettings',
    'newLedgerChain',
    'showSandbox',
    'setMode',
    'setModelKey',
  ].map((name) => `countersign.${name}`),
);

export function activate(context: ExtensionContext): void {
  const host = createHost(context);
  let begun: Promise<void> | undefined;
  /**
   * Starts the server, once; what starts it again is `restart`. A window in which nobody uses Countersign makes no
   * environment for it: it is started with the window only where it is prepared.
   */
  const begin = (): Promise<void> => (begun ??= server.start());
  const server: Server = createServer(
    {
      ...host,
      // The view has a banner with the same words and buttons, and a toast would lie over its composer.
      complain: async (message, ...buttons) => (panel.isVisible() ? undefined : host.complain(message, ...buttons)),
      initializationOptions: () => ({
        ...settings.initial(),
        ...ledger.anchor(),
        storage: host.workspaceStorage,
        client: {
          settingsUpdate: true,
          confirm: true,
          ownPaths: host.ownPaths(),
          secrets: true,
          lm: true,
          elicitation: true,
          editor: true,
          terminal: true,
          ripgrep: host.ripgrep(),
          network: host.network(),
        },
      }),
    },
    {
      connected: () => {
        settings.send();
        void desk.refresh().catch((error: unknown) => host.log.error(String(error)));
      },
      stateChanged(state, message) {
        desk.connectionChanged({ state, message });
        attention.stateChanged(state, message);
      },
      told: {
        'tool/approvalRequest': (approval) => desk.approvalRequested(approval),
        'tool/approvalResolved': (resolved) => desk.approvalResolved(resolved),
        'elicitation/request': (question) => desk.questionAsked(question),
        'elicitation/resolved': (resolved) => desk.questionResolved(resolved),
        'thread/update': (update) => desk.threadUpdated(update),
        'thread/session': (session) => desk.sessionChanged(session),
        'thread/titled': (titled) => desk.threadTitled(titled),
        'agent/status': (agent) => desk.agentChanged(agent),
        'shell/update': (shell) => desk.shellChanged(shell),
        'ledger/changed': (status) => {
          ledger.changed(status);
          attention.ledgerChanged(status);
          desk.ledgerChanged(status);
        },
        'ledger/head': (head) => ledger.moved(head),
        'settings/unconfirmed': (params) => confirmations.unconfirmed(params),
      },
      updateSetting: (params) => settings.update(params),
      readSecret: (params) => keys.read(params),
      editorModels: createEditorModels(host.t('The built-in agent of Countersign is set to this model.')),
      editorTools,
    },
  );
  const settings = createSettings(server, host);
  const keys = createKeys(server, host);
  const ledger = createLedger(server, host);
  const confirmations = createConfirmations(server, host);
  const panel = createPanel(
    host,
    (intent) => {
      if (intent.type === 'ready') void begin();
      void desk.handle(intent);
    },
    () => desk.snapshot(),
  );
  const desk = createDesk(
    server,
    {
      ...host,
      restartServer: () => void server.restart(),
      newLedgerChain: () => ledger.newChain(),
      enterKey: (agentName, key) => keys.enter(agentName, key),
      openDiff: (approval) => diffs.open(approval),
    },
    (message) => panel.post(message),
    () => {
      attention.approvalsChanged();
      diffs.approvalsChanged();
    },
  );
  const attention = createAttention(host, desk, panel);
  const diffEditor = createDiffEditor();
  const diffs = createDiffApproval(
    { ...host, now: () => performance.now(), showCard: () => void attention.review() },
    diffEditor,
    () => desk,
  );
  const trustOrSettingsChanged = (): void => {
    settings.send();
    desk.surroundingsChanged();
  };

  context.subscriptions.push(
    host.registerView('countersign.chat', panel),
    host.onTabRestored((tab, state) => panel.restoreTab(tab, state)),
    diffEditor,
    diffEditor.onChange(() => diffs.viewChanged()),
    ...Object.entries(
      commandTable(
        host,
        server,
        panel,
        attention,
        confirmations,
        desk,
        ledger,
        () => showSandboxStatus(server, host),
        keys,
        diffs,
        () => importRules(server, host),
      ),
    ).map(([name, run]) =>
      host.onCommand(name, async (resource) => {
        if (ASKS_THE_SERVER.has(name)) await begin();
        return run(resource);
      }),
    ),
    host.watchSettingsFile(confirmations),
    host.onSettingsChanged(trustOrSettingsChanged),
    // Restricted settings are read again a moment later, which comes as a settings change of its own.
    host.onTrusted(() => {
      trustOrSettingsChanged();
      void confirmations.review();
    }),
    host.onPlaceChanged(() => desk.placeChanged()),
    host.onSaved((paths) => server.notify('editor/saved', { paths })),
    host.onWindowFocus((focused) => panel.post({ type: 'windowFocus', focused })),
  );
  running = server;
  void server.isPrepared().then((prepared) => (prepared ? begin() : undefined));
}

export async function deactivate(): Promise<void> {
  await running?.stop();
}
