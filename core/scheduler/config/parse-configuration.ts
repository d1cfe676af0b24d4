import { parse } from 'yaml';
import { isJsonObject } from '../../api/meta/index.ts';
import { parseDurationMs } from '../../base/duration.ts';
import { ReasonError } from '../../base/errors.ts';
import { yamlFault } from '../../base/parse-fault.ts';
import { EXTENSION_POINTS, type ExtensionPoint } from '../framework/plugin.ts';
import type { ProfileConfig } from '../profile/profile.ts';
import type { PluginRef, PluginsConfig, PluginSet } from '../profile/plugin-sets.ts';
import { DEFAULT_SCHEDULER_NAME } from '../model/objects.ts';
import { DEFAULT_CONFIGURATION, type ExtenderConfig, type SchedulerConfiguration } from './configuration.ts';

export type ConfigurationFailure = 'BadConfiguration';

const API_VERSION = 'kubescheduler.config.k8s.io/v1';
const JSON_TYPE = 'application/json';
const KIND = 'KubeSchedulerConfiguration';

type Json = Record<string, unknown>;

const fail = (path: string, detail: string): ReasonError<ConfigurationFailure> =>
  new ReasonError('BadConfiguration', `${path}: ${detail}`);

/** Reads fields of one object, and at the end refuses those that no one asked for. */
class Fields {
  readonly #object: Json;
  readonly #path: string;
  readonly #seen = new Set<string>();

  constructor(value: unknown, path: string) {
    if (!isJsonObject(value)) throw fail(path || KIND, 'must be an object');
    this.#object = value;
    this.#path = path;
  }

  at(name: string): string {
    return this.#path === '' ? name : `${this.#path}.${name}`;
  }

  raw(name: string): unknown {
    this.#seen.add(name);
    return this.#object[name] ?? undefined;
  }

  /** Refuses every value but these, which ask for nothing that is not done anyway. */
  only(name: string, values: readonly (string | boolean)[]): void {
    const value = this.raw(name);
    if (value === undefined || values.some((one) => one === value)) return;
    const listed = values.map((one) => JSON.stringify(one)).join(' or ');
    throw fail(this.at(name), `${JSON.stringify(value)} is not supported; leave it out, or use ${listed}`);
  }

  #typed<T>(name: string, type: 'string' | 'number' | 'boolean', fallback: T): T {
    const value = this.raw(name);
    if (value === undefined) return fallback;
    if (typeof value !== type) throw fail(this.at(name), `must be a ${type}`);
    return value as T;
  }

  text<T extends string | undefined>(name: string, fallback: T): string | T {
    return this.#typed<string | T>(name, 'string', fallback);
  }

  flag<T extends boolean | undefined>(name: string, fallback: T): boolean | T {
    return this.#typed<boolean | T>(name, 'boolean', fallback);
  }

  integer<T extends number | undefined>(
    name: string,
    fallback: T,
    bounds: { min: number; max?: number },
  ): number | T {
    const value = this.#typed<number | T>(name, 'number', fallback);
    if (value === undefined) return value;
    if (!Number.isSafeInteger(value)) throw fail(this.at(name), 'must be a whole number');
    if (value < bounds.min) throw fail(this.at(name), `must be at least ${bounds.min}`);
    if (bounds.max !== undefined && value > bounds.max)
      throw fail(this.at(name), `not in valid range [${bounds.min}-${bounds.max}]`);
    return value;
  }

  durationMs<T extends number | undefined>(name: string, fallback: T): number | T {
    const text = this.text(name, undefined);
    if (text === undefined) return fallback;
    const ms = parseDurationMs(text);
    if (ms === undefined) throw fail(this.at(name), 'must be a duration such as 15s');
    return ms;
  }

  list(name: string): readonly Fields[] {
    const value = this.raw(name) ?? [];
    if (!Array.isArray(value)) throw fail(this.at(name), 'must be a list');
    return value.map((item, at) => new Fields(item, `${this.at(name)}[${at}]`));
  }

  object(name: string): Fields | undefined {
    const value = this.raw(name);
    return value === undefined ? undefined : new Fields(value, this.at(name));
  }

  end(): void {
    const unknown = Object.keys(this.#object).find((name) => !this.#seen.has(name));
    if (unknown !== undefined) throw fail(this.at(unknown), `unknown field "${unknown}"`);
  }
}

const pointField = (point: ExtensionPoint | 'MultiPoint'): string =>
  point.charAt(0).toLowerCase() + point.slice(1);

const pluginRefs = (fields: Fields, name: string): readonly PluginRef[] =>
  fields.list(name).map((item) => {
    const ref = item.text('name', undefined);
    if (!ref) throw fail(item.at('name'), 'is required');
    const weight = item.integer('weight', undefined, { min: 0 });
    item.end();
    return { name: ref, ...(weight !== undefined && { weight }) };
  });

const pluginsOf = (fields: Fields | undefined): PluginsConfig | undefined => {
  if (!fields) return undefined;
  const plugins: Partial<Record<ExtensionPoint | 'MultiPoint', PluginSet>> = {};
  for (const point of [...EXTENSION_POINTS, 'MultiPoint'] as const) {
    const set = fields.object(pointField(point));
    if (!set) continue;
    plugins[point] = { enabled: pluginRefs(set, 'enabled'), disabled: pluginRefs(set, 'disabled') };
    set.end();
  }
  fields.end();
  return plugins;
};

const profileOf = (fields: Fields): ProfileConfig => {
  const schedulerName = fields.text('schedulerName', DEFAULT_SCHEDULER_NAME);
  const percentageOfNodesToScore = fields.integer('percentageOfNodesToScore', undefined, {
    min: 0,
    max: 100,
  });
  const plugins = pluginsOf(fields.object('plugins'));
  const pluginConfig = new Map<string, Readonly<Record<string, unknown>>>();
  for (const item of fields.list('pluginConfig')) {
    const name = item.text('name', undefined);
    if (!name) throw fail(item.at('name'), 'is required');
    if (pluginConfig.has(name)) throw fail(item.at('name'), `Duplicate value: "${name}"`);
    const args = item.raw('args') ?? {};
    if (!isJsonObject(args)) throw fail(item.at('args'), 'must be an object');
    item.end();
    pluginConfig.set(name, args);
  }
  fields.end();
  return {
    schedulerName,
    pluginConfig,
    ...(plugins && { plugins }),
    ...(percentageOfNodesToScore !== undefined && { percentageOfNodesToScore }),
  };
};

const extenderOf = (fields: Fields): ExtenderConfig => {
  const urlPrefix = fields.text('urlPrefix', '');
  if (urlPrefix === '') throw fail(fields.at('urlPrefix'), 'is required');
  const prioritizeVerb = fields.text('prioritizeVerb', '');
  const weight = fields.integer('weight', 0, { min: 0 });
  if (prioritizeVerb !== '' && weight <= 0)
    throw fail(fields.at('weight'), 'must have a positive weight applied to it');
  const managedResources = fields.list('managedResources').map((item) => {
    const resource = {
      name: item.text('name', ''),
      ignoredByScheduler: item.flag('ignoredByScheduler', false),
    };
    item.end();
    return resource;
  });
  const tlsConfig = fields.raw('tlsConfig') as ExtenderConfig['tlsConfig'];
  const extender = {
    urlPrefix,
    filterVerb: fields.text('filterVerb', ''),
    prioritizeVerb,
    bindVerb: fields.text('bindVerb', ''),
    preemptVerb: fields.text('preemptVerb', ''),
    weight,
    httpTimeoutMs: fields.durationMs('httpTimeout', 0),
    nodeCacheCapable: fields.flag('nodeCacheCapable', false),
    managedResources,
    ignorable: fields.flag('ignorable', false),
    enableHTTPS: fields.flag('enableHTTPS', false),
    ...(tlsConfig && { tlsConfig }),
  };
  fields.end();
  return extender;
};

const parseYaml = (text: string): unknown => {
  try {
    return parse(text);
  } catch (error) {
    throw fail('--config', `is not valid YAML: ${yamlFault(error)}`);
  }
};

/** Reads a file of `--config`. One clear line names the field that is wrong. */
export const parseSchedulerConfiguration = (text: string): SchedulerConfiguration => {
  const fields = new Fields(parseYaml(text), '');
  const apiVersion = fields.text('apiVersion', '');
  const kind = fields.text('kind', '');
  if (apiVersion !== API_VERSION || kind !== KIND)
    throw fail('apiVersion', `wants ${API_VERSION} ${KIND}, found "${apiVersion}" "${kind}"`);
  const defaults = DEFAULT_CONFIGURATION;
  const profiles = fields.list('profiles').map(profileOf);
  const names = new Set(profiles.map(({ schedulerName }) => schedulerName));
  if (names.size < profiles.length) throw fail('profiles', 'scheduler names must be unique');
  const podInitialBackoffSeconds = fields.integer(
    'podInitialBackoffSeconds',
    defaults.podInitialBackoffSeconds,
    { min: 1 },
  );
  const podMaxBackoffSeconds = fields.integer('podMaxBackoffSeconds', defaults.podMaxBackoffSeconds, {
    min: 1,
  });
  if (podMaxBackoffSeconds < podInitialBackoffSeconds)
    throw fail('podMaxBackoffSeconds', 'must be greater than or equal to PodInitialBackoffSeconds');
  const extenders = fields.list('extenders').map(extenderOf);
  if (extenders.filter(({ bindVerb }) => bindVerb).length > 1)
    throw fail(
      'extenders',
      'found more than one extender with bind verb; only one extender can implement bind',
    );
  const election = fields.object('leaderElection');
  const connection = fields.object('clientConnection');
  const configuration: SchedulerConfiguration = {
    parallelism: fields.integer('parallelism', defaults.parallelism, { min: 1 }),
    percentageOfNodesToScore: fields.integer('percentageOfNodesToScore', 0, { min: 0, max: 100 }),
    podInitialBackoffSeconds,
    podMaxBackoffSeconds,
    profiles: profiles.length > 0 ? profiles : defaults.profiles,
    extenders,
    leaderElection: {
      leaderElect: election?.flag('leaderElect', true) ?? true,
      leaseDurationMs:
        election?.durationMs('leaseDuration', undefined) ?? defaults.leaderElection.leaseDurationMs,
      renewDeadlineMs:
        election?.durationMs('renewDeadline', undefined) ?? defaults.leaderElection.renewDeadlineMs,
      retryPeriodMs: election?.durationMs('retryPeriod', undefined) ?? defaults.leaderElection.retryPeriodMs,
      resourceName: election?.text('resourceName', undefined) ?? defaults.leaderElection.resourceName,
      resourceNamespace:
        election?.text('resourceNamespace', undefined) ?? defaults.leaderElection.resourceNamespace,
    },
    clientConnection: {
      kubeconfig: connection?.text('kubeconfig', undefined) ?? '',
      qps: connection?.integer('qps', undefined, { min: 0 }) ?? defaults.clientConnection.qps,
      burst: connection?.integer('burst', undefined, { min: 0 }) ?? defaults.clientConnection.burst,
    },
  };
  // Only what is done anyway may be asked for.
  election?.only('resourceLock', ['leases']);
  connection?.only('acceptContentTypes', ['', JSON_TYPE]);
  connection?.only('contentType', ['', JSON_TYPE]);
  for (const name of ['enableProfiling', 'enableContentionProfiling', 'delayCacheUntilActive'])
    fields.only(name, [false]);
  election?.end();
  connection?.end();
  fields.end();
  return configuration;
};
