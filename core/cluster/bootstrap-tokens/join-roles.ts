import {
  CLUSTER_ROLE,
  CLUSTER_ROLE_BINDING,
  ROLE,
  ROLE_BINDING,
  type Client,
  type ClusterRole,
  type ClusterRoleBinding,
  type Role,
  type RoleBinding,
} from '../../client/index.ts';
import { isAlreadyExists } from '../../api/meta/status.ts';
import { DEFAULT_GROUP } from './bootstrap-token.ts';

const RBAC = 'rbac.authorization.k8s.io';
const NODES = 'system:nodes';
const ANONYMOUS = 'system:anonymous';

const meta = { apiVersion: `${RBAC}/v1` } as const;
const group = (name: string) => ({ apiGroup: RBAC, kind: 'Group', name });
const roleRef = (kind: 'Role' | 'ClusterRole', name: string) => ({ apiGroup: RBAC, kind, name });

const clusterBinding = (name: string, role: string, ...groups: string[]): ClusterRoleBinding => ({
  ...meta,
  kind: 'ClusterRoleBinding',
  metadata: { name },
  roleRef: roleRef('ClusterRole', role),
  subjects: groups.map(group),
});

const mayCreateRequests = (name: string, subresource: string): ClusterRole => ({
  ...meta,
  kind: 'ClusterRole',
  metadata: { name },
  rules: [
    {
      apiGroups: ['certificates.k8s.io'],
      resources: [`certificatesigningrequests/${subresource}`],
      verbs: ['create'],
    },
  ],
});

const readsConfigMap = (namespace: string, name: string, configMap: string): Role => ({
  ...meta,
  kind: 'Role',
  metadata: { namespace, name },
  rules: [{ apiGroups: [''], resources: ['configmaps'], resourceNames: [configMap], verbs: ['get'] }],
});

const binding = (
  namespace: string,
  name: string,
  subjects: RoleBinding['subjects'] & object,
): RoleBinding => ({
  ...meta,
  kind: 'RoleBinding',
  metadata: { namespace, name },
  roleRef: roleRef('Role', name),
  subjects,
});

const APPROVALS = 'system:certificates.k8s.io:certificatesigningrequests';

/** Not upstream's: certificates that the cluster approves for its nodes without a person. */
const SERVING = 'pilothouse:node-autoapprove-serving';
const APPROVER = 'pilothouse:node-certificate-approver';
const COMPONENTS = 'pilothouse:node-autoapprove-components';

export const CLUSTER_ROLES: readonly ClusterRole[] = [
  {
    ...meta,
    kind: 'ClusterRole',
    metadata: { name: 'kubeadm:get-nodes' },
    rules: [{ apiGroups: [''], resources: ['nodes'], verbs: ['get'] }],
  },
  mayCreateRequests(SERVING, 'selfnodeserver'),
  mayCreateRequests(COMPONENTS, 'nodecomponentclient'),
  {
    ...meta,
    kind: 'ClusterRole',
    metadata: { name: APPROVER },
    rules: [
      { apiGroups: [''], resources: ['nodes'], verbs: ['list'] },
      {
        apiGroups: ['certificates.k8s.io'],
        resources: ['signers'],
        resourceNames: ['kubernetes.io/kubelet-serving', 'kubernetes.io/kube-apiserver-client'],
        verbs: ['approve'],
      },
    ],
  },
];

export const CLUSTER_ROLE_BINDINGS: readonly ClusterRoleBinding[] = [
  clusterBinding('kubeadm:kubelet-bootstrap', 'system:node-bootstrapper', DEFAULT_GROUP),
  clusterBinding('kubeadm:node-autoapprove-bootstrap', `${APPROVALS}:nodeclient`, DEFAULT_GROUP),
  clusterBinding('kubeadm:node-autoapprove-certificate-rotation', `${APPROVALS}:selfnodeclient`, NODES),
  clusterBinding('kubeadm:get-nodes', 'kubeadm:get-nodes', DEFAULT_GROUP),
  clusterBinding(SERVING, SERVING, NODES),
  clusterBinding(COMPONENTS, COMPONENTS, NODES),
  {
    ...meta,
    kind: 'ClusterRoleBinding',
    metadata: { name: APPROVER },
    roleRef: roleRef('ClusterRole', APPROVER),
    subjects: [{ kind: 'ServiceAccount', namespace: 'kube-system', name: 'certificate-controller' }],
  },
];

export const ROLES: readonly Role[] = [
  readsConfigMap('kube-public', 'kubeadm:bootstrap-signer-clusterinfo', 'cluster-info'),
  readsConfigMap('kube-system', 'kubeadm:nodes-kubeadm-config', 'kubeadm-config'),
  readsConfigMap('kube-system', 'kubeadm:kubelet-config', 'kubelet-config'),
  readsConfigMap('kube-system', 'kube-proxy', 'kube-proxy'),
];

const BOTH = [group(DEFAULT_GROUP), group(NODES)];

export const ROLE_BINDINGS: readonly RoleBinding[] = [
  binding('kube-public', 'kubeadm:bootstrap-signer-clusterinfo', [
    { apiGroup: RBAC, kind: 'User', name: ANONYMOUS },
  ]),
  binding('kube-system', 'kubeadm:nodes-kubeadm-config', BOTH),
  binding('kube-system', 'kubeadm:kubelet-config', BOTH),
  binding('kube-system', 'kube-proxy', [group(DEFAULT_GROUP)]),
];

/** Those that exist stay as they are. */
export const installRoles = async (client: Client): Promise<void> => {
  const created = [
    ...CLUSTER_ROLES.map((one) => client.resource(CLUSTER_ROLE).create(one)),
    ...CLUSTER_ROLE_BINDINGS.map((one) => client.resource(CLUSTER_ROLE_BINDING).create(one)),
    ...ROLES.map((one) => client.resource(ROLE, one.metadata?.namespace).create(one)),
    ...ROLE_BINDINGS.map((one) => client.resource(ROLE_BINDING, one.metadata?.namespace).create(one)),
  ];
  for (const outcome of await Promise.allSettled(created))
    if (outcome.status === 'rejected' && !isAlreadyExists(outcome.reason)) throw outcome.reason;
};
