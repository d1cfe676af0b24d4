import type { AccessQuestion, ReachQuestion, RulesQuestion } from '../../../core/contract/index.ts';

type Query = Readonly<Record<string, unknown>>;
const text = (value: unknown): string => (typeof value === 'string' ? value.trim() : '');

/** `deployments.apps/scale` as kubectl writes it. */
export const parseResource = (
  written: string,
): Pick<AccessQuestion, 'group' | 'resource' | 'subresource'> => {
  const [head = '', subresource = ''] = written.trim().split('/');
  const dot = head.indexOf('.');
  return dot < 0
    ? { group: '', resource: head, subresource }
    : { group: head.slice(dot + 1), resource: head.slice(0, dot), subresource };
};

export interface WhoCanForm {
  verb: string;
  resource: string;
  namespace: string;
  name: string;
}

export const whoCanForm = (query: Query): WhoCanForm => ({
  verb: text(query['verb']) || 'get',
  resource: text(query['resource']) || 'secrets',
  namespace: text(query['namespace']),
  name: text(query['name']),
});

export const questionOf = (cluster: string, form: WhoCanForm): AccessQuestion | undefined => {
  const what = parseResource(form.resource);
  if (form.verb.trim() === '' || what.resource === '') return undefined;
  return {
    cluster,
    verb: form.verb.trim(),
    ...what,
    namespace: form.namespace.trim(),
    name: form.name.trim(),
  };
};

export interface SubjectForm {
  kind: RulesQuestion['kind'];
  name: string;
  inNamespace: string;
}

export const subjectForm = (query: Query): SubjectForm => {
  const kind = text(query['kind']);
  return {
    kind: kind === 'Group' || kind === 'ServiceAccount' ? kind : 'User',
    name: text(query['name']),
    inNamespace: text(query['namespace']),
  };
};

/** A service account is written `namespace/name`; without one it is looked for in `default`. */
export const rulesQuestionOf = (cluster: string, form: SubjectForm): RulesQuestion | undefined => {
  const written = form.name.trim();
  if (written === '') return undefined;
  const slash = form.kind === 'ServiceAccount' ? written.indexOf('/') : -1;
  return {
    cluster,
    kind: form.kind,
    namespace: form.kind !== 'ServiceAccount' ? '' : slash < 0 ? 'default' : written.slice(0, slash),
    name: written.slice(slash + 1),
    inNamespace: form.inNamespace.trim(),
  };
};

export interface ReachForm {
  from: string;
  to: string;
  /** `8080`, or `53/UDP`. */
  port: string;
}

export const reachForm = (query: Query): ReachForm => ({
  from: text(query['from']),
  to: text(query['to']),
  port: text(query['port']) || '80',
});

/** Undefined while something is missing or is no port. */
export const reachQuestionOf = (cluster: string, form: ReachForm): ReachQuestion | undefined => {
  const [from, to] = [form.from.trim(), form.to.trim()];
  const match = /^(\d{1,5})(?:\/(tcp|udp|sctp))?$/i.exec(form.port.trim());
  const port = Number(match?.[1]);
  if (from === '' || to === '' || !match || port < 1 || port > 65_535) return undefined;
  return {
    cluster,
    from,
    to,
    port,
    protocol: (match[2]?.toUpperCase() ?? 'TCP') as ReachQuestion['protocol'],
  };
};

/** How kubectl is told to ask as the subject. */
export const impersonationWords = (form: SubjectForm): readonly string[] => {
  const asked = rulesQuestionOf('', form);
  if (!asked) return ['--as', 'USER'];
  if (asked.kind === 'Group') return ['--as', 'USER', '--as-group', asked.name];
  return [
    '--as',
    asked.kind === 'User' ? asked.name : `system:serviceaccount:${asked.namespace}:${asked.name}`,
  ];
};
