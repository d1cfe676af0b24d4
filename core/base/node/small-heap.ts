import { setFlagsFromString } from 'node:v8';

/** Of the objects that survived the last collection: how much the heap may grow before the next one. */
const GROWTH_PERCENT = 15;

/**
 * For a process whose objects are either short-lived or few, as those of an etcd member: V8 would let both generations of
 * its heap grow to several times what is in use, and what it takes it keeps. Process-wide, so only for a process that
 * runs nothing else; threads have `resourceLimits`.
 */
export const keepHeapSmall = (): void => {
  setFlagsFromString('--semi-space-growth-factor=1');
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`);
};
