import { crc32c } from '../../../base/crc32c.ts';
import { CHARTS, type ChartId } from '../../../contract/index.ts';
import type { Point } from './charts.ts';

/** Everything that was drawn at one moment. */
export interface Sample {
  readonly atMs: number;
  readonly points: readonly Point[];
}

/**
 * A segment is a header and records. A record is its length, the CRC-32C of its body and the body: either a line's
 * name under a number, or a moment with a value for each numbered line. Every segment names its lines itself, so that
 * any of them can be deleted or lost alone. What follows the first record that is cut short or damaged does not count.
 */
const HEADER = Buffer.from('PHMS\u0001\u0000\u0000\u0000', 'latin1');
export const HEADER_BYTES = HEADER.length;
const RECORD_HEAD_BYTES = 8;
const RECORD_BYTES_MAX = 256 * 1024;
const NAMES = 1;
const VALUES = 2;
const VALUES_HEAD_BYTES = 11;
const VALUE_BYTES = 6;
/** Numbers have two bytes; a segment that ran out of them is ended. */
export const LINES_MAX = 0xffff;

const SEPARATOR = '\u0000';
type LineKey = string;
const keyOf = ({ chart, series }: { readonly chart: string; readonly series: string }): LineKey =>
  `${chart}${SEPARATOR}${series}`;

const record = (body: Buffer): Buffer => {
  const head = Buffer.allocUnsafe(RECORD_HEAD_BYTES);
  head.writeUInt32LE(body.length, 0);
  head.writeUInt32LE(crc32c(0, body), 4);
  return Buffer.concat([head, body]);
};

const isChart = (text: string): text is ChartId => Object.hasOwn(CHARTS, text);

/** Turns samples into the bytes that follow what a segment has already. */
export class SegmentWriter {
  readonly #numbers = new Map<LineKey, number>();

  static header(): Buffer {
    return HEADER;
  }

  get lineCount(): number {
    return this.#numbers.size;
  }

  /** Tells a line that the segment has, when one is continued. */
  know(key: LineKey, number: number): void {
    this.#numbers.set(key, number);
  }

  encode({ atMs, points }: Sample): Buffer {
    const parts: Buffer[] = [];
    const body = Buffer.allocUnsafe(VALUES_HEAD_BYTES + points.length * VALUE_BYTES);
    body.writeUInt8(VALUES, 0);
    body.writeDoubleLE(atMs, 1);
    body.writeUInt16LE(points.length, 9);
    let at = VALUES_HEAD_BYTES;
    for (const point of points) {
      const key = keyOf(point);
      let number = this.#numbers.get(key);
      if (number === undefined) {
        number = this.#numbers.size;
        this.#numbers.set(key, number);
        const name = Buffer.from(key, 'utf8');
        const head = Buffer.from([NAMES, number & 0xff, number >> 8]);
        parts.push(record(Buffer.concat([head, name])));
      }
      body.writeUInt16LE(number, at);
      body.writeFloatLE(point.value, at + 2);
      at += VALUE_BYTES;
    }
    parts.push(record(body));
    return Buffer.concat(parts);
  }
}

export interface SegmentContents {
  readonly samples: readonly Sample[];
  readonly lines: ReadonlyMap<LineKey, number>;
  /** Where the next record goes: before anything that was cut short. */
  readonly validBytes: number;
}

export interface ReadSpan {
  readonly fromMs: number;
  readonly toMs: number;
  /** Absent: all. */
  readonly charts?: ReadonlySet<ChartId>;
}

const EVERYTHING: ReadSpan = { fromMs: -Infinity, toMs: Infinity };

export const readSegment = (bytes: Buffer, span: ReadSpan = EVERYTHING): SegmentContents => {
  const samples: Sample[] = [];
  const lines = new Map<LineKey, number>();
  const byNumber: ({ readonly chart: ChartId; readonly series: string } | undefined)[] = [];
  if (bytes.length < HEADER_BYTES || !bytes.subarray(0, HEADER_BYTES).equals(HEADER))
    return { samples, lines, validBytes: 0 };
  let at = HEADER_BYTES;
  while (at + RECORD_HEAD_BYTES <= bytes.length) {
    const length = bytes.readUInt32LE(at);
    const from = at + RECORD_HEAD_BYTES;
    if (length === 0 || length > RECORD_BYTES_MAX || from + length > bytes.length) break;
    const body = bytes.subarray(from, from + length);
    if (crc32c(0, body) !== bytes.readUInt32LE(at + 4)) break;
    if (body[0] === NAMES) {
      const number = body.readUInt16LE(1);
      const key = body.toString('utf8', 3);
      const cut = key.indexOf(SEPARATOR);
      const chart = key.slice(0, cut);
      lines.set(key, number);
      const isWanted = isChart(chart) && (span.charts?.has(chart) ?? true);
      byNumber[number] = isWanted ? { chart, series: key.slice(cut + 1) } : undefined;
    } else if (body[0] === VALUES) {
      const atMs = body.readDoubleLE(1);
      if (atMs >= span.fromMs && atMs <= span.toMs) samples.push({ atMs, points: pointsOf(body, byNumber) });
    }
    at = from + length;
  }
  return { samples, lines, validBytes: at };
};

const pointsOf = (
  body: Buffer,
  byNumber: readonly ({ readonly chart: ChartId; readonly series: string } | undefined)[],
): readonly Point[] => {
  const count = body.readUInt16LE(9);
  const points: Point[] = [];
  for (let index = 0; index < count; index += 1) {
    const at = VALUES_HEAD_BYTES + index * VALUE_BYTES;
    const line = byNumber[body.readUInt16LE(at)];
    if (line) points.push({ ...line, value: body.readFloatLE(at + 2) });
  }
  return points;
};
