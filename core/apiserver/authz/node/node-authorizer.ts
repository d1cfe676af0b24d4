import { NODE_USER_PREFIX, NODES_GROUP, type UserInfo } from '../../server/user.ts';
import { allow, noOpinion, type Attributes, type Authorizer, type Verdict } from '../authorizer.ts';
import { ruleAllows } from '../rbac/rules.ts';
import type { PolicyRule } from '../rbac/types.ts';
import type { GraphKind, NodeGraph } from './node-graph.ts';

/** Undefined: the user is no node. */
export const nodeNameOf = ({ name, groups }: UserInfo): string | undefined =>
  name.startsWith(NODE_USER_PREFIX) && groups.includes(NODES_GROUP)
    ? name.slice(NODE_USER_PREFIX.length)
    : undefined;

const LEASE_NAMESPACE = 'kube-node-lease';

type Judge = (node: string, attributes: Attributes) => Verdict;

const selectsNode = (attributes: Attributes, field: string, node: string): boolean =>
  attributes.fieldRequirements.some(
    (one) => one.field === field && one.operator === '=' && one.value === node,
  );

const isOneOf = (verb: string, ...verbs: readonly string[]): boolean => verbs.includes(verb);

/** Verdicts that need the graph. */
const graphJudges = (graph: NodeGraph) => {
  const related = (node: string, kind: GraphKind, { namespace, name }: Attributes): Verdict => {
    if (name === '') return noOpinion('No Object name found');
    return graph.leadsTo(node, kind, { namespace, name })
      ? allow()
      : noOpinion(`no relationship found between node '${node}' and this object`);
  };
  const get =
    (kind: GraphKind): Judge =>
    (node, attributes) => {
      if (attributes.verb !== 'get') return noOpinion('can only get individual resources of this type');
      if (attributes.subresource !== '') return noOpinion('cannot get subresource');
      return related(node, kind, attributes);
    };
  const read =
    (kind: GraphKind): Judge =>
    (node, attributes) => {
      if (!isOneOf(attributes.verb, 'get', 'list', 'watch'))
        return noOpinion('can only read resources of this type');
      if (attributes.subresource !== '') return noOpinion('cannot read subresource');
      if (attributes.namespace === '') return noOpinion('can only read namespaced object of this type');
      return related(node, kind, attributes);
    };
  const claim: Judge = (node, attributes) => {
    if (attributes.subresource !== 'status') return get('pvc')(node, attributes);
    if (!isOneOf(attributes.verb, 'update', 'patch')) return noOpinion('can only get/update/patch this type');
    return related(node, 'pvc', attributes);
  };
  const serviceAccount: Judge = (node, attributes) => {
    const { verb, subresource, name } = attributes;
    if (verb === 'get' && subresource === '') return read('serviceaccount')(node, attributes);
    if (verb !== 'create' || name === '')
      return noOpinion('can only create tokens for individual service accounts');
    if (subresource !== 'token') return noOpinion('can only create token subresource of serviceaccount');
    return related(node, 'serviceaccount', attributes);
  };
  const pod: Judge = (node, attributes) => {
    const { verb, subresource, name } = attributes;
    if (subresource === 'status') return isOneOf(verb, 'update', 'patch') ? allow() : noOpinion();
    if (subresource === 'eviction') return verb === 'create' ? allow() : noOpinion();
    if (subresource !== '') return noOpinion();
    if (verb === 'get') return related(node, 'pod', attributes);
    // Mirror pods; NodeRestriction admission holds a node to its own.
    if (isOneOf(verb, 'create', 'delete')) return allow();
    if (!isOneOf(verb, 'list', 'watch')) return noOpinion();
    if (selectsNode(attributes, 'spec.nodeName', node)) return allow();
    if (name !== '') return related(node, 'pod', attributes);
    return noOpinion('can only list/watch pods with spec.nodeName field selector');
  };
  const slice: Judge = (node, attributes) => {
    const { verb, subresource } = attributes;
    if (subresource !== '') return noOpinion('cannot authorize ResourceSlice subresources');
    if (verb === 'create') return allow();
    if (isOneOf(verb, 'get', 'update', 'patch', 'delete')) return related(node, 'resourceslice', attributes);
    if (!isOneOf(verb, 'watch', 'list', 'deletecollection'))
      return noOpinion(
        'only the following verbs are allowed for a ResourceSlice: get, watch, list, create, update, patch, delete, deletecollection',
      );
    return selectsNode(attributes, 'spec.nodeName', node)
      ? allow()
      : noOpinion('can only list/watch/deletecollection resourceslices with nodeName field selector');
  };
  const podCertificate: Judge = (node, attributes) => {
    const { verb, subresource } = attributes;
    if (subresource !== '')
      return noOpinion('nodes may not access the status subresource of PodCertificateRequests');
    if (verb === 'create') return allow();
    if (verb === 'get') return related(node, 'podcertificaterequest', attributes);
    if (!isOneOf(verb, 'list', 'watch')) return noOpinion(`nodes may not ${verb} podcertificaterequests`);
    return selectsNode(attributes, 'spec.nodeName', node)
      ? allow()
      : noOpinion('can only list/watch podcertificaterequests with nodeName field selector');
  };
  return { get, read, claim, serviceAccount, pod, slice, podCertificate };
};

const OWN_VERBS = ['get', 'create', 'update', 'patch', 'delete'];

const lease: Judge = (node, { verb, namespace, name }) => {
  if (!OWN_VERBS.includes(verb))
    return noOpinion('can only get, create, update, patch, or delete a node lease');
  if (namespace !== LEASE_NAMESPACE)
    return noOpinion(`can only access leases in the "${LEASE_NAMESPACE}" system namespace`);
  // On create the name is in the body, which NodeRestriction admission looks at.
  if (verb !== 'create' && name !== node)
    return noOpinion('can only access node lease with the same name as the requesting node');
  return allow();
};

const csiNode: Judge = (node, { verb, subresource, name }) => {
  if (subresource !== '') return noOpinion('cannot authorize CSINode subresources');
  if (!OWN_VERBS.includes(verb)) return noOpinion('can only get, create, update, patch, or delete a CSINode');
  if (verb !== 'create' && name !== node)
    return noOpinion('can only access CSINode with the same name as the requesting node');
  return allow();
};

const ownNode: Judge = (node, { verb, subresource, name }) => {
  if (subresource === 'status') return isOneOf(verb, 'update', 'patch') ? allow() : noOpinion();
  if (subresource !== '') return noOpinion();
  if (isOneOf(verb, 'create', 'update', 'patch')) return allow();
  if (!isOneOf(verb, 'get', 'list', 'watch')) return noOpinion();
  if (name === node) return allow();
  return name === ''
    ? noOpinion(`node '${node}' cannot read all nodes, only its own Node object`)
    : noOpinion(`node '${node}' cannot read '${name}', only its own Node object`);
};

/** Grants a kubelet what the pods bound to its node need, and what every node may do. */
export const nodeAuthorizer = (graph: NodeGraph, everyNode: readonly PolicyRule[]): Authorizer => {
  const judges = graphJudges(graph);
  /** By `group/resource`; what is not here follows the rules of every node. */
  const byResource: Readonly<Record<string, Judge>> = {
    '/secrets': judges.read('secret'),
    '/configmaps': judges.read('configmap'),
    '/persistentvolumeclaims': judges.claim,
    '/persistentvolumes': judges.get('pv'),
    'resource.k8s.io/resourceclaims': judges.get('resourceclaim'),
    'storage.k8s.io/volumeattachments': judges.get('volumeattachment'),
    '/serviceaccounts': judges.serviceAccount,
    'coordination.k8s.io/leases': lease,
    'storage.k8s.io/csinodes': csiNode,
    'resource.k8s.io/resourceslices': judges.slice,
    '/nodes': ownNode,
    '/pods': judges.pod,
    'certificates.k8s.io/podcertificaterequests': judges.podCertificate,
  };
  return {
    authorize(attributes) {
      const node = nodeNameOf(attributes.user);
      if (node === undefined) return noOpinion();
      if (node === '') return noOpinion(`unknown node for user "${attributes.user.name}"`);
      const judge = attributes.isResourceRequest
        ? byResource[`${attributes.apiGroup}/${attributes.resource}`]
        : undefined;
      if (judge) return judge(node, attributes);
      return everyNode.some((rule) => ruleAllows(rule, attributes)) ? allow() : noOpinion();
    },
  };
};
