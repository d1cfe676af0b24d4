import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { SECRET } from '../../../client/index.ts';
import { listTokens } from '../../bootstrap-tokens/tokens.ts';
import { fileFlagOf } from '../../data-folder/configured-file.ts';
import { API_ITEMS, issuersOf } from '../items/api-server.ts';
import type { Look } from '../look.ts';
import {
  bad,
  type BenchmarkCheck,
  commandsOf,
  decision,
  flagCheck,
  ok,
  plural,
  shownFlags,
  valueOf,
  measuredBy,
} from './check.ts';

const API = 'kube-apiserver';

const clientCertificates: BenchmarkCheck = {
  id: '3.1.1',
  title: 'People do not authenticate with client certificates',
  async measure(look) {
    const issuers = await issuersOf(look);
    return issuers.length > 0
      ? ok(`people can sign in with ${issuers.join(', ')}`)
      : decision(
          'client certificates, which cannot be revoked, are the only way to authenticate',
          'pilothouse harden apply --oidc-issuer-url URL --oidc-client-id ID',
        );
  },
};

const TOKEN_SECRET = 'kubernetes.io/service-account-token';

const serviceAccountTokens: BenchmarkCheck = {
  id: '3.1.2',
  title: 'People do not authenticate with service account tokens',
  async measure({ client }) {
    const { items } = await client
      .resource(SECRET)
      .list({ fieldSelector: `type=${TOKEN_SECRET}`, limit: 10 });
    return items.length === 0
      ? ok('no Secret holds a service account token that does not expire')
      : decision(
          `${plural(items.length, 'Secret')} with tokens that do not expire: ${items.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`).join(', ')}`,
          'delete them, and use kubectl create token for tokens that expire',
        );
  },
};

/** They are for machines that join. One that never expires serves as a password, and nothing tells who uses it. */
const bootstrapTokens: BenchmarkCheck = {
  id: '3.1.3',
  title: 'People do not authenticate with bootstrap tokens',
  async measure({ client }) {
    const tokens = await listTokens(client);
    const lasting = tokens.filter(({ expiresMs }) => expiresMs === undefined);
    return lasting.length === 0
      ? ok(`${plural(tokens.length, 'bootstrap token')}, and none that never expires`)
      : decision(
          `bootstrap tokens that never expire: ${lasting.map(({ id }) => id).join(', ')}`,
          'pilothouse token delete ID once all nodes have joined',
        );
  },
};

interface AuditRule {
  readonly level?: string;
  readonly resources?: readonly { readonly group?: string; readonly resources?: readonly string[] }[];
}

const policyOf = async (look: Look): Promise<readonly AuditRule[] | undefined> => {
  const [first] = await commandsOf(look, API);
  const file = first && fileFlagOf(look.dataDirectory, first.command, 'audit-policy-file');
  if (file === undefined) return undefined;
  const policy = parse(await readFile(file, 'utf8')) as { rules?: readonly AuditRule[] } | null;
  return policy?.rules ?? [];
};

/** What the benchmark names: Secrets and the like at Metadata at most, sessions and permissions at all. */
const CONCERNS: readonly { readonly group: string; readonly resource: string }[] = [
  { group: '', resource: 'secrets' },
  { group: '', resource: 'configmaps' },
  { group: 'authentication.k8s.io', resource: 'tokenreviews' },
  { group: '', resource: 'pods/exec' },
  { group: '', resource: 'pods/portforward' },
  { group: '', resource: 'services/proxy' },
  { group: 'rbac.authorization.k8s.io', resource: 'roles' },
];

const ruleFor = (rules: readonly AuditRule[], group: string, resource: string): AuditRule | undefined =>
  rules.find(({ resources }) =>
    resources?.some(
      (one) =>
        (one.group ?? '') === group &&
        (one.resources === undefined || one.resources.includes(resource) || one.resources.includes('*')),
    ),
  ) ?? rules.find(({ resources, level }) => resources === undefined && level !== 'None');

const auditPolicy: BenchmarkCheck = {
  id: '3.2.2',
  title: 'The audit policy covers Secrets, sessions and permissions',
  async measure(look) {
    const rules = await policyOf(look);
    if (rules === undefined) return bad('there is no audit policy', 'pilothouse harden apply');
    const missing = CONCERNS.filter(({ group, resource }) => {
      const level = ruleFor(rules, group, resource)?.level ?? 'None';
      return level === 'None' || (resource === 'secrets' && level !== 'Metadata');
    });
    return missing.length === 0
      ? ok(`${rules.length} rules; Secrets are recorded at Metadata, without their values`)
      : bad(
          `not recorded as they should be: ${missing.map(({ resource }) => resource).join(', ')}`,
          'add rules for them to the audit policy; Secrets at Metadata',
        );
  },
};

/** Section 3. */
export const ACCESS_CHECKS: readonly BenchmarkCheck[] = [
  clientCertificates,
  serviceAccountTokens,
  bootstrapTokens,
  flagCheck('3.2.1', 'There is an audit policy', {
    component: API,
    remedy: 'pilothouse harden apply',
    fault: (command) =>
      valueOf(command, 'audit-policy-file') === undefined
        ? shownFlags(command, 'audit-policy-file')
        : undefined,
    evidence: (command) => shownFlags(command, 'audit-policy-file'),
    probe: measuredBy(API_ITEMS.audit),
  }),
  auditPolicy,
];
