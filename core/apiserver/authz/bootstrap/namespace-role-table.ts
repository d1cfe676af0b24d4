import type { RoleTable } from './rule-text.ts';

/** Roles by `namespace/name`. */
export const NAMESPACE_ROLES: RoleTable = {
  'kube-public/system:controller:bootstrap-signer': [
    'read core configmaps',
    'update core configmaps cluster-info',
    'create,patch,update core,events.k8s.io events',
  ],
  'kube-system/extension-apiserver-authentication-reader': [
    'read core configmaps extension-apiserver-authentication',
  ],
  'kube-system/system::leader-locking-kube-controller-manager': [
    'create,get,list,update,watch coordination.k8s.io leases',
    'create,get,list,update,watch coordination.k8s.io leasecandidates',
    '<1.35 watch core configmaps',
    '<1.35 get,update core configmaps kube-controller-manager',
  ],
  'kube-system/system::leader-locking-kube-scheduler': [
    'create,get,list,update,watch coordination.k8s.io leases',
    'create,get,list,update,watch coordination.k8s.io leasecandidates',
    '<1.35 watch core configmaps',
    '<1.35 get,update core configmaps kube-scheduler',
  ],
  'kube-system/system:controller:bootstrap-signer': ['read core secrets'],
  'kube-system/system:controller:cloud-provider': ['create,get,list,watch core configmaps'],
  'kube-system/system:controller:token-cleaner': [
    'delete,get,list,watch core secrets',
    'create,patch,update core,events.k8s.io events',
  ],
};
