import { messageOf, ReasonError } from '../../../base/errors.ts';
import { ETCD_FLAGS } from '../flags.ts';
import { OLDER_NAMES, withNewerNames } from '../older-names.ts';
import { REJECTED_FLAGS } from '../rejected-flags.ts';

export interface SettingSources {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly readFile: (path: string) => string;
  readonly parseYaml: (text: string) => unknown;
}

/** Everything that was set, as the command line that says the same. */
export interface Settings {
  readonly args: readonly string[];
  readonly warnings: readonly string[];
}

const CONFIG_FILE = 'config-file';
const PREFIX = 'ETCD_';
/** Answered before any flag is read; images set `ETCD_VERSION` for their own purposes. */
const NOT_FROM_ENVIRONMENT = new Set([CONFIG_FILE, 'version', 'help']);
const NANOSECONDS_PER_MS = 1_000_000;

const FLAG_NAMES: readonly string[] = [
  ...Object.keys(ETCD_FLAGS),
  ...Object.keys(REJECTED_FLAGS),
  ...OLDER_NAMES,
];
const environmentName = (flagName: string): string => PREFIX + flagName.toUpperCase().replaceAll('-', '_');
const FLAG_OF_VARIABLE = new Map(FLAG_NAMES.map((name) => [environmentName(name), name]));

/** Empty where the settings come from flags and variables alone. */
export const configFileOf = (args: readonly string[], environment: SettingSources['environment']): string =>
  valueOf(args, CONFIG_FILE) ?? environment[environmentName(CONFIG_FILE)] ?? '';

/**
 * As etcd puts them together: a flag wins over its variable `ETCD_...`, and a configuration file over all flags and
 * variables.
 */
export const readSettings = (args: readonly string[], sources: SettingSources): Settings => {
  const settings = joinSources(args, sources);
  const { deprecated } = withNewerNames(settings.args);
  return { ...settings, warnings: [...settings.warnings, ...deprecated] };
};

const joinSources = (args: readonly string[], sources: SettingSources): Settings => {
  const { environment } = sources;
  const path = configFileOf(args, environment);
  const fromEnvironment = environmentArgs(environment);
  if (path === '') return { ...fromEnvironment, args: [...fromEnvironment.args, ...args] };
  const isAlone = fromEnvironment.args.length === 0 && args.length === countOf(args, CONFIG_FILE);
  return {
    args: fileArgs(path, sources),
    warnings: isAlone
      ? []
      : [
          `Loaded server configuration from ${JSON.stringify(path)}, other configuration command line flags and environment variables will be ignored if provided.`,
        ],
  };
};

const isFlag = (arg: string, name: string): boolean => new RegExp(`^--?${name}(=|$)`).test(arg);

const valueOf = (args: readonly string[], name: string): string | undefined => {
  const at = args.findIndex((arg) => isFlag(arg, name));
  if (at < 0) return undefined;
  const equals = args[at]!.indexOf('=');
  return equals < 0 ? args[at + 1] : args[at]!.slice(equals + 1);
};

/** How many arguments the flag takes up. */
const countOf = (args: readonly string[], name: string): number => {
  const arg = args.find((each) => isFlag(each, name));
  return arg === undefined ? 0 : arg.includes('=') ? 1 : 2;
};

const environmentArgs = (environment: SettingSources['environment']): Settings => {
  const args: string[] = [];
  const warnings: string[] = [];
  for (const [variable, value] of Object.entries(environment)) {
    if (!variable.startsWith(PREFIX) || value === undefined || value === '') continue;
    const name = FLAG_OF_VARIABLE.get(variable);
    if (name === undefined) warnings.push(`unrecognized environment variable: ${variable}`);
    else if (!NOT_FROM_ENVIRONMENT.has(name)) args.push(`--${name}=${value}`);
  }
  return { args, warnings };
};

/** The flags that stand for the settings of `client-transport-security` and `peer-transport-security`. */
const SECURITY_FLAGS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'client-transport-security': {
    'cert-file': 'cert-file',
    'key-file': 'key-file',
    'client-cert-file': 'client-cert-file',
    'client-key-file': 'client-key-file',
    'client-cert-auth': 'client-cert-auth',
    'trusted-ca-file': 'trusted-ca-file',
    'auto-tls': 'auto-tls',
    'allowed-hostname': 'client-cert-allowed-hostname',
  },
  'peer-transport-security': {
    'cert-file': 'peer-cert-file',
    'key-file': 'peer-key-file',
    'client-cert-file': 'peer-client-cert-file',
    'client-key-file': 'peer-client-key-file',
    'client-cert-auth': 'peer-client-cert-auth',
    'trusted-ca-file': 'peer-trusted-ca-file',
    'auto-tls': 'peer-auto-tls',
    'allowed-cn': 'peer-cert-allowed-cn',
    'allowed-hostname': 'peer-cert-allowed-hostname',
    'skip-client-san-verification': 'peer-skip-client-san-verification',
  },
};

const fileArgs = (path: string, { readFile, parseYaml }: SettingSources): string[] => {
  const bad = (message: string, cause?: unknown): ReasonError =>
    new ReasonError('BadConfiguration', `--${CONFIG_FILE}: ${path}: ${message}`, { cause });
  const read = (): unknown => {
    try {
      return parseYaml(readFile(path)) ?? {};
    } catch (error) {
      throw bad(messageOf(error).split('\n', 1)[0]!, error);
    }
  };
  const settings = read();
  if (!isMapping(settings)) throw bad('must be a mapping of settings to values');
  const args: string[] = [];
  const add = (setting: string, flagName: string | undefined, value: unknown): void => {
    // A sample file lists every setting; those that are empty set nothing, whether they are known or not.
    if (isEmpty(value)) return;
    if (flagName === undefined || !FLAG_NAMES.includes(flagName) || NOT_FROM_ENVIRONMENT.has(flagName))
      throw bad(`unknown setting ${JSON.stringify(setting)}`);
    const text = textOf(flagName, value);
    if (text === undefined) throw bad(`${setting}: must be a text, a number, true, false or a list of texts`);
    args.push(`--${flagName}=${text}`);
  };
  for (const [setting, value] of Object.entries(settings)) {
    const nested = Object.hasOwn(SECURITY_FLAGS, setting) ? SECURITY_FLAGS[setting] : undefined;
    if (nested === undefined) add(setting, setting, value);
    else if (isMapping(value))
      for (const [name, inner] of Object.entries(value))
        add(`${setting}.${name}`, ownValue(nested, name), inner);
    else if (!isEmpty(value)) throw bad(`${setting}: must be a mapping`);
  }
  return args;
};

const ownValue = (table: Readonly<Record<string, string>>, name: string): string | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined;

const isMapping = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isEmpty = (value: unknown): boolean =>
  value === null || value === undefined || value === '' || (Array.isArray(value) && value.length === 0);

/** Undefined for what no flag can say. */
const textOf = (flagName: string, value: unknown): string | undefined => {
  if (Array.isArray(value))
    return value.every((item) => typeof item === 'string') ? value.join(',') : undefined;
  if (typeof value === 'number' && isDuration(flagName)) return `${value / NANOSECONDS_PER_MS}ms`;
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
    return String(value);
  return undefined;
};

/** In a file, a duration without a unit is in nanoseconds. */
const isDuration = (flagName: string): boolean =>
  Object.hasOwn(ETCD_FLAGS, flagName) &&
  ETCD_FLAGS[flagName as keyof typeof ETCD_FLAGS].kind.type === 'duration';
