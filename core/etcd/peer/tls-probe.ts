import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import type { Random } from '../../base/random.ts';
import { NOBODY } from '../../raft/types.ts';
import { sendAlive } from './connection.ts';
import { dial } from './dial.ts';
import { FRAME } from './frame.ts';
import { PendingRequests } from './requests.ts';
import { limitsFor, type PeerSettings, type PeerTls } from './settings.ts';
import { PeerError, type PeerProbe } from './transport.ts';

const REQUESTS_PENDING_MAX = 1;

export interface TlsPeerProbeOptions {
  readonly tls?: PeerTls | undefined;
  readonly electionTimeoutMs: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/** One connection a question: it is asked a few times in the life of a member. */
export const tlsPeerProbe = (options: TlsPeerProbeOptions): PeerProbe => ({
  async ask(url, kind, payload, { timeoutMs }) {
    const settings: PeerSettings = {
      clock: options.clock,
      random: options.random,
      log: options.log,
      limits: { ...limitsFor(options.electionTimeoutMs), dialTimeoutMs: timeoutMs },
      tls: () => options.tls,
    };
    const requests = new PendingRequests(options.clock, REQUESTS_PENDING_MAX);
    const connection = await dial(
      url,
      { purpose: 'probe', clusterId: 0n, from: NOBODY, to: NOBODY, urls: [] },
      settings,
      {
        onFrame(type, frame) {
          if (type !== FRAME.alive) requests.answer(type, frame);
        },
        onClosed: (error) => requests.rejectAll(error),
        // An answer may take longer than silence is borne.
        onTick: () => sendAlive(connection),
      },
    );
    try {
      return await requests.ask(connection, kind, payload, timeoutMs);
    } finally {
      connection.close(new PeerError('Closed', 'the question was answered'));
    }
  },
});
