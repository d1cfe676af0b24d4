import type { Writable } from 'node:stream';
import { ReasonError } from '../../base/errors.ts';
import { parseTime } from '../../api/meta/time.ts';
import type { ContainerLog, LogLine } from '../runtimes/container-log.ts';
import type { ContainerRecord } from '../containers/container-record.ts';

export interface LogOptions {
  readonly follow: boolean;
  readonly previous: boolean;
  readonly timestamps: boolean;
  readonly sinceMs: number | undefined;
  readonly tailLines: number | undefined;
  readonly limitBytes: number | undefined;
  readonly stream: 'All' | 'Stdout' | 'Stderr';
}

export class LogRequestError extends ReasonError<'Undecodable' | 'Invalid' | 'NotAvailable'> {
  override readonly name = 'LogRequestError';
}

const count = (query: URLSearchParams, name: string, min: number): number | undefined => {
  const text = query.get(name);
  if (text === null || text === '') return undefined;
  if (!/^-?\d+$/.test(text))
    throw new LogRequestError('Undecodable', '{"message": "Unable to decode query."}');
  const value = Number(text);
  if (value < min) throw new LogRequestError('Invalid', '{"message": "Invalid request."}');
  return value;
};

const isSet = (query: URLSearchParams, name: string): boolean => {
  const text = query.get(name);
  return text !== null && ['1', 'true', 't', 'T', 'TRUE', 'True'].includes(text);
};

export const logOptions = (query: URLSearchParams, nowMs: number): LogOptions => {
  const tail = query.get('tail');
  if (tail !== null && tail !== '' && tail !== 'all') query.set('tailLines', tail);
  const sinceSeconds = count(query, 'sinceSeconds', 1);
  const sinceTime = query.get('sinceTime') || undefined;
  const since = sinceTime === undefined ? undefined : parseTime(sinceTime);
  if (sinceTime !== undefined && since === undefined)
    throw new LogRequestError('Undecodable', '{"message": "Unable to decode query."}');
  if (sinceSeconds !== undefined && since !== undefined)
    throw new LogRequestError('Invalid', '{"message": "Invalid request."}');
  const stream = query.get('stream') || 'All';
  if (stream !== 'All' && stream !== 'Stdout' && stream !== 'Stderr')
    throw new LogRequestError('Invalid', '{"message": "Invalid request."}');
  return {
    follow: isSet(query, 'follow'),
    previous: isSet(query, 'previous'),
    timestamps: isSet(query, 'timestamps'),
    sinceMs: sinceSeconds === undefined ? since : nowMs - sinceSeconds * 1000,
    tailLines: count(query, 'tailLines', 0),
    limitBytes: count(query, 'limitBytes', 1),
    stream,
  };
};

/** The log that a request means; LogRequestError `NotAvailable` in upstream's words when there is none. */
export const logOf = (record: ContainerRecord, podName: string, isPrevious: boolean): ContainerLog => {
  const what = `container "${record.spec.name}" in pod "${podName}"`;
  const fail = (message: string): never => {
    throw new LogRequestError('NotAvailable', message);
  };
  const { current, lastLog, waiting } = record;
  if (isPrevious) {
    // While it waits to be restarted, the last exit is the one that is "previous".
    const log = waiting && current?.exit ? current.container.log : lastLog;
    return log ?? fail(`previous terminated ${what} not found`);
  }
  if (current) return current.container.log;
  if (record.inherited) return fail(`${what} is terminated`);
  const reason = waiting?.reason ?? 'ContainerCreating';
  const why: Readonly<Record<string, string>> = {
    ErrImagePull: "image can't be pulled",
    ImagePullBackOff: 'trying and failing to pull image',
  };
  return fail(`${what} is waiting to start: ${why[reason] ?? reason}`);
};

const stamp = (timeMs: number): string => `${new Date(timeMs).toISOString().slice(0, -1)}000000Z`;

/** Writes lines until the log or the client ends. Waits for a client that reads slowly. */
export const writeLog = async (log: ContainerLog, options: LogOptions, out: Writable): Promise<void> => {
  const { limitBytes = Number.POSITIVE_INFINITY, tailLines, sinceMs, follow, stream } = options;
  const gone = new AbortController();
  const leave = (): void => gone.abort();
  out.once('close', leave);
  let remaining = limitBytes;
  /** A time stands at the beginning of a line, not where a part of it continues. */
  const isMidLine = { stdout: false, stderr: false };
  const textOf = (line: LogLine): string => {
    const head = options.timestamps && !isMidLine[line.stream] ? `${line.time ?? stamp(line.timeMs)} ` : '';
    isMidLine[line.stream] = line.isPartial === true;
    return `${head}${line.text}${line.isPartial ? '' : '\n'}`;
  };
  const write = async (line: LogLine): Promise<void> => {
    const bytes = Buffer.from(textOf(line)).subarray(0, Math.max(0, remaining));
    remaining -= bytes.length;
    if (bytes.length > 0 && !out.write(bytes))
      await new Promise<void>((resolve) => {
        out.once('drain', resolve);
        out.once('close', resolve);
      });
  };
  try {
    for await (const lines of log.read({ tailLines, sinceMs, follow, signal: gone.signal }))
      for (const line of lines) {
        if (remaining <= 0 || out.destroyed) return;
        if (stream === 'All' || stream.toLowerCase() === line.stream) await write(line);
      }
  } finally {
    out.off('close', leave);
  }
};
