import { createHash } from 'node:crypto';
import { tmpdir, userInfo } from 'node:os';
import { join, resolve } from 'node:path';
import { ensurePrivateFolder } from '../../base/node/private-folder.ts';

/** The kernel's bound for the path of a socket is 108 bytes on Linux, 104 on macOS. */
const SOCKET_PATH_BYTES_MAX = 100;

/** Of this user, for the sockets of data folders whose path is too long for one. */
export const fallbackFolder = (uid: number): string => join(tmpdir(), `pilothouse-${uid}`);

/**
 * Where a running cluster listens for commands. Follows from the data folder alone. Throws `UnsafeDirectory` where the
 * socket would be in a folder that another user can reach into: both ends look, since a client sends commands there.
 */
export const controlEndpoint = (dataDirectory: string): string => {
  const directory = resolve(dataDirectory);
  const hash = createHash('sha256').update(directory).digest('hex').slice(0, 32);
  if (process.platform === 'win32') return `\\\\.\\pipe\\pilothouse-control-${hash}`;
  const inside = join(directory, 'control.sock');
  if (Buffer.byteLength(inside) <= SOCKET_PATH_BYTES_MAX) return inside;
  const { uid } = userInfo();
  const folder = fallbackFolder(uid);
  ensurePrivateFolder(folder, uid);
  return join(folder, `${hash}.sock`);
};
