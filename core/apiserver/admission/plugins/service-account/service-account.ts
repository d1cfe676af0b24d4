import type { Clock } from '../../../../base/clock.ts';
import type { Random } from '../../../../base/random.ts';
import { messageOf } from '../../../../base/errors.ts';
import { notFound, type KubernetesObject } from '../../../../api/meta/index.ts';
import type { V1Pod, V1ServiceAccount } from '../../../../api/schema/index.ts';
import { podForGraph, referencesOfPod } from '../../../authz/node/pod-references.ts';
import type { AdmissionAttributes, AdmissionPlugin } from '../../attributes.ts';
import { handlesOnly, isResource, MIRROR_POD_ANNOTATION, PODS, SERVICE_ACCOUNTS } from '../../matching.ts';
import type { ObjectReader } from '../../../storage/object-reader.ts';
import { pause } from '../../pause.ts';
import { refusal } from '../../refusal.ts';
import { enforcesMountableSecrets, ephemeralReference, foreignReference } from './mountable-secrets.ts';
import { mountToken } from './token-volume.ts';

const DEFAULT_ACCOUNT = 'default';
/** The controller makes the default account right after its namespace: it is worth waiting for. */
const DEFAULT_ACCOUNT_ATTEMPTS_MAX = 10;
const RETRY_MS_MIN = 100;
const RETRY_MS_SPREAD = 100;

export interface ServiceAccountOptions {
  readonly reader: ObjectReader;
  readonly clock: Clock;
  readonly random: Random;
}

const isMirror = (pod: KubernetesObject): boolean =>
  pod.metadata?.annotations?.[MIRROR_POD_ANNOTATION] !== undefined;

const concernsPods = (attributes: AdmissionAttributes): boolean =>
  isResource(attributes, PODS) &&
  (attributes.subresource === '' || attributes.subresource === 'ephemeralcontainers') &&
  attributes.object?.kind === 'Pod';

const mirrorFault = (object: KubernetesObject): string | undefined => {
  const { spec } = object as V1Pod;
  if (spec?.serviceAccountName) return 'a mirror pod may not reference service accounts';
  const references = referencesOfPod({ ...podForGraph(object), isMirror: false });
  if (references.some(({ kind }) => kind === 'secret')) return 'a mirror pod may not reference secrets';
  const projectsToken = (spec?.volumes ?? []).some((volume) =>
    (volume.projected?.sources ?? []).some((source) => source.serviceAccountToken !== undefined),
  );
  return projectsToken ? 'a mirror pod may not use ServiceAccountToken volume projections' : undefined;
};

/** Every pod runs as a service account of its namespace and gets its token. */
export const serviceAccount = ({ reader, clock, random }: ServiceAccountOptions): AdmissionPlugin => {
  const find = async (namespace: string, name: string): Promise<V1ServiceAccount> => {
    const cached = await reader.get(SERVICE_ACCOUNTS, namespace, name);
    if (cached) return cached as V1ServiceAccount;
    const attemptsMax = name === DEFAULT_ACCOUNT ? DEFAULT_ACCOUNT_ATTEMPTS_MAX : 1;
    const retryMs = RETRY_MS_MIN + random.below(RETRY_MS_SPREAD);
    for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
      if (attempt > 0) await pause(clock, retryMs);
      const live = await reader.get(SERVICE_ACCOUNTS, namespace, name, { live: true });
      if (live) return live as V1ServiceAccount;
    }
    throw notFound({ group: '', resource: 'serviceaccount' }, name);
  };

  const accountOf = async (attributes: AdmissionAttributes, name: string): Promise<V1ServiceAccount> => {
    const { namespace } = attributes;
    try {
      return await find(namespace, name);
    } catch (error) {
      throw refusal(attributes, `error looking up service account ${namespace}/${name}: ${messageOf(error)}`);
    }
  };

  const validate = async (attributes: AdmissionAttributes): Promise<void> => {
    if (!concernsPods(attributes)) return;
    const { operation, subresource, namespace } = attributes;
    const isEphemeral = operation === 'UPDATE' && subresource === 'ephemeralcontainers';
    if (operation !== 'CREATE' && !isEphemeral) return;
    const pod = attributes.object as V1Pod;
    if (!isEphemeral && isMirror(attributes.object!)) {
      const fault = mirrorFault(attributes.object!);
      if (fault !== undefined) throw refusal(attributes, fault);
      return;
    }
    const name = pod.spec?.serviceAccountName ?? '';
    if (name === '')
      throw refusal(
        attributes,
        `no service account specified for pod ${namespace}/${pod.metadata?.name ?? ''}`,
      );
    const account = await accountOf(attributes, name);
    if (!enforcesMountableSecrets(account)) return;
    const fault = isEphemeral ? ephemeralReference(account, pod) : foreignReference(account, pod);
    if (fault !== undefined) throw refusal(attributes, fault);
  };

  return {
    name: 'ServiceAccount',
    handles: handlesOnly('CREATE', 'UPDATE'),
    async admit(attributes) {
      if (attributes.operation !== 'CREATE' || !concernsPods(attributes)) return;
      const pod = attributes.object as V1Pod;
      const spec = pod.spec;
      // The kubelet compares a mirror pod with its file: a changed spec would be deleted immediately.
      if (isMirror(attributes.object!) || !spec) return validate(attributes);
      if (!spec.serviceAccountName) {
        spec.serviceAccountName = DEFAULT_ACCOUNT;
        spec.serviceAccount = DEFAULT_ACCOUNT;
      }
      const account = await accountOf(attributes, spec.serviceAccountName);
      if (spec.automountServiceAccountToken ?? account.automountServiceAccountToken ?? true)
        mountToken(spec, random);
      const pullSecrets = account.imagePullSecrets ?? [];
      if ((spec.imagePullSecrets ?? []).length === 0 && pullSecrets.length > 0)
        spec.imagePullSecrets = pullSecrets.map(({ name }) => (name === undefined ? {} : { name }));
      return validate(attributes);
    },
    validate,
  };
};
