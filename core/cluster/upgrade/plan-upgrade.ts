import { NODE, POD_DISRUPTION_BUDGET, type Node, type Stored } from '../../client/index.ts';
import {
  saidOf,
  say,
  together,
  verbatim,
  type CheckId,
  type Finding,
  type Said,
  type UpgradePlan,
} from '../../contract/index.ts';
import { listExpiry } from '../../pki/index.ts';
import { minorOf } from '../config/config.ts';
import { etcdAccessOf, listMembers, withAny } from '../etcd-operator/operations.ts';
import { withStoredValues } from '../encryption/stored-values.ts';
import { storedObjects } from '../etcd-operator/stored-objects.ts';
import type { Supervisor } from '../supervisor/supervisor.ts';
import { itineraryOf, upgradeSteps } from './itinerary.ts';
import { clientOf } from '../supervisor/move.ts';
import { upgradeTargets } from './plan.ts';
import { RemovalCount, type Removal } from './removals.ts';
import { readUpgradeState } from '../data-folder/upgrade-state.ts';

/** Upstream's skew policy since 1.28: a kubelet may be three minors behind its API server. */
const KUBELET_SKEW_MAX = 3;
const CERTIFICATE_DAYS_MIN = 7;
const DAY_MS = 86_400_000;

const passed = (id: CheckId, message: Said): Finding => ({ id, verdict: 'ok', message, advice: null });
const failed = (
  id: CheckId,
  verdict: 'warning' | 'problem',
  { message, advice }: { readonly message: Said; readonly advice: Said },
): Finding => ({ id, verdict, message, advice });

const hostsCheck = (supervisor: Supervisor): Finding => {
  const down = supervisor
    .state()
    .hosts.flatMap(({ name, phase, components }) => [
      ...(phase === 'running' ? [] : [say('found.hosts.host', { host: name, phase })]),
      ...components
        .filter((one) => one.phase !== 'ready')
        .map((one) => say('found.hosts.component', { component: one.name, host: name, phase: one.phase })),
    ]);
  return down.length === 0
    ? passed('hosts', say('found.hosts.ok'))
    : failed('hosts', 'problem', { message: together(down), advice: say('advice.hosts') });
};

const etcdCheck = async (supervisor: Supervisor): Promise<Finding> => {
  try {
    const members = await listMembers(etcdAccessOf(supervisor.folder.directory, supervisor.config));
    const ill = members.filter(({ status }) => status === undefined || status.errors.length > 0);
    if (ill.length > 0)
      return failed('etcd', 'problem', {
        message: together(
          ill.map(({ name, problem, status }) =>
            say('found.etcd.member', { member: name, why: problem ?? status?.errors.join(', ') ?? '' }),
          ),
        ),
        advice: say('advice.etcd'),
      });
    return passed('etcd', say('found.etcd.ok', { count: members.length }));
  } catch (error) {
    return failed('etcd', 'problem', { message: saidOf(error), advice: say('advice.etcd.quorum') });
  }
};

const versionOf = ({ status }: Stored<Node>): string => status?.nodeInfo?.kubeletVersion ?? '';

const skewCheck = (nodes: readonly Stored<Node>[], target: string): Finding => {
  const bad = nodes.filter((node) => {
    const [minor, to] = [minorOf(versionOf(node)), minorOf(target)];
    return minor > to || to - minor > KUBELET_SKEW_MAX;
  });
  const values = { minors: KUBELET_SKEW_MAX, target };
  return bad.length === 0
    ? passed('skew', say('found.skew.ok', values))
    : failed('skew', 'problem', {
        message: together(
          bad.map((node) => say('found.skew.node', { node: node.metadata.name, version: versionOf(node) })),
        ),
        advice: say('advice.skew', values),
      });
};

const nodesCheck = (nodes: readonly Stored<Node>[]): Finding => {
  const notReady = nodes.filter(
    ({ status }) => !status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True'),
  );
  return notReady.length === 0
    ? passed('nodes', say('found.nodes.ok', { count: nodes.length }))
    : failed('nodes', 'problem', {
        message: say('found.nodes.notReady', {
          nodes: notReady.map(({ metadata }) => metadata.name).join(', '),
        }),
        advice: say('advice.nodes'),
      });
};

const budgetsCheck = async (supervisor: Supervisor): Promise<Finding> => {
  const { items } = await clientOf(supervisor).resource(POD_DISRUPTION_BUDGET).list();
  const shut = items.filter(
    ({ status }) => status?.disruptionsAllowed === 0 && (status.expectedPods ?? 0) > 0,
  );
  return shut.length === 0
    ? passed('budgets', say('found.budgets.ok'))
    : failed('budgets', 'warning', {
        message: together(
          shut.map(({ metadata }) =>
            say('found.budgets.shut', { budget: `${metadata.namespace}/${metadata.name}` }),
          ),
        ),
        advice: say('advice.budgets'),
      });
};

const certificatesCheck = async (supervisor: Supervisor): Promise<Finding> => {
  const list = await listExpiry(supervisor.folder.directory, supervisor.clock);
  const soon = list.filter(({ residualMs }) => residualMs < CERTIFICATE_DAYS_MIN * DAY_MS);
  return soon.length === 0
    ? passed('certificates', say('found.certificates.ok', { days: CERTIFICATE_DAYS_MIN }))
    : failed('certificates', 'warning', {
        message: say('found.certificates.soon', {
          days: CERTIFICATE_DAYS_MIN,
          names: soon.map(({ name }) => name).join(', '),
        }),
        advice: verbatim('pilothouse certs renew all'),
      });
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
