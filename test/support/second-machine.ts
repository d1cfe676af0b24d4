import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { ownedNamespace } from './leftovers.ts';

const run = promisify(execFile);

/** A network namespace in the place of another machine, with one cable to this one. */
export interface SecondMachine {
  /** Of this machine and of the other, on the cable. */
  readonly here: string;
  readonly there: string;
  /** A command line that runs the command there. */
  in(command: string, ...args: string[]): readonly [string, ...string[]];
  run(command: string, ...args: string[]): Promise<string>;
  /** Pulls the cable, or plugs it in again. */
  setCable(isIn: boolean): Promise<void>;
  close(): Promise<void>;
}

/** `network` is the first three bytes of the addresses on the cable. */
export const secondMachine = async (network: string): Promise<SecondMachine> => {
  const name = ownedNamespace('second');
  // Interfaces have short names.
  const [outside, inside] = ['a', 'b'].map((end) => `phm${process.pid}${end}`) as [string, string];
  const [here, there] = [`${network}.1`, `${network}.2`];
  const ip = (...args: string[]) => run('ip', args);
  const enter = (command: string, ...args: string[]) =>
    // Not `ip netns exec`, which hides the cgroups behind a file system of its own.
    ['nsenter', `--net=/run/netns/${name}`, command, ...args] as const;
  const inside_ = async (command: string, ...args: string[]): Promise<string> => {
    const [program, ...words] = enter(command, ...args);
    return (await run(program, words)).stdout;
  };
  const close = async (): Promise<void> => {
    await ip('link', 'delete', outside).catch(() => undefined);
    await ip('netns', 'delete', name).catch(() => undefined);
  };
  await close();
  await ip('netns', 'add', name);
  await ip('link', 'add', outside, 'type', 'veth', 'peer', 'name', inside, 'netns', name);
  await ip('address', 'add', `${here}/24`, 'dev', outside);
  await ip('link', 'set', outside, 'up');
  await inside_('ip', 'address', 'add', `${there}/24`, 'dev', inside);
  for (const device of ['lo', inside]) await inside_('ip', 'link', 'set', device, 'up');
  return {
    here,
    there,
    in: enter,
    run: inside_,
    async setCable(isIn) {
      await inside_('ip', 'link', 'set', inside, isIn ? 'up' : 'down');
    },
    close,
  };
};
