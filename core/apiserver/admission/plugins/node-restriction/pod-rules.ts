import { notFound, type KubernetesObject } from '../../../../api/meta/index.ts';
import type { V1Pod, V1Volume } from '../../../../api/schema/index.ts';
import { goQuote } from '../../../../api/field/go-text.ts';
import { podForGraph, referencesOfPod } from '../../../authz/node/pod-references.ts';
import type { AdmissionAttributes } from '../../attributes.ts';
import { MIRROR_POD_ANNOTATION, NODES, PODS } from '../../matching.ts';
import type { ObjectReader } from '../../../storage/object-reader.ts';
import { readOrFail, refusal } from '../../refusal.ts';
import { sameJson } from './same-json.ts';

/** Volumes that are read without the API. */
const LOCAL_SOURCES: ReadonlySet<string> = new Set([
  ...['awsElasticBlockStore', 'azureDisk', 'cephfs', 'cinder', 'downwardAPI', 'emptyDir', 'fc', 'flexVolume'],
  ...['flocker', 'gcePersistentDisk', 'gitRepo', 'hostPath', 'image', 'iscsi', 'nfs', 'photonPersistentDisk'],
  ...['portworxVolume', 'quobyte', 'rbd', 'scaleIO', 'storageos', 'vsphereVolume'],
]);
const API_SOURCES: Readonly<Record<string, string>> = {
  configMap: 'configmaps (via configmap volumes)',
  secret: 'secrets (via secret volumes)',
  csi: 'csidrivers (via CSI volumes)',
  glusterfs: 'endpoints (via glusterFS volumes)',
  persistentVolumeClaim: 'persistentvolumeclaims',
  ephemeral: 'persistentvolumeclaims (via ephemeral volumes)',
  azureFile: 'secrets (via azureFile volumes)',
};
const PROJECTED_SOURCES: Readonly<Record<string, string>> = {
  configMap: 'configmaps (via projected volumes)',
  secret: 'secrets (via projected volumes)',
  serviceAccountToken: 'serviceaccounts (via projected volumes)',
  clusterTrustBundle: 'clustertrustbundles',
  podCertificate: 'podcertificates',
};

type Reference = { readonly resource: string } | { readonly unknown: string } | undefined;

const referenceOfVolume = (volume: V1Volume): Reference => {
  const sources = Object.keys(volume).filter((field) => field !== 'name');
  if (sources.some((source) => LOCAL_SOURCES.has(source))) return undefined;
  const api = sources.map((source) => API_SOURCES[source]).find((text) => text !== undefined);
  if (api !== undefined) return { resource: api };
  if (!volume.projected) return { unknown: `unknown volume type for volume  ${goQuote(volume.name)}` };
  for (const projection of volume.projected.sources ?? []) {
    const fields = Object.keys(projection);
    const found = fields.map((field) => PROJECTED_SOURCES[field]).find((text) => text !== undefined);
    if (found !== undefined) return { resource: found };
    if (!fields.includes('downwardAPI'))
      return { unknown: `unknown source for projected volume ${goQuote(volume.name)}` };
  }
  return undefined;
};

/** The first thing of the API that the pod leads its node to: a mirror pod must not open what it names. */
const apiReference = (object: KubernetesObject): Reference => {
  const { spec } = object as V1Pod;
  if (spec?.serviceAccountName) return { resource: 'serviceaccounts' };
  const references = referencesOfPod({ ...podForGraph(object), isMirror: false });
  if (references.some(({ kind }) => kind === 'secret')) return { resource: 'secrets' };
  if (references.some(({ kind }) => kind === 'configmap')) return { resource: 'configmaps' };
  if ((spec?.resourceClaims ?? []).length > 0) return { resource: 'resourceclaims' };
  for (const volume of spec?.volumes ?? []) {
    const found = referenceOfVolume(volume);
    if (found) return found;
  }
  return undefined;
};

const ownerFault = (node: string, { metadata }: V1Pod): string | undefined => {
  const owners = metadata?.ownerReferences ?? [];
  const head = `node ${goQuote(node)}`;
  if (owners.length > 1) return `${head} can only create pods with a single owner reference set to itself`;
  const [owner] = owners;
  if (owner?.apiVersion !== 'v1' || owner.kind !== 'Node' || owner.name !== node)
    return `${head} can only create pods with an owner reference set to itself`;
  if (owner.controller !== true)
    return `${head} can only create pods with a controller owner reference set to itself`;
  if (owner.blockOwnerDeletion === true)
    return `${head} must not set blockOwnerDeletion on an owner reference`;
  return undefined;
};

export const admitPodCreate = async (
  reader: ObjectReader,
  node: string,
  attributes: AdmissionAttributes,
): Promise<void> => {
  const pod = attributes.object as V1Pod;
  if (pod.metadata?.annotations?.[MIRROR_POD_ANNOTATION] === undefined)
    throw refusal(
      attributes,
      `pod does not have ${goQuote(MIRROR_POD_ANNOTATION)} annotation, node ${goQuote(node)} can only create mirror pods`,
    );
  if (pod.spec?.nodeName !== node)
    throw refusal(attributes, `node ${goQuote(node)} can only create pods with spec.nodeName set to itself`);
  const fault = ownerFault(node, pod);
  if (fault !== undefined) throw refusal(attributes, fault);
  const stored = await readOrFail(reader.get(NODES, '', node));
  if (!stored) throw notFound({ group: '', resource: 'node' }, node);
  const claimed = pod.metadata.ownerReferences?.[0]?.uid ?? '';
  const uid = stored.metadata?.uid ?? '';
  if (claimed !== uid) throw refusal(attributes, `node ${node} UID mismatch: expected ${claimed} got ${uid}`);
  const reference = apiReference(attributes.object!);
  if (!reference) return;
  throw refusal(
    attributes,
    'resource' in reference
      ? `node ${goQuote(node)} can not create pods that reference ${reference.resource}`
      : `error checking mirror pod for API references: ${reference.unknown}`,
  );
};

/** Throws NotFound as upstream's lister words it. */
export const boundPod = async (reader: ObjectReader, namespace: string, name: string): Promise<V1Pod> => {
  const pod = await readOrFail(reader.get(PODS, namespace, name));
  if (!pod) throw notFound({ group: '', resource: 'pod' }, name);
  return pod as V1Pod;
};

export const admitPodStatus = (node: string, attributes: AdmissionAttributes): void => {
  const { operation } = attributes;
  if (operation !== 'UPDATE') throw refusal(attributes, `unexpected operation ${goQuote(operation)}`);
  const [old, next] = [attributes.oldObject as V1Pod, attributes.object as V1Pod];
  const head = `node ${goQuote(node)}`;
  if (old.spec?.nodeName !== node)
    throw refusal(attributes, `${head} can only update pod status for pods with spec.nodeName set to itself`);
  if (!sameJson(old.metadata?.labels ?? {}, next.metadata?.labels ?? {}))
    throw refusal(attributes, `${head} cannot update labels through pod status`);
  if (!sameJson(old.status?.resourceClaimStatuses ?? [], next.status?.resourceClaimStatuses ?? []))
    throw refusal(attributes, `${head} cannot update resource claim statues`);
  if (!sameJson(old.status?.extendedResourceClaimStatus, next.status?.extendedResourceClaimStatus))
    throw refusal(attributes, `${head} cannot update extended resource claim status`);
};

export const admitPodEviction = async (
  reader: ObjectReader,
  node: string,
  attributes: AdmissionAttributes,
): Promise<void> => {
  const { operation, namespace, name, object } = attributes;
  if (operation !== 'CREATE') throw refusal(attributes, `unexpected operation ${operation}`);
  const podName = name || object?.metadata?.name || '';
  if (podName === '') throw refusal(attributes, 'could not determine pod from request data');
  const pod = await boundPod(reader, namespace, podName);
  if (pod.spec?.nodeName !== node)
    throw refusal(attributes, `node ${node} can only evict pods with spec.nodeName set to itself`);
};
