import type * as Monaco from 'monaco-editor/editor';
import { completionsAt, isSchemaMissing, type Completion } from './completion.ts';
import type { Schema } from './kube-schema.ts';

/** A schema that takes longer is not waited for: what every object has is offered. */
const SCHEMA_WAIT_MS = 3_000;
const SCHEMA_CHECK_MS = 50;

/** Whatever has to be asked for on the way: the schema that the page has now. */
export interface CompletionSource {
  schema(): Schema | undefined;
}

const waitForSchema = async (isMissing: () => boolean, isCancelled: () => boolean): Promise<void> => {
  for (let waited = 0; waited < SCHEMA_WAIT_MS && isMissing() && !isCancelled(); waited += SCHEMA_CHECK_MS)
    await new Promise((resolve) => setTimeout(resolve, SCHEMA_CHECK_MS));
};

/** What is required comes first, then the alphabet. */
const sortText = ({ isRequired, label }: Completion): string => `${isRequired ? 0 : 1}${label}`;

/** Completion for the models of one editor. Returns what takes it away again. */
export const provideCompletions = (monaco: typeof Monaco, source: CompletionSource): { dispose(): void } => {
  const { CompletionItemKind, CompletionItemInsertTextRule } = monaco.languages;
  return monaco.languages.registerCompletionItemProvider('yaml', {
    triggerCharacters: [' '],
    async provideCompletionItems(model, { lineNumber, column }, _context, token) {
      const line = lineNumber - 1;
      const at = column - 1;
      const text = model.getValue();
      const isMissing = (): boolean => {
        const schema = source.schema();
        return schema === undefined || isSchemaMissing(schema, text, line, at);
      };
      await waitForSchema(isMissing, () => token.isCancellationRequested);
      const schema = source.schema();
      const found = schema && completionsAt(schema, text, line, at);
      if (!found || token.isCancellationRequested) return { suggestions: [] };
      const range = new monaco.Range(lineNumber, found.from + 1, lineNumber, found.to + 1);
      return {
        suggestions: found.items.map((item) => ({
          label: item.label,
          kind: item.kind === 'field' ? CompletionItemKind.Field : CompletionItemKind.Value,
          detail: item.detail,
          documentation: item.documentation,
          insertText: item.text,
          // The text has its indentation already.
          insertTextRules: CompletionItemInsertTextRule.KeepWhitespace,
          sortText: sortText(item),
          range,
          ...(item.asksOn && { command: { id: 'editor.action.triggerSuggest', title: '' } }),
        })),
      };
    },
  });
};

/**
 * After a line of a list item the next one stands below its content, not below its dash. Written into the definition of
 * the language, which is registered when the first text is shown and would win over a configuration from before.
 */
export const keepItemsAligned = (
  monaco: typeof Monaco,
  definition: Monaco.languages.LanguageConfiguration,
): void => {
  const { IndentAction } = monaco.languages;
  definition.onEnterRules = [
    { beforeText: /^\s*-\s.*:\s*$/, action: { indentAction: IndentAction.Indent, appendText: '  ' } },
    { beforeText: /:\s*$/, action: { indentAction: IndentAction.Indent } },
    {
      beforeText: /^\s*-\s+[^\s:]+:\s+\S.*$/,
      action: { indentAction: IndentAction.None, appendText: '  ' },
    },
    { beforeText: /^\s*-\s+[^\s:]+\s*$/, action: { indentAction: IndentAction.None, appendText: '- ' } },
  ];
  // Now too: a person types before the definition has been registered.
  monaco.languages.setLanguageConfiguration('yaml', definition);
};
