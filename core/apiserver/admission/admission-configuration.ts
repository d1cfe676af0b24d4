import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { parseDocument } from 'yaml';
import { messageOf, ReasonError } from '../../base/errors.ts';
import { isJsonObject } from '../../api/meta/index.ts';
import type { V1Toleration } from '../../api/schema/index.ts';
import { kubeconfigTarget } from '../webhook/kubeconfig-target.ts';
import type { WebhookTarget } from '../webhook/target.ts';
import { EVENT_CACHE_SIZE, EVENT_LIMIT_TYPES, type EventLimit } from './plugins/event-rate-limit.ts';
import type { ImagePolicyConfiguration } from './plugins/image-policy-webhook.ts';
import type { PodNodeSelectorConfiguration } from './plugins/pod-node-selector.ts';
import type { PodTolerationConfiguration } from './plugins/pod-toleration-restriction.ts';

/** What --admission-control-config-file says, by plugin. */
export interface AdmissionConfiguration {
  readonly podNodeSelector?: PodNodeSelectorConfiguration;
  readonly podTolerationRestriction?: PodTolerationConfiguration;
  readonly eventRateLimit?: readonly EventLimit[];
  readonly imagePolicy?: ImagePolicyConfiguration;
}

const API_VERSIONS = ['apiserver.config.k8s.io/v1', 'apiserver.k8s.io/v1alpha1'];
const TEXT_LENGTH_MAX = 1024 * 1024;

type Fields = Readonly<Record<string, unknown>>;

const bad = (message: string): ReasonError =>
  new ReasonError('BadConfiguration', `--admission-control-config-file: ${message}`);

const parse = (text: string, what: string): Fields => {
  if (text.length > TEXT_LENGTH_MAX) throw bad(`${what} is larger than ${TEXT_LENGTH_MAX} characters`);
  const document = parseDocument(text);
  const [error] = document.errors;
  if (error) throw bad(`${what}: ${error.message}`);
  const value: unknown = document.toJS({ maxAliasCount: 0 });
  if (!isJsonObject(value)) throw bad(`${what} must be an object`);
  return value;
};

const eventLimits = (configuration: Fields): readonly EventLimit[] => {
  const limits = configuration['limits'];
  if (!Array.isArray(limits) || limits.length === 0)
    throw bad('EventRateLimit: limits: Invalid value: must not be empty');
  return limits.map((limit: unknown, at): EventLimit => {
    const { type, qps = 0, burst = 0, cacheSize = 0 } = isJsonObject(limit) ? limit : ({} as Fields);
    const wrong = (field: string, why: string): ReasonError =>
      bad(`EventRateLimit: limits[${at}].${field}: ${why}`);
    if (!EVENT_LIMIT_TYPES.includes(type as EventLimit['type']))
      throw wrong(
        'type',
        `Unsupported value: ${JSON.stringify(type)}: supported values: ${EVENT_LIMIT_TYPES.map((one) => `"${one}"`).join(', ')}`,
      );
    if (!(Number(burst) > 0)) throw wrong('burst', `Invalid value: ${String(burst)}: must be positive`);
    if (!(Number(qps) > 0)) throw wrong('qps', `Invalid value: ${String(qps)}: must be positive`);
    if (Number(cacheSize) < 0)
      throw wrong('cacheSize', `Invalid value: ${String(cacheSize)}: must not be negative`);
    return {
      type: type as EventLimit['type'],
      qps: Number(qps),
      burst: Number(burst),
      cacheSize: Number(cacheSize) || EVENT_CACHE_SIZE,
    };
  });
};

const textsOf = (value: unknown): PodNodeSelectorConfiguration =>
  isJsonObject(value)
    ? Object.fromEntries(Object.entries(value).map(([key, text]) => [key, String(text)]))
    : {};

const tolerationsOf = (value: unknown): readonly V1Toleration[] | undefined =>
  Array.isArray(value) ? (value as V1Toleration[]) : undefined;

/** A number of units; absent: the default; -1: off. */
const durationMs = (
  value: unknown,
  { unitMs, minMs, maxMs, defaultMs }: { unitMs: number; minMs: number; maxMs: number; defaultMs: number },
): number => {
  const given = Number(value ?? 0);
  if (given === -1) return 0;
  if (given === 0) return defaultMs;
  const ms = given * unitMs;
  if (!(ms >= minMs && ms <= maxMs))
    throw bad(`ImagePolicyWebhook: valid value is between ${minMs}ms and ${maxMs}ms, got ${ms}ms`);
  return ms;
};

const MINUTE_MS = 60_000;

const imagePolicy = async (
  configuration: Fields,
  loadTarget: LoadTarget,
): Promise<ImagePolicyConfiguration> => {
  const given = isJsonObject(configuration['imagePolicy']) ? configuration['imagePolicy'] : ({} as Fields);
  const ttl = { unitMs: 1000, minMs: 1000, maxMs: 30 * MINUTE_MS };
  return {
    target: await loadTarget(String(given['kubeConfigFile'] ?? '')),
    allowTtlMs: durationMs(given['allowTTL'], { ...ttl, defaultMs: 5 * MINUTE_MS }),
    denyTtlMs: durationMs(given['denyTTL'], { ...ttl, defaultMs: MINUTE_MS / 2 }),
    retryBackoffMs: durationMs(given['retryBackoff'], {
      unitMs: 1,
      minMs: 1,
      maxMs: 5 * MINUTE_MS,
      defaultMs: 500,
    }),
    defaultAllow: given['defaultAllow'] === true,
  };
};

type LoadTarget = (file: string) => Promise<WebhookTarget>;

/** How each plugin that can be configured reads its part. */
const READERS: Readonly<
  Record<
    string,
    (
      configuration: Fields,
      loadTarget: LoadTarget,
    ) => AdmissionConfiguration | Promise<AdmissionConfiguration>
  >
> = {
  ImagePolicyWebhook: async (configuration, loadTarget) => ({
    imagePolicy: await imagePolicy(configuration, loadTarget),
  }),
  EventRateLimit: (configuration) => ({ eventRateLimit: eventLimits(configuration) }),
  PodNodeSelector: (configuration) => ({
    podNodeSelector: textsOf(configuration['podNodeSelectorPluginConfig']),
  }),
  PodTolerationRestriction: (configuration) => ({
    podTolerationRestriction: {
      default: tolerationsOf(configuration['default']),
      whitelist: tolerationsOf(configuration['whitelist']),
    },
  }),
};

/** Reads an AdmissionConfiguration; `load` reads the files that it refers to. */
export const parseAdmissionConfiguration = async (
  text: string,
  load: (path: string) => Promise<string>,
  loadTarget: LoadTarget,
): Promise<AdmissionConfiguration> => {
  const { apiVersion, kind, plugins = [] } = parse(text, 'the file');
  if (kind !== 'AdmissionConfiguration' || !API_VERSIONS.includes(String(apiVersion)))
    throw bad(`expected ${API_VERSIONS[0]}, Kind=AdmissionConfiguration`);
  if (!Array.isArray(plugins)) throw bad('plugins must be a list');
  let result: AdmissionConfiguration = {};
  for (const plugin of plugins as unknown[]) {
    const { name, path, configuration } = isJsonObject(plugin) ? plugin : ({} as Fields);
    const read = READERS[String(name)];
    if (!read)
      throw bad(
        `plugin "${String(name)}" has no configuration here; those that have: ${Object.keys(READERS).join(', ')}`,
      );
    const given =
      typeof path === 'string' && path !== ''
        ? parse(await load(path), path)
        : isJsonObject(configuration)
          ? configuration
          : {};
    result = { ...result, ...(await read(given, loadTarget)) };
  }
  return result;
};

/** The configuration of a file; without one every plugin has its defaults. */
export const loadAdmissionConfiguration = async (file: string): Promise<AdmissionConfiguration> => {
  if (file === '') return {};
  const load = async (path: string): Promise<string> => {
    try {
      return await readFile(path, 'utf8');
    } catch (error) {
      throw bad(`cannot read ${path}: ${messageOf(error)}`);
    }
  };
  return parseAdmissionConfiguration(
    await load(file),
    (path) => load(resolve(dirname(file), path)),
    (path) => kubeconfigTarget(resolve(dirname(file), path)),
  );
};
