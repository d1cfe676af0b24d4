import type { Writable } from 'node:stream';
import { messageOf } from '../errors.ts';
import type { Log, LogFields, LogLevel } from '../log.ts';

const LEVELS: readonly LogLevel[] = ['debug', 'info', 'warn', 'error'];

const plain = (_key: string, value: unknown): unknown => {
  if (value instanceof Error) return messageOf(value);
  return typeof value === 'bigint' ? value.toString() : value;
};

/** One JSON object a line, in the shape that etcd and Kubernetes components log: level, ts, msg, fields. */
export const jsonLog = (out: Writable, options: { level?: LogLevel; fields?: LogFields } = {}): Log => {
  const threshold = LEVELS.indexOf(options.level ?? 'info');
  const bound = options.fields ?? {};
  return {
    write(level, message, fields) {
      if (LEVELS.indexOf(level) < threshold) return;
      const line = { level, ts: new Date().toISOString(), msg: message, ...bound, ...fields };
      out.write(`${JSON.stringify(line, plain)}\n`);
    },
    with: (fields) => jsonLog(out, { ...options, fields: { ...bound, ...fields } }),
  };
};
