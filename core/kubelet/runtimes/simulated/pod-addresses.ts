import { assert } from '../../../base/assert.ts';
import { RuntimeError } from '../runtime.ts';

/** Addresses of pods. One per node; the ranges of nodes do not overlap. */
export interface PodAddresses {
  /** RuntimeError `SandboxFailed` when the range is used up. */
  allocate(preferred?: string): string;
  release(address: string): void;
}

const toNumber = (address: string): number =>
  address.split('.').reduce((value, part) => value * 256 + Number(part), 0);
const toText = (value: number): string => [24, 16, 8, 0].map((shift) => (value >>> shift) & 255).join('.');

/**
 * The addresses of a range such as 127.64.3.0/24, without the first (the network) and the last (its broadcast).
 * An address comes back into use as late as possible: what still points to an old pod fails instead of lying.
 */
export const rangeAddresses = (cidr: string): PodAddresses => {
  const [base = '', bitsText = ''] = cidr.split('/');
  const bits = Number(bitsText);
  assert(/^\d+(\.\d+){3}$/.test(base) && bits >= 8 && bits <= 30, `${cidr} is no IPv4 range for pods`);
  const first = toNumber(base) + 1;
  const count = 2 ** (32 - bits) - 2;
  const used = new Set<number>();
  let next = 0;
  return {
    allocate(preferred) {
      const wanted = preferred === undefined ? -1 : toNumber(preferred) - first;
      if (wanted >= 0 && wanted < count && !used.has(wanted)) {
        used.add(wanted);
        return preferred!;
      }
      for (let tries = 0; tries < count; tries += 1) {
        const candidate = (next + tries) % count;
        if (used.has(candidate)) continue;
        used.add(candidate);
        next = (candidate + 1) % count;
        return toText(first + candidate);
      }
      throw new RuntimeError('SandboxFailed', `no address is free in the pod range ${cidr}`);
    },
    release(address) {
      used.delete(toNumber(address) - first);
    },
  };
};
