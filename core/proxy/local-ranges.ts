import { execFile } from 'node:child_process';
import { networkInterfaces } from 'node:os';
import { promisify } from 'node:util';
import { inIpv4Range, LOOPBACK, type Ipv4Range } from '../base/bind-rules.ts';
import { messageOf, ReasonError } from '../base/errors.ts';

const run = promisify(execFile);

const route = (verb: 'replace' | 'delete', { text }: Ipv4Range) =>
  run('ip', ['-4', 'route', verb, 'local', text, 'dev', 'lo', 'table', 'local']);

/**
 * Makes every address of the ranges one of this machine, as those of 127.0.0.0/8 are: programs can listen on each, and what
 * pods send there arrives. Answers what gives them back; those of a killed proxy are taken over by the next.
 */
export const takeRanges = async (ranges: readonly Ipv4Range[]): Promise<() => Promise<void>> => {
  for (const range of ranges)
    try {
      await route('replace', range);
    } catch (cause) {
      throw new ReasonError(
        'CannotListen',
        `cannot make ${range.text} addresses of this machine (--local-ranges): ${messageOf(cause)}`,
        { cause },
      );
    }
  return async () => {
    // A route that stays is harmless: nothing listens there.
    for (const range of ranges) await route('delete', range).catch(() => undefined);
  };
};

/**
 * Tells this machine and its pods from others. The kernel takes packets for addresses of the machine from any interface, so
 * a neighbour in the network could send some; its own address gives it away, since replies to a forged one do not reach it.
 */
export const clientsOfThisMachine = (
  ranges: readonly Ipv4Range[],
  interfaces: typeof networkInterfaces = networkInterfaces,
): ((address: string) => boolean) => {
  const known = [LOOPBACK, ...ranges];
  return (address) =>
    known.some((range) => inIpv4Range(range, address)) ||
    Object.values(interfaces()).some((all) => all?.some((one) => one.address === address));
};
