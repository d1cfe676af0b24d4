import type { LogLine } from './container-log.ts';

const NEWLINE = 0x0a;
/** Container runtimes cut lines at 16 KiB; a longer one is no log and is handed on in pieces. */
export const RECORD_BYTES_MAX = 256 * 1024;

/** `2016-10-06T00:17:09.669794202Z stdout P text`: time, stream, tags of which the first says P(artial) or F(ull). */
const RECORD = /^(\S+) (stdout|stderr) (\S+) (.*)$/s;

/** Undefined for what is no record, as half of one that a crash left behind. */
export const parseLogRecord = (record: string): LogLine | undefined => {
  const [, time = '', stream, tags = '', text = ''] = RECORD.exec(record) ?? [];
  const timeMs = Date.parse(time);
  if (stream === undefined || Number.isNaN(timeMs)) return undefined;
  const isPartial = tags.split(':')[0] === 'P';
  return { timeMs, time, stream: stream as LogLine['stream'], text, ...(isPartial && { isPartial }) };
};

/** Cuts bytes into records; what has no line end yet waits for the next bytes. */
export class LogRecords {
  #rest: Buffer = Buffer.alloc(0);

  push(bytes: Buffer): LogLine[] {
    const all = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    const lines: LogLine[] = [];
    let at = 0;
    for (let end = all.indexOf(NEWLINE); end >= 0; end = all.indexOf(NEWLINE, at)) {
      const line = parseLogRecord(all.toString('utf8', at, end));
      if (line) lines.push(line);
      at = end + 1;
    }
    // A copy: the caller reads the next bytes into the same memory.
    this.#rest = all.length - at > RECORD_BYTES_MAX ? Buffer.alloc(0) : Buffer.from(all.subarray(at));
    return lines;
  }
}

/** Where the last `count` records begin among bytes that end at a record's end; undefined: further to the front. */
export const tailStart = (bytes: Buffer, count: number): { readonly at?: number; readonly found: number } => {
  let found = 0;
  for (let index = bytes.lastIndexOf(NEWLINE); index >= 0; index = bytes.lastIndexOf(NEWLINE, index - 1)) {
    if (found === count) return { at: index + 1, found };
    found += 1;
    if (index === 0) break;
  }
  return { found };
};
