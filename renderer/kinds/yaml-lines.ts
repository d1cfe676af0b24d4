export interface YamlPart {
  readonly kind: 'key' | 'text' | 'number' | 'mark';
  readonly text: string;
}

const LINE = /^(\s*)((?:- )*)(?:([^\s#'"][^:]*|'[^']*'|"[^"]*"):(?= |$))?(.*)$/;
const NUMBER = /^ ?(?:-?\d+(?:\.\d+)?|true|false|null)$/;
/** Beyond this a text is shown without colours. */
const LINES_MAX = 5_000;

/** The lines of a block YAML that we have written ourselves, cut into what is coloured alike. */
export const yamlLines = (text: string): YamlPart[][] => {
  const lines = text.replace(/\n$/, '').split('\n');
  if (lines.length > LINES_MAX) return lines.map((line) => [{ kind: 'text', text: line }]);
  return lines.map((line) => {
    const [, indent = '', dashes = '', key, rest = ''] = LINE.exec(line) ?? [];
    return [
      ...(indent + dashes === '' ? [] : [{ kind: 'mark', text: indent + dashes } as const]),
      ...(key === undefined
        ? []
        : [{ kind: 'key', text: key } as const, { kind: 'mark', text: ':' } as const]),
      ...(rest === '' ? [] : [{ kind: NUMBER.test(rest) ? 'number' : 'text', text: rest } as const]),
    ];
  });
};
