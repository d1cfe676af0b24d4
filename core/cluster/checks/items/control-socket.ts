import { existsSync } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { say, saidOf, together, type Said } from '../../../contract/index.ts';
import { controlEndpoint } from '../../data-folder/control-endpoint.ts';
import { bad, ok, type CheckItem } from '../item.ts';

const OTHERS_BITS = 0o077;
/** Who may write to the folder may put a socket of their own in the place of ours. */
const OTHERS_WRITE_BITS = 0o022;

/** What lets somebody else command the cluster, or listen in its place. */
export const socketFaults = async (socket: string, uid: number): Promise<Said[]> => {
  const faults: Said[] = [];
  const belongs = (path: string, user: number) => say('found.file.owner', { path, user: `${user}` });
  const hasMode = (path: string, mode: number) =>
    say('found.file.mode', { path, mode: (mode & 0o777).toString(8) });
  const [file, folder] = await Promise.all([lstat(socket), lstat(dirname(socket))]);
  if (!file.isSocket()) faults.push(say('found.controlSocket.kind', { path: socket }));
  if (file.uid !== uid) faults.push(belongs(socket, file.uid));
  if ((file.mode & OTHERS_BITS) !== 0) faults.push(hasMode(socket, file.mode));
  if (folder.uid !== uid) faults.push(belongs(dirname(socket), folder.uid));
  if ((folder.mode & OTHERS_WRITE_BITS) !== 0) faults.push(hasMode(dirname(socket), folder.mode));
  return faults;
};

export const controlSocket: CheckItem = {
  id: 'controlSocket',
  async measure({ dataDirectory }) {
    const uid = process.getuid?.();
    if (uid === undefined) return ok(say('found.controlSocket.pipe'));
    let socket: string;
    try {
      socket = controlEndpoint(dataDirectory);
    } catch (error) {
      return bad(saidOf(error), say('advice.controlSocket.directory'));
    }
    // A cluster that another program hosts, such as the console, may have none.
    if (!existsSync(socket)) return ok(say('found.controlSocket.none'));
    const faults = await socketFaults(socket, uid);
    return faults.length === 0
      ? ok(say('found.controlSocket.ok', { socket }))
      : bad(together(faults), say('advice.controlSocket.modes', { socket }));
  },
};
