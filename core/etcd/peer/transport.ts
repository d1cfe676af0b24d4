import type { Disposable } from '../../base/disposable.ts';
import { ReasonError } from '../../base/errors.ts';
import type { Message, SnapshotMessage } from '../../raft/messages.ts';
import type { MemberId } from '../../raft/types.ts';

export interface Peer {
  readonly id: MemberId;
  /** Tried one after the other until one answers. */
  readonly urls: readonly string[];
}

/** How the way to one peer stands. */
export interface PeerStatus {
  readonly id: MemberId;
  /** Monotonic time since when the connection to it is up; undefined while it is down. */
  readonly activeSinceMs: number | undefined;
  /** Smoothed round trip; undefined before the first. */
  readonly rttMs: number | undefined;
  readonly bytesSent: number;
  readonly bytesReceived: number;
  /** Messages lost because the peer was down or its queue full. */
  readonly droppedCount: number;
}

export type PeerReason =
  | 'Unreachable'
  | 'Timeout'
  | 'UnknownKind'
  | 'TooLarge'
  /** The other side's handler failed; the message is its own. */
  | 'Failed'
  | 'Refused'
  | 'Malformed'
  | 'Closed';

export class PeerError extends ReasonError<PeerReason> {
  override readonly name = 'PeerError';
  /** With `Failed`: the reason of the error that the other side's handler threw; empty when it had none. */
  readonly remoteReason: string;

  constructor(reason: PeerReason, message: string, options: { cause?: unknown; remoteReason?: string } = {}) {
    super(reason, message, options);
    this.remoteReason = options.remoteReason ?? '';
  }
}

/** The state up to `message.mark`, as bytes that the owner makes and reads. */
export interface SnapshotTransfer {
  readonly message: SnapshotMessage;
  /** 0 when it is not known beforehand. */
  readonly sizeBytes: number;
}

export type RequestHandler = (payload: Uint8Array, from: MemberId) => Promise<Uint8Array>;

/** Resolves when the state is taken over; whatever it throws ends the transfer. Chunks come at its pace. */
export type SnapshotHandler = (
  from: MemberId,
  transfer: SnapshotTransfer,
  chunks: AsyncIterable<Uint8Array>,
) => Promise<void>;

/**
 * The way between members. Messages may be lost, and arrive in order or not at all while one connection
 * lasts; Raft expects no more. Nothing here waits for a slow or dead peer.
 */
export interface PeerTransport {
  /** Listens; rejects when it cannot. Handlers are set before. */
  start(): Promise<void>;
  /** Everybody but this member. Peers that are gone are hung up on, changed addresses are redialled. */
  setPeers(peers: readonly Peer[]): void;
  /** Members that were removed for ever: they are told so when they dial, and their messages are not heard. */
  setRemoved(ids: readonly MemberId[]): void;

  /** Never waits and never throws. What cannot be queued is dropped and its peer reported unreachable. */
  send(messages: readonly Message[]): void;
  onMessage(handler: (message: Message) => void): Disposable;
  /** At least one message to that peer was lost. Called once a turn and peer at most. */
  onUnreachable(handler: (id: MemberId) => void): Disposable;
  /**
   * A peer that was connected hung up and now refuses connections: its process has ended. Not called for a peer that
   * is slow or cut off, and once a connection at most.
   */
  onRefused(handler: (id: MemberId) => void): Disposable;
  /** A peer says that this member was removed from the cluster. */
  onRemoved(handler: (by: MemberId) => void): Disposable;

  /** Asks one member. Rejects with PeerError; never tries twice. */
  request(
    to: MemberId,
    kind: string,
    payload: Uint8Array,
    options: { readonly timeoutMs: number },
  ): Promise<Uint8Array>;
  /** One handler a kind. `anonymous` also answers those who are not members yet (`from` is then 0). */
  handle(kind: string, handler: RequestHandler, options?: { readonly anonymous?: boolean }): Disposable;

  /** On a connection of its own. Resolves when the other side's handler did. */
  sendSnapshot(to: MemberId, transfer: SnapshotTransfer, chunks: AsyncIterable<Uint8Array>): Promise<void>;
  onSnapshot(handler: SnapshotHandler): Disposable;

  status(id: MemberId): PeerStatus | undefined;
  /** Stops listening, hangs up, rejects what waits. */
  close(): Promise<void>;
}

/** Asks by address, for who is not a member yet and so knows no ids. */
export interface PeerProbe {
  ask(
    url: string,
    kind: string,
    payload: Uint8Array,
    options: { readonly timeoutMs: number },
  ): Promise<Uint8Array>;
}
