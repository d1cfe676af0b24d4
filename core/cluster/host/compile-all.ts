import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { HOST_FLAGS } from './host-flags.ts';
import { COMPILE_ARGUMENT } from './code-cache.ts';

/**
 * Makes the code caches of these kinds of threads, each in a process with the flags that it will run with: V8 takes no cache
 * that was made under others. False when one could not be made; it is made by the first start, then.
 */
export const compileAll = async (
  program: URL,
  kinds: { readonly ofHosts: readonly string[]; readonly ofSupervisor: readonly string[] },
): Promise<boolean> => {
  const compile = async (kind: string, execArgv: readonly string[]): Promise<number | null> => {
    const child = fork(fileURLToPath(program), [COMPILE_ARGUMENT, kind], { execArgv: [...execArgv] });
    const [code] = (await once(child, 'exit')) as [number | null];
    return code;
  };
  const codes = await Promise.all([
    ...kinds.ofHosts.map((kind) => compile(kind, HOST_FLAGS)),
    ...kinds.ofSupervisor.map((kind) => compile(kind, [])),
  ]);
  return codes.every((code) => code === 0);
};
