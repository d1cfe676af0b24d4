import type { Socket } from 'node:net';
import type { Disposable } from '../../base/disposable.ts';
import { messageOf } from '../../base/errors.ts';
import { ByteWriter } from './bytes.ts';
import { FRAME, FRAME_BYTES_MAX, FrameReader } from './frame.ts';
import type { PeerSettings } from './settings.ts';
import { PeerError } from './transport.ts';

export interface ConnectionEvents {
  onFrame(type: number, payload: Buffer): void;
  /** Once, whatever ended it. */
  onClosed(error: PeerError): void;
  onTick?(): void;
}

/** Frames over one socket: gathered into one write a turn, counted, and watched for silence. */
export class Connection {
  readonly remote: string;
  readonly #socket: Socket;
  readonly #settings: PeerSettings;
  readonly #events: ConnectionEvents;
  readonly #writer = new ByteWriter();
  readonly #reader: FrameReader;
  readonly #drained = new Set<() => void>();
  #unflushedFrames = 0;
  #hasSentSinceTick = false;
  #flushing = false;
  #queuedBytes = 0;
  #queuedFrames = 0;
  #bytesRead = 0;
  #bytesReadAtTick = 0;
  #silentTicks = 0;
  #paused = false;
  #tick: Disposable | undefined;
  #closed: PeerError | undefined;

  constructor(socket: Socket, settings: PeerSettings, events: ConnectionEvents) {
    this.#socket = socket;
    this.#settings = settings;
    this.#events = events;
    this.remote = `${socket.remoteAddress ?? 'unknown'}:${socket.remotePort ?? 0}`;
    this.#reader = new FrameReader((type, payload) => {
      if (this.#closed === undefined) events.onFrame(type, payload);
    });
    socket.on('data', (chunk: Buffer) => this.#read(chunk));
    socket.on('error', (error) =>
      this.close(new PeerError('Unreachable', messageOf(error), { cause: error })),
    );
    socket.on('close', () => this.close(new PeerError('Unreachable', 'the connection was closed')));
    this.#scheduleTick();
  }

  get closed(): boolean {
    return this.#closed !== undefined;
  }

  /** Not yet handed to the kernel. */
  get queuedBytes(): number {
    return this.#queuedBytes + this.#writer.length;
  }

  get hasRoom(): boolean {
    const { queueBytesMax, queueFramesMax } = this.#settings.limits;
    return this.queuedBytes < queueBytesMax && this.#queuedFrames + this.#unflushedFrames < queueFramesMax;
  }

  get hasSentSinceTick(): boolean {
    return this.#hasSentSinceTick;
  }

  /** After the hello, frames may be as large as messages are. */
  acceptLargeFrames(): void {
    this.#reader.frameBytesMax = FRAME_BYTES_MAX;
  }

  /** Leaves with all other frames of this turn in one write. Returns the bytes that it takes. */
  frame(type: number, write?: (writer: ByteWriter) => void): number {
    if (this.#closed !== undefined) return 0;
    const before = this.#writer.length;
    const setLength = this.#writer.uint32Later();
    this.#writer.byte(type);
    write?.(this.#writer);
    const bytes = this.#writer.length - before;
    setLength(bytes - 4);
    this.#unflushedFrames += 1;
    this.#hasSentSinceTick = true;
    if (!this.#flushing) {
      this.#flushing = true;
      queueMicrotask(() => this.#flush());
    }
    return bytes;
  }

  /** Resolves when no more than `bytesMax` wait, or the connection is gone: ask `closed` afterwards. */
  async drainedTo(bytesMax: number): Promise<void> {
    while (this.#closed === undefined && this.queuedBytes > bytesMax) {
      await new Promise<void>((resolve) => this.#drained.add(resolve));
    }
  }

  /** Back pressure on the sender. Silence is its right meanwhile. */
  pause(): void {
    this.#paused = true;
    this.#socket.pause();
  }

  resume(): void {
    this.#paused = false;
    this.#silentTicks = 0;
    if (this.#closed === undefined) this.#socket.resume();
  }

  /** Sends what is queued before it hangs up. */
  end(error: PeerError): void {
    if (this.#closed !== undefined) return;
    this.#flush();
    this.#socket.end();
    this.close(error, { destroy: false });
    const late = this.#settings.clock.after(this.#settings.limits.dialTimeoutMs, () =>
      this.#socket.destroy(),
    );
    this.#socket.once('close', () => late.dispose());
  }

  close(error: PeerError, { destroy = true } = {}): void {
    if (this.#closed !== undefined) return;
    this.#closed = error;
    this.#tick?.dispose();
    if (destroy) this.#socket.destroy();
    // What still arrives is thrown away; unread data would keep the socket from closing.
    else this.#socket.resume();
    this.#wakeDrained();
    this.#events.onClosed(error);
  }

  get error(): PeerError | undefined {
    return this.#closed;
  }

  #read(chunk: Buffer): void {
    this.#bytesRead += chunk.length;
    if (this.#closed !== undefined) return;
    try {
      this.#reader.push(chunk);
    } catch (error) {
      // Only what the peer sent is its fault; a broken invariant of ours must not be hidden.
      if (!(error instanceof PeerError)) throw error;
      this.close(error);
    }
  }

  #flush(): void {
    this.#flushing = false;
    if (this.#closed !== undefined || this.#unflushedFrames === 0) return;
    const bytes = this.#writer.length;
    const frames = this.#unflushedFrames;
    this.#unflushedFrames = 0;
    this.#queuedBytes += bytes;
    this.#queuedFrames += frames;
    const pieces = this.#writer.take();
    const written = (): void => {
      this.#queuedBytes -= bytes;
      this.#queuedFrames -= frames;
      this.#wakeDrained();
    };
    const last = pieces.pop()!;
    if (pieces.length === 0) {
      this.#socket.write(last, written);
      return;
    }
    this.#socket.cork();
    for (const piece of pieces) this.#socket.write(piece);
    this.#socket.write(last, written);
    this.#socket.uncork();
  }

  #wakeDrained(): void {
    if (this.#drained.size === 0) return;
    const waiting = [...this.#drained];
    this.#drained.clear();
    for (const wake of waiting) wake();
  }

  /**
   * Counts ticks without a byte instead of comparing times: after a stall of our own event loop the timer runs
   * before what has arrived is read, and a healthy connection would look dead.
   */
  #scheduleTick(): void {
    const { clock, limits } = this.#settings;
    const { tickMs, silentTicksMax } = limits;
    this.#tick = clock.after(tickMs, () => {
      const heard = this.#bytesRead !== this.#bytesReadAtTick;
      this.#bytesReadAtTick = this.#bytesRead;
      this.#silentTicks = heard || this.#paused ? 0 : this.#silentTicks + 1;
      if (this.#silentTicks >= silentTicksMax) {
        this.close(new PeerError('Timeout', `nothing was heard for ${tickMs * silentTicksMax} ms`));
        return;
      }
      this.#events.onTick?.();
      this.#hasSentSinceTick = false;
      this.#scheduleTick();
    });
  }
}

/** Tells the other side that we are here although it has nothing to be answered. */
export const sendAlive = (connection: Connection): void => void connection.frame(FRAME.alive);
