import type { KubernetesObject } from '../meta/index.ts';
import { ofUnits, quantityFrom, type Quantity } from '../quantity/index.ts';
import type { V1PersistentVolumeClaim } from '../schema/generated/types.ts';
import { matchesValueExpression } from '../selector/index.ts';
import { objectCountName, type Evaluator } from './evaluator.ts';

const CLAIMS = { group: '', resource: 'persistentvolumeclaims' };
const COUNT = objectCountName(CLAIMS);
const NAMES = ['persistentvolumeclaims', 'requests.storage'];
const BY_CLASS = '.storageclass.storage.k8s.io/';
const BETA_CLASS_ANNOTATION = 'volume.beta.kubernetes.io/storage-class';
const NANOS_PER_UNIT = 1_000_000_000n;

/** The class that a claim asks for; the annotation is older than the field and wins. */
export const storageClassOf = ({ metadata, spec }: V1PersistentVolumeClaim): string =>
  metadata?.annotations?.[BETA_CLASS_ANNOTATION] ?? spec?.storageClassName ?? '';

const wholeBytes = (amount: Quantity): Quantity =>
  amount.nanos % NANOS_PER_UNIT === 0n ? amount : ofUnits(amount.value(), amount.format);

/** While a claim grows, the larger of what is asked for and what is given. */
const storageOf = ({ spec, status }: V1PersistentVolumeClaim): Quantity | undefined => {
  const asked = spec?.resources?.requests?.['storage'];
  if (asked === undefined) return undefined;
  const wanted = quantityFrom(asked);
  const given = quantityFrom(status?.allocatedResources?.['storage']);
  return wholeBytes(given.compare(wanted) > 0 ? given : wanted);
};

const attributesClassesOf = ({ spec, status }: V1PersistentVolumeClaim): ReadonlySet<string> =>
  new Set(
    [
      spec?.volumeAttributesClassName,
      status?.currentVolumeAttributesClassName,
      status?.modifyVolumeStatus?.targetVolumeAttributesClassName,
    ].filter((name): name is string => name !== undefined && name !== ''),
  );

/** Whether usage may differ between two states of a claim's status. */
export const claimUsageDiffers = (a: KubernetesObject, b: KubernetesObject): boolean => {
  const [left, right] = [a as V1PersistentVolumeClaim, b as V1PersistentVolumeClaim];
  const given = ({ status }: V1PersistentVolumeClaim): Quantity =>
    quantityFrom(status?.allocatedResources?.['storage']);
  const [before, after] = [attributesClassesOf(left), attributesClassesOf(right)];
  return (
    !given(left).equals(given(right)) ||
    before.size !== after.size ||
    [...before].some((name) => !after.has(name))
  );
};

export const claimEvaluator: Evaluator = {
  resource: CLAIMS,
  handles({ operation, subresource, object, oldObject }) {
    if (subresource === '') return operation === 'CREATE' || operation === 'UPDATE';
    return subresource === 'status' && !!object && !!oldObject && claimUsageDiffers(object, oldObject);
  },
  matchingResources: (asked) =>
    asked.filter(
      (name) =>
        name === COUNT || NAMES.includes(name) || NAMES.some((one) => name.endsWith(`${BY_CLASS}${one}`)),
    ),
  matchesScope(selector, object) {
    if (selector.scopeName !== 'VolumeAttributesClass') return false;
    const classes = [...attributesClassesOf(object as V1PersistentVolumeClaim)];
    return classes.length === 0
      ? matchesValueExpression(selector, undefined)
      : classes.some((name) => matchesValueExpression(selector, name));
  },
  missing: () => undefined,
  usage(object) {
    const claim = object as V1PersistentVolumeClaim;
    const storageClass = storageClassOf(claim);
    const storage = storageOf(claim);
    const usage = new Map([
      ['persistentvolumeclaims', ofUnits(1n)],
      [COUNT, ofUnits(1n)],
    ]);
    if (storage) usage.set('requests.storage', storage);
    if (storageClass !== '') {
      usage.set(`${storageClass}${BY_CLASS}persistentvolumeclaims`, ofUnits(1n));
      if (storage) usage.set(`${storageClass}${BY_CLASS}requests.storage`, storage);
    }
    return usage;
  },
};
