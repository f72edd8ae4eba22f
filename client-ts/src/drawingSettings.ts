/**
 * Settings that change how an editor draws a text or a diff: colors, sizes, fonts, what is folded, which changes are
 * marked. A repository can bring them along in `.vscode/settings.json`, and hide a changed line by them. Pure.
 */
export const DRAWING_SETTINGS: readonly string[] = [
  // A name of a section stands for all settings in it.
  'diffEditor',
  'editor.accessibilitySupport',
  'editor.bracketPairColorization',
  'editor.experimentalWhitespaceRendering',
  'editor.folding',
  'editor.foldingImportsByDefault',
  'editor.foldingStrategy',
  'editor.fontFamily',
  'editor.fontLigatures',
  'editor.fontSize',
  'editor.fontVariations',
  'editor.fontWeight',
  'editor.inlayHints',
  'editor.letterSpacing',
  'editor.lineHeight',
  'editor.minimap',
  'editor.padding',
  'editor.scrollbar',
  'editor.semanticHighlighting',
  'editor.semanticTokenColorCustomizations',
  'editor.stickyScroll',
  'editor.stopRenderingLineAfter',
  'editor.tokenColorCustomizations',
  'editor.wordBreak',
  'editor.wordWrap',
  'editor.wordWrapColumn',
  'editor.wrappingIndent',
  'editor.wrappingStrategy',
  'window.zoomLevel',
  'workbench.colorCustomizations',
  'workbench.colorTheme',
  'workbench.preferredDarkColorTheme',
  'workbench.preferredLightColorTheme',
  'workbench.preferredHighContrastColorTheme',
  'workbench.preferredHighContrastLightColorTheme',
];

/** Colors of what stands around the editors, which some extensions give each workspace. */
const AROUND_EDITORS =
  /^(activityBar|activityBarBadge|commandCenter|panel|sash|sideBar|statusBar|statusBarItem|titleBar)\./;

/** Whether the value that a workspace gives one of these settings can change how a text is drawn. */
export function changesDrawing(name: string, value: unknown): boolean {
  if (value === undefined) return false;
  if (name !== 'workbench.colorCustomizations' || typeof value !== 'object' || value === null) return true;
  return Object.keys(value).some((color) => !AROUND_EDITORS.test(color));
}
