import { existsSync } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { messageOf } from '../../../base/errors.ts';
import { controlEndpoint } from '../../control/endpoint.ts';
import { bad, ok, type CheckItem } from '../item.ts';

const OTHERS_BITS = 0o077;
/** Who may write to the folder may put a socket of their own in the place of ours. */
const OTHERS_WRITE_BITS = 0o022;

/** What lets somebody else command the cluster, or listen in its place. */
export const socketFaults = async (socket: string, uid: number): Promise<readonly string[]> => {
  const faults: string[] = [];
  const [file, folder] = await Promise.all([lstat(socket), lstat(dirname(socket))]);
  if (!file.isSocket()) faults.push(`${socket} is not a socket`);
  if (file.uid !== uid) faults.push(`${socket} belongs to user ${file.uid}`);
  if ((file.mode & OTHERS_BITS) !== 0) faults.push(`${socket} has mode ${(file.mode & 0o777).toString(8)}`);
  if (folder.uid !== uid) faults.push(`${dirname(socket)} belongs to user ${folder.uid}`);
  if ((folder.mode & OTHERS_WRITE_BITS) !== 0)
    faults.push(`${dirname(socket)} has mode ${(folder.mode & 0o777).toString(8)}`);
  return faults;
};

export const controlSocket: CheckItem = {
  id: 'controlSocket',
  title: 'Only the owner can control the cluster',
  async measure({ dataDirectory }) {
    const uid = process.getuid?.();
    if (uid === undefined) return ok('only its owner can open the pipe');
    let socket: string;
    try {
      socket = controlEndpoint(dataDirectory);
    } catch (error) {
      return bad(messageOf(error), 'remove that directory and restart the cluster');
    }
    // A cluster that another program hosts, such as the console, may have none.
    if (!existsSync(socket)) return ok('no control socket is open');
    const faults = await socketFaults(socket, uid);
    return faults.length === 0
      ? ok(`only their owner can access ${socket} and its directory`)
      : bad(faults.join('; '), `chmod 600 ${socket}, and chmod 700 its directory`);
  },
};
