import type { Counter, Gauge, Histogram, Registry } from '../../base/metrics/index.ts';
import type { RequestContext } from './context.ts';
import type { RepeatedFailures } from './repeated-failures.ts';
import type { RequestInfo } from './request-info.ts';

const DURATION_BUCKETS_SECONDS = [
  0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60,
];
const RESPONSE_SIZE_BUCKETS_BYTES = [
  1000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000,
];
/** Every resource with its verbs, scopes and codes; what does not fit is counted as `other`. */
const REQUEST_LABEL_SETS_MAX = 5000;
const COMPONENT = 'apiserver';

const WHERE = ['group', 'version', 'resource', 'subresource', 'scope', 'component'] as const;
const VERBS = new Set([
  ...['APPLY', 'CONNECT', 'CREATE', 'DELETE', 'DELETECOLLECTION', 'GET', 'HEAD', 'LIST', 'OPTIONS', 'PATCH'],
  ...['POST', 'PROXY', 'PUT', 'UPDATE', 'WATCH', 'WATCHLIST'],
]);
const CONNECT_SUBRESOURCES = new Set(['attach', 'exec', 'log', 'portforward', 'proxy']);
const APPLY_TYPE = 'application/apply-patch+yaml';
/** Where upstream's metrics speak of methods instead of verbs. */
const METHOD_OF_VERB: Readonly<Record<string, string>> = { CREATE: 'POST', UPDATE: 'PUT' };

const verbOf = ({ info, request }: RequestContext): string => {
  if (info.isResourceRequest && CONNECT_SUBRESOURCES.has(info.subresource)) return 'CONNECT';
  if (info.verb === 'patch' && request.headers.get('content-type') === APPLY_TYPE) return 'APPLY';
  const verb = info.verb.toUpperCase();
  const reported = METHOD_OF_VERB[verb] ?? verb;
  return VERBS.has(reported) ? reported : 'other';
};

export const scopeOf = (info: RequestInfo): string => {
  if (info.name !== '' || info.verb === 'create') return 'resource';
  if (info.namespace !== '') return 'namespace';
  return info.isResourceRequest ? 'cluster' : '';
};

const dryRunOf = (query: URLSearchParams): string =>
  query.has('dryRun') ? (query.getAll('dryRun').every((one) => one === 'All') ? 'All' : 'invalid') : '';

/** Combinations whose metrics are found once. */
const HANDLES_MAX = 1000;

/** The metrics of one verb on one resource; each exists from its first use on. */
interface Handles {
  total(code: number): Counter;
  duration(): Histogram;
  sizes(): Histogram | undefined;
  longRunning(): Gauge;
}

const remembering = (handles: Handles): Handles => {
  let duration: Histogram | undefined;
  let sizes: Histogram | undefined;
  return {
    ...handles,
    duration: () => (duration ??= handles.duration()),
    sizes: () => (sizes ??= handles.sizes()),
  };
};

export interface RequestMetricsOptions {
  readonly registry: Registry;
  /**
   * Whether a path names a resource that is served. Others are counted without labels, so that a client
   * that asks for nonsense cannot fill the metrics.
   */
  readonly isServed?: (info: RequestInfo) => boolean;
  /** Finds clients that are caught in a loop of failures. */
  readonly repeats?: RepeatedFailures;
}

export interface RequestMetrics {
  started(context: RequestContext): void;
  finished(context: RequestContext, durationMs: number): void;
  readonly tlsHandshakeErrors: { inc(): void };
  readonly panics: { inc(): void };
}

/** Counters of requests under upstream's names. */
export const createRequestMetrics = ({
  registry,
  isServed,
  repeats,
}: RequestMetricsOptions): RequestMetrics => {
  const total = registry.counterFamily({
    name: 'apiserver_request_total',
    help: 'Requests by verb, resource and code of the answer.',
    labels: ['verb', 'dry_run', ...WHERE, 'code'],
    labelSetsMax: REQUEST_LABEL_SETS_MAX,
  });
  const duration = registry.histogramFamily({
    name: 'apiserver_request_duration_seconds',
    help: 'Time from the head of a request to the end of its answer, in seconds.',
    labels: ['verb', 'dry_run', ...WHERE],
    buckets: DURATION_BUCKETS_SECONDS,
    labelSetsMax: REQUEST_LABEL_SETS_MAX,
  });
  const sizes = registry.histogramFamily({
    name: 'apiserver_response_sizes',
    help: 'Size of answers before compression, in bytes.',
    labels: ['verb', ...WHERE],
    buckets: RESPONSE_SIZE_BUCKETS_BYTES,
    labelSetsMax: REQUEST_LABEL_SETS_MAX,
  });
  const longRunning = registry.gaugeFamily({
    name: 'apiserver_longrunning_requests',
    help: 'Watches and other lasting requests that are open.',
    labels: ['verb', ...WHERE],
    labelSetsMax: REQUEST_LABEL_SETS_MAX,
  });
  const where = (info: RequestInfo): [string, string, string, string, string, string] => {
    if (!info.isResourceRequest || (isServed && !isServed(info))) return ['', '', '', '', '', COMPONENT];
    const { apiGroup, apiVersion, resource, subresource } = info;
    return [apiGroup, apiVersion, resource, subresource, scopeOf(info), COMPONENT];
  };
  const known = new Map<string, Handles>();
  const handlesOf = (context: RequestContext): Handles => {
    const verb = verbOf(context);
    const dryRun = dryRunOf(context.request.query);
    const { apiGroup, apiVersion, resource, subresource } = context.info;
    const at = `${verb} ${dryRun} ${scopeOf(context.info)} ${apiGroup}/${apiVersion}/${resource}/${subresource}`;
    const found = known.get(at);
    if (found) return found;
    const labels = where(context.info);
    const codes = new Map<number, Counter>();
    const handles: Handles = {
      total(code) {
        let counter = codes.get(code);
        if (!counter) codes.set(code, (counter = total.labels(verb, dryRun, ...labels, String(code))));
        return counter;
      },
      duration: () => duration.labels(verb, dryRun, ...labels),
      sizes: () => (verb === 'GET' || verb === 'LIST' ? sizes.labels(verb, ...labels) : undefined),
      longRunning: () => longRunning.labels(verb, ...labels),
    };
    // What is not remembered is looked up again: paths are the client's to choose.
    if (known.size < HANDLES_MAX) known.set(at, remembering(handles));
    return known.get(at) ?? handles;
  };
  return {
    started(context) {
      if (context.isLongRunning) handlesOf(context).longRunning().add(1);
    },
    finished(context, durationMs) {
      const handles = handlesOf(context);
      handles.total(context.response.code).inc();
      if (context.isLongRunning) handles.longRunning().add(-1);
      else handles.duration().observe(durationMs / 1000);
      handles.sizes()?.observe(context.response.bodyBytes);
      repeats?.observe(context);
    },
    tlsHandshakeErrors: registry.counter({
      name: 'apiserver_tls_handshake_errors_total',
      help: 'Connections that failed during their TLS handshake.',
    }),
    panics: registry.counter({
      name: 'apiserver_request_panics_total',
      help: 'Requests that ended in a defect of the server.',
    }),
  };
};
