// The theme variables that the view uses, as VS Code's default themes have them; enough to judge pictures and contrast by.
const dark = {
  foreground: '#cccccc', descriptionForeground: '#9d9d9d', errorForeground: '#f85149', 'icon-foreground': '#cccccc', focusBorder: '#0078d4',
  'sideBar-background': '#181818', 'editor-background': '#1f1f1f', 'editorWidget-background': '#202020', 'widget-border': '#313131', 'widget-shadow': '#0000005c',
  'input-background': '#313131', 'input-foreground': '#cccccc', 'input-border': '#3c3c3c', 'input-placeholderForeground': '#989898',
  'inputOption-activeBackground': '#2489db82', 'inputOption-activeBorder': '#2488db', 'inputOption-activeForeground': '#ffffff',
  'button-background': '#0078d4', 'button-foreground': '#ffffff', 'button-hoverBackground': '#026ec1', 'button-border': '#ffffff12', 'button-separator': '#ffffff66',
  'button-secondaryBackground': '#313131', 'button-secondaryForeground': '#cccccc', 'button-secondaryHoverBackground': '#3c3c3c',
  'badge-background': '#616161', 'badge-foreground': '#f8f8f8', 'menu-background': '#1f1f1f', 'menu-foreground': '#cccccc', 'menu-border': '#454545',
  'menu-selectionBackground': '#0078d4', 'menu-selectionForeground': '#ffffff', 'menu-separatorBackground': '#454545',
  'textLink-foreground': '#4daafc', 'textCodeBlock-background': '#2b2b2b', 'textPreformat-foreground': '#d0d0d0', 'textPreformat-background': '#3c3c3c', 'textBlockQuote-border': '#616161',
  'toolbar-hoverBackground': '#5a5d5e50', 'list-hoverBackground': '#2a2d2e', 'editorWarning-foreground': '#cca700', 'testing-iconPassed': '#73c991',
  'gitDecoration-addedResourceForeground': '#81b88b', 'gitDecoration-deletedResourceForeground': '#e2786c', 'editorLineNumber-foreground': '#8a8f98',
  'diffEditor-insertedLineBackground': '#9bb95533', 'diffEditor-removedLineBackground': '#ff000033', 'chat-requestBubbleBackground': '#26477866', 'sideBarSectionHeader-border': '#2b2b2b',
  'charts-blue': '#3794ff', 'charts-green': '#89d185', 'charts-yellow': '#cca700', 'charts-red': '#f14c4c', 'charts-purple': '#b180d7',
};
const light = {
  foreground: '#3b3b3b', descriptionForeground: '#616161', errorForeground: '#c72e0f', 'icon-foreground': '#3b3b3b', focusBorder: '#005fb8',
  'sideBar-background': '#f8f8f8', 'editor-background': '#ffffff', 'editorWidget-background': '#f8f8f8', 'widget-border': '#e5e5e5', 'widget-shadow': '#00000029',
  'input-background': '#ffffff', 'input-foreground': '#3b3b3b', 'input-border': '#cecece', 'input-placeholderForeground': '#767676',
  'inputOption-activeBackground': '#bed6ed', 'inputOption-activeBorder': '#005fb8', 'inputOption-activeForeground': '#000000',
  'button-background': '#005fb8', 'button-foreground': '#ffffff', 'button-hoverBackground': '#0258a8', 'button-border': '#0000001a', 'button-separator': '#ffffff66',
  'button-secondaryBackground': '#e5e5e5', 'button-secondaryForeground': '#3b3b3b', 'button-secondaryHoverBackground': '#cccccc',
  'badge-background': '#cccccc', 'badge-foreground': '#3b3b3b', 'menu-background': '#ffffff', 'menu-foreground': '#3b3b3b', 'menu-border': '#cecece',
  'menu-selectionBackground': '#005fb8', 'menu-selectionForeground': '#ffffff', 'menu-separatorBackground': '#d4d4d4',
  'textLink-foreground': '#005fb8', 'textCodeBlock-background': '#f3f3f3', 'textPreformat-foreground': '#3b3b3b', 'textPreformat-background': '#0000001f', 'textBlockQuote-border': '#e5e5e5',
  'toolbar-hoverBackground': '#b8b8b850', 'list-hoverBackground': '#f2f2f2', 'editorWarning-foreground': '#895503', 'testing-iconPassed': '#2f7a3d',
  'gitDecoration-addedResourceForeground': '#587c0c', 'gitDecoration-deletedResourceForeground': '#ad0707', 'editorLineNumber-foreground': '#6e7681',
  'diffEditor-insertedLineBackground': '#9bb95533', 'diffEditor-removedLineBackground': '#ff000033', 'chat-requestBubbleBackground': '#add6ff80', 'sideBarSectionHeader-border': '#e5e5e5',
  'charts-blue': '#1a85ff', 'charts-green': '#388a34', 'charts-yellow': '#bf8803', 'charts-red': '#e51400', 'charts-purple': '#652d90',
};
const hcBlack = {
  foreground: '#ffffff', descriptionForeground: '#ffffffb3', errorForeground: '#f48771', 'icon-foreground': '#ffffff', focusBorder: '#f38518', contrastBorder: '#6fc3df', contrastActiveBorder: '#f38518',
  'sideBar-background': '#000000', 'editor-background': '#000000', 'editorWidget-background': '#0c141f', 'widget-border': '#6fc3df',
  'input-background': '#000000', 'input-foreground': '#ffffff', 'input-border': '#6fc3df', 'input-placeholderForeground': '#ffffffb3',
  'inputOption-activeBackground': '#00000000', 'inputOption-activeBorder': '#6fc3df', 'inputOption-activeForeground': '#ffffff',
  'button-background': '#000000', 'button-foreground': '#ffffff', 'button-border': '#6fc3df', 'button-separator': '#6fc3df', 'button-secondaryForeground': '#ffffff',
  'badge-background': '#000000', 'badge-foreground': '#ffffff', 'menu-background': '#000000', 'menu-foreground': '#ffffff', 'menu-border': '#6fc3df',
  'menu-selectionBorder': '#f38518', 'menu-selectionForeground': '#ffffff', 'menu-separatorBackground': '#6fc3df',
  'textLink-foreground': '#21a6ff', 'textCodeBlock-background': '#000000', 'textPreformat-foreground': '#000000', 'textPreformat-background': '#ffffff', 'textBlockQuote-border': '#ffffff',
  'editorWarning-foreground': '#ffd370', 'testing-iconPassed': '#73c991', 'gitDecoration-addedResourceForeground': '#a1e3ad', 'gitDecoration-deletedResourceForeground': '#f48771', 'editorLineNumber-foreground': '#ffffff',
  'diffEditor-insertedLineBackground': '#00000000', 'diffEditor-removedLineBackground': '#00000000', 'diffEditor-insertedTextBorder': '#33ff2eff', 'diffEditor-removedTextBorder': '#ff008f',
  'charts-blue': '#3794ff', 'charts-green': '#89d185', 'charts-yellow': '#cca700', 'charts-red': '#f14c4c', 'charts-purple': '#b180d7',
};
const hcLight = {
  foreground: '#292929', descriptionForeground: '#292929b3', errorForeground: '#b5200d', 'icon-foreground': '#292929', focusBorder: '#006bbd', contrastBorder: '#0f4a85', contrastActiveBorder: '#006bbd',
  'sideBar-background': '#ffffff', 'editor-background': '#ffffff', 'editorWidget-background': '#ffffff', 'widget-border': '#0f4a85',
  'input-background': '#ffffff', 'input-foreground': '#292929', 'input-border': '#0f4a85', 'input-placeholderForeground': '#292929b3',
  'inputOption-activeBackground': '#00000000', 'inputOption-activeBorder': '#0f4a85', 'inputOption-activeForeground': '#292929',
  'button-background': '#0f4a85', 'button-foreground': '#ffffff', 'button-border': '#0f4a85', 'button-separator': '#ffffff66', 'button-secondaryBackground': '#ffffff', 'button-secondaryForeground': '#292929',
  'badge-background': '#0f4a85', 'badge-foreground': '#ffffff', 'menu-background': '#ffffff', 'menu-foreground': '#292929', 'menu-border': '#0f4a85',
  'menu-selectionBackground': '#0f4a85', 'menu-selectionForeground': '#ffffff', 'menu-selectionBorder': '#006bbd', 'menu-separatorBackground': '#0f4a85',
  'textLink-foreground': '#0f4a85', 'textCodeBlock-background': '#f2f2f2', 'textPreformat-foreground': '#ffffff', 'textPreformat-background': '#09345f', 'textBlockQuote-border': '#292929',
  'editorWarning-foreground': '#895503', 'testing-iconPassed': '#007100', 'gitDecoration-addedResourceForeground': '#374e06', 'gitDecoration-deletedResourceForeground': '#ad0707', 'editorLineNumber-foreground': '#237893',
  'diffEditor-insertedLineBackground': '#00000000', 'diffEditor-removedLineBackground': '#00000000', 'diffEditor-insertedTextBorder': '#374e06', 'diffEditor-removedTextBorder': '#ad0707',
  'charts-blue': '#1a85ff', 'charts-green': '#374e06', 'charts-yellow': '#895503', 'charts-red': '#b5200d', 'charts-purple': '#652d90',
};

const FONTS = { 'font-family': '"DejaVu Sans", sans-serif', 'font-size': '13px', 'editor-font-family': '"DejaVu Sans Mono", monospace', 'editor-font-size': '12px' };

export const THEMES = { dark, light, 'hc-black': hcBlack, 'hc-light': hcLight };

/** A style sheet that sets the theme on the page, and the body padding that the editor gives every webview. */
export function themeSheet(name) {
  const variables = { ...FONTS, ...THEMES[name] };
  // What the editor itself puts into every webview, in a layer below the page's own.
  return `@layer vscode-default { code { color: var(--vscode-textPreformat-foreground); background: var(--vscode-textPreformat-background); padding: 1px 3px; border-radius: 4px; } a { color: var(--vscode-textLink-foreground); } pre code { padding: 0; } }
body { padding: 0 20px; } html { ${Object.entries(variables).map(([key, value]) => `--vscode-${key}: ${value};`).join(' ')} }`;
}
