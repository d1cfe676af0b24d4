import { byteLength } from './go-text.ts';

/**
 * The string formats of the API. Each check answers with the reasons why a value is wrong, in upstream's
 * words; an empty answer means that it is right.
 */
export type FormatCheck = (value: string) => readonly string[];

/** `prefix` is true for generateName, whose trailing dash the generated suffix completes. */
export type NameCheck = (name: string, prefix: boolean) => readonly string[];

export const LABEL_VALUE_BYTES_MAX = 63;
export const DNS1123_LABEL_BYTES_MAX = 63;
export const DNS1123_SUBDOMAIN_BYTES_MAX = 253;
const LABEL_NAME_BYTES_MAX = 63;
const PORT_NAME_BYTES_MAX = 15;
const ID_MAX = 2 ** 31 - 1;

export const maxLengthError = (max: number): string => `must be no more than ${max} characters`;
const maxBytesError = (max: number): string => `must be no more than ${max} bytes`;
export const rangeError = (low: number, high: number): string =>
  `must be between ${low} and ${high}, inclusive`;

export function regexError(message: string, pattern: string, ...examples: readonly string[]): string {
  if (examples.length === 0) return `${message} (regex used for validation is '${pattern}')`;
  const shown = examples.map((example) => `'${example}', `).join(' or ');
  return `${message} (e.g. ${shown}regex used for validation is '${pattern}')`;
}

const LABEL_KEY = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';
const LABEL_KEY_RE = new RegExp(`^${LABEL_KEY}$`);
const LABEL_VALUE_RE = new RegExp(`^(${LABEL_KEY})?$`);
const DNS1123_LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const DNS1123_LABEL_RE = new RegExp(`^${DNS1123_LABEL}$`);
const DNS1123_SUBDOMAIN = `${DNS1123_LABEL}(\\.${DNS1123_LABEL})*`;
const DNS1123_SUBDOMAIN_RE = new RegExp(`^${DNS1123_SUBDOMAIN}$`);
const DNS1035_LABEL = '[a-z]([-a-z0-9]*[a-z0-9])?';
const DNS1035_LABEL_RE = new RegExp(`^${DNS1035_LABEL}$`);

const LABEL_KEY_MESSAGE =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
const SUBDOMAIN_MESSAGE =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character";

const check = (ok: boolean, message: () => string): string[] => (ok ? [] : [message()]);

export const isDns1123Subdomain: FormatCheck = (value) => [
  ...check(byteLength(value) <= DNS1123_SUBDOMAIN_BYTES_MAX, () =>
    maxLengthError(DNS1123_SUBDOMAIN_BYTES_MAX),
  ),
  ...check(DNS1123_SUBDOMAIN_RE.test(value), () =>
    regexError(SUBDOMAIN_MESSAGE, DNS1123_SUBDOMAIN, 'example.com'),
  ),
];

export const isDns1123Label: FormatCheck = (value) => [
  ...check(byteLength(value) <= DNS1123_LABEL_BYTES_MAX, () => maxLengthError(DNS1123_LABEL_BYTES_MAX)),
  ...check(DNS1123_LABEL_RE.test(value), () =>
    DNS1123_SUBDOMAIN_RE.test(value)
      ? 'must not contain dots'
      : regexError(
          "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
          DNS1123_LABEL,
          'my-name',
          '123-abc',
        ),
  ),
];

export const isDns1035Label: FormatCheck = (value) => [
  ...check(byteLength(value) <= DNS1123_LABEL_BYTES_MAX, () => maxLengthError(DNS1123_LABEL_BYTES_MAX)),
  ...check(DNS1035_LABEL_RE.test(value), () =>
    regexError(
      "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
      DNS1035_LABEL,
      'my-name',
      'abc-123',
    ),
  ),
];

export const isWildcardDns1123Subdomain: FormatCheck = (value) => [
  ...check(byteLength(value) <= DNS1123_SUBDOMAIN_BYTES_MAX, () =>
    maxLengthError(DNS1123_SUBDOMAIN_BYTES_MAX),
  ),
  ...check(value.startsWith('*.') && DNS1123_SUBDOMAIN_RE.test(value.slice(2)), () =>
    regexError(
      "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character",
      `\\*\\.${DNS1123_SUBDOMAIN}`,
      '*.example.com',
    ),
  ),
];

/** Label keys, and everything else upstream calls a qualified name. */
export const isQualifiedName: FormatCheck = (value) => {
  const parts = value.split('/');
  const name = parts.at(-1) ?? '';
  const pattern = (): string => regexError(LABEL_KEY_MESSAGE, LABEL_KEY, 'MyName', 'my.name', '123-abc');
  if (parts.length > 2)
    return [
      `a valid label key ${pattern()} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ];
  const errors: string[] = [];
  if (parts.length === 2) {
    const prefix = parts[0] ?? '';
    if (prefix === '') errors.push('prefix part must be non-empty');
    else {
      if (byteLength(prefix) > DNS1123_SUBDOMAIN_BYTES_MAX)
        errors.push(`prefix part ${maxBytesError(DNS1123_SUBDOMAIN_BYTES_MAX)}`);
      if (!DNS1123_SUBDOMAIN_RE.test(prefix))
        errors.push(`prefix part ${regexError(SUBDOMAIN_MESSAGE, DNS1123_SUBDOMAIN, 'example.com')}`);
    }
  }
  if (name === '') errors.push('name part must be non-empty');
  else if (byteLength(name) > LABEL_NAME_BYTES_MAX)
    errors.push(`name part ${maxBytesError(LABEL_NAME_BYTES_MAX)}`);
  if (!LABEL_KEY_RE.test(name)) errors.push(`name part ${pattern()}`);
  return errors;
};

export const isLabelValue: FormatCheck = (value) => [
  ...check(byteLength(value) <= LABEL_VALUE_BYTES_MAX, () => maxBytesError(LABEL_VALUE_BYTES_MAX)),
  ...check(LABEL_VALUE_RE.test(value), () =>
    regexError(
      `a valid label must be an empty string or ${LABEL_KEY_MESSAGE.slice('must '.length)}`,
      `(${LABEL_KEY})?`,
      'MyValue',
      'my_value',
      '12345',
    ),
  ),
];

const patternCheck = (pattern: string, message: string, ...examples: readonly string[]): FormatCheck => {
  const expression = new RegExp(`^${pattern}$`);
  return (value) => check(expression.test(value), () => regexError(message, pattern, ...examples));
};

export const isCIdentifier = patternCheck(
  '[A-Za-z_][A-Za-z0-9_]*',
  "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters or '_'",
  'my_name',
  'MY_NAME',
  'MyName',
);

export const isHttpHeaderName = patternCheck(
  '[-A-Za-z0-9]+',
  "a valid HTTP header must consist of alphanumeric characters or '-'",
  'X-Header-Name',
);

export const isPercent = patternCheck(
  '[0-9]+%',
  "a valid percent string must be a numeric string followed by an ending '%'",
  '1%',
  '93%',
);

const dotDotErrors: FormatCheck = (value) => {
  if (value === '.') return ["must not be '.'"];
  if (value === '..') return ["must not be '..'"];
  return value.startsWith('..') ? ["must not start with '..'"] : [];
};

const configKeyPattern = patternCheck(
  '[-._a-zA-Z0-9]+',
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
  'key.name',
  'KEY_NAME',
  'key-name',
);

export const isConfigMapKey: FormatCheck = (value) => [
  ...check(byteLength(value) <= DNS1123_SUBDOMAIN_BYTES_MAX, () =>
    maxLengthError(DNS1123_SUBDOMAIN_BYTES_MAX),
  ),
  ...configKeyPattern(value),
  ...dotDotErrors(value),
];

/** The rule since 1.34: printable ASCII without '='. */
export const isRelaxedEnvVarName: FormatCheck = (value) => [
  ...check(value !== '', () => 'environment variable name must be non-empty'),
  ...check(
    /^[\x20-\x3c\x3e-\x7e]*$/.test(value),
    () => "a valid environment variable name must consist only of printable ASCII characters other than '='",
  ),
];

export const isPortName: FormatCheck = (value) => [
  ...check(byteLength(value) <= PORT_NAME_BYTES_MAX, () => maxLengthError(PORT_NAME_BYTES_MAX)),
  ...check(
    /^[-a-z0-9]+$/.test(value),
    () => 'must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)',
  ),
  ...check(/[a-z]/.test(value), () => 'must contain at least one letter (a-z)'),
  ...check(!value.includes('--'), () => 'must not contain consecutive hyphens'),
  ...check(!value.startsWith('-') && !value.endsWith('-'), () => 'must not begin or end with a hyphen'),
];

export const isPortNumber = (value: number): readonly string[] =>
  check(Number.isInteger(value) && value >= 1 && value <= 65_535, () => rangeError(1, 65_535));

/** User and group ids. */
export const isPosixId = (value: number): readonly string[] =>
  check(value >= 0 && value <= ID_MAX, () => rangeError(0, ID_MAX));

export const isPathSegmentName: NameCheck = (name, prefix) => {
  if (!prefix && (name === '.' || name === '..')) return [`may not be '${name}'`];
  return ['/', '%'].filter((part) => name.includes(part)).map((part) => `may not contain '${part}'`);
};

const maskTrailingDash = (name: string): string =>
  name.length > 1 && name.endsWith('-') ? `${name.slice(0, -2)}a` : name;

const nameCheck =
  (format: FormatCheck): NameCheck =>
  (name, prefix) =>
    format(prefix ? maskTrailingDash(name) : name);

export const nameIsDnsSubdomain = nameCheck(isDns1123Subdomain);
export const nameIsDnsLabel = nameCheck(isDns1123Label);
export const nameIsDns1035Label = nameCheck(isDns1035Label);
