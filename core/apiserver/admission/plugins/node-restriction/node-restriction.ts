import { groupResourceText, type KubernetesObject } from '../../../../api/meta/index.ts';
import { messageOf } from '../../../../base/errors.ts';
import type {
  V1CertificateSigningRequest,
  V1Node,
  V1PersistentVolumeClaim,
} from '../../../../api/schema/index.ts';
import { goQuote } from '../../../../api/field/go-text.ts';
import type { Authorizer } from '../../../authz/authorizer.ts';
import { nodeNameOf } from '../../../authz/node/node-authorizer.ts';
import type { AdmissionAttributes, AdmissionPlugin } from '../../attributes.ts';
import { handlesOnly } from '../../matching.ts';
import type { ObjectReader } from '../../../storage/object-reader.ts';
import { refusal } from '../../refusal.ts';
import { certificateRequestOf } from '../certificates.ts';
import { forbiddenLabelChanges } from './node-labels.ts';
import { admitPodCreate, admitPodEviction, admitPodStatus, boundPod } from './pod-rules.ts';
import { sameJson } from './same-json.ts';
import { admitTokenRequest } from './token-rules.ts';

const NODE_LEASES = 'kube-node-lease';
const KUBELET_SIGNERS = ['kubernetes.io/kubelet-serving', 'kubernetes.io/kube-apiserver-client-kubelet'];

type Rule = (node: string, attributes: AdmissionAttributes) => Promise<void> | void;

const admitNode: Rule = (node, attributes) => {
  const { operation, name } = attributes;
  const head = `node ${goQuote(node)}`;
  if (name !== node) throw refusal(attributes, `${head} is not allowed to modify node ${goQuote(name)}`);
  const next = attributes.object as V1Node | undefined;
  const old = attributes.oldObject as V1Node | undefined;
  if (operation === 'CREATE') {
    if (next?.spec?.configSource)
      throw refusal(attributes, `${head} is not allowed to create pods with a non-nil configSource`);
    const labels = forbiddenLabelChanges(next?.metadata?.labels, undefined);
    if (labels.length > 0)
      throw refusal(attributes, `${head} is not allowed to set the following labels: ${labels.join(', ')}`);
  }
  if (operation !== 'UPDATE') return;
  if (next?.spec?.configSource && !sameJson(next.spec.configSource, old?.spec?.configSource))
    throw refusal(attributes, `${head} is not allowed to update configSource to a new non-nil configSource`);
  if (!sameJson(next?.spec?.taints ?? [], old?.spec?.taints ?? []))
    throw refusal(attributes, `${head} is not allowed to modify taints`);
  if (!sameJson(next?.metadata?.ownerReferences ?? [], old?.metadata?.ownerReferences ?? []))
    throw refusal(attributes, `${head} is not allowed to modify ownerReferences`);
  const labels = forbiddenLabelChanges(next?.metadata?.labels, old?.metadata?.labels);
  if (labels.length > 0) throw refusal(attributes, `is not allowed to modify labels: ${labels.join(', ')}`);
};

/** The claim without what a node reports, and without what changes on its own. */
const beyondNode = (object: KubernetesObject | undefined): object => {
  const { metadata, status, ...rest } = (object ?? {}) as V1PersistentVolumeClaim;
  const { resourceVersion: _version, managedFields: _fields, ...keptMetadata } = metadata ?? {};
  const {
    capacity: _capacity,
    conditions: _conditions,
    allocatedResources: _allocated,
    allocatedResourceStatuses: _statuses,
    ...keptStatus
  } = status ?? {};
  return { ...rest, metadata: keptMetadata, status: keptStatus };
};

const admitClaim: Rule = (node, attributes) => {
  const { operation, subresource, object, oldObject } = attributes;
  if (subresource !== 'status') throw refusal(attributes, 'may only update PVC status');
  if (operation !== 'UPDATE') throw refusal(attributes, `unexpected operation ${goQuote(operation)}`);
  if (!sameJson(beyondNode(oldObject), beyondNode(object)))
    throw refusal(
      attributes,
      `node ${goQuote(node)} is not allowed to update fields other than status.quantity and status.conditions`,
    );
};

/** On a creation the name is in the body alone. */
const writtenName = ({ operation, name, object }: AdmissionAttributes): string =>
  operation === 'CREATE' ? (object?.metadata?.name ?? '') : name;

const admitLease: Rule = (node, attributes) => {
  if (attributes.namespace !== NODE_LEASES)
    throw refusal(attributes, `can only access leases in the ${goQuote(NODE_LEASES)} system namespace`);
  if (writtenName(attributes) !== node)
    throw refusal(attributes, 'can only access node lease with the same name as the requesting node');
};

const admitCsiNode: Rule = (node, attributes) => {
  if (writtenName(attributes) !== node)
    throw refusal(attributes, 'can only access CSINode with the same name as the requesting node');
};

const admitResourceSlice: Rule = (node, attributes) => {
  const { operation, object, oldObject } = attributes;
  if (operation !== 'CREATE' && operation !== 'DELETE') return;
  const slice = (operation === 'CREATE' ? object : oldObject) as
    { readonly spec?: { readonly nodeName?: string } } | undefined;
  if (slice?.spec?.nodeName !== node)
    throw refusal(
      attributes,
      `can only ${operation.toLowerCase()} ResourceSlice with the same NodeName as the requesting node`,
    );
};

const admitCertificateRequest: Rule = (node, attributes) => {
  if (attributes.operation !== 'CREATE') return;
  const request = attributes.object as unknown as V1CertificateSigningRequest;
  if (!KUBELET_SIGNERS.includes(request.spec.signerName)) return;
  let commonName: string;
  try {
    commonName = certificateRequestOf(request).subject.commonName;
  } catch (error) {
    throw refusal(attributes, `unable to parse csr: ${messageOf(error)}`);
  }
  if (commonName !== `system:node:${node}`)
    throw refusal(attributes, `can only create a node CSR with CN=system:node:${node}`);
};

const podRule =
  (reader: ObjectReader): Rule =>
  async (node, attributes) => {
    const { operation, subresource, namespace, name } = attributes;
    if (subresource === 'status') return admitPodStatus(node, attributes);
    if (subresource === 'eviction') return admitPodEviction(reader, node, attributes);
    if (subresource !== '')
      throw refusal(
        attributes,
        `unexpected pod subresource ${goQuote(subresource)}, only 'status' and 'eviction' are allowed`,
      );
    if (operation === 'CREATE') return admitPodCreate(reader, node, attributes);
    if (operation !== 'DELETE')
      throw refusal(
        attributes,
        `unexpected operation ${goQuote(operation)}, node ${goQuote(node)} can only create and delete mirror pods`,
      );
    const pod = await boundPod(reader, namespace, name);
    if (pod.spec?.nodeName !== node)
      throw refusal(
        attributes,
        `node ${goQuote(node)} can only delete pods with spec.nodeName set to itself`,
      );
  };

export interface NodeRestrictionOptions {
  readonly reader: ObjectReader;
  readonly authorizer: Authorizer;
}

/** A kubelet writes about itself and about the pods that are bound to it, and nothing else. */
export const nodeRestriction = (options: NodeRestrictionOptions): AdmissionPlugin => {
  const rules: Readonly<Record<string, Rule>> = {
    pods: podRule(options.reader),
    nodes: admitNode,
    persistentvolumeclaims: admitClaim,
    serviceaccounts: (node, attributes) =>
      attributes.operation === 'CREATE' && attributes.subresource === 'token'
        ? admitTokenRequest(options, node, attributes)
        : undefined,
    'leases.coordination.k8s.io': admitLease,
    'csinodes.storage.k8s.io': admitCsiNode,
    'resourceslices.resource.k8s.io': admitResourceSlice,
    'certificatesigningrequests.certificates.k8s.io': admitCertificateRequest,
  };
  return {
    name: 'NodeRestriction',
    handles: handlesOnly('CREATE', 'UPDATE', 'DELETE'),
    admit(attributes) {
      const node = nodeNameOf(attributes.user);
      if (node === undefined) return undefined;
      if (node === '')
        throw refusal(attributes, `could not determine node from user ${goQuote(attributes.user.name)}`);
      return rules[groupResourceText(attributes.resource)]?.(node, attributes);
    },
  };
};
