import type { Clock } from '../../../../base/clock.ts';
import {
  controllerOf,
  groupResourceText,
  internalError,
  invalid,
  type KubernetesObject,
} from '../../../../api/meta/index.ts';
import type { V1CronJob, V1Deployment, V1Pod, V1PodTemplate } from '../../../../api/schema/index.ts';
import { goQuote } from '../../../../api/field/go-text.ts';
import { causesOf } from '../../../../api/field/field-error.ts';
import type { AdmissionAttributes, AdmissionPlugin } from '../../attributes.ts';
import { handlesOnly, NAMESPACES, PODS } from '../../matching.ts';
import type { ObjectReader } from '../../../storage/object-reader.ts';
import { readOrFail, refusal } from '../../refusal.ts';
import { containersOf, type Subject } from './check.ts';
import { detailText, violationsOf } from './evaluate.ts';
import { isStricter, levelVersionText, policyOf, sameLevelVersion, type LevelVersion } from './policy.ts';

const IGNORED_SUBRESOURCES: ReadonlySet<string> = new Set([
  ...['exec', 'attach', 'binding', 'eviction', 'log', 'portforward', 'proxy', 'status'],
]);
/** Upstream's bounds on the look at pods that are there when a namespace gets stricter. */
const PODS_CHECKED_MAX = 3000;
const CHECK_LIMIT_MS = 1000;

const template = (object: KubernetesObject): V1PodTemplate['template'] =>
  (object as unknown as V1Deployment).spec?.template;
/** Where the pods of other kinds are described. */
const TEMPLATES: Readonly<Record<string, (object: KubernetesObject) => V1PodTemplate['template']>> = {
  replicationcontrollers: template,
  podtemplates: (object) => (object as unknown as V1PodTemplate).template,
  'replicasets.apps': template,
  'deployments.apps': template,
  'statefulsets.apps': template,
  'daemonsets.apps': template,
  'jobs.batch': template,
  'cronjobs.batch': (object) => (object as unknown as V1CronJob).spec?.jobTemplate.spec?.template,
};

const subjectOf = ({ metadata = {}, spec }: V1Pod): Subject => ({
  metadata,
  spec: spec ?? { containers: [] },
});

/** Of what may change in a pod only images and new containers matter. */
const isSignificant = (pod: V1Pod, old: V1Pod): boolean => {
  const images = (one: V1Pod): string =>
    JSON.stringify(containersOf(subjectOf(one)).map(({ name, image }) => [name, image]));
  return images(pod) !== images(old);
};

export interface PodSecurityOptions {
  readonly reader: ObjectReader;
  readonly clock: Clock;
  /** The release that is emulated: `latest` is this. */
  readonly minor: number;
}

/** Holds pods to the Pod Security Standard that the labels of their namespace name. */
export const podSecurity = ({ reader, clock, minor }: PodSecurityOptions): AdmissionPlugin => {
  const policyFor = async (namespace: string) => {
    const found =
      (await readOrFail(reader.get(NAMESPACES, '', namespace))) ??
      (await readOrFail(reader.get(NAMESPACES, '', namespace, { live: true })));
    if (!found) throw internalError(`failed to lookup namespace ${goQuote(namespace)}`);
    return policyOf(found.metadata?.labels).policy;
  };
  const warn = (attributes: AdmissionAttributes, level: LevelVersion, pod: Subject): void => {
    const violations = violationsOf(level, pod, minor);
    if (violations.length > 0)
      attributes.warn(
        `would violate PodSecurity ${goQuote(levelVersionText(level))}: ${detailText(violations)}`,
      );
  };

  const validatePod = async (attributes: AdmissionAttributes): Promise<void> => {
    const { operation, subresource, namespace, object, oldObject } = attributes;
    if (IGNORED_SUBRESOURCES.has(subresource) || !object) return;
    if (operation === 'UPDATE' && oldObject && !isSignificant(object as V1Pod, oldObject as V1Pod)) return;
    const policy = await policyFor(namespace);
    const pod = subjectOf(object as V1Pod);
    const violations = violationsOf(policy.enforce, pod, minor);
    if (violations.length > 0)
      throw refusal(
        attributes,
        `violates PodSecurity ${goQuote(levelVersionText(policy.enforce))}: ${detailText(violations)}`,
      );
    warn(attributes, policy.warn, pod);
  };

  /** Controllers are told early what their pods will be refused for; they themselves never are. */
  const validateController = async (attributes: AdmissionAttributes): Promise<void> => {
    const { subresource, namespace, object, resource } = attributes;
    if (subresource !== '' || !object) return;
    const found = TEMPLATES[groupResourceText(resource)]?.(object);
    if (!found) return;
    warn(attributes, (await policyFor(namespace)).warn, subjectOf(found as V1Pod));
  };

  /** One pod of each controller before its copies: the bound should show as many different faults as it can. */
  const prioritized = (pods: readonly KubernetesObject[]): readonly KubernetesObject[] => {
    const seen = new Set<string>();
    const [first, copies]: [KubernetesObject[], KubernetesObject[]] = [[], []];
    for (const pod of pods) {
      const uid = controllerOf(pod)?.uid;
      (uid !== undefined && seen.has(uid) ? copies : first).push(pod);
      if (uid !== undefined) seen.add(uid);
    }
    return [...first, ...copies];
  };
  const warnOfPods = async (attributes: AdmissionAttributes, enforce: LevelVersion): Promise<void> => {
    const pods = prioritized(await reader.list(PODS, attributes.name));
    const untilMs = clock.monotonicMs() + CHECK_LIMIT_MS;
    const byReason = new Map<string, string[]>();
    let checked = 0;
    for (const pod of pods.slice(0, PODS_CHECKED_MAX)) {
      const reasons = violationsOf(enforce, subjectOf(pod as V1Pod), minor).map(({ reason }) => reason);
      if (reasons.length > 0) {
        const text = reasons.join(', ');
        byReason.set(text, [...(byReason.get(text) ?? []), pod.metadata?.name ?? '']);
      }
      checked += 1;
      if (clock.monotonicMs() > untilMs) break;
    }
    if (checked < pods.length)
      attributes.warn(
        `new PodSecurity enforce level only checked against the first ${checked} of ${pods.length} existing pods`,
      );
    if (byReason.size === 0) return;
    attributes.warn(
      `existing pods in namespace ${goQuote(attributes.name)} violate the new PodSecurity enforce level ${goQuote(levelVersionText(enforce))}`,
    );
    const lines = [...byReason].map(([reason, names]) => {
      const [name = ''] = names.sort();
      const others = names.length - 1;
      const more = others === 0 ? '' : others === 1 ? ' (and 1 other pod)' : ` (and ${others} other pods)`;
      return `${name}${more}: ${reason}`;
    });
    for (const line of lines.sort()) attributes.warn(line);
  };

  const validateNamespace = async (attributes: AdmissionAttributes): Promise<void> => {
    const { operation, subresource, object, oldObject, kind, name } = attributes;
    if (subresource !== '' || !object) return;
    const next = policyOf(object.metadata?.labels);
    const old = operation === 'UPDATE' ? policyOf(oldObject?.metadata?.labels) : undefined;
    const isKnown = old !== undefined && JSON.stringify(old.errors) === JSON.stringify(next.errors);
    if (next.errors.length > 0 && !isKnown) throw invalid(kind, name, causesOf(next.errors));
    if (!old) return;
    const [before, after] = [old.policy.enforce, next.policy.enforce];
    if (sameLevelVersion(before, after) || after.level === 'privileged') return;
    if (before.version === after.version && !isStricter(after.level, before.level)) return;
    await warnOfPods(attributes, after);
  };

  return {
    name: 'PodSecurity',
    handles: handlesOnly('CREATE', 'UPDATE'),
    validate(attributes) {
      const resource = groupResourceText(attributes.resource);
      if (resource === 'pods') return validatePod(attributes);
      if (resource === 'namespaces') return validateNamespace(attributes);
      return resource in TEMPLATES ? validateController(attributes) : undefined;
    },
  };
};
