import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import type { Registry } from '../../base/metrics/index.ts';
import type { Random } from '../../base/random.ts';
import type { Client } from '../client.ts';

/** What the winner of an election is given. It ends: `signal` is aborted before another can win. */
export interface Leadership {
  readonly identity: string;
  /** How often the lease has changed hands: higher than that of every leader before. */
  readonly transitions: number;
  readonly signal: AbortSignal;
  /**
   * Sends nothing once `signal` is aborted. Changes that it has sent before are ended as well when the lease is lost;
   * when it is given up they are not, and the lease is kept until they are answered.
   */
  readonly client: Client;
  /** Another client, for example of another identity, that does the same. */
  fence(client: Client): Client;
  /** After `signal`: resolves when the changes that were sent are answered, or their time is over. */
  settled(): Promise<void>;
}

export interface ElectionOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly registry?: Registry;
  readonly lease: { readonly namespace: string; readonly name: string };
  /** Differs between all candidates, also between two runs of one process: host name, `_`, a random part. */
  readonly identity: string;
  readonly leaseDurationSeconds?: number;
  readonly renewDeadlineSeconds?: number;
  readonly retryPeriodSeconds?: number;
  /** Gives the lease up when stopped, so that the next leader need not wait it out. True without it. */
  readonly releaseOnStop?: boolean;
  /** The work. When it returns or throws, the lease is given up and the election ends in the same way. */
  lead(leadership: Leadership): Promise<void>;
  /** Called once for each holder that is seen, ours included. */
  onNewLeader?(identity: string): void;
}

/** How an election ended. Components whose leadership was `lost` are expected to start again. */
export type ElectionEnd = 'stopped' | 'lost' | 'finished';
