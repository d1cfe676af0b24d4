import { expect, test } from 'vitest';
import { createPolicyEvaluator, parseAuditPolicy } from '../../apiserver/audit/policy.ts';
import { userInfo } from '../../apiserver/server/user.ts';
import { parseRequestInfo } from '../../apiserver/server/request-info.ts';
import { auditPolicyYaml } from './audit-policy.ts';

const evaluate = createPolicyEvaluator(parseAuditPolicy(auditPolicyYaml(['cp-1', 'worker-1'])));

const levelOf = (who: string | undefined, method: string, url: string): string => {
  const { pathname, searchParams } = new URL(url, 'https://api');
  const info = parseRequestInfo({ method, path: pathname, query: searchParams });
  const groups = [
    who === 'system:anonymous' ? 'system:unauthenticated' : 'system:authenticated',
    ...(who?.startsWith('system:node:') ? ['system:nodes'] : []),
    ...(who?.startsWith('system:serviceaccount:kube-system:') ? ['system:serviceaccounts:kube-system'] : []),
  ];
  const { level, omitStages } = evaluate(info, who === undefined ? undefined : userInfo(who, groups));
  return [level, ...[...omitStages].slice(1)].join(' without ');
};

const LEASES = '/apis/coordination.k8s.io/v1/namespaces';

test.each<[string | undefined, string, string]>([
  ['system:anonymous', 'GET', '/livez'],
  ['system:kube-scheduler', 'PUT', `${LEASES}/kube-system/leases/kube-scheduler`],
  ['system:node:worker-1', 'PUT', `${LEASES}/kube-node-lease/leases/worker-1`],
  ['system:node:worker-1', 'POST', '/api/v1/namespaces/default/events'],
  ['system:kube-controller-manager', 'POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews'],
])('%s: %s %s is routine and not recorded', (who, method, url) => {
  expect(levelOf(who, method, url)).toBe('None');
});

test.each<[string | undefined, string, string, string]>([
  [undefined, 'GET', '/livez', 'Metadata'],
  [undefined, 'GET', '/api/v1/pods', 'Metadata'],
  ['system:anonymous', 'GET', '/livez/etcd', 'Metadata'],
  ['mallory', 'GET', '/livez', 'Metadata without ResponseStarted'],
  ['mallory', 'GET', '/metrics', 'Metadata without ResponseStarted'],
  ['mallory', 'GET', '/api/v1/nodes', 'Metadata without ResponseStarted'],
  ['mallory', 'GET', '/api/v1/namespaces/a/pods/b/exec', 'Metadata'],
  ['mallory', 'PUT', `${LEASES}/kube-system/leases/kube-scheduler`, 'Metadata'],
  ['mallory', 'POST', '/api/v1/namespaces/default/events', 'Metadata'],
  ['mallory', 'POST', '/apis/rbac.authorization.k8s.io/v1/clusterroles', 'RequestResponse'],
  ['system:kube-scheduler', 'PUT', `${LEASES}/kube-system/leases/kube-controller-manager`, 'Metadata'],
  ['system:kube-scheduler', 'GET', '/api/v1/secrets', 'Metadata without ResponseStarted'],
  ['system:node:worker-1', 'PUT', `${LEASES}/kube-node-lease/leases/cp-1`, 'Metadata'],
  ['system:node:worker-1', 'PATCH', '/api/v1/namespaces/a/pods/b/status', 'Metadata'],
  ['system:node:worker-1', 'GET', '/api/v1/nodes/cp-1', 'Metadata without ResponseStarted'],
])('%s: %s %s is recorded', (who, method, url, level) => {
  expect(levelOf(who, method, url)).toBe(level);
});

test('a large cluster has one rule for the leases of its nodes', () => {
  const names = Array.from({ length: 5000 }, (_, at) => `worker-${at}`);
  expect(auditPolicyYaml(names).length).toBeLessThan(6000);
});
