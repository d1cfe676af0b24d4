const LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const SUBDOMAIN = `${LABEL}(\\.${LABEL})*`;
const LABEL_1035 = '[a-z]([-a-z0-9]*[a-z0-9])?';
const QUALIFIED_NAME = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';
const LABEL_VALUE = `(${QUALIFIED_NAME})?`;

const LABEL_MAX = 63;
const SUBDOMAIN_MAX = 253;

/** All of these patterns are free of nested repetition over the same characters, so they match in linear time. */
const matcher = (pattern: string): RegExp => new RegExp(`^${pattern}$`);
const IS_LABEL = matcher(LABEL);
const IS_LABEL_1035 = matcher(LABEL_1035);
const IS_QUALIFIED_NAME = matcher(QUALIFIED_NAME);
const IS_LABEL_VALUE = matcher(LABEL_VALUE);

const regexMessage = (message: string, pattern: string, ...examples: string[]): string =>
  `${message} (e.g. ${examples.map((example) => `'${example}'`).join(',  or ')}, regex used for validation is '${pattern}')`;

const LABEL_MESSAGE = regexMessage(
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
  LABEL,
  'my-name',
  '123-abc',
);
const SUBDOMAIN_MESSAGE = regexMessage(
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
  SUBDOMAIN,
  'example.com',
);
const LABEL_1035_MESSAGE = regexMessage(
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
  LABEL_1035,
  'my-name',
  'abc-123',
);
const NAME_RULE =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
const NAME_MESSAGE = regexMessage(NAME_RULE, QUALIFIED_NAME, 'MyName', 'my.name', '123-abc');
const LABEL_VALUE_MESSAGE = regexMessage(
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  LABEL_VALUE,
  'MyValue',
  'my_value',
  '12345',
);

const byteLength = (text: string): number => new TextEncoder().encode(text).length;

const problems = (...found: readonly (string | false)[]): string[] =>
  found.filter((problem) => problem !== false);

/** Names that end in a dash are prefixes of generated names: they are looked at as if something followed. */
const maskDash = (name: string): string =>
  name.length > 1 && name.endsWith('-') ? `${name.slice(0, -2)}a` : name;

const characters = (max: number): string => `must be no more than ${max} characters`;

export const labelProblems = (text: string, isPrefix = false): string[] => {
  const name = isPrefix ? maskDash(text) : text;
  return problems(
    byteLength(name) > LABEL_MAX && characters(LABEL_MAX),
    !IS_LABEL.test(name) && LABEL_MESSAGE,
  );
};

export const label1035Problems = (text: string, isPrefix = false): string[] => {
  const name = isPrefix ? maskDash(text) : text;
  return problems(
    byteLength(name) > LABEL_MAX && characters(LABEL_MAX),
    !IS_LABEL_1035.test(name) && LABEL_1035_MESSAGE,
  );
};

const isSubdomain = (name: string): boolean => name.split('.').every((part) => IS_LABEL.test(part));

export const subdomainProblems = (text: string, isPrefix = false): string[] => {
  const name = isPrefix ? maskDash(text) : text;
  return problems(
    byteLength(name) > SUBDOMAIN_MAX && characters(SUBDOMAIN_MAX),
    !isSubdomain(name) && SUBDOMAIN_MESSAGE,
  );
};

export const qualifiedNameProblems = (text: string): string[] => {
  const parts = text.split('/');
  if (parts.length > 2)
    return [
      `a valid label key ${NAME_MESSAGE} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ];
  const [prefix, name] = parts.length === 2 ? (parts as [string, string]) : [undefined, text];
  const ofPrefix =
    prefix === undefined
      ? []
      : prefix === ''
        ? ['prefix part must be non-empty']
        : subdomainProblems(prefix).map((problem) => `prefix part ${problem}`);
  return [
    ...ofPrefix,
    ...problems(
      name === '' && 'name part must be non-empty',
      byteLength(name) > LABEL_MAX && `name part ${characters(LABEL_MAX)}`,
      !IS_QUALIFIED_NAME.test(name) && `name part ${NAME_MESSAGE}`,
    ),
  ];
};

export const labelValueProblems = (text: string): string[] =>
  problems(
    byteLength(text) > LABEL_MAX && `must be no more than ${LABEL_MAX} bytes`,
    !IS_LABEL_VALUE.test(text) && LABEL_VALUE_MESSAGE,
  );
