import type { Clock } from '../../../base/clock.ts';
import type { Disposable } from '../../../base/disposable.ts';
import type { RangeRequest } from '../../proto/index.ts';
import { etcdError, statusOfReason } from '../../refusals/errors.ts';
import type { CallContext } from '../grpc/method.ts';
import type { MemberApi } from '../member-api.ts';

/** Rounds without a leader after which running streams are ended: reconnecting them all costs more than waiting. */
const LEADERLESS_ROUNDS_MAX = 3;

export interface Admission extends Disposable {
  /** Throws when this member cannot serve the call. */
  admit(context: CallContext, request: unknown): void;
}

/** What holds for every call, whatever it asks: learners serve little, and some clients insist on a leader. */
export const createAdmission = (
  member: MemberApi,
  options: { readonly clock: Clock; readonly electionTimeoutMs: number },
): Admission => {
  const streams = new Set<CallContext>();
  let leaderlessRounds = 0;
  let timer: Disposable | undefined;
  /** Rounds go while there are streams to be ended. */
  const plan = (): void => {
    timer = options.clock.after(options.electionTimeoutMs, () => {
      timer = undefined;
      leaderlessRounds = member.leaderId() === 0n ? leaderlessRounds + 1 : 0;
      for (const stream of streams) {
        if (leaderlessRounds >= LEADERLESS_ROUNDS_MAX) stream.fail(statusOfReason('NoLeader'));
        if (stream.over) streams.delete(stream);
      }
      if (streams.size > 0) plan();
      else leaderlessRounds = 0;
    });
  };
  return {
    admit(context, request) {
      if (member.isLearner() && !isServedByLearner(context, request))
        throw etcdError('NotSupportedForLearner');
      if (context.metadata('hasleader') !== 'true') return;
      if (member.leaderId() === 0n) throw etcdError('NoLeader');
      if (context.method.type === 'unary') return;
      streams.add(context);
      if (timer === undefined) plan();
    },
    dispose: () => timer?.dispose(),
  };
};

const isServedByLearner = ({ method }: CallContext, request: unknown): boolean => {
  if (method.service === 'grpc.health.v1.Health') return true;
  switch (method.method) {
    case 'Status':
    case 'Snapshot':
      return true;
    case 'Range':
      return (request as RangeRequest).serializable;
    default:
      return false;
  }
};
