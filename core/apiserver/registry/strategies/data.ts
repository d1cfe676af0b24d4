import { formatTime } from '../../../api/meta/index.ts';
import { has, maybeObj, obj, str, strMap, type Obj } from '../../../api/validation/read.ts';
import type { Draft, Strategy } from '../generic/strategy.ts';
import { tlsPairProblem } from './tls-pair.ts';

/** `stringData` is written and never read: its texts become bytes of `data`. */
export const mergeStringData = (draft: Draft): void => {
  const texts = Object.entries(strMap(draft, 'stringData'));
  delete draft['stringData'];
  if (texts.length === 0) return;
  draft['data'] = {
    ...obj(draft, 'data'),
    ...Object.fromEntries(texts.map(([key, text]) => [key, Buffer.from(text).toString('base64')])),
  };
};

export const secretStrategy: Strategy = {
  prepareForCreate: mergeStringData,
  prepareForUpdate(draft, old) {
    mergeStringData(draft);
    if (str(draft, 'type') === '' && old['type'] !== undefined) draft['type'] = old['type'];
  },
  warnings(draft) {
    if (str(draft, 'type') !== 'kubernetes.io/tls') return [];
    const pemOf = (name: string): string =>
      Buffer.from(strMap(draft, 'data')[name] ?? '', 'base64').toString('latin1');
    return [tlsPairProblem(pemOf('tls.crt'), pemOf('tls.key')) ?? []].flat();
  },
};

const CLAIM_SOURCES: readonly (readonly [kind: string, group: string])[] = [
  ['PersistentVolumeClaim', ''],
  ['VolumeSnapshot', 'snapshot.storage.k8s.io'],
];

/**
 * A claim names its source in one of two fields, and the other one follows. Other kinds than the first two are dropped
 * from the old field, as they always were; the new one takes any.
 */
const settleSources = (draft: Draft, old: Obj): void => {
  const { dataSource: _dropped, ...rest } = obj(draft, 'spec');
  const source = maybeObj(obj(draft, 'spec'), 'dataSource');
  const reference = maybeObj(obj(draft, 'spec'), 'dataSourceRef');
  if (!source && !reference) return;
  if (!reference && source) {
    const isKnown = CLAIM_SOURCES.some(
      ([kind, group]) => str(source, 'kind') === kind && str(source, 'apiGroup') === group,
    );
    const isKept = isKnown || has(obj(old, 'spec'), 'dataSource');
    draft['spec'] = isKept ? { ...rest, dataSource: source, dataSourceRef: { ...source } } : rest;
  } else if (reference && !source && str(reference, 'namespace') === '') {
    const { namespace: _namespace, ...local } = reference;
    draft['spec'] = { ...rest, dataSource: local };
  }
};

export const claimStrategy: Strategy = {
  returnsDeletedObject: true,
  prepareForCreate: (draft) => settleSources(draft, {}),
  prepareForUpdate: settleSources,
};

/** A volume's phase moves with a time, which the server sets where the client does not. */
export const volumeStatus: Strategy = {
  prepareForUpdate(draft, old, { nowMs }) {
    const [status, before] = [obj(draft, 'status'), obj(old, 'status')];
    const [time, timeBefore] = [status['lastPhaseTransitionTime'], before['lastPhaseTransitionTime']];
    const isSamePhase = str(status, 'phase') === str(before, 'phase');
    if (isSamePhase && time === undefined && timeBefore !== undefined)
      draft['status'] = { ...status, lastPhaseTransitionTime: timeBefore };
    if (!isSamePhase && (time === undefined || time === timeBefore))
      draft['status'] = { ...status, lastPhaseTransitionTime: formatTime(nowMs) };
  },
};

/** Of the feature gate VolumeLimitScaling, which is off in every release that has it. */
const dropSchedulingGuard = (draft: Draft): void => {
  const { preventPodSchedulingIfMissing, ...spec } = obj(draft, 'spec');
  if (preventPodSchedulingIfMissing !== undefined) draft['spec'] = spec;
};

export const csiDriverStrategy: Strategy = {
  prepareForCreate: dropSchedulingGuard,
  prepareForUpdate(draft, old) {
    if (obj(old, 'spec')['preventPodSchedulingIfMissing'] === undefined) dropSchedulingGuard(draft);
  },
};
