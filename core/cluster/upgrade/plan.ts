import { ReasonError } from '../../base/errors.ts';
import { NEWEST_MINOR } from '../../api/releases/index.ts';
import { minorOf } from '../config/config.ts';

const VERSION = /^v1\.(\d+)\.(\d+)$/;

const patchOf = (version: string): number => Number(VERSION.exec(version)?.[2]);

/** The releases that a cluster may go to from here: the next minor, never one beyond it. */
export const upgradeTargets = (current: string): readonly string[] => {
  const next = minorOf(current) + 1;
  return next <= NEWEST_MINOR ? [`v1.${next}.0`] : [];
};

/** Upstream's skew policy: minors are not skipped, and nothing goes back. */
export const assertUpgradable = (current: string, target: string): void => {
  const refuse = (why: string): never => {
    throw new ReasonError('BadVersion', `cannot upgrade from ${current} to ${target}: ${why}`);
  };
  if (!VERSION.test(target)) refuse('versions must look like v1.36.0');
  const [from, to] = [minorOf(current), minorOf(target)];
  if (to > NEWEST_MINOR) refuse(`the latest supported version is v1.${NEWEST_MINOR}`);
  if (to < from || (to === from && patchOf(target) < patchOf(current)))
    refuse('downgrades are not supported');
  if (to > from + 1) refuse(`minor versions cannot be skipped; upgrade to v1.${from + 1} first`);
};
