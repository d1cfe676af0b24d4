import { openWorker } from './environment.ts';
import * as monaco from 'monaco-editor/editor';
import 'monaco-editor/features/register.all.js';
import 'monaco-editor/languages/definitions/yaml/register.js';
import { conf } from 'monaco-editor/languages/definitions/yaml/yaml.js';
import { configureMonacoYaml, type MonacoYaml } from 'monaco-yaml';
import yamlWorkerUrl from './yaml.worker.ts?worker&url';
import { keepItemsAligned } from './completion-provider.ts';
import { defineThemes } from './themes.ts';

type WorkerOptions = Parameters<typeof monaco.editor.createWebWorker>[0];

/** The service was written for an older editor, which made the worker itself: here it is made for it. */
const forYaml = {
  ...monaco,
  editor: {
    ...monaco.editor,
    createWebWorker<T extends object>({ createData }: { createData?: unknown }) {
      const worker = openWorker(yamlWorkerUrl, 'yaml');
      worker.postMessage('ignore');
      worker.postMessage(createData);
      return monaco.editor.createWebWorker<T>({ worker } as WorkerOptions);
    },
  },
};

let yaml: MonacoYaml | undefined;

/** The editor, ready to be used. Loaded by anyone who shows one; it is large. */
export const loadMonaco = (): {
  readonly monaco: typeof monaco;
  readonly yaml: MonacoYaml;
} => {
  if (!yaml) {
    defineThemes(monaco);
    keepItemsAligned(monaco, conf);
    yaml = configureMonacoYaml(forYaml as unknown as Parameters<typeof configureMonacoYaml>[0], {
      enableSchemaRequest: false,
      completion: false,
      hover: true,
      validate: true,
      yamlVersion: '1.2',
      schemas: [],
    });
  }
  return { monaco, yaml };
};
