/** The webview's entry: joins the bridge to the view. */
import '@vscode/codicons/dist/codicon.css';
import './style.css';
import { createBridge } from './bridge.ts';
import { Root } from './root.ts';

declare function acquireVsCodeApi(): Parameters<typeof createBridge>[0];

const root = new Root();
root.bridge = createBridge(acquireVsCodeApi());
document.body.append(root);
