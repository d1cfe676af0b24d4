/**
 * Why a text could not be understood, as position and reason. Parsers quote the text they read in their messages; a
 * message of ours must not, because the text may be any file that a path led to.
 */

/** Codes of the `yaml` package. */
const YAML_REASONS: Readonly<Record<string, string>> = {
  ALIAS_PROPS: 'an alias has properties',
  BAD_ALIAS: 'an alias is not valid',
  BAD_COLLECTION_TYPE: 'the collection type does not match its tag',
  BAD_DIRECTIVE: 'a directive is not valid',
  BAD_DQ_ESCAPE: 'an escape sequence is not valid',
  BAD_INDENT: 'the indentation is wrong',
  BAD_PROP_ORDER: 'an anchor or tag is in the wrong place',
  BAD_SCALAR_START: 'a plain value starts with a reserved character',
  BLOCK_AS_IMPLICIT_KEY: 'a nested mapping is not allowed here',
  BLOCK_IN_FLOW: 'a block is not allowed inside brackets',
  DUPLICATE_KEY: 'a key occurs twice',
  KEY_OVER_1024_CHARS: 'a key is too long',
  MISSING_CHAR: 'a character is missing, such as a closing quote, bracket, comma or colon',
  MULTILINE_IMPLICIT_KEY: 'a key spans several lines',
  MULTIPLE_ANCHORS: 'a value has several anchors',
  MULTIPLE_DOCS: 'there is more than one document',
  MULTIPLE_TAGS: 'a value has several tags',
  NON_STRING_KEY: 'a key is not a string',
  RESOURCE_EXHAUSTION: 'the document is nested too deeply',
  TAB_AS_INDENT: 'a tab is used for indentation',
  TAG_RESOLVE_FAILED: 'a tag cannot be resolved',
  UNEXPECTED_TOKEN: 'a token is not expected here',
};

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

const placeOf = (line: number, column: number): string => `line ${line}, column ${column}`;

/** Of whatever the `yaml` package throws or collects. */
export const yamlFault = (error: unknown): string => {
  const { code, linePos, name } = isRecord(error)
    ? (error as { code?: unknown; linePos?: unknown; name?: unknown })
    : {};
  // Aliases are resolved after parsing: the error has no place, and its text names the anchor.
  if (name === 'ReferenceError') return 'an alias is undefined or expands too far';
  const reason = YAML_REASONS[String(code)] ?? 'the text is not valid YAML';
  const start: unknown = Array.isArray(linePos) ? linePos[0] : undefined;
  if (!isRecord(start)) return reason;
  return `${placeOf(Number(start['line']), Number(start['col']))}: ${reason}`;
};

const JSON_TOKEN =
  /[ \t\n\r]*(?:("(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*")|(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)|([{}[\],:]))/y;

/** What may come next: a value, a value or the end of its list, a key, a key or the end, a colon, a comma or the end. */
type Expected = 'value' | 'first value' | 'key' | 'first key' | 'colon' | 'comma' | 'end';

const JSON_REASONS: Readonly<Record<Expected, string>> = {
  value: 'a value is expected',
  'first value': 'a value or "]" is expected',
  key: 'a key in double quotes is expected',
  'first key': 'a key in double quotes or "}" is expected',
  colon: '":" is expected',
  comma: '"," or a closing bracket is expected',
  end: 'nothing more is expected',
};

/** Where the first token that JSON does not allow begins. */
const firstJsonFault = (text: string): { readonly at: number; readonly expected: Expected } => {
  const open: ('{' | '[')[] = [];
  let expected: Expected = 'value';
  let at = 0;
  const afterValue = (): Expected => (open.length === 0 ? 'end' : 'comma');
  for (;;) {
    JSON_TOKEN.lastIndex = at;
    const found = JSON_TOKEN.exec(text);
    const [, string, literal, mark] = found ?? [];
    const isValue = expected === 'value' || expected === 'first value';
    const isKey = expected === 'key' || expected === 'first key';
    if (isKey && string !== undefined) expected = 'colon';
    else if (isValue && (string !== undefined || literal !== undefined)) expected = afterValue();
    else if (isValue && (mark === '{' || mark === '[')) {
      open.push(mark);
      expected = mark === '{' ? 'first key' : 'first value';
    } else if (expected === 'colon' && mark === ':') expected = 'value';
    else if (expected === 'comma' && mark === ',') expected = open.at(-1) === '{' ? 'key' : 'value';
    else if (
      (mark === '}' && open.at(-1) === '{' && (expected === 'comma' || expected === 'first key')) ||
      (mark === ']' && open.at(-1) === '[' && (expected === 'comma' || expected === 'first value'))
    ) {
      open.pop();
      expected = afterValue();
    } else return { at: at + (/^[ \t\n\r]*/.exec(text.slice(at))?.[0].length ?? 0), expected };
    at = JSON_TOKEN.lastIndex;
  }
};

/** Of a text that `JSON.parse` did not take. */
export const jsonFault = (text: string): string => {
  const { at, expected } = firstJsonFault(text);
  const before = text.slice(0, at).split('\n');
  const place = placeOf(before.length, (before.at(-1)?.length ?? 0) + 1);
  return `${place}: ${at >= text.length ? 'the text ends too early' : JSON_REASONS[expected]}`;
};

interface SchemaIssue {
  readonly expected: string | null;
  readonly message: string;
  readonly type: string;
  readonly path?: readonly { readonly key?: unknown }[] | undefined;
}

/** Of values that a schema did not take: where, and what belongs there. Never what was found. */
export const schemaFault = ([issue]: readonly [SchemaIssue, ...SchemaIssue[]]): string => {
  const path = (issue.path ?? [])
    .map(({ key }) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`))
    .join('')
    .replace(/^\./, '');
  const wanted =
    issue.type === 'strict_object' && issue.expected === 'never'
      ? 'unknown field; remove it or check its spelling'
      : issue.expected !== null
        ? `${issue.expected} is expected`
        : issue.type === 'check'
          ? issue.message
          : 'the value is not valid';
  return path === '' ? wanted : `${path}: ${wanted}`;
};
