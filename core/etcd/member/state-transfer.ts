import { InvariantError } from '../../base/assert.ts';
import type { Disposable } from '../../base/disposable.ts';
import { messageOf, ReasonError } from '../../base/errors.ts';
import type { RaftCore } from '../../raft/core.ts';
import type { MemberId, SnapshotMark } from '../../raft/types.ts';
import { loadBackend } from '../mvcc/backend/load.ts';
import type { PeerTransport, SnapshotTransfer } from '../peer/index.ts';
import { readConfiguration } from './boot.ts';
import type { MemberObserver } from './observer.ts';
import type { MemberPorts, StagedBackend } from './ports.ts';
import type { StateMachine } from './state-machine.ts';
import { decodeState, encodeState } from './state-stream.ts';

export interface StateTransferOptions {
  readonly ports: MemberPorts;
  readonly machine: StateMachine;
  readonly raft: RaftCore;
  readonly transport: PeerTransport;
  readonly wake: () => void;
  readonly observer: Pick<MemberObserver, 'stateReceived' | 'stateInstalling'>;
}

const INSTALL_LIMIT_MS = 10_000;
const MS_PER_SECOND = 1000;

interface Staged {
  readonly receivedAtMs: number;
  readonly mark: SnapshotMark;
  readonly backend: StagedBackend;
}

/** Brings a follower that the log no longer reaches up to date: the leader's whole state, on a way of its own. */
export class StateTransfer {
  readonly #options: StateTransferOptions;
  #staged: Staged | undefined;
  #receiving = false;

  constructor(options: StateTransferOptions) {
    this.#options = options;
  }

  listen(): Disposable {
    return this.#options.transport.onSnapshot((from, transfer, chunks) =>
      this.#receive(from, transfer, chunks),
    );
  }

  /** To followers that want the state. Each is reported to Raft when its transfer has ended. */
  send(ids: readonly MemberId[]): void {
    for (const id of ids) {
      void this.#sendTo(id).then((ok) => {
        this.#options.raft.reportSnapshot(id, ok);
        this.#options.wake();
      });
    }
  }

  /** Puts the staged state in the place of the own one. Called while nothing is applied. */
  async install(mark: SnapshotMark): Promise<void> {
    const { machine, observer, ports } = this.#options;
    const staged = this.#staged;
    if (staged === undefined || staged.mark.index !== mark.index)
      throw new InvariantError(`the state at entry ${mark.index} was not received`);
    this.#staged = undefined;
    const former = machine.backend;
    observer.stateInstalling(true);
    try {
      await staged.backend.promote();
      // Reads are answered from the previous state until the new one is in place.
      await machine.replace(staged.backend.backend);
      await former.close();
      await staged.backend.retireFormer();
    } finally {
      observer.stateInstalling(false);
    }
    ports.log.write('info', 'applied snapshot', { 'snapshot-index': mark.index });
  }

  /** Raft takes a state soon or never. One that it may still ask for stays; the leader tries again later. */
  async #discardUnwanted(): Promise<void> {
    const staged = this.#staged;
    if (staged === undefined) return;
    if (this.#options.ports.clock.monotonicMs() - staged.receivedAtMs < INSTALL_LIMIT_MS)
      throw new ReasonError('Busy', 'another state is about to be installed');
    this.#staged = undefined;
    await staged.backend.discard();
  }

  async #sendTo(id: MemberId): Promise<boolean> {
    const { machine, raft, transport, ports } = this.#options;
    const { log } = ports;
    try {
      const snapshot = await machine.backend.snapshot();
      try {
        const mark: SnapshotMark = {
          index: snapshot.consistentIndex,
          term: snapshot.term,
          configuration: readConfiguration(snapshot),
        };
        const message = raft.snapshotMessage(id, mark);
        if (message === undefined) return false;
        log.write('info', 'sending database snapshot', { 'snapshot-index': mark.index, to: id.toString(16) });
        const chunks = encodeState(snapshot, () => new Promise((resolve) => ports.defer(resolve)));
        await transport.sendSnapshot(id, { message, sizeBytes: snapshot.size.inUseBytes }, chunks);
        return true;
      } finally {
        snapshot.dispose();
      }
    } catch (error) {
      log.write('warn', 'failed to send database snapshot', { to: id.toString(16), error: messageOf(error) });
      return false;
    }
  }

  async #receive(
    from: MemberId,
    { message }: SnapshotTransfer,
    chunks: AsyncIterable<Uint8Array>,
  ): Promise<void> {
    const { ports, raft, wake, observer } = this.#options;
    if (this.#receiving) throw new ReasonError('Busy', 'another state is being received');
    this.#receiving = true;
    try {
      await this.#discardUnwanted();
      const startedMs = ports.clock.monotonicMs();
      const backend = await ports.backends.stage();
      try {
        await loadBackend(backend.backend, decodeState(chunks), {
          consistentIndex: message.mark.index,
          term: message.mark.term,
        });
        const loadedMs = ports.clock.monotonicMs();
        await backend.backend.commit();
        const nowMs = ports.clock.monotonicMs();
        observer.stateReceived((nowMs - startedMs) / MS_PER_SECOND, (nowMs - loadedMs) / MS_PER_SECOND);
      } catch (error) {
        await backend.discard();
        throw error;
      }
      this.#staged = { mark: message.mark, backend, receivedAtMs: ports.clock.monotonicMs() };
      ports.log.write('info', 'received database snapshot', {
        'snapshot-index': message.mark.index,
        from: from.toString(16),
      });
      raft.step(message);
      wake();
    } finally {
      this.#receiving = false;
    }
  }
}
