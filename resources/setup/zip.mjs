/** Reads zip archives: enough for the ones that tests fetch (one disk, stored or deflated, below 4 GiB). */
import { promisify } from 'node:util';
import { inflateRaw } from 'node:zlib';

const inflate = promisify(inflateRaw);

const END_SIGNATURE = 0x06054b50;
const END_BYTES_MIN = 22;
const COMMENT_BYTES_MAX = 0xffff;
const CENTRAL_SIGNATURE = 0x02014b50;
const CENTRAL_BYTES = 46;
const LOCAL_SIGNATURE = 0x04034b50;
const LOCAL_BYTES = 30;
const STORED = 0;
const DEFLATED = 8;

const findEnd = (archive) => {
  const first = Math.max(0, archive.length - END_BYTES_MIN - COMMENT_BYTES_MAX);
  for (let at = archive.length - END_BYTES_MIN; at >= first; at -= 1)
    if (archive.readUInt32LE(at) === END_SIGNATURE) return at;
  throw new Error('this is no zip archive');
};

/** The names in an archive, with where each is. */
export const zipEntries = (archive) => {
  const end = findEnd(archive);
  const count = archive.readUInt16LE(end + 10);
  const entries = [];
  let at = archive.readUInt32LE(end + 16);
  for (let index = 0; index < count; index += 1) {
    if (archive.readUInt32LE(at) !== CENTRAL_SIGNATURE) throw new Error('the zip archive is damaged');
    const nameBytes = archive.readUInt16LE(at + 28);
    entries.push({
      name: archive.toString('utf8', at + CENTRAL_BYTES, at + CENTRAL_BYTES + nameBytes),
      method: archive.readUInt16LE(at + 10),
      compressedBytes: archive.readUInt32LE(at + 20),
      bytes: archive.readUInt32LE(at + 24),
      localAt: archive.readUInt32LE(at + 42),
    });
    at += CENTRAL_BYTES + nameBytes + archive.readUInt16LE(at + 30) + archive.readUInt16LE(at + 32);
  }
  return entries;
};

export const readZipEntry = async (archive, { name, method, compressedBytes, bytes, localAt }) => {
  if (archive.readUInt32LE(localAt) !== LOCAL_SIGNATURE) throw new Error('the zip archive is damaged');
  const dataAt =
    localAt + LOCAL_BYTES + archive.readUInt16LE(localAt + 26) + archive.readUInt16LE(localAt + 28);
  const data = archive.subarray(dataAt, dataAt + compressedBytes);
  if (method !== STORED && method !== DEFLATED) throw new Error(`${name} is packed in an unknown way`);
  const content = method === STORED ? data : await inflate(data);
  if (content.length !== bytes) throw new Error(`${name} is damaged in the zip archive`);
  return content;
};
