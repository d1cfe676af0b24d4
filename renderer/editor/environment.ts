import textWorkerUrl from './text.worker.ts?worker&url';
import { adoptStyleElements } from './style-elements.ts';
import { editorPolicy } from './trusted-html.ts';

export const openWorker = (url: string, name: string): Worker =>
  new Worker(editorPolicy().createScriptURL(url) as string, { type: 'module', name });

// Read while the editor's modules are loaded; bundlers move modules, so this one is awaited before them.
(globalThis as { MonacoEnvironment?: unknown }).MonacoEnvironment = {
  getWorker: () => openWorker(textWorkerUrl, 'editor'),
  createTrustedTypesPolicy: () => editorPolicy(),
};
adoptStyleElements();
