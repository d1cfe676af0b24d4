import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join, resolve } from 'node:path';

/** The kernel's bound for the path of a socket is 108 bytes on Linux, 104 on macOS. */
const SOCKET_PATH_BYTES_MAX = 100;

/** Where a running cluster listens for commands. Follows from the data folder alone. */
export const controlEndpoint = (dataDirectory: string): string => {
  const directory = resolve(dataDirectory);
  const hash = createHash('sha256').update(directory).digest('hex').slice(0, 32);
  if (process.platform === 'win32') return `\\\\.\\pipe\\pilothouse-control-${hash}`;
  const inside = join(directory, 'control.sock');
  if (Buffer.byteLength(inside) <= SOCKET_PATH_BYTES_MAX) return inside;
  const folder = join(tmpdir(), `pilothouse-${userInfo().uid}`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return join(folder, `${hash}.sock`);
};
