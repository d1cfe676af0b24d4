import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import type { Registry } from '../../base/metrics/index.ts';
import type { Random } from '../../base/random.ts';
import { defaultGates, releaseOf, type FeatureGates } from '../../api/releases/index.ts';
import { methodNotAllowed, pathNotFound, StatusError } from '../../api/meta/index.ts';
import { registryOf } from '../../api/scheme/index.ts';
import type { AdmissionChain } from '../admission/attributes.ts';
import { userInfo, type UserInfo } from '../server/user.ts';
import type { Authorizer } from '../authz/authorizer.ts';
import type { RestRegistry, Scope } from '../registry/rest-storage.ts';
import { sendPageNotFound } from '../server/response.ts';
import type { RequestContext } from '../server/context.ts';
import type { Stage } from '../server/pipeline.ts';
import { builtInEndpoints, type Endpoint, type EndpointSource } from './endpoint.ts';
import type { HandlerCall, HandlerServices } from './handler-call.ts';
import { createHandlerMetrics } from './handler-metrics.ts';
import { wantsYaml } from './negotiate-output.ts';
import { sendStatusYaml } from './respond.ts';
import { handlerFor } from './routes.ts';
import { StageTimer } from './stage-timer.ts';

/** Upstream's --min-request-timeout. */
export const WATCH_TIMEOUT_MIN_SECONDS = 1800;
const SECOND_MS = 1000;
const WRITES = new Set(['create', 'update', 'patch']);

export interface ApiStageOptions {
  readonly registry: RestRegistry;
  readonly admission: AdmissionChain;
  /** The minor of Kubernetes that is emulated. */
  readonly minor: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: Registry;
  /** Asked where a PUT or an apply would create; without one everybody who may change may create. */
  readonly authorizer?: Authorizer;
  /** Beside the built-in kinds: those of custom resources. */
  readonly endpoints?: EndpointSource;
  readonly watchTimeoutMinSeconds?: number;
  /** Those of the release without it. */
  readonly gates?: FeatureGates;
}

/** Answers every request for a resource: the last stage of a server's pipeline that knows its objects. */
export const apiStage = (options: ApiStageOptions): Stage => {
  const { clock, log } = options;
  const builtIn = builtInEndpoints(options);
  const services: HandlerServices = {
    admission: options.admission,
    clock,
    random: options.random,
    metrics: createHandlerMetrics(options.metrics),
    authorizer: options.authorizer,
    gates: options.gates ?? defaultGates(releaseOf(options.minor)),
    watchTimeoutMinMs: (options.watchTimeoutMinSeconds ?? WATCH_TIMEOUT_MIN_SECONDS) * SECOND_MS,
  };
  return {
    name: 'api',
    async run(context) {
      if (!context.info.isResourceRequest) return 'next';
      const endpoint = builtIn.find(context.info) ?? (await options.endpoints?.find(context.info));
      if (!endpoint) {
        const { groups } = registryOf(options.minor);
        if (groups.some(({ group }) => group === context.info.apiGroup)) throw pathNotFound();
        await sendPageNotFound(context.response);
        return 'done';
      }
      await serve(callOf(context, endpoint, services), log);
      return 'done';
    },
  };
};

/** A class for its getter: most handlers never ask for the signal, which is costly. */
class RequestScope implements Scope {
  readonly user: UserInfo;
  readonly namespace: string;
  readonly apiGroup: string;
  readonly warn: Scope['warn'];
  readonly #context: RequestContext;

  constructor(context: RequestContext, user: UserInfo, namespace: string) {
    this.user = user;
    this.namespace = namespace;
    this.apiGroup = context.info.apiGroup;
    this.warn = (text) => context.warnings.add(text);
    this.#context = context;
  }

  get signal(): AbortSignal {
    return this.#context.request.signal;
  }

  annotate(key: string, value: string): void {
    this.#context.annotate(key, value);
  }
}

const callOf = (context: RequestContext, endpoint: Endpoint, services: HandlerServices): HandlerCall => {
  const { info } = context;
  const user = context.user ?? userInfo('system:anonymous');
  const scope = new RequestScope(context, user, endpoint.namespaced ? info.namespace : '');
  const timer = new StageTimer(context, services.clock);
  return {
    context,
    endpoint,
    scope,
    user,
    namespace: info.namespace,
    name: info.parts[1] ?? '',
    timer,
    services,
  };
};

/** A path may name a kind and still be none of its own: namespaces and verbs have to fit. */
const checkPath = ({ context: { info }, endpoint }: HandlerCall): void => {
  const isNamespaces = endpoint.resource.group === '' && endpoint.resource.resource === 'namespaces';
  if (!endpoint.namespaced && info.namespace !== '' && !isNamespaces) throw pathNotFound();
  const [, name = '', subresource = ''] = info.parts;
  if (endpoint.namespaced && info.namespace === '' && name !== '') throw pathNotFound();
  if (info.parts.length > 3 && !endpoint.storage.connect) throw pathNotFound();
  if (subresource !== '' && name === '') throw pathNotFound();
};

const serve = async (call: HandlerCall, log: Log): Promise<void> => {
  const { context, endpoint, timer } = call;
  let failure: unknown;
  try {
    checkPath(call);
    const handler = handlerFor(call);
    if (!handler) throw methodNotAllowed();
    if (endpoint.deprecation !== '') context.warnings.add(endpoint.deprecation);
    if (endpoint.unenforced !== '' && WRITES.has(context.info.verb))
      context.warnings.add(endpoint.unenforced);
    await handler(call);
  } catch (error) {
    failure = error;
    if (error instanceof StatusError && error.code >= 500)
      log.write('warn', 'a request failed', { path: context.info.path, error: error.message });
    if (!(error instanceof StatusError) || context.response.started || !wantsYaml(context.request))
      throw error;
    await sendStatusYaml(context, error);
  } finally {
    timer.finish(failure);
  }
};
