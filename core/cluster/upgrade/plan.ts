import { NEWEST_MINOR } from '../../api/releases/index.ts';
import { say, SaidError, type Said } from '../../contract/index.ts';
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
  const refuse = (why: Said): never => {
    throw new SaidError('BadVersion', say('failure.upgrade.refused', { from: current, to: target, why }));
  };
  if (!VERSION.test(target)) refuse(say('failure.upgrade.format'));
  const [from, to] = [minorOf(current), minorOf(target)];
  if (to > NEWEST_MINOR) refuse(say('failure.upgrade.latest', { version: `v1.${NEWEST_MINOR}` }));
  if (to < from || (to === from && patchOf(target) < patchOf(current)))
    refuse(say('failure.upgrade.downgrade'));
  if (to > from + 1) refuse(say('failure.upgrade.skip', { version: `v1.${from + 1}` }));
};
