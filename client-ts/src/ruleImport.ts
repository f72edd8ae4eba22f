/**
 * Permissions that were kept for another program: the server translates the file that a person chose, and what they tick
 * is saved as rules.
 *
 * INVARIANT (asked again): nothing is ticked at first, and no rule is saved before the person saw all of the chosen ones,
 * whole, in a modal that the extension drew.
 */
import { type Question, scopeWords } from './approvals.ts';
import { block, editorText, type EditorText, type Texts } from './editorText.ts';
import type { PickItem } from './editorWindow.ts';
import { asServerError, type Link } from './link.ts';
import { shortPath } from './subject.ts';
import type * as wire from './wire.gen.ts';

export interface RuleImportHost extends Texts {
  /** Files of other programs that are there. */
  filesToImport(): Promise<{ product: string; path: string }[]>;
  /** Gives the path of a file; undefined if none was chosen. */
  chooseFile(): Promise<string | undefined>;
  pick<T extends PickItem>(items: T[], placeHolder: EditorText): Promise<T | undefined>;
  surroundings(): { workspace?: string; home?: string };
  pickMany<T extends PickItem & { picked: boolean }>(items: T[], placeHolder: EditorText): Promise<T[] | undefined>;
  confirm(question: Question): Promise<boolean>;
  tell(level: 'info' | 'warning' | 'error', message: EditorText): void;
}

/** What a row shows of one entry. */
const ROW_LIMIT = 200;

export async function importRules(link: Pick<Link, 'request'>, host: RuleImportHost): Promise<void> {
  const file = await whichFile(host);
  if (file === undefined) return;
  try {
    const found = await link.request('rule/import', { file });
    const ticked = (
      await host.pickMany(
        rowsOf(found, host),
        host.t('Which rules are to be added? Rows marked “left out” cannot be carried over.'),
      )
    )?.flatMap(({ rule }) => rule ?? []);
    if (!ticked || ticked.length === 0) return;
    const words = block(
      ticked.map((one) => `${one.list}: ${one.rule} (${scopeWords(host, one.scopes[0])})`).join('\n'),
    );
    if (words.rest > 0) return host.tell('info', host.t('These are too many to be shown at once; tick fewer of them.'));
    const yes = await host.confirm({
      message: host.t('Add these rules?'),
      detail: host.detail('{0}\n\nWhatever an allow rule matches will run without asking you.', words),
      button: host.t('Add Rules'),
    });
    if (!yes) return;
    for (const { list, rule, scopes } of ticked)
      if (scopes[0] !== undefined) await link.request('rule/add', { list, rule, scope: scopes[0] });
    host.tell('info', host.t('Rules added: {0}', ticked.length));
  } catch (error) {
    host.tell('error', editorText(host.fromServer(asServerError(error).message), ROW_LIMIT));
  }
}

/** One that was found in its usual place, or another. */
async function whichFile(host: RuleImportHost): Promise<string | undefined> {
  const found = await host.filesToImport();
  if (found.length === 0) return host.chooseFile();
  const { workspace, home } = host.surroundings();
  const items: (PickItem & { path?: string })[] = found.map((one) => ({
    label: editorText(shortPath(one.path, workspace, home), ROW_LIMIT),
    description: editorText(one.product, ROW_LIMIT),
    path: one.path,
  }));
  const picked = await host.pick(
    [...items, { label: host.t('Another file…') }],
    host.t('Take over the permissions of which file?'),
  );
  return picked && (picked.path ?? host.chooseFile());
}

type Row = PickItem & { picked: boolean; rule?: wire.ImportedRule };

function rowsOf({ rules, leftOut }: wire.RuleImportResult, host: Texts): Row[] {
  const savable = rules.filter(({ scopes }) => scopes.length > 0);
  return [
    ...savable.map((rule) => ({
      label: host.t('{0}: {1}', rule.list, editorText(rule.rule, ROW_LIMIT)),
      description: scopeWords(host, rule.scopes[0]),
      detail:
        rule.problem === undefined
          ? host.t('from {0}', editorText(rule.original, ROW_LIMIT))
          : host.t(
              'from {0}; {1}',
              editorText(rule.original, ROW_LIMIT),
              editorText(host.fromServer(rule.problem), ROW_LIMIT),
            ),
      picked: false,
      rule,
    })),
    ...rules
      .filter((rule) => !savable.includes(rule))
      .map(({ original }) => ({
        label: host.t('left out: {0}', editorText(original, ROW_LIMIT)),
        detail: host.t('An allow rule is kept in this workspace, which is not trusted.'),
        picked: false,
      })),
    ...leftOut.map(({ original, reason }) => ({
      label: host.t('left out: {0}', editorText(original, ROW_LIMIT)),
      detail: editorText(host.fromServer(reason), ROW_LIMIT),
      picked: false,
    })),
  ];
}
