import type { Clock } from '../../base/clock.ts';
import type { Counter, Registry as Metrics } from '../../base/metrics/index.ts';
import { internalError, isStatusError } from '../../api/meta/index.ts';
import { AUTHORIZATION_VERDICT } from '../authz/authorization-stage.ts';
import { IMPERSONATOR } from '../authz/impersonation-stage.ts';
import type { RequestContext } from '../server/context.ts';
import type { Stage, StageResult } from '../server/pipeline.ts';
import type { AuditBackend, EncodedEvent } from './event.ts';
import { AUDIT_LEVELS, type AuditLevel, type createPolicyEvaluator } from './policy.ts';
import { AuditRecord, setAuditRecord } from './record.ts';

/** A larger answer is left out of its event. */
const RESPONSE_BYTES_MAX = 2 * 1024 * 1024;
const UNAUTHORIZED = 401;

export interface AuditOptions {
  readonly evaluate: ReturnType<typeof createPolicyEvaluator>;
  readonly backend: AuditBackend;
  readonly metrics: Metrics;
  readonly clock: Clock;
}

export interface AuditStages {
  /** Stands behind authentication. */
  readonly stage: Stage;
  /** Authentication whose failures are audited, too. */
  authentication(stage: Stage): Stage;
}

/** As upstream names what a client tried. */
const attemptedOf = ({ request }: RequestContext): string => {
  const [scheme = '', credentials] = (request.headers.get('authorization') ?? '').trim().split(' ');
  const methods = [
    ...(scheme.toLowerCase() === 'basic' ? ['basic'] : []),
    ...(scheme.toLowerCase() === 'bearer' && credentials !== undefined ? ['bearer'] : []),
    ...((request.query.get('access_token') ?? '').trim() === '' ? [] : ['access_token']),
    ...(request.peer.certificate() ? ['x509'] : []),
  ];
  return methods.length > 0
    ? `Authentication failed, attempted: ${methods.join(', ')}`
    : 'Authentication failed, no credentials provided';
};

export const createAuditStages = ({ evaluate, backend, metrics, clock }: AuditOptions): AuditStages => {
  const events = metrics.counter({
    name: 'apiserver_audit_event_total',
    help: 'Counter of audit events generated and sent to the audit backend.',
  });
  const levels = metrics.counterFamily({
    name: 'apiserver_audit_level_total',
    help: 'Counter of policy levels for audit events (1 per request).',
    labels: ['level'],
  });
  const levelCounts = Object.fromEntries(
    AUDIT_LEVELS.map((level) => [level, levels.labels(level)]),
  ) as Readonly<Record<AuditLevel, Counter>>;
  const rejected = metrics.counter({
    name: 'apiserver_audit_requests_rejected_total',
    help: 'Counter of apiserver requests rejected due to an error in audit logging backend.',
  });

  const emit = (event: EncodedEvent): boolean | Promise<boolean> => {
    events.inc();
    return backend.process([event]);
  };
  /** No one waits for it: the answer is in progress. */
  const emitLater = (event: EncodedEvent): void => {
    const stored = emit(event);
    if (stored instanceof Promise) stored.catch(() => undefined);
  };

  const begin = (context: RequestContext): AuditRecord | undefined => {
    const config = evaluate(context.info, context.user);
    levelCounts[config.level].inc();
    if (config.level === 'None') return undefined;
    const record = new AuditRecord(context, config);
    setAuditRecord(context, record);
    return record;
  };

  const conclude = (context: RequestContext, record: AuditRecord): void => {
    const verdict = context.get(AUTHORIZATION_VERDICT);
    if (verdict) {
      context.annotate('authorization.k8s.io/decision', verdict.decision === 'allow' ? 'allow' : 'forbid');
      context.annotate('authorization.k8s.io/reason', verdict.reason ?? '');
    }
    const isPanic = context.stages.some(({ verdict: left }) => left === 'failed');
    const stage = isPanic ? 'Panic' : 'ResponseComplete';
    if (record.config.omitStages.has(stage)) return;
    const { code, body } = context.response;
    const outcome = {
      code: code === 0 ? 200 : code,
      failure: context.failure,
      ...(code === 0 && { message: 'Connection closed early' }),
      responseBody: record.includes('RequestResponse') ? body : undefined,
      impersonator: context.get(IMPERSONATOR),
    };
    emitLater(record.event(stage, clock.nowMs(), outcome));
  };

  const follow = (context: RequestContext, record: AuditRecord): void => {
    if (record.includes('RequestResponse')) context.response.keepBody(RESPONSE_BYTES_MAX);
    if (context.isLongRunning && !record.config.omitStages.has('ResponseStarted'))
      context.response.onBegin(() =>
        emitLater(
          record.event('ResponseStarted', clock.nowMs(), {
            code: context.response.code,
            impersonator: context.get(IMPERSONATOR),
          }),
        ),
      );
    context.defer(() => conclude(context, record));
  };

  const received = (context: RequestContext, record: AuditRecord, isStored: boolean): StageResult => {
    if (!isStored) {
      rejected.inc();
      throw internalError('failed to store audit event');
    }
    follow(context, record);
    return 'next';
  };

  return {
    stage: {
      name: 'audit',
      run(context) {
        const record = begin(context);
        if (!record) return 'next';
        if (record.config.omitStages.has('RequestReceived')) return received(context, record, true);
        const stored = emit(record.event('RequestReceived', clock.nowMs()));
        return stored instanceof Promise
          ? stored.then(
              (isStored) => received(context, record, isStored),
              () => received(context, record, false),
            )
          : received(context, record, stored);
      },
    },
    authentication(stage) {
      const refused = (context: RequestContext, attempted: string, error: unknown): never => {
        if (isStatusError(error) && error.code === UNAUTHORIZED) {
          const record = begin(context);
          if (record && !record.config.omitStages.has('ResponseStarted'))
            emitLater(
              record.event('ResponseStarted', clock.nowMs(), { code: UNAUTHORIZED, message: attempted }),
            );
        }
        throw error;
      };
      return {
        name: stage.name,
        run(context) {
          try {
            const result = stage.run(context);
            return result instanceof Promise
              ? result.catch((error: unknown) => refused(context, attemptedOf(context), error))
              : result;
          } catch (error) {
            return refused(context, attemptedOf(context), error);
          }
        },
      };
    },
  };
};
