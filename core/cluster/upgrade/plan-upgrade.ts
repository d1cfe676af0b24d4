import { messageOf } from '../../base/errors.ts';
import { NODE, POD_DISRUPTION_BUDGET, type Node, type Stored } from '../../client/index.ts';
import type { Finding, UpgradePlan } from '../../contract/schemas/operations.ts';
import { listExpiry } from '../../pki/index.ts';
import { minorOf } from '../config/config.ts';
import { etcdAccessOf, listMembers, withAny } from '../etcd-operator/operations.ts';
import { withStoredValues } from '../encryption/stored-values.ts';
import { storedObjects } from '../etcd-operator/stored-objects.ts';
import type { Supervisor } from '../supervisor/supervisor.ts';
import { itineraryOf, upgradeSteps } from './itinerary.ts';
import { clientOf } from './move.ts';
import { upgradeTargets } from './plan.ts';
import { RemovalCount, type Removal } from './removals.ts';
import { readUpgradeState } from './state.ts';

/** Upstream's skew policy since 1.28: a kubelet may be three minors behind its API server. */
const KUBELET_SKEW_MAX = 3;
const CERTIFICATE_DAYS_MIN = 7;
const DAY_MS = 86_400_000;

const finding = (
  id: string,
  title: string,
  verdict: Finding['verdict'],
  message: string,
  advice = '',
): Finding => ({ id, title, verdict, message, advice });

const hostsCheck = (supervisor: Supervisor): Finding => {
  const down = supervisor
    .state()
    .hosts.flatMap(({ name, phase, components }) => [
      ...(phase === 'running' ? [] : [`host ${name} is ${phase}`]),
      ...components
        .filter((one) => one.phase !== 'ready')
        .map((one) => `${one.name} on ${name} is ${one.phase}`),
    ]);
  return down.length === 0
    ? finding('hosts', 'Hosts', 'ok', 'all hosts and components are ready')
    : finding('hosts', 'Hosts', 'problem', down.join(', '), 'recover it first');
};

const etcdCheck = async (supervisor: Supervisor): Promise<Finding> => {
  try {
    const members = await listMembers(etcdAccessOf(supervisor.folder.directory, supervisor.config));
    const ill = members.filter(({ status }) => status === undefined || status.errors.length > 0);
    if (ill.length > 0)
      return finding(
        'etcd',
        'etcd',
        'problem',
        ill.map((one) => `${one.name}: ${one.problem ?? one.status?.errors.join(', ')}`).join('; '),
        'all etcd members must be healthy before an upgrade',
      );
    return finding('etcd', 'etcd', 'ok', `${members.length} members are healthy`);
  } catch (error) {
    return finding('etcd', 'etcd', 'problem', messageOf(error), 'restore quorum first');
  }
};

const versionOf = ({ status }: Stored<Node>): string => status?.nodeInfo?.kubeletVersion ?? '';

const skewCheck = (nodes: readonly Stored<Node>[], target: string): Finding => {
  const bad = nodes.filter((node) => {
    const [minor, to] = [minorOf(versionOf(node)), minorOf(target)];
    return minor > to || to - minor > KUBELET_SKEW_MAX;
  });
  return bad.length === 0
    ? finding(
        'skew',
        'Version skew',
        'ok',
        `kubelets are within ${KUBELET_SKEW_MAX} minor versions of ${target}`,
      )
    : finding(
        'skew',
        'Version skew',
        'problem',
        bad.map((node) => `${node.metadata.name} runs ${versionOf(node)}`).join(', '),
        `kubelets may be up to ${KUBELET_SKEW_MAX} minor versions older than ${target}, but not newer`,
      );
};

const nodesCheck = (nodes: readonly Stored<Node>[]): Finding => {
  const notReady = nodes.filter(
    ({ status }) => !status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True'),
  );
  return notReady.length === 0
    ? finding('nodes', 'Nodes', 'ok', `${nodes.length} nodes are Ready`)
    : finding(
        'nodes',
        'Nodes',
        'problem',
        `not Ready: ${notReady.map(({ metadata }) => metadata.name).join(', ')}`,
        'check them with kubectl describe node',
      );
};

const budgetsCheck = async (supervisor: Supervisor): Promise<Finding> => {
  const { items } = await clientOf(supervisor).resource(POD_DISRUPTION_BUDGET).list();
  const shut = items.filter(
    ({ status }) => status?.disruptionsAllowed === 0 && (status.expectedPods ?? 0) > 0,
  );
  return shut.length === 0
    ? finding('budgets', 'Disruption budgets', 'ok', 'all budgets allow disruptions')
    : finding(
        'budgets',
        'Disruption budgets',
        'warning',
        shut.map(({ metadata }) => `${metadata.namespace}/${metadata.name} allows no disruptions`).join(', '),
        'draining waits for these budgets',
      );
};

const certificatesCheck = async (supervisor: Supervisor): Promise<Finding> => {
  const list = await listExpiry(supervisor.folder.directory, supervisor.clock);
  const soon = list.filter(({ residualMs }) => residualMs < CERTIFICATE_DAYS_MIN * DAY_MS);
  return soon.length === 0
    ? finding('certificates', 'Certificates', 'ok', `none expire within ${CERTIFICATE_DAYS_MIN} days`)
    : finding(
        'certificates',
        'Certificates',
        'warning',
        `expire within ${CERTIFICATE_DAYS_MIN} days: ${soon.map(({ name }) => name).join(', ')}`,
        'pilothouse certs renew all',
      );
};

const removalsFor = async (supervisor: Supervisor, target: string): Promise<readonly Removal[]> => {
  const { config, clock } = supervisor;
  const data = supervisor.folder.directory;
  return withStoredValues({ data, config, clock }, (values) =>
    withAny(etcdAccessOf(data, config), async (member) => {
      const count = new RemovalCount(minorOf(target));
      for await (const { key, value } of storedObjects(member, { keysOnly: false }))
        count.add(key, await values.plain(key, value));
      return count.removals;
    }),
  );
};

/** What an upgrade would do and what speaks against it. Without a target: where one was begun, or the next there is. */
export const planUpgrade = async (supervisor: Supervisor, target?: string): Promise<UpgradePlan> => {
  const current = supervisor.config.spec.kubernetesVersion;
  const state = await readUpgradeState(supervisor.folder.directory);
  const unfinished = state && state.phase !== 'done' ? state.to : null;
  const targets = upgradeTargets(current);
  const to = target ?? unfinished ?? targets[0];
  const { items: nodes } = await clientOf(supervisor).resource(NODE).list();
  const checks = await Promise.all([
    hostsCheck(supervisor),
    etcdCheck(supervisor),
    nodesCheck(nodes),
    ...(to === undefined ? [] : [skewCheck(nodes, to)]),
    budgetsCheck(supervisor),
    certificatesCheck(supervisor),
  ]);
  return {
    current,
    targets: [...targets],
    hosts: supervisor.state().hosts.map(({ name, components }) => ({
      host: name,
      components: Object.fromEntries(components.map((one) => [one.name, one.version])),
    })),
    nodes: nodes.map((node) => ({ node: node.metadata.name, version: versionOf(node) })),
    checks,
    removals: to === undefined ? [] : [...(await removalsFor(supervisor, to))],
    steps: to === undefined ? [] : [...upgradeSteps(itineraryOf(supervisor.hosts.map(({ plan }) => plan)))],
    unfinished,
    previous: state?.phase === 'done' ? state.from : null,
  };
};
