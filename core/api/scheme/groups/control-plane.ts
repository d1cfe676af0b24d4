import { define } from '../define.ts';
import { READ_WRITE_VERBS } from '../resource-type.ts';

const EXTENSIONS = ['api-extensions'] as const;
/** Asked and answered in one request, never kept. */
const REVIEW = { verbs: ['create'], prefix: false } as const;

export const CONTROL_PLANE_RESOURCES = [
  ...define('events.k8s.io', 'v1', [
    // One event under two names: kept as the core group has it.
    { kind: 'Event', plural: 'events', short: ['ev'], storedAs: { group: '', version: 'v1' } },
  ]),
  ...define('authentication.k8s.io', 'v1', [
    { kind: 'SelfSubjectReview', plural: 'selfsubjectreviews', cluster: true, ...REVIEW },
    { kind: 'TokenReview', plural: 'tokenreviews', cluster: true, ...REVIEW },
  ]),
  ...define('authorization.k8s.io', 'v1', [
    { kind: 'LocalSubjectAccessReview', plural: 'localsubjectaccessreviews', ...REVIEW },
    { kind: 'SelfSubjectAccessReview', plural: 'selfsubjectaccessreviews', cluster: true, ...REVIEW },
    { kind: 'SelfSubjectRulesReview', plural: 'selfsubjectrulesreviews', cluster: true, ...REVIEW },
    { kind: 'SubjectAccessReview', plural: 'subjectaccessreviews', cluster: true, ...REVIEW },
  ]),
  ...define('certificates.k8s.io', 'v1', [
    {
      kind: 'CertificateSigningRequest',
      plural: 'certificatesigningrequests',
      cluster: true,
      short: ['csr'],
      subresources: [{ name: 'approval', verbs: READ_WRITE_VERBS }],
      status: true,
    },
  ]),
  ...define('rbac.authorization.k8s.io', 'v1', [
    { kind: 'ClusterRoleBinding', plural: 'clusterrolebindings', cluster: true },
    { kind: 'ClusterRole', plural: 'clusterroles', cluster: true },
    { kind: 'RoleBinding', plural: 'rolebindings' },
    { kind: 'Role', plural: 'roles' },
  ]),
  ...define('admissionregistration.k8s.io', 'v1', [
    {
      kind: 'MutatingAdmissionPolicy',
      plural: 'mutatingadmissionpolicies',
      cluster: true,
      categories: EXTENSIONS,
    },
    {
      kind: 'MutatingAdmissionPolicyBinding',
      plural: 'mutatingadmissionpolicybindings',
      cluster: true,
      categories: EXTENSIONS,
    },
    {
      kind: 'MutatingWebhookConfiguration',
      plural: 'mutatingwebhookconfigurations',
      cluster: true,
      categories: EXTENSIONS,
    },
    {
      kind: 'ValidatingAdmissionPolicy',
      plural: 'validatingadmissionpolicies',
      cluster: true,
      categories: EXTENSIONS,
      status: true,
    },
    {
      kind: 'ValidatingAdmissionPolicyBinding',
      plural: 'validatingadmissionpolicybindings',
      cluster: true,
      categories: EXTENSIONS,
    },
    {
      kind: 'ValidatingWebhookConfiguration',
      plural: 'validatingwebhookconfigurations',
      cluster: true,
      categories: EXTENSIONS,
    },
  ]),
  ...define('apiextensions.k8s.io', 'v1', [
    {
      kind: 'CustomResourceDefinition',
      plural: 'customresourcedefinitions',
      cluster: true,
      short: ['crd', 'crds'],
      categories: EXTENSIONS,
      status: true,
      prefix: 'apiextensions.k8s.io/customresourcedefinitions',
    },
  ]),
  ...define('apiregistration.k8s.io', 'v1', [
    {
      kind: 'APIService',
      plural: 'apiservices',
      cluster: true,
      categories: EXTENSIONS,
      status: true,
      prefix: 'apiregistration.k8s.io/apiservices',
    },
  ]),
  ...define('coordination.k8s.io', 'v1', [{ kind: 'Lease', plural: 'leases' }]),
  ...define('flowcontrol.apiserver.k8s.io', 'v1', [
    { kind: 'FlowSchema', plural: 'flowschemas', cluster: true, status: true },
    {
      kind: 'PriorityLevelConfiguration',
      plural: 'prioritylevelconfigurations',
      cluster: true,
      status: true,
    },
  ]),
];
