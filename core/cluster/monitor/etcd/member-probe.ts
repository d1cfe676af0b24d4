import type { Clock } from '../../../base/clock.ts';
import { say, saidOf, type Said } from '../../../contract/index.ts';
import type { Disposable } from '../../../base/disposable.ts';
import { EtcdConnection } from '../../etcd-operator/connection.ts';
import { OPERATOR } from '../../etcd-operator/methods.ts';
import type { EtcdAccess } from '../../etcd-operator/operations.ts';
import type { MemberListResponse, StatusResponse } from '../../../etcd/proto/index.ts';

/**
 * A member that leaves a question open for so long is as good as gone: a frozen one keeps its connections open. Looks
 * are counted too, since a host that is short of time itself must not take its own pause for the silence of others.
 */
const SILENCE_MS_MAX = 3_000;
const SILENT_LOOKS_MIN = 3;

/** Who asks one member. */
export interface Probe extends Disposable {
  readonly url: string;
  /** The newest answer, unless the member is gone since. */
  readonly status: StatusResponse | undefined;
  /** Null while it answers. */
  readonly problem: Said | null;
  /** Never rejects; returns immediately while an earlier question is open. */
  ask(): Promise<void>;
  members(): Promise<MemberListResponse['members']>;
}

/** One member, asked over a connection that stays: a handshake a second would be most of the work. */
export class MemberProbe implements Probe {
  readonly url: string;
  readonly #access: () => EtcdAccess;
  readonly #clock: Clock;
  #connection: EtcdConnection | undefined;
  #askedMs: number | undefined;
  #silentLooks = 0;
  #answer: StatusResponse | undefined;
  #problem: Said = say('failure.etcd.noResponse');

  constructor(url: string, access: () => EtcdAccess, clock: Clock) {
    this.url = url;
    this.#access = access;
    this.#clock = clock;
  }

  get status(): StatusResponse | undefined {
    const openMs = this.#askedMs === undefined ? 0 : this.#clock.monotonicMs() - this.#askedMs;
    const isSilent = openMs > SILENCE_MS_MAX && this.#silentLooks >= SILENT_LOOKS_MIN;
    return isSilent ? undefined : this.#answer;
  }

  get problem(): Said | null {
    if (this.status) return null;
    return this.#answer
      ? say('failure.etcd.quiet', { url: this.url, seconds: SILENCE_MS_MAX / 1000 })
      : this.#problem;
  }

  async ask(): Promise<void> {
    if (this.#askedMs !== undefined) {
      this.#silentLooks += 1;
      return;
    }
    this.#askedMs = this.#clock.monotonicMs();
    try {
      this.#connection ??= new EtcdConnection(this.url, this.#access().tls);
      this.#answer = await this.#connection.call(OPERATOR.status, {});
    } catch (error) {
      this.#answer = undefined;
      this.#problem = saidOf(error);
      this.#connection?.close();
      this.#connection = undefined;
    } finally {
      this.#askedMs = undefined;
      this.#silentLooks = 0;
    }
  }

  async members(): Promise<MemberListResponse['members']> {
    const { members } = await this.#connection!.call(OPERATOR.memberList, { linearizable: false });
    return members;
  }

  dispose(): void {
    this.#connection?.close();
    this.#connection = undefined;
  }
}
