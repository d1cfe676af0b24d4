export interface LogLine {
  readonly timeMs: number;
  /** Where it is known to the nanosecond, in RFC 3339. */
  readonly time?: string;
  readonly stream: 'stdout' | 'stderr';
  /** Without its line end. */
  readonly text: string;
  /** The line continues in the next one of the same stream. */
  readonly isPartial?: boolean;
}

export interface LogReading {
  /** Only the last so many lines of those that are there already. */
  readonly tailLines?: number | undefined;
  /** Only lines from here on. */
  readonly sinceMs?: number | undefined;
  /** Wait for more until the container has exited. */
  readonly follow: boolean;
  /** Ends the reading. */
  readonly signal: AbortSignal;
}

/** What a container has written, line by line. */
export interface ContainerLog {
  /** In batches of a bounded size, oldest first; the next batch is read when it is asked for. */
  read(reading: LogReading): AsyncIterable<readonly LogLine[]>;
  /** The container has exited and writes no more: followers end after the last line. */
  close(): void;
}
