/** Parts of the editor that ship without types of their own. */
declare module 'monaco-editor/internal/common/initialize.js' {
  export const initialize: (create: (context: unknown, createData: unknown) => unknown) => void;
}
declare module 'monaco-editor/editor/editor.worker.js';
declare module 'monaco-yaml/yaml.worker.js';
declare module 'monaco-editor/features/register.all.js';
declare module 'monaco-editor/languages/definitions/yaml/register.js';
declare module 'monaco-editor/languages/definitions/yaml/yaml.js' {
  import type { languages } from 'monaco-editor/editor';

  export const conf: languages.LanguageConfiguration;
}

declare module '*.yaml?raw' {
  const text: string;
  export default text;
}
