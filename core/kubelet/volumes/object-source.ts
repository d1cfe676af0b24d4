import type { Clock } from '../../base/clock.ts';
import type {
  AuthenticationV1TokenRequest,
  V1ConfigMap,
  V1Pod,
  V1Secret,
  V1Service,
  V1ServiceAccountTokenProjection,
} from '../../api/schema/index.ts';
import { isNotFound } from '../../api/meta/status.ts';
import { CONFIG_MAP, RUNTIME_CLASS, SECRET, SERVICE_ACCOUNT, type Client } from '../../client/index.ts';

/** What pods name in their volumes and environment. Undefined when there is no such object. */
export interface ObjectSource {
  configMap(namespace: string, name: string): Promise<V1ConfigMap | undefined>;
  secret(namespace: string, name: string): Promise<V1Secret | undefined>;
  /** All Services of a namespace, once they were read for the first time. */
  services(namespace: string): Promise<readonly V1Service[]>;
  token(pod: V1Pod, projection: V1ServiceAccountTokenProjection): Promise<string>;
  /** What a RuntimeClass calls the runtime; rejects where there is none. */
  runtimeHandler?(runtimeClass: string): Promise<string>;
}

/** As old as a mounted object may be: upstream's kubelet looks again every minute. */
export const OBJECT_TTL_MS = 60_000;
export const OBJECTS_MAX = 4_096;
/** A missing object is asked for again soon: its pod waits for it. */
const ABSENT_TTL_MS = 1_000;
/** Upstream renews when a fifth of a token's time is left. */
const TOKEN_RENEW_SHARE = 0.8;
const TOKEN_SECONDS_DEFAULT = 3_600;

interface Entry<T> {
  readonly value: Promise<T>;
  untilMs: number;
}

/** One answer for all pods of a process that name the same object within a minute; the oldest goes when full. */
class TimedCache<T> {
  readonly #entries = new Map<string, Entry<T>>();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  read(key: string, load: () => Promise<T>, ttlMs: (value: T) => number): Promise<T> {
    const known = this.#entries.get(key);
    if (known && known.untilMs > this.#clock.monotonicMs()) return known.value;
    const entry: Entry<T> = { value: load(), untilMs: Number.POSITIVE_INFINITY };
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    if (this.#entries.size > OBJECTS_MAX) this.#entries.delete(this.#entries.keys().next().value!);
    entry.value.then(
      (value) => (entry.untilMs = this.#clock.monotonicMs() + ttlMs(value)),
      () => this.#entries.delete(key),
    );
    return entry.value;
  }
}

const orAbsent = async <T>(request: Promise<T>): Promise<T | undefined> => {
  try {
    return await request;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
};

const objectTtlMs = (value: unknown): number => (value === undefined ? ABSENT_TTL_MS : OBJECT_TTL_MS);

/** Reads over the API with the identity of one node; `services` are those of the whole process. */
export const clientObjectSource = (
  client: Client,
  clock: Clock,
  services: ObjectSource['services'],
): ObjectSource => {
  const configMaps = new TimedCache<V1ConfigMap | undefined>(clock);
  const secrets = new TimedCache<V1Secret | undefined>(clock);
  const tokens = new TimedCache<{ readonly token: string; readonly seconds: number }>(clock);
  return {
    runtimeHandler: async (name) => (await client.resource(RUNTIME_CLASS).get(name)).handler,
    configMap: (namespace, name) =>
      configMaps.read(
        `${namespace}/${name}`,
        () => orAbsent(client.resource(CONFIG_MAP, namespace).get(name)),
        objectTtlMs,
      ),
    secret: (namespace, name) =>
      secrets.read(
        `${namespace}/${name}`,
        () => orAbsent(client.resource(SECRET, namespace).get(name)),
        objectTtlMs,
      ),
    services,
    async token(pod, projection) {
      const { namespace = '', name = '', uid = '' } = pod.metadata ?? {};
      const account = pod.spec?.serviceAccountName ?? 'default';
      const seconds = projection.expirationSeconds ?? TOKEN_SECONDS_DEFAULT;
      const audiences = projection.audience ? [projection.audience] : [];
      const key = [uid, account, seconds, ...audiences].join('/');
      const request: AuthenticationV1TokenRequest = {
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'TokenRequest',
        spec: {
          audiences,
          expirationSeconds: seconds,
          boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name, uid },
        },
      };
      const answer = await tokens.read(
        key,
        async () => {
          const created = await client
            .resource(SERVICE_ACCOUNT, namespace)
            .createSubresource<AuthenticationV1TokenRequest>(account, 'token', request);
          return { token: created.status?.token ?? '', seconds };
        },
        (created) => created.seconds * 1000 * TOKEN_RENEW_SHARE,
      );
      return answer.token;
    },
  };
};
