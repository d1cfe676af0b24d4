/**
 * Names, labels and annotations. Each check answers with the sentences of what is wrong, none when the value
 * is good; the sentences are upstream's, because clients show and match them.
 */
export const maxLengthText = (bytes: number): string => `must be no more than ${bytes} bytes`;
export const EMPTY_TEXT = 'must be non-empty';

export const rangeText = (min: number, max: number): string => `must be between ${min} and ${max}, inclusive`;

/** Message, examples and pattern in one sentence. */
export const regexText = (message: string, pattern: string, ...examples: readonly string[]): string =>
  examples.length === 0
    ? `${message} (regex used for validation is '${pattern}')`
    : `${message} (e.g. ${examples.map((example) => `'${example}', `).join(' or ')}regex used for validation is '${pattern}')`;

interface Rule {
  readonly pattern: string;
  readonly message: string;
  readonly examples: readonly string[];
  readonly bytesMax?: number;
}

const encoder = new TextEncoder();
const byteLength = (text: string): number => encoder.encode(text).length;

const checker = ({ pattern, message, examples, bytesMax }: Rule): ((value: string) => string[]) => {
  const expression = new RegExp(`^(?:${pattern})$`);
  const sentence = regexText(message, pattern, ...examples);
  return (value) => {
    const wrong: string[] = [];
    if (bytesMax !== undefined && byteLength(value) > bytesMax) wrong.push(maxLengthText(bytesMax));
    if (!expression.test(value)) wrong.push(sentence);
    return wrong;
  };
};

export const DNS_LABEL_BYTES_MAX = 63;
export const DNS_SUBDOMAIN_BYTES_MAX = 253;
export const LABEL_VALUE_BYTES_MAX = 63;
export const ANNOTATIONS_BYTES_MAX = 256 * 1024;

const LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const SUBDOMAIN = `${LABEL}(\\.${LABEL})*`;
const QUALIFIED = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';
const QUALIFIED_EXAMPLES = ['MyName', 'my.name', '123-abc'] as const;
const QUALIFIED_TEXT = regexText(
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  QUALIFIED,
  ...QUALIFIED_EXAMPLES,
);
const SUBDOMAIN_EXPRESSION = new RegExp(`^${SUBDOMAIN}$`);
const LABEL_EXPRESSION = new RegExp(`^${LABEL}$`);
const QUALIFIED_EXPRESSION = new RegExp(`^${QUALIFIED}$`);

export const checkDns1123Label = (value: string): string[] => {
  const wrong: string[] = [];
  if (byteLength(value) > DNS_LABEL_BYTES_MAX) wrong.push(maxLengthText(DNS_LABEL_BYTES_MAX));
  if (LABEL_EXPRESSION.test(value)) return wrong;
  wrong.push(
    SUBDOMAIN_EXPRESSION.test(value)
      ? 'must not contain dots'
      : regexText(
          "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
          LABEL,
          'my-name',
          '123-abc',
        ),
  );
  return wrong;
};

export const checkDns1123Subdomain = checker({
  pattern: SUBDOMAIN,
  message:
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
  examples: ['example.com'],
  bytesMax: DNS_SUBDOMAIN_BYTES_MAX,
});

export const checkDns1035Label = checker({
  pattern: '[a-z]([-a-z0-9]*[a-z0-9])?',
  message:
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
  examples: ['my-name', 'abc-123'],
  bytesMax: DNS_LABEL_BYTES_MAX,
});

export const checkWildcardDns1123Subdomain = checker({
  pattern: `\\*\\.${SUBDOMAIN}`,
  message:
    "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character",
  examples: ['*.example.com'],
  bytesMax: DNS_SUBDOMAIN_BYTES_MAX,
});

export const checkLabelValue = checker({
  pattern: `(${QUALIFIED})?`,
  message:
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  examples: ['MyValue', 'my_value', '12345'],
  bytesMax: LABEL_VALUE_BYTES_MAX,
});

/** A label key, finalizer, taint key, resource name: an optional DNS prefix, a slash, a name. */
export const checkQualifiedName = (value: string): string[] => {
  const parts = value.split('/');
  if (parts.length > 2)
    return [
      `a valid label key ${QUALIFIED_TEXT} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ];
  const wrong: string[] = [];
  const [prefix, name] = parts.length === 2 ? [parts[0]!, parts[1]!] : [undefined, parts[0]!];
  if (prefix === '') wrong.push(`prefix part ${EMPTY_TEXT}`);
  else if (prefix !== undefined)
    wrong.push(...checkDns1123Subdomain(prefix).map((text) => `prefix part ${text}`));
  if (name === '') wrong.push(`name part ${EMPTY_TEXT}`);
  else if (byteLength(name) > DNS_LABEL_BYTES_MAX)
    wrong.push(`name part ${maxLengthText(DNS_LABEL_BYTES_MAX)}`);
  if (!QUALIFIED_EXPRESSION.test(name)) wrong.push(`name part ${QUALIFIED_TEXT}`);
  return wrong;
};

/** Keys are qualified names whose case does not matter. */
export const checkAnnotationKey = (key: string): string[] => checkQualifiedName(key.toLowerCase());

export const annotationsBytes = (annotations: Readonly<Record<string, string>>): number =>
  Object.entries(annotations).reduce((sum, [key, value]) => sum + byteLength(key) + byteLength(value), 0);

export const checkConfigMapKey = (value: string): string[] => [
  ...checkConfigMapKeyLetters(value),
  ...checkDirectoryPrefix(value),
];

const checkConfigMapKeyLetters = checker({
  pattern: '[-._a-zA-Z0-9]+',
  message: "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
  examples: ['key.name', 'KEY_NAME', 'key-name'],
  bytesMax: DNS_SUBDOMAIN_BYTES_MAX,
});

const checkDirectoryPrefix = (value: string): string[] => {
  if (value === '.') return ["must not be '.'"];
  if (value === '..') return ["must not be '..'"];
  return value.startsWith('..') ? ["must not start with '..'"] : [];
};

/** Anything that can stand between two slashes of a path. */
export const checkPathSegmentName = (name: string): string[] => {
  if (name === '.' || name === '..') return [`may not be '${name}'`];
  return ['/', '%'].filter((part) => name.includes(part)).map((part) => `may not contain '${part}'`);
};

const PORT_NAME_LENGTH_MAX = 15;

export const checkPortName = (name: string): string[] => {
  const wrong: string[] = [];
  if (name.length > PORT_NAME_LENGTH_MAX) wrong.push(maxLengthText(PORT_NAME_LENGTH_MAX));
  if (!/^[-a-z0-9]+$/.test(name))
    wrong.push('must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)');
  if (!/[a-z]/.test(name)) wrong.push('must contain at least one letter (a-z)');
  if (name.includes('--')) wrong.push('must not contain consecutive hyphens');
  if (name.startsWith('-') || name.endsWith('-')) wrong.push('must not begin or end with a hyphen');
  return wrong;
};

export const checkPortNumber = (port: number): string[] =>
  Number.isInteger(port) && port >= 1 && port <= 65_535 ? [] : [rangeText(1, 65_535)];
