/** Bindings by name: the subjects, each `User name`, `Group name` or `ServiceAccount namespace/name`. */
export type BindingTable = Readonly<Record<string, readonly string[]>>;

const CONTROLLER_MANAGER = 'User system:kube-controller-manager';
const SCHEDULER = 'User system:kube-scheduler';

/** Each binds the cluster role of its own name. */
export const CLUSTER_ROLE_BINDINGS: BindingTable = {
  'cluster-admin': ['Group system:masters'],
  'system:basic-user': ['Group system:authenticated'],
  'system:discovery': ['Group system:authenticated'],
  'system:kube-controller-manager': [CONTROLLER_MANAGER],
  'system:kube-dns': ['ServiceAccount kube-system/kube-dns'],
  'system:kube-scheduler': [SCHEDULER],
  'system:monitoring': ['Group system:monitoring'],
  // No one: the Node authorizer grants nodes what they need, object by object.
  'system:node': [],
  'system:node-proxier': ['User system:kube-proxy'],
  'system:public-info-viewer': ['Group system:authenticated', 'Group system:unauthenticated'],
  'system:service-account-issuer-discovery': ['Group system:serviceaccounts'],
  'system:volume-scheduler': [SCHEDULER],
};

/** By `namespace/name`; each binds the role of its own name, unless `ROLE_OF_BINDING` says otherwise. */
export const ROLE_BINDINGS: BindingTable = {
  'kube-public/system:controller:bootstrap-signer': ['ServiceAccount kube-system/bootstrap-signer'],
  'kube-system/system::extension-apiserver-authentication-reader': [CONTROLLER_MANAGER, SCHEDULER],
  'kube-system/system::leader-locking-kube-controller-manager': [
    CONTROLLER_MANAGER,
    'ServiceAccount kube-system/kube-controller-manager',
    'ServiceAccount kube-system/leader-election-controller',
  ],
  'kube-system/system::leader-locking-kube-scheduler': [
    SCHEDULER,
    'ServiceAccount kube-system/kube-scheduler',
  ],
  'kube-system/system:controller:bootstrap-signer': ['ServiceAccount kube-system/bootstrap-signer'],
  'kube-system/system:controller:cloud-provider': ['ServiceAccount kube-system/cloud-provider'],
  'kube-system/system:controller:token-cleaner': ['ServiceAccount kube-system/token-cleaner'],
};

export const ROLE_OF_BINDING: Readonly<Record<string, string>> = {
  'system::extension-apiserver-authentication-reader': 'extension-apiserver-authentication-reader',
};
