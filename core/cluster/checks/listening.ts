import { readFile, readdir, readlink } from 'node:fs/promises';

/** A socket that waits for connections (TCP) or datagrams (UDP). */
export interface ListeningSocket {
  readonly protocol: 'TCP' | 'UDP';
  /** As text; of IPv6 sockets in full, without the short form. */
  readonly address: string;
  readonly port: number;
  readonly inode: string;
}

const TABLES = [
  ['/proc/net/tcp', 'TCP'],
  ['/proc/net/tcp6', 'TCP'],
  ['/proc/net/udp', 'UDP'],
  ['/proc/net/udp6', 'UDP'],
] as const;
/** Of TCP; a UDP socket without a peer has state 07. */
const LISTEN_STATE = { TCP: '0A', UDP: '07' } as const;
const ADDRESS_FIELD = 1;
const STATE_FIELD = 3;
const INODE_FIELD = 9;
const MAPPED_PREFIX = '0000:0000:0000:0000:0000:ffff:';

/** The kernel prints each 32-bit word in the byte order of the machine, which is little-endian everywhere we run. */
const bytesOf = (hex: string): number[] =>
  (hex.match(/.{8}/g) ?? []).flatMap((word) =>
    (word.match(/../g) ?? []).reverse().map((byte) => Number.parseInt(byte, 16)),
  );

const addressText = (hex: string): string => {
  const bytes = bytesOf(hex);
  if (bytes.length === 4) return bytes.join('.');
  const words = Array.from({ length: 8 }, (_, index) =>
    ((bytes[2 * index] ?? 0) * 256 + (bytes[2 * index + 1] ?? 0)).toString(16).padStart(4, '0'),
  );
  const text = words.join(':');
  return text.startsWith(MAPPED_PREFIX) ? bytes.slice(12).join('.') : text;
};

/** The listening sockets of one of the kernel's tables. */
export const parseSocketTable = (text: string, protocol: 'TCP' | 'UDP'): readonly ListeningSocket[] =>
  text
    .split('\n')
    .slice(1)
    .flatMap((line) => {
      const fields = line.trim().split(/\s+/);
      const [hex = '', portHex = ''] = (fields[ADDRESS_FIELD] ?? '').split(':');
      const inode = fields[INODE_FIELD];
      if (fields[STATE_FIELD] !== LISTEN_STATE[protocol] || inode === undefined) return [];
      return [{ protocol, address: addressText(hex), port: Number.parseInt(portHex, 16), inode }];
    });

/** Every listening socket of this machine; undefined where the system has no such tables. */
export const listeningSockets = async (): Promise<readonly ListeningSocket[] | undefined> => {
  const tables = await Promise.all(
    TABLES.map(async ([path, protocol]) => {
      const text = await readFile(path, 'utf8').catch(() => undefined);
      return text === undefined ? undefined : parseSocketTable(text, protocol);
    }),
  );
  if (tables[0] === undefined) return undefined;
  return tables.flatMap((sockets) => sockets ?? []);
};

/** Inodes of the sockets that a process has open; empty where it has ended or is another user's. */
export const socketsOfProcess = async (pid: number): Promise<ReadonlySet<string>> => {
  const folder = `/proc/${pid}/fd`;
  const names = await readdir(folder).catch(() => []);
  const links = await Promise.all(names.map((name) => readlink(`${folder}/${name}`).catch(() => '')));
  return new Set(links.flatMap((link) => /^socket:\[(\d+)\]$/.exec(link)?.[1] ?? []));
};
