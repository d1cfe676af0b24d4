import { matchesNodeExpression, selectorFromObject } from '../../api/selector/index.ts';
import type { Node } from '../../client/index.ts';
import type { V1NodeSelectorTerm } from '../../api/schema/index.ts';
import {
  capacityOf,
  classOf,
  isVolumeFor,
  modeOf,
  requestOf,
  type Claim,
  type Volume,
} from './volume-facts.ts';

const matchesTerm = ({ matchExpressions = [], matchFields = [] }: V1NodeSelectorTerm, node: Node): boolean =>
  matchExpressions.length + matchFields.length > 0 &&
  matchExpressions.every((one) => matchesNodeExpression(one, node.metadata?.labels?.[one.key])) &&
  matchFields.every((one) => one.key === 'metadata.name' && matchesNodeExpression(one, node.metadata?.name));

/** Whether the volume can be reached from the node; anywhere when it does not say. */
export const isReachable = ({ spec }: Volume, node: Node): boolean => {
  const required = spec?.nodeAffinity?.required;
  return !required || required.nodeSelectorTerms.some((term) => matchesTerm(term, node));
};

/** Why a volume cannot serve a claim that names it; undefined when it can. */
export const mismatch = (volume: Volume, claim: Claim): string | undefined => {
  if (capacityOf(volume).compare(requestOf(claim)) < 0) return 'requested PV is too small';
  if (classOf(volume) !== classOf(claim)) return 'storageClassName does not match';
  if (modeOf(volume) !== modeOf(claim)) return 'incompatible volumeMode';
  const modes = volume.spec?.accessModes ?? [];
  if (!(claim.spec?.accessModes ?? []).every((mode) => modes.includes(mode)))
    return 'incompatible accessMode';
  return undefined;
};

/** A volume that was just made is as good as one that was found to be free. */
const NEW_OR_FREE: ReadonlySet<string> = new Set(['Pending', 'Available']);

/**
 * The volume that a claim should get: the one set aside for it, else the smallest that is large enough. With binding
 * delayed only the first, since where the pod goes is not known yet.
 */
export const findVolume = (
  claim: Claim,
  volumes: readonly Volume[],
  options: { readonly isDelayed: boolean; readonly node: Node | undefined },
): Volume | undefined => {
  const fitting = volumes.filter(
    (volume) => volume.metadata.deletionTimestamp === undefined && mismatch(volume, claim) === undefined,
  );
  const reserved = fitting.find((volume) => isVolumeFor(volume, claim));
  if (reserved || options.isDelayed) return reserved;
  const selector = claim.spec?.selector && selectorFromObject(claim.spec.selector);
  return fitting
    .filter(
      (volume) =>
        volume.spec?.claimRef === undefined &&
        NEW_OR_FREE.has(volume.status?.phase ?? 'Pending') &&
        (!selector || selector.matches(volume.metadata.labels)) &&
        (!options.node || isReachable(volume, options.node)),
    )
    .sort((a, b) => capacityOf(a).compare(capacityOf(b)) || (a.metadata.name < b.metadata.name ? -1 : 1))[0];
};
