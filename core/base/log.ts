export type LogLevel = 'debug' | 'info' | 'warn' | 'error';
export type LogFields = Readonly<Record<string, unknown>>;

/** Structured log. The message is a constant sentence; what varies goes into fields. */
export interface Log {
  write(level: LogLevel, message: string, fields?: LogFields): void;
  /** A log whose every line also carries `fields`. */
  with(fields: LogFields): Log;
}

export const silentLog: Log = {
  write() {},
  with() {
    return silentLog;
  },
};
