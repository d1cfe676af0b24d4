import { spawn } from 'node:child_process';
import { pathToFileURL } from 'node:url';

/**
 * Runs a program to its end. With `capture` its output is returned, otherwise it goes where ours goes.
 * Never rejects for a non-zero exit: the caller decides what that means.
 */
export const run = (command, args, { capture = false, cwd, env, timeoutMs, onSpawn } = {}) =>
  new Promise((resolve) => {
    const windowsScript = process.platform === 'win32' && !command.endsWith('.exe');
    const child = spawn(command, args, {
      cwd,
      env: { ...process.env, ...env },
      stdio: capture ? ['ignore', 'pipe', 'pipe'] : 'inherit',
      shell: windowsScript,
    });
    onSpawn?.(child);
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (chunk) => {
        output += chunk;
      });
    const timer = timeoutMs ? setTimeout(() => child.kill('SIGKILL'), timeoutMs) : undefined;
    const finish = (code, signal) => {
      clearTimeout(timer);
      resolve({ code, signal, output });
    };
    child.on('error', (error) => {
      output += error.message;
      finish(127, null);
    });
    child.on('close', finish);
  });

/** Passes SIGINT and SIGTERM on to a child and gives its exit code as our own. */
export const runAsOurselves = async (command, args, options = {}) => {
  let child;
  const forward = (signal) => child?.kill(signal);
  const onInterrupt = () => forward('SIGINT');
  const onTerminate = () => forward('SIGTERM');
  process.on('SIGINT', onInterrupt);
  process.on('SIGTERM', onTerminate);
  const { code } = await run(command, args, { ...options, onSpawn: (spawned) => (child = spawned) });
  process.off('SIGINT', onInterrupt);
  process.off('SIGTERM', onTerminate);
  return code ?? 1;
};

/**
 * Becomes a program of Node, without a second process: it reads the arguments as its own, gets the signals and sets the
 * exit code.
 */
export const becomeProgram = async (program, args) => {
  process.argv = [process.execPath, program, ...args];
  const { default: loaded } = await import(pathToFileURL(program).href);
  await loaded.ended;
  return process.exitCode;
};
