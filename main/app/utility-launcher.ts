import { fileURLToPath } from 'node:url';
import { utilityProcess } from 'electron';
import { HOST_ENVIRONMENT, HOST_FLAGS } from '../../core/cluster/host/host-flags.ts';
import type { HostLauncher } from '../../core/cluster/supervisor/host-launcher.ts';
import type { FromHost } from '../../core/cluster/host/messages.ts';

/** What a process that a signal ended is told by: POSIX has no exit code for it, Chromium gives the number. */
const SIGNALS: Readonly<Record<number, string>> = {
  6: 'SIGABRT',
  9: 'SIGKILL',
  11: 'SIGSEGV',
  15: 'SIGTERM',
};

/** Hosts as children of the application. They end with it, however it ends. Only after `ready`. */
export const utilityLauncher =
  (program: URL): HostLauncher =>
  (name, { onMessage, onExit }) => {
    const child = utilityProcess.fork(fileURLToPath(program), [name], {
      execArgv: [...HOST_FLAGS],
      env: { ...HOST_ENVIRONMENT, ...process.env },
      stdio: ['ignore', 'ignore', 'inherit'],
      serviceName: `pilothouse ${name}`,
    });
    let isOver = false;
    /** Asked for before there was a process to send it to. */
    let early: NodeJS.Signals | undefined;
    let sent: NodeJS.Signals | undefined;
    const send = (signal: NodeJS.Signals): void => {
      if (child.pid === undefined) {
        early = signal;
        return;
      }
      sent = signal;
      process.kill(child.pid, signal);
    };
    child.on('message', (message) => onMessage(message as FromHost));
    child.once('spawn', () => {
      if (early !== undefined) send(early);
    });
    child.once('exit', (code) => {
      if (isOver) return;
      isOver = true;
      const signal = sent === 'SIGKILL' ? sent : (SIGNALS[code] ?? null);
      onExit(signal === null ? { code, signal } : { code: null, signal });
    });
    return {
      get pid() {
        return child.pid;
      },
      send(message) {
        if (!isOver) child.postMessage(message);
      },
      signal: send,
    };
  };
