/** Ascending, so that a threshold is a comparison of places. */
export const logLevels = ['debug', 'info', 'warn', 'error', 'fatal'] as const;
export type LogLevel = (typeof logLevels)[number];

/** A line as its program meant it. Fields are everything that is neither level, time nor message. */
export interface ParsedLine {
  readonly format: 'json' | 'klog' | 'logfmt' | 'plain';
  readonly level: LogLevel | undefined;
  readonly message: string;
  readonly fields: readonly (readonly [string, string])[];
}

/** Nothing a person reads is longer, and a regular expression over more would be felt. */
const PARSED_CHARACTERS_MAX = 16 * 1024;
const FIELDS_MAX = 64;

const LEVEL_WORDS: Readonly<Record<string, LogLevel>> = {
  trace: 'debug',
  debug: 'debug',
  dbg: 'debug',
  info: 'info',
  inf: 'info',
  information: 'info',
  notice: 'info',
  warn: 'warn',
  warning: 'warn',
  wrn: 'warn',
  error: 'error',
  err: 'error',
  critical: 'fatal',
  crit: 'fatal',
  fatal: 'fatal',
  panic: 'fatal',
  dpanic: 'fatal',
  alert: 'fatal',
  emerg: 'fatal',
};
const levelOf = (word: unknown): LogLevel | undefined =>
  typeof word === 'string' ? LEVEL_WORDS[word.toLowerCase()] : undefined;

const LEVEL_KEYS = new Set(['level', 'lvl', 'severity', 'log.level', 'loglevel']);
const MESSAGE_KEYS = new Set(['msg', 'message', '@message', 'event']);
const TIME_KEYS = new Set(['ts', 'time', 'timestamp', '@timestamp', 't']);

type Pair = readonly [string, string];

/** Level, message and the rest of lines that are lists of keys and values, whatever their notation. */
const fromPairs = (format: 'json' | 'logfmt', pairs: readonly Pair[]): ParsedLine | undefined => {
  let level: LogLevel | undefined;
  let message: string | undefined;
  const fields: Pair[] = [];
  for (const pair of pairs) {
    const [key, value] = pair;
    const name = key.toLowerCase();
    const asLevel = level === undefined && LEVEL_KEYS.has(name) ? levelOf(value) : undefined;
    if (asLevel) level = asLevel;
    else if (message === undefined && MESSAGE_KEYS.has(name)) message = value;
    else if (!TIME_KEYS.has(name) && fields.length < FIELDS_MAX) fields.push(pair);
  }
  if (level === undefined && message === undefined) return undefined;
  return { format, level, message: message ?? '', fields };
};

const valueText = (value: unknown): string =>
  typeof value === 'string' ? value : (JSON.stringify(value) ?? '');

const parseJson = (text: string): ParsedLine | undefined => {
  if (!text.startsWith('{')) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  const parsed = fromPairs(
    'json',
    Object.entries(value).map(([key, each]) => [key, valueText(each)]),
  );
  if (!parsed || parsed.level) return parsed;
  // The JSON of Kubernetes components has no level: an error is a line with `err`, the rest is verbosity.
  const isError = parsed.fields.some(([key]) => key === 'err');
  const isKlog = parsed.fields.some(([key]) => key === 'v') || isError;
  return isKlog ? { ...parsed, level: isError ? 'error' : 'info' } : parsed;
};

const KLOG = /^([IWEF])\d{4} \d\d:\d\d:\d\d(?:\.\d+)?\s+\d+ ([^\]\s]+:\d+)\] ?(.*)$/s;
const KLOG_LEVELS: Readonly<Record<string, LogLevel>> = { I: 'info', W: 'warn', E: 'error', F: 'fatal' };
const KLOG_QUOTED = /^"((?:[^"\\]|\\.)*)"(?: (.*))?$/s;
const PAIR = /([A-Za-z_][\w.\-/@]*)=("(?:[^"\\]|\\.)*"|\S*)/gy;

const unquoted = (text: string): string => {
  if (!text.startsWith('"')) return text;
  try {
    return String(JSON.parse(text));
  } catch {
    return text.slice(1, -1);
  }
};

/** Pairs up to the end of the text; undefined when something else stands between them. */
const readPairs = (text: string): Pair[] | undefined => {
  const pairs: Pair[] = [];
  let at = 0;
  while (at < text.length) {
    PAIR.lastIndex = at;
    const match = PAIR.exec(text);
    if (!match) return undefined;
    if (pairs.length < FIELDS_MAX) pairs.push([match[1] ?? '', unquoted(match[2] ?? '')]);
    at = PAIR.lastIndex;
    while (text[at] === ' ') at += 1;
  }
  return pairs;
};

const parseKlog = (text: string): ParsedLine | undefined => {
  const [, letter = '', caller = '', rest = ''] = KLOG.exec(text) ?? [];
  const level = KLOG_LEVELS[letter];
  if (!level) return undefined;
  const [, quoted, tail = ''] = KLOG_QUOTED.exec(rest) ?? [];
  const pairs = quoted === undefined ? undefined : readPairs(tail);
  return {
    format: 'klog',
    level,
    message: pairs && quoted !== undefined ? unquoted(`"${quoted}"`) : rest,
    fields: [...(pairs ?? []), ['caller', caller]],
  };
};

const parseLogfmt = (text: string): ParsedLine | undefined => {
  if (!/^[A-Za-z_][\w.\-/@]*=/.test(text)) return undefined;
  const pairs = readPairs(text);
  return pairs && pairs.length > 1 ? fromPairs('logfmt', pairs) : undefined;
};

const FATAL_WORD = /\b(?:FATAL|CRITICAL|PANIC|panic:)/;
const ERROR_WORD = /\b(?:ERROR|ERR|Exception)\b/;
const WARN_WORD = /\b(?:WARN|WARNING)\b/;
const INFO_WORD = /\bINFO\b/;
const DEBUG_WORD = /\b(?:DEBUG|TRACE)\b/;

const plainLevel = (text: string): LogLevel | undefined => {
  if (FATAL_WORD.test(text)) return 'fatal';
  if (ERROR_WORD.test(text)) return 'error';
  if (WARN_WORD.test(text)) return 'warn';
  if (INFO_WORD.test(text)) return 'info';
  return DEBUG_WORD.test(text) ? 'debug' : undefined;
};

export const parseLogLine = (text: string): ParsedLine => {
  const plain = { format: 'plain', level: undefined, message: text, fields: [] } as const;
  if (text.length > PARSED_CHARACTERS_MAX) return plain;
  return parseJson(text) ?? parseKlog(text) ?? parseLogfmt(text) ?? { ...plain, level: plainLevel(text) };
};
