import { humanDuration } from '../../meta/human-duration.ts';
import type { KubernetesObject } from '../../meta/object-meta.ts';
import { selectorText } from './formats.ts';
import {
  AGE,
  ageOf,
  at,
  column,
  count,
  integer,
  list,
  NAME,
  nameOf,
  text,
  textOr,
  wide,
  type Cell,
  type TablePrinter,
} from './printer.ts';

/** Who may do what, and what may change or refuse it: bindings, certificates, admission, flow control, APIs. */
const subjectsOf = (binding: KubernetesObject, kind: string): string =>
  list(binding, 'subjects')
    .filter((subject) => subject['kind'] === kind)
    .map((subject) =>
      kind === 'ServiceAccount'
        ? [text(subject, 'namespace'), text(subject, 'name')].filter((part) => part !== '').join('/')
        : text(subject, 'name'),
    )
    .join(', ');

const BINDING: TablePrinter = {
  columns: [
    NAME,
    column('Role', 'The role that is given.'),
    AGE,
    wide('Users', 'The users that have it.'),
    wide('Groups', 'The groups that have it.'),
    wide('ServiceAccounts', 'The service accounts that have it.'),
  ],
  cells: (object, nowMs) => [
    nameOf(object),
    `${text(object, 'roleRef', 'kind')}/${text(object, 'roleRef', 'name')}`,
    ageOf(object, nowMs),
    subjectsOf(object, 'User'),
    subjectsOf(object, 'Group'),
    subjectsOf(object, 'ServiceAccount'),
  ],
};

const requestStatus = (request: KubernetesObject): string => {
  const types = new Set(list(request, 'status', 'conditions').map((condition) => condition['type']));
  const verdict = types.has('Denied') ? 'Denied' : types.has('Approved') ? 'Approved' : 'Pending';
  const failed = types.has('Failed') ? ',Failed' : '';
  return `${verdict}${failed}${text(request, 'status', 'certificate') === '' ? '' : ',Issued'}`;
};

const CERTIFICATE_SIGNING_REQUEST: TablePrinter = {
  columns: [
    NAME,
    AGE,
    column('SignerName', 'Who is asked to sign.'),
    column('Requestor', 'Who asks.'),
    column('RequestedDuration', 'For how long.'),
    column('Condition', 'What became of it.'),
  ],
  cells(object, nowMs) {
    const seconds = at(object, 'spec', 'expirationSeconds');
    return [
      nameOf(object),
      ageOf(object, nowMs),
      textOr('<none>', object, 'spec', 'signerName'),
      text(object, 'spec', 'username'),
      typeof seconds === 'number' ? humanDuration(seconds * 1000) : '<none>',
      requestStatus(object),
    ];
  },
};

const WEBHOOKS: TablePrinter = {
  columns: [NAME, integer('Webhooks', 'How many webhooks it has.'), AGE],
  cells: (object, nowMs) => [nameOf(object), list(object, 'webhooks').length, ageOf(object, nowMs)],
};

const policyPrinter = (title: string, field: string): TablePrinter => ({
  columns: [
    NAME,
    integer(title, 'How many rules it has.'),
    column('ParamKind', 'The kind of object that parameterizes it.'),
    AGE,
  ],
  cells(object, nowMs) {
    const kind = at(object, 'spec', 'paramKind');
    return [
      nameOf(object),
      list(object, 'spec', field).length,
      kind === undefined ? '<unset>' : `${text(kind, 'apiVersion')}/${text(kind, 'kind')}`,
      ageOf(object, nowMs),
    ];
  },
});

const paramText = (ref: unknown): string => {
  const name = text(ref, 'name');
  if (name !== '') return `${textOr('*', ref, 'namespace')}/${name}`;
  const selector = at(ref, 'selector');
  return selector === undefined ? '<unset>' : selectorText(selector);
};

const POLICY_BINDING: TablePrinter = {
  columns: [
    NAME,
    column('PolicyName', 'The policy that is bound.'),
    column('ParamRef', 'The object with its parameters.'),
    AGE,
  ],
  cells: (object, nowMs) => [
    nameOf(object),
    text(object, 'spec', 'policyName'),
    paramText(at(object, 'spec', 'paramRef')),
    ageOf(object, nowMs),
  ],
};

const FLOW_SCHEMA: TablePrinter = {
  columns: [
    NAME,
    column('PriorityLevel', 'The priority level of its requests.'),
    column('MatchingPrecedence', 'Where it stands in the order; lower is asked first.'),
    column('DistinguisherMethod', 'What tells its flows apart.'),
    AGE,
    column('MissingPL', 'Whether its priority level is missing.'),
  ],
  cells(object, nowMs) {
    const dangling = list(object, 'status', 'conditions').find(
      (condition) => condition['type'] === 'Dangling',
    );
    return [
      nameOf(object),
      text(object, 'spec', 'priorityLevelConfiguration', 'name'),
      count(object, 'spec', 'matchingPrecedence'),
      textOr('<none>', object, 'spec', 'distinguisherMethod', 'type'),
      ageOf(object, nowMs),
      textOr('?', dangling, 'status'),
    ];
  },
};

const PRIORITY_LEVEL: TablePrinter = {
  columns: [
    NAME,
    column('Type', 'Whether its requests are limited.'),
    column('NominalConcurrencyShares', 'Its share of the requests served at once.'),
    column('Queues', 'How many queues its requests wait in.'),
    column('HandSize', 'How many queues one flow is dealt.'),
    column('QueueLengthLimit', 'How many requests wait in one queue.'),
    AGE,
  ],
  cells(object, nowMs) {
    const limited = at(object, 'spec', 'limited');
    const queuing = at(limited, 'limitResponse', 'queuing');
    const orNone = (value: unknown): Cell => (value as Cell | undefined) ?? '<none>';
    return [
      nameOf(object),
      text(object, 'spec', 'type'),
      orNone(at(limited, 'nominalConcurrencyShares')),
      orNone(at(queuing, 'queues')),
      orNone(at(queuing, 'handSize')),
      orNone(at(queuing, 'queueLengthLimit')),
      ageOf(object, nowMs),
    ];
  },
};

const availability = (service: KubernetesObject): string => {
  const available = list(service, 'status', 'conditions').find(
    (condition) => condition['type'] === 'Available',
  );
  const status = textOr('Unknown', available, 'status');
  const reason = text(available, 'reason');
  return status === 'True' || reason === '' ? status : `${status} (${reason})`;
};

const API_SERVICE: TablePrinter = {
  columns: [
    NAME,
    column('Service', 'The service that answers, or Local.'),
    column('Available', 'Whether it answers.'),
    AGE,
  ],
  cells(object, nowMs) {
    const service = at(object, 'spec', 'service');
    const where = service === undefined ? 'Local' : `${text(service, 'namespace')}/${text(service, 'name')}`;
    return [nameOf(object), where, availability(object), ageOf(object, nowMs)];
  },
};

export const ACCESS_PRINTERS: Readonly<Record<string, TablePrinter>> = {
  'rbac.authorization.k8s.io/RoleBinding': BINDING,
  'rbac.authorization.k8s.io/ClusterRoleBinding': BINDING,
  'certificates.k8s.io/CertificateSigningRequest': CERTIFICATE_SIGNING_REQUEST,
  'admissionregistration.k8s.io/MutatingWebhookConfiguration': WEBHOOKS,
  'admissionregistration.k8s.io/ValidatingWebhookConfiguration': WEBHOOKS,
  'admissionregistration.k8s.io/ValidatingAdmissionPolicy': policyPrinter('Validations', 'validations'),
  'admissionregistration.k8s.io/ValidatingAdmissionPolicyBinding': POLICY_BINDING,
  'admissionregistration.k8s.io/MutatingAdmissionPolicy': policyPrinter('Mutations', 'mutations'),
  'admissionregistration.k8s.io/MutatingAdmissionPolicyBinding': POLICY_BINDING,
  'flowcontrol.apiserver.k8s.io/FlowSchema': FLOW_SCHEMA,
  'flowcontrol.apiserver.k8s.io/PriorityLevelConfiguration': PRIORITY_LEVEL,
  'apiregistration.k8s.io/APIService': API_SERVICE,
};
