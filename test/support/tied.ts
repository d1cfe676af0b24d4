import { existsSync } from 'node:fs';

const SETPRIV = '/usr/bin/setpriv';
const canTie = process.platform === 'linux' && existsSync(SETPRIV);

/** A command line that is asked to end when this process is gone, killed or not: the next run needs its addresses. */
export const tied = (command: string, args: readonly string[]): [command: string, args: string[]] =>
  canTie ? [SETPRIV, ['--pdeathsig', 'TERM', '--', command, ...args]] : [command, [...args]];
