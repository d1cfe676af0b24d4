import { notFound } from '../../../../api/meta/index.ts';
import { messageOf } from '../../../../base/errors.ts';
import type {
  AuthenticationV1TokenRequest,
  V1CSIDriver,
  V1PersistentVolume,
  V1PersistentVolumeClaim,
  V1Pod,
  V1Volume,
} from '../../../../api/schema/index.ts';
import { goQuote } from '../../../../api/field/go-text.ts';
import { resourceAttributes, type Authorizer } from '../../../authz/authorizer.ts';
import type { AdmissionAttributes } from '../../attributes.ts';
import { PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES } from '../../matching.ts';
import type { ObjectReader } from '../../../storage/object-reader.ts';
import { aggregateMessage, readOrFail, refusal } from '../../refusal.ts';
import { boundPod } from './pod-rules.ts';

const CSI_DRIVERS = { group: 'storage.k8s.io', resource: 'csidrivers' };

/** The CSI driver behind a volume, by way of its claim where it has one; empty where no driver is. */
const driverOf = async (reader: ObjectReader, pod: V1Pod, volume: V1Volume): Promise<string> => {
  const namespace = pod.metadata?.namespace ?? '';
  if (volume.csi) return volume.csi.driver;
  const claimName = volume.ephemeral?.volumeClaimTemplate
    ? `${pod.metadata?.name ?? ''}-${volume.name}`
    : volume.persistentVolumeClaim?.claimName;
  if (claimName === undefined) return '';
  const claim = await readOrFail(reader.get(PERSISTENT_VOLUME_CLAIMS, namespace, claimName));
  if (!claim) throw notFound({ group: '', resource: 'persistentvolumeclaim' }, claimName);
  const volumeName = (claim as V1PersistentVolumeClaim).spec?.volumeName ?? '';
  const stored = await readOrFail(reader.get(PERSISTENT_VOLUMES, '', volumeName));
  if (!stored) throw notFound({ group: '', resource: 'persistentvolume' }, volumeName);
  return (stored as V1PersistentVolume).spec?.csi?.driver ?? '';
};

const driverWants = async (reader: ObjectReader, driver: string, audience: string): Promise<boolean> => {
  const found = await readOrFail(reader.get(CSI_DRIVERS, '', driver));
  if (!found) throw notFound({ group: 'storage.k8s.io', resource: 'csidriver' }, driver);
  return ((found as unknown as V1CSIDriver).spec.tokenRequests ?? []).some(
    (one) => one.audience === audience,
  );
};

/** Whether a volume of the pod needs a token for the audience. Throws when that could not be found out. */
const referencesAudience = async (reader: ObjectReader, pod: V1Pod, audience: string): Promise<boolean> => {
  const failures: string[] = [];
  for (const volume of pod.spec?.volumes ?? []) {
    const projects = (volume.projected?.sources ?? []).some(
      ({ serviceAccountToken }) => serviceAccountToken && (serviceAccountToken.audience ?? '') === audience,
    );
    if (projects) return true;
    try {
      const driver = await driverOf(reader, pod, volume);
      if (driver !== '' && (await driverWants(reader, driver, audience))) return true;
    } catch (error) {
      failures.push(messageOf(error));
    }
  }
  if (failures.length > 0) throw new Error(aggregateMessage(failures));
  return false;
};

const audienceFault = async (
  { reader, authorizer }: TokenRuleOptions,
  attributes: AdmissionAttributes,
  pod: V1Pod,
): Promise<string | undefined> => {
  const { user, resource, namespace, name, object } = attributes;
  const audiences = (object as unknown as AuthenticationV1TokenRequest).spec?.audiences ?? [];
  if (audiences.length > 1) return 'node may only request 0 or 1 audiences';
  const audience = audiences[0] ?? '';
  try {
    if (await referencesAudience(reader, pod, audience)) return undefined;
  } catch (error) {
    return `error validating audience ${goQuote(audience)}: ${messageOf(error)}`;
  }
  const asked = resourceAttributes(user, {
    verb: 'request-serviceaccounts-token-audience',
    apiGroup: resource.group,
    apiVersion: resource.version,
    resource: audience,
    namespace,
    name,
  });
  if ((await authorizer.authorize(asked)).decision === 'allow') return undefined;
  return `${user.name} is not authorized to request tokens for audience ${goQuote(audience)}`;
};

export interface TokenRuleOptions {
  readonly reader: ObjectReader;
  readonly authorizer: Authorizer;
}

/** A node gets tokens for pods that run on it, and for audiences that those pods name. */
export const admitTokenRequest = async (
  options: TokenRuleOptions,
  node: string,
  attributes: AdmissionAttributes,
): Promise<void> => {
  const ref = (attributes.object as unknown as AuthenticationV1TokenRequest).spec?.boundObjectRef;
  if (ref?.apiVersion !== 'v1' || ref.kind !== 'Pod' || !ref.name)
    throw refusal(attributes, 'node requested token not bound to a pod');
  if (!ref.uid) throw refusal(attributes, 'node requested token with a pod binding without a uid');
  const pod = await boundPod(options.reader, attributes.namespace, ref.name);
  if (ref.uid !== pod.metadata?.uid)
    throw refusal(
      attributes,
      `the UID in the bound object reference (${ref.uid}) does not match the UID in record. The object might have been deleted and then recreated`,
    );
  if (pod.spec?.nodeName !== node)
    throw refusal(attributes, 'node requested token bound to a pod scheduled on a different node');
  const fault = await audienceFault(options, attributes, pod);
  if (fault !== undefined) throw refusal(attributes, fault);
};
