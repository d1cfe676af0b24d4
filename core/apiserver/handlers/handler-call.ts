import type { Clock } from '../../base/clock.ts';
import type { Random } from '../../base/random.ts';
import type { FeatureGates } from '../../api/releases/index.ts';
import type { AdmissionChain } from '../admission/attributes.ts';
import type { UserInfo } from '../server/user.ts';
import type { Authorizer } from '../authz/authorizer.ts';
import type { Scope } from '../registry/rest-storage.ts';
import type { RequestContext } from '../server/context.ts';
import type { Endpoint } from './endpoint.ts';
import type { HandlerMetrics } from './handler-metrics.ts';
import type { StageTimer } from './stage-timer.ts';

/** What handlers share. */
export interface HandlerServices {
  readonly admission: AdmissionChain;
  readonly clock: Clock;
  readonly random: Random;
  readonly metrics: HandlerMetrics;
  /** Asked once more where a PUT or an apply would create what is missing. */
  readonly authorizer: Authorizer | undefined;
  /** Upstream's --min-request-timeout: watches without a limit of their own last once to twice as long. */
  readonly watchTimeoutMinMs: number;
  readonly gates: FeatureGates;
}

/** One request on its way through a handler. */
export interface HandlerCall {
  readonly context: RequestContext;
  readonly endpoint: Endpoint;
  readonly scope: Scope;
  readonly user: UserInfo;
  /** The namespace as admission and authorization see it: that of a Namespace is its own name. */
  readonly namespace: string;
  /** As the path names it; empty for collections. */
  readonly name: string;
  readonly timer: StageTimer;
  readonly services: HandlerServices;
}

/** One way to answer. */
export type Handler = (call: HandlerCall) => Promise<void>;
