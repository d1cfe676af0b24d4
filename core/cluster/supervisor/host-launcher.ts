import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { messageOf } from '../../base/errors.ts';
import type { FromHost, ToHost } from '../host/messages.ts';
import { HOST_ENVIRONMENT, HOST_FLAGS } from '../host/host-flags.ts';

export interface LaunchedHost {
  readonly pid: number | undefined;
  send(message: ToHost): void;
  signal(name: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): void;
}

export interface HostListener {
  onMessage(message: FromHost): void;
  /** Once, however the process ends. `why` tells of one that never ran. */
  onExit(exit: { readonly code: number | null; readonly signal: string | null; readonly why?: string }): void;
}

/** Starts the host program as a process. */
export type HostLauncher = (name: string, listener: HostListener) => LaunchedHost;

/** Processes of this machine, as `pilothouse up` runs them. Their own output goes where ours goes. */
export const forkLauncher =
  (program: URL): HostLauncher =>
  (name, { onMessage, onExit }) => {
    const child = fork(fileURLToPath(program), [name], {
      execArgv: [...HOST_FLAGS],
      env: { ...HOST_ENVIRONMENT, ...process.env },
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      serialization: 'json',
    });
    let isOver = false;
    const end = (code: number | null, signal: string | null, why?: string): void => {
      if (isOver) return;
      isOver = true;
      onExit({ code, signal, ...(why !== undefined && { why }) });
    };
    child.on('message', (message) => onMessage(message as FromHost));
    child.once('exit', (code, signal) => end(code, signal));
    // Also told when a signal or a message could not be delivered: then the process still runs, or its exit follows.
    child.on('error', (error) => {
      if (child.pid === undefined) end(null, null, `failed to start: ${messageOf(error)}`);
    });
    return {
      pid: child.pid,
      send(message) {
        // A process that has just ended is told by its exit, not by a failed message.
        if (child.connected) child.send(message, () => undefined);
      },
      signal: (signal) => void child.kill(signal),
    };
  };
