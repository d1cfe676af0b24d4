import { malformed, unencodable } from './errors.ts';

export const NAME_BYTES_MAX = 255;
export const LABEL_BYTES_MAX = 63;
const DOT = 0x2e;
const BACKSLASH = 0x5c;

/** One label of the wire as text: every byte can be written and read back. */
export const labelText = (bytes: Uint8Array): string => {
  let text = '';
  for (const byte of bytes) {
    if (byte === DOT || byte === BACKSLASH) text += `\\${String.fromCharCode(byte)}`;
    else if (byte > 0x20 && byte < 0x7f) text += String.fromCharCode(byte);
    else text += `\\${String(byte).padStart(3, '0')}`;
  }
  return text;
};

const readEscape = (name: string, at: number): { readonly byte: number; readonly length: number } => {
  const digits = /^\d{3}/.exec(name.slice(at + 1, at + 4))?.[0];
  if (digits !== undefined) {
    if (Number(digits) > 255) throw unencodable(`name ${JSON.stringify(name)} has no byte ${digits}`);
    return { byte: Number(digits), length: 4 };
  }
  if (at + 1 >= name.length) throw unencodable(`name ${JSON.stringify(name)} ends with a backslash`);
  return { byte: name.charCodeAt(at + 1), length: 2 };
};

/** The labels of a name as bytes. A missing dot at the end is added. Throws WireError `Invalid`. */
export const labelsOf = (name: string): Uint8Array[] => {
  if (name === '.' || name === '') return [];
  const labels: Uint8Array[] = [];
  let label: number[] = [];
  let total = 1;
  const end = (): void => {
    if (label.length === 0) throw unencodable(`name ${JSON.stringify(name)} has an empty label`);
    if (label.length > LABEL_BYTES_MAX)
      throw unencodable(`name ${JSON.stringify(name)} has a label of more than ${LABEL_BYTES_MAX} bytes`);
    labels.push(Uint8Array.from(label));
    total += label.length + 1;
    if (total > NAME_BYTES_MAX) throw unencodable(`name is longer than ${NAME_BYTES_MAX} bytes`);
    label = [];
  };
  for (let at = 0; at < name.length;) {
    const code = name.charCodeAt(at);
    if (code === DOT) {
      end();
      at += 1;
      continue;
    }
    const { byte, length } = code === BACKSLASH ? readEscape(name, at) : { byte: code, length: 1 };
    if (byte > 255) throw unencodable(`name ${JSON.stringify(name)} has a character that is no byte`);
    label.push(byte);
    at += length;
    if (label.length > LABEL_BYTES_MAX + 1) end();
  }
  if (!name.endsWith('.') || label.length > 0) end();
  return labels;
};

/** Names are compared without regard to the case of ASCII letters (RFC 4343). */
export const lowerName = (name: string): string => name.replace(/[A-Z]/g, (letter) => letter.toLowerCase());

/** The labels of a presentation name as texts, without unescaping. */
export const splitName = (name: string): string[] => {
  const labels = name.replace(/\.$/, '').match(/(?:\\.|[^.\\])+/gs);
  return labels ?? [];
};

/** True for the zone itself and for everything below it. Both are absolute. */
export const isWithinZone = (name: string, zone: string): boolean => {
  const [lower, lowerZone] = [lowerName(name), lowerName(zone)];
  return lowerZone === '.' || lower === lowerZone || lower.endsWith(`.${lowerZone}`);
};

/** Jumps of one name. A name of 255 bytes has 127 labels, and a pointer in front of each is more than anyone writes. */
const JUMPS_MAX = 127;

/** Reads a name that may be compressed; answers where the reader continues. Throws WireError `Malformed`. */
export const readName = (
  bytes: Uint8Array,
  start: number,
): { readonly name: string; readonly next: number } => {
  let [at, next, jumps, total] = [start, -1, 0, 1];
  let name = '';
  for (;;) {
    const length = bytes[at];
    if (length === undefined) throw malformed('a name ends behind the message');
    if (length === 0) return { name: name === '' ? '.' : name, next: next < 0 ? at + 1 : next };
    if ((length & 0xc0) === 0xc0) {
      const low = bytes[at + 1];
      if (low === undefined) throw malformed('a name ends behind the message');
      const target = ((length & 0x3f) << 8) | low;
      if (next < 0) next = at + 2;
      jumps += 1;
      // Backwards only, so that no chain of pointers comes back to where it was.
      if (target >= at || jumps > JUMPS_MAX) throw malformed('a compressed name points in circles');
      at = target;
      continue;
    }
    if (length > LABEL_BYTES_MAX) throw malformed('a name has a label of an unknown kind');
    if (at + 1 + length > bytes.length) throw malformed('a name ends behind the message');
    total += length + 1;
    if (total > NAME_BYTES_MAX) throw malformed(`a name is longer than ${NAME_BYTES_MAX} bytes`);
    name += `${labelText(bytes.subarray(at + 1, at + 1 + length))}.`;
    at += 1 + length;
  }
};
