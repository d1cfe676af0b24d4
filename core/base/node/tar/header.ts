import { ReasonError } from '../../errors.ts';

export const BLOCK_BYTES = 512;
/** An archive ends with two of these. */
export const END_BYTES = 2 * BLOCK_BYTES;

export type TarReason = 'Damaged' | 'TooLarge';

/** The archive cannot be read any further. */
export class TarError extends ReasonError<TarReason> {
  override readonly name = 'TarError';
}

export const damaged = (why: string): TarError => new TarError('Damaged', `not a tar archive: ${why}`);

export type TarType = 'file' | 'directory' | 'symlink' | 'link' | 'other';

export interface TarEntry {
  /** As the archive has it: may be absolute, lead upwards, or hold any character. */
  readonly name: string;
  readonly type: TarType;
  readonly sizeBytes: number;
  readonly mode: number;
  readonly mtimeMs: number;
  /** Where a link leads. */
  readonly target?: string | undefined;
}

/** Type flags that describe the entry after them. */
export type MetaFlag = 'L' | 'K' | 'x' | 'g';

const FIELDS = {
  name: [0, 100],
  mode: [100, 8],
  uid: [108, 8],
  gid: [116, 8],
  size: [124, 12],
  mtime: [136, 12],
  checksum: [148, 8],
  type: [156, 1],
  target: [157, 100],
  magic: [257, 8],
  prefix: [345, 155],
} as const;
type Field = keyof typeof FIELDS;

const TYPES: Readonly<Record<string, TarType>> = {
  '\0': 'file',
  '0': 'file',
  '7': 'file',
  '1': 'link',
  '2': 'symlink',
  '5': 'directory',
};
const FLAGS: Readonly<Record<TarType, string>> = {
  file: '0',
  link: '1',
  symlink: '2',
  directory: '5',
  other: '0',
};

const bytesAt = (block: Uint8Array, field: Field): Buffer => {
  const [at, length] = FIELDS[field];
  return Buffer.from(block.buffer, block.byteOffset + at, length);
};

const textAt = (block: Uint8Array, field: Field): string => {
  const bytes = bytesAt(block, field);
  const end = bytes.indexOf(0);
  return bytes.subarray(0, end < 0 ? bytes.length : end).toString();
};

/** Octal digits, or a binary number where the first bit is set, as GNU writes what octal cannot hold. */
const numberAt = (block: Uint8Array, field: Field): number => {
  const bytes = bytesAt(block, field);
  if (((bytes[0] ?? 0) & 0x80) !== 0) {
    let value = (bytes[0] ?? 0) & 0x7f;
    for (const byte of bytes.subarray(1)) value = value * 256 + byte;
    if (!Number.isSafeInteger(value)) throw damaged(`its ${field} is out of range`);
    return value;
  }
  const text = textAt(block, field).trim();
  if (text === '') return 0;
  if (!/^[0-7]+$/.test(text)) throw damaged(`its ${field} is not a number`);
  return Number.parseInt(text, 8);
};

const checksumOf = (block: Uint8Array): number => {
  const [at, length] = FIELDS.checksum;
  let sum = 0;
  for (let i = 0; i < BLOCK_BYTES; i += 1) sum += i >= at && i < at + length ? 0x20 : block[i]!;
  return sum;
};

export const isZeroBlock = (block: Uint8Array): boolean => block.every((byte) => byte === 0);

/** One header block. What other blocks say about the entry is laid over it by the reader. */
export const decodeHeader = (block: Uint8Array): { readonly flag: string; readonly entry: TarEntry } => {
  if (numberAt(block, 'checksum') !== checksumOf(block)) throw damaged('a header has the wrong checksum');
  const flag = String.fromCharCode(bytesAt(block, 'type')[0] ?? 0);
  const isUstar = textAt(block, 'magic') === 'ustar';
  const prefix = isUstar ? textAt(block, 'prefix') : '';
  const name = prefix === '' ? textAt(block, 'name') : `${prefix}/${textAt(block, 'name')}`;
  const type = TYPES[flag] ?? 'other';
  return {
    flag,
    entry: {
      name,
      // Before ustar a directory was known by its name alone.
      type: type === 'file' && name.endsWith('/') ? 'directory' : type,
      sizeBytes: type === 'link' || type === 'symlink' ? 0 : numberAt(block, 'size'),
      mode: numberAt(block, 'mode') & 0o7777,
      mtimeMs: numberAt(block, 'mtime') * 1000,
      target: textAt(block, 'target'),
    },
  };
};

const put = (block: Buffer, field: Field, text: string): void => {
  const [at, length] = FIELDS[field];
  block.write(text, at, length, 'utf8');
};

const octal = (value: number, field: Field): string => {
  const digits = FIELDS[field][1] - 1;
  const text = Math.max(0, Math.floor(value)).toString(8).padStart(digits, '0');
  if (text.length > digits)
    throw new TarError('TooLarge', `the ${field} of an entry does not fit its header`);
  return text;
};

const headerBlock = (entry: TarEntry, flag: string): Buffer => {
  const block = Buffer.alloc(BLOCK_BYTES);
  put(block, 'name', entry.name);
  put(block, 'mode', octal(entry.mode, 'mode'));
  put(block, 'uid', octal(0, 'uid'));
  put(block, 'gid', octal(0, 'gid'));
  put(block, 'size', octal(entry.sizeBytes, 'size'));
  put(block, 'mtime', octal(entry.mtimeMs / 1000, 'mtime'));
  put(block, 'type', flag);
  put(block, 'target', entry.target ?? '');
  put(block, 'magic', 'ustar  \0');
  put(block, 'checksum', `${octal(checksumOf(block), 'checksum').slice(1)}\0 `);
  return block;
};

/** Zeroes after the content of an entry. */
export const paddingOf = (sizeBytes: number): number =>
  (BLOCK_BYTES - (sizeBytes % BLOCK_BYTES)) % BLOCK_BYTES;

/** A name that does not fit its field, as GNU writes it: an entry of its own before the one that it is for. */
const longText = (flag: 'L' | 'K', text: string): Buffer => {
  const bytes = Buffer.from(`${text}\0`);
  const entry = { name: '././@LongLink', type: 'other', sizeBytes: bytes.length, mode: 0o644 } as const;
  return Buffer.concat([
    headerBlock({ ...entry, mtimeMs: 0 }, flag),
    bytes,
    Buffer.alloc(paddingOf(bytes.length)),
  ]);
};

/** The blocks before the content of an entry, in the format that GNU, busybox and libarchive all read. */
export const encodeHeader = (entry: TarEntry): Buffer => {
  const isDirectory = entry.type === 'directory';
  const name = isDirectory && !entry.name.endsWith('/') ? `${entry.name}/` : entry.name;
  const target = entry.target ?? '';
  return Buffer.concat([
    ...(Buffer.byteLength(name) > FIELDS.name[1] ? [longText('L', name)] : []),
    ...(Buffer.byteLength(target) > FIELDS.target[1] ? [longText('K', target)] : []),
    headerBlock({ ...entry, name }, FLAGS[entry.type]),
  ]);
};
