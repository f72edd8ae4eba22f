/**
 * oxlint rules for the invariant of src/editorText.ts: only editorWindow.ts calls the surfaces of the editor that show
 * text, only editorText.ts makes the types that they take, and what counts as our own text is a literal.
 */
const SURFACES = new Set([
  'showInformationMessage',
  'showWarningMessage',
  'showErrorMessage',
  'showQuickPick',
  'createQuickPick',
  'showInputBox',
  'createInputBox',
  'withProgress',
  'withScmProgress',
  'setStatusBarMessage',
  'createStatusBarItem',
  'createTreeView',
  'registerTreeDataProvider',
  'TreeItem',
  'MarkdownString',
  'Hover',
  'registerHoverProvider',
  'registerCompletionItemProvider',
  'registerCodeLensProvider',
  'registerInlayHintsProvider',
  'registerDocumentLinkProvider',
  'createDiagnosticCollection',
  'createTerminal',
  'createWebviewPanel',
  'createTextEditorDecorationType',
  'createCommentController',
  'createSourceControl',
  'createTestController',
  'createLanguageStatusItem',
  'registerFileDecorationProvider',
  'createChatParticipant',
]);
/** Commands of the editor that show a text handed to them. */
const SHOWING_COMMANDS = new Set([
  'vscode.diff',
  'vscode.changes',
  'markdown.showPreview',
  'markdown.api.render',
  'simpleBrowser.show',
  'workbench.action.openWalkthrough',
]);
const BRANDS = new Set(['EditorText', 'DialogText', 'Block', 'SafeButton']);
/** Functions that take a literal of ours first. */
const LITERAL_FIRST = new Set(['t', 'detail', 'ownText']);

const inSources = (context) => /[\\/]src[\\/][^\\/]+$/.test(context.filename);
const isFile = (context, name) => new RegExp(`[\\\\/]src[\\\\/]${name}\\.ts$`).test(context.filename);
const isLiteral = (node) => node?.type === 'Literal' && typeof node.value === 'string';
const nameOf = (property) => property?.name ?? (isLiteral(property) ? property.value : undefined);

const surfaces = {
  create(context) {
    if (!inSources(context) || isFile(context, 'editorWindow')) return {};
    const report = (node, name) =>
      context.report({ node, message: `\`${name}\` shows text in the editor: call it through editorWindow.ts` });
    const check = (node, property) => SURFACES.has(nameOf(property)) && report(node, nameOf(property));
    return {
      MemberExpression: (node) => {
        check(node, node.property);
        if (
          node.computed &&
          !isLiteral(node.property) &&
          node.object.type === 'MemberExpression' &&
          nameOf(node.object.property) === 'window'
        )
          report(node, 'window[…]');
      },
      // `const { showErrorMessage } = vscode.window`, and `import { MarkdownString } from 'vscode'`.
      Property: (node) => node.parent?.type === 'ObjectPattern' && check(node, node.key),
      ImportSpecifier: (node) =>
        node.parent?.source?.value === 'vscode' && node.parent.importKind !== 'type' && check(node, node.imported),
      Literal: (node) => typeof node.value === 'string' && SHOWING_COMMANDS.has(node.value) && report(node, node.value),
      // `import * as` of the editor is for the modules at its boundary.
      ImportDeclaration(node) {
        if (
          node.source.value !== 'vscode' ||
          node.importKind === 'type' ||
          ['host', 'settingsFiles', 'editorModels', 'editorTools', 'diffEditor', 'completions'].some((name) =>
            isFile(context, name),
          )
        )
          return;
        context.report({
          node,
          message:
            'only host.ts, settingsFiles.ts, editorModels.ts, editorTools.ts, diffEditor.ts, completions.ts and editorWindow.ts import the editor',
        });
      },
    };
  },
};

const brands = {
  create(context) {
    if (isFile(context, 'editorText')) return {};
    const check = (node) => {
      const names = (type) =>
        type?.type === 'TSTypeReference' ? [type.typeName?.name] : (type?.types ?? []).flatMap(names);
      // Nor by way of `any` or `never`, which fit everywhere.
      const found =
        names(node.typeAnnotation).find((name) => BRANDS.has(name)) ??
        (/^TS(Any|Never)Keyword$/.test(node.typeAnnotation?.type) ? 'any' : undefined);
      if (found)
        context.report({ node, message: `only editorText.ts makes text for the editor; no cast to \`${found}\`` });
    };
    return inSources(context) ? { TSAsExpression: check, TSTypeAssertion: check } : {};
  },
};

const literals = {
  create(context) {
    if (!inSources(context) || isFile(context, 'editorText')) return {};
    return {
      CallExpression(node) {
        const name = nameOf(node.callee.type === 'MemberExpression' ? node.callee.property : node.callee);
        const [first] = node.arguments;
        // The editor's own translation, which createTexts is made of.
        if (isFile(context, 'host') && nameOf(node.callee.object?.property) === 'l10n') return;
        if (LITERAL_FIRST.has(name) && !isLiteral(first))
          context.report({
            node,
            message: `the first argument of \`${name}\` is a literal; foreign text goes into its values`,
          });
      },
    };
  },
};

export default { meta: { name: 'editor-text' }, rules: { surfaces, brands, literals } };
