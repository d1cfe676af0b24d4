import {
  FSYNC_MISSES_HEARTBEATS_MS,
  FSYNC_RECOMMENDED_MS,
  say,
  verbatim,
  type CheckId,
  type ClusterAction,
  type Finding,
  type Said,
} from '../../contract/index.ts';
import { bad, byAction, fixedBy, ok, someOf, warn, type Fix, type Judged } from '../checks/item.ts';
import type { Evidence, HostEvidence, NodeEvidence } from './evidence.ts';

const SECOND_MS = 1000;
const DAY_MS = 86_400_000;
const EXPIRY_WARN_DAYS = 30;
const DB_SHARE_WARN = 0.8;
const SKEW_MS_MAX = 5_000;
const PENDING_MS_MIN = 10_000;
const MIB = 1024 * 1024;

type Tree = (evidence: Evidence) => Judged & { readonly evidence?: readonly Said[] };

const page = (path: string): Fix => ({ kind: 'page', path });
const absent = (message: Said): Judged => ({ verdict: 'absent', message, advice: null });

/** How a host that does not do its work is brought back. */
const recoverHost = ({ name, phase }: HostEvidence): ClusterAction | undefined => {
  if (phase === 'paused') return { kind: 'host.resume', host: name };
  return phase === 'killed' || phase === 'stopped' || phase === 'failed'
    ? { kind: 'host.start', host: name }
    : undefined;
};

interface Outage {
  readonly cause: Said;
  readonly action: ClusterAction | undefined;
}

/** Why a component does not run on a host: the host, its manifest, or the component itself. */
const outageOf = (host: HostEvidence, component: string): Outage | undefined => {
  if (!host.expected.includes(component)) return undefined;
  const action = recoverHost(host);
  if (action) return { cause: say('cause.host', { host: host.name, phase: host.phase }), action };
  if (host.absent.includes(component))
    return {
      cause: say('cause.component.stopped', { component, host: host.name }),
      action: { kind: 'component.start', host: host.name, component },
    };
  const found = host.components.find(({ name }) => name === component);
  if (found === undefined || found.phase === 'ready') return undefined;
  const at = { component, host: host.name };
  return {
    cause:
      found.message === undefined
        ? say('cause.component.phase', { ...at, phase: found.phase })
        : say('cause.component.message', { ...at, phase: found.phase, message: found.message }),
    action: undefined,
  };
};

const outagesOf = ({ hosts }: Evidence, component: string): readonly Outage[] =>
  (hosts ?? []).flatMap((host) => outageOf(host, component) ?? []);

const withOutages = (judged: Judged, outages: readonly Outage[]): ReturnType<Tree> => {
  const action = outages.find((one) => one.action)?.action;
  return {
    ...(action ? fixedBy(judged, byAction(action)) : judged),
    evidence: outages.map(({ cause }) => cause),
  };
};

const healing = ({ faults }: Evidence, kinds: readonly string[]): Fix | undefined => {
  const fault = faults.find(({ kind }) => kinds.includes(kind));
  return fault && byAction({ kind: 'fault.heal', id: fault.id });
};

const quorum: Tree = (evidence) => {
  const { members, faults } = evidence;
  if (!members) return absent(say('diagnosis.etcd.unknown'));
  const down = members.filter(({ isUp }) => !isUp).map(({ name }) => name);
  if (down.length === 0) return ok(say('diagnosis.quorum.ok', { count: members.length }));
  const needed = Math.floor(members.length / 2) + 1;
  const up = members.length - down.length;
  const isLost = up < needed;
  const message = isLost
    ? say('diagnosis.quorum.lost', { up, count: members.length, needed, names: someOf(down) })
    : say('diagnosis.quorum.degraded', { names: someOf(down), up, count: members.length });
  const outages = outagesOf(evidence, 'etcd');
  const judged = (isLost ? bad : warn)(message, say('remedy.quorum'));
  const heal = outages.length === 0 ? healing(evidence, ['cut', 'delay']) : undefined;
  if (heal)
    return { ...fixedBy(judged, heal), evidence: faults.map(({ text }) => say('cause.fault', { text })) };
  return withOutages(judged, outages);
};

const apiServer: Tree = (evidence) => {
  const { apiProblem, hosts } = evidence;
  const outages = outagesOf(evidence, 'kube-apiserver');
  if (apiProblem !== null)
    return withOutages(bad(say('diagnosis.api.down', { why: apiProblem }), say('remedy.api.down')), outages);
  if (!hosts) return ok(say('diagnosis.api.answers'));
  if (outages.length === 0) return ok(say('diagnosis.api.ok'));
  return withOutages(
    warn(say('diagnosis.api.some', { count: outages.length }), say('remedy.api.some')),
    outages,
  );
};

const database: Tree = ({ members, quotaBytes }) => {
  if (!members) return absent(say('diagnosis.etcd.unknown'));
  const full = members.filter(({ alarms }) => alarms.includes('NOSPACE')).map(({ name }) => name);
  if (full.length > 0)
    return {
      ...fixedBy(
        bad(say('diagnosis.database.full', { names: someOf(full) }), say('remedy.database.full')),
        byAction({ kind: 'etcd.defragment', member: null }),
      ),
      evidence: members.map(({ name, dbBytes }) =>
        say('cause.database', { member: name, mib: Math.round(dbBytes / MIB) }),
      ),
    };
  const largest = Math.max(0, ...members.map(({ dbBytes }) => dbBytes));
  const share = quotaBytes === null ? 0 : largest / quotaBytes;
  if (share > DB_SHARE_WARN)
    return fixedBy(
      warn(
        say('diagnosis.database.growing', { percent: Math.round(share * 100) }),
        say('remedy.database.growing'),
      ),
      byAction({ kind: 'etcd.defragment', member: null }),
    );
  return ok(say('diagnosis.database.ok', { mib: Math.round(largest / MIB) }));
};

const disk: Tree = (evidence) => {
  const { fsyncSeconds } = evidence;
  if (!fsyncSeconds) return absent(say('diagnosis.disk.unknown'));
  const slow = [...fsyncSeconds].filter(([, seconds]) => seconds * SECOND_MS > FSYNC_MISSES_HEARTBEATS_MS);
  const limit = FSYNC_MISSES_HEARTBEATS_MS;
  if (slow.length === 0) return ok(say('diagnosis.disk.ok', { limit, recommended: FSYNC_RECOMMENDED_MS }));
  const heal = healing(evidence, ['slow-disk']);
  const judged = bad(
    say('diagnosis.disk.slow', { limit, names: someOf(slow.map(([name]) => name)) }),
    heal ? say('remedy.heal') : say('remedy.disk'),
  );
  return {
    ...fixedBy(judged, heal ?? page('/metrics')),
    evidence: [
      ...slow.map(([member, seconds]) => say('cause.fsync', { member, ms: Math.round(seconds * SECOND_MS) })),
      ...evidence.faults
        .filter(({ kind }) => kind === 'slow-disk')
        .map(({ text }) => say('cause.fault', { text })),
    ],
  };
};

const certificates: Tree = ({ certificates: list, nowMs }) => {
  if (!list) return absent(say('diagnosis.certificates.unknown'));
  const renew = byAction({ kind: 'certificates.renew', names: null });
  const expired = list.filter(({ notAfterMs }) => notAfterMs <= nowMs).map(({ name }) => name);
  if (expired.length > 0)
    return fixedBy(
      bad(say('diagnosis.certificates.expired', { names: someOf(expired) }), say('remedy.certificates')),
      renew,
    );
  const soon = list.filter(({ notAfterMs }) => notAfterMs - nowMs < EXPIRY_WARN_DAYS * DAY_MS);
  if (soon.length > 0)
    return fixedBy(
      warn(
        say('diagnosis.certificates.soon', {
          names: someOf(soon.map(({ name }) => name)),
          days: EXPIRY_WARN_DAYS,
        }),
        say('remedy.certificates'),
      ),
      renew,
    );
  return ok(say('diagnosis.certificates.ok', { count: list.length }));
};

/** A component whose lease no one renews does nothing, whatever its process says. */
const elected =
  (lease: string, component: string): Tree =>
  (evidence) => {
    const { hosts, leases, nowMs, serverAheadMs } = evidence;
    if (!leases) return absent(say('diagnosis.api.needed'));
    const found = leases.find(({ name }) => name === lease);
    const outages = outagesOf(evidence, component);
    const serverNowMs = nowMs + (serverAheadMs ?? 0);
    // A lease outlives its holder for a while: no one is left to renew it.
    const places = (hosts ?? []).filter((host) => host.expected.includes(component)).length;
    const isStaffed = places === 0 || places > outages.length;
    const isHeld =
      isStaffed &&
      found !== undefined &&
      found.holder !== '' &&
      serverNowMs - found.renewedAtMs <= found.durationSeconds * 1000;
    if (isHeld && outages.length === 0)
      return ok(say('diagnosis.elected.ok', { component, holder: found.holder }));
    if (isHeld)
      return withOutages(
        warn(
          say('diagnosis.elected.standby', { component, count: outages.length }),
          say('remedy.elected', { component }),
        ),
        outages,
      );
    return withOutages(
      bad(say('diagnosis.elected.none', { component }), say('remedy.elected', { component })),
      outages,
    );
  };

const scheduling: Tree = (evidence) => {
  const { pending, nodes } = evidence;
  if (!pending) return absent(say('diagnosis.api.needed'));
  const waiting = pending.filter(({ ageMs }) => ageMs >= PENDING_MS_MIN);
  const schedulerState = elected('kube-scheduler', 'kube-scheduler')(evidence);
  if (waiting.length === 0)
    return schedulerState.verdict === 'ok' || schedulerState.verdict === 'absent'
      ? ok(say('diagnosis.scheduling.ok'))
      : schedulerState;
  const names = someOf(waiting.map(({ pod }) => pod));
  if (schedulerState.verdict === 'problem')
    return { ...schedulerState, message: say('diagnosis.scheduling.noScheduler', { names }) };
  const usable = (nodes ?? []).filter(({ isReady, isSchedulable }) => isReady && isSchedulable);
  const advice = usable.length === 0 ? say('remedy.scheduling.nodes') : say('remedy.scheduling.pods');
  return {
    ...fixedBy(bad(say('diagnosis.scheduling.pending', { names }), advice), page('/scheduler')),
    evidence: [
      // A replica that is down is not why they wait, but nothing else tells of it.
      ...(schedulerState.evidence ?? []),
      ...waiting
        .filter(({ message }) => message !== '')
        .slice(0, 5)
        .map(({ message }) => verbatim(message)),
    ],
  };
};

const admission: Tree = ({ webhooks }) => {
  if (!webhooks) return absent(say('diagnosis.api.needed'));
  const failing = webhooks.filter(({ isFailing }) => isFailing);
  if (webhooks.length === 0) return ok(say('diagnosis.admission.none'));
  if (failing.length === 0) return ok(say('diagnosis.admission.ok', { count: webhooks.length }));
  const closed = failing.filter(({ failsClosed }) => failsClosed);
  const names = someOf((closed.length > 0 ? closed : failing).map(({ name }) => name));
  const message =
    closed.length > 0
      ? say('diagnosis.admission.blocking', { names })
      : say('diagnosis.admission.ignored', { names });
  return {
    ...fixedBy((closed.length > 0 ? bad : warn)(message, say('remedy.admission')), page('/admission')),
    evidence: failing.map(({ configuration, name, target }) =>
      say('cause.webhook', { configuration, name, target }),
    ),
  };
};

const clock: Tree = (evidence) => {
  const { serverAheadMs, faults } = evidence;
  const skewed = faults.filter(({ kind }) => kind === 'clock');
  const aheadMs = serverAheadMs ?? 0;
  if (serverAheadMs === null && skewed.length === 0) return absent(say('diagnosis.api.needed'));
  if (Math.abs(aheadMs) <= SKEW_MS_MAX && skewed.length === 0) return ok(say('diagnosis.clock.ok'));
  const judged = bad(
    say('diagnosis.clock.skewed', { seconds: Math.round(Math.abs(aheadMs) / 1000) }),
    skewed.length > 0 ? say('remedy.heal') : say('remedy.clock'),
  );
  const heal = healing(evidence, ['clock']);
  return {
    ...(heal ? fixedBy(judged, heal) : judged),
    evidence: skewed.map(({ text }) => say('cause.fault', { text })),
  };
};

/** A node stays Ready for most of a minute after its host went down; we know it sooner. */
const isLost = ({ name, isReady }: NodeEvidence, hosts: Evidence['hosts']): boolean =>
  !isReady || (hosts ?? []).some((host) => host.nodes.includes(name) && recoverHost(host) !== undefined);

const nodesReady: Tree = ({ nodes, hosts }) => {
  if (!nodes) return absent(say('diagnosis.api.needed'));
  const lost = nodes.filter((node) => isLost(node, hosts));
  if (lost.length === 0) return ok(say('diagnosis.nodes.ok', { count: nodes.length }));
  const names = lost.map(({ name }) => name);
  const owners = (hosts ?? []).filter(({ nodes: own }) => own.some((node) => names.includes(node)));
  const action = owners.flatMap((host) => recoverHost(host) ?? [])[0];
  const judged = bad(say('diagnosis.nodes.notReady', { names: someOf(names) }), say('remedy.nodes'));
  return {
    ...fixedBy(judged, action ? byAction(action) : page('/cluster?kind=nodes')),
    evidence: [
      ...owners
        .filter(({ phase }) => phase !== 'running')
        .map(({ name, phase }) => say('cause.host', { host: name, phase })),
      ...lost
        .filter(({ isReady }) => !isReady)
        .slice(0, 5)
        .map(({ name, reason }) => say('cause.node', { node: name, reason })),
    ],
  };
};

/** These have trees of their own. */
const JUDGED_ELSEWHERE = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler'];

/** What nothing else depends on yet: cloud-controller-manager, DNS, proxies. */
const otherComponents: Tree = (evidence) => {
  const { hosts } = evidence;
  if (!hosts) return absent(say('diagnosis.components.unknown'));
  const names = new Set(
    hosts.flatMap((host) => [...host.expected, ...host.components.map(({ name }) => name)]),
  );
  const others = [...names].filter((name) => !JUDGED_ELSEWHERE.includes(name));
  const outages = hosts
    .filter((host) => recoverHost(host) === undefined)
    .flatMap((host) => others.flatMap((name) => outageOf(hostWith(host, name), name) ?? []));
  if (outages.length === 0) return ok(say('diagnosis.components.ok', { count: others.length }));
  return withOutages(
    bad(say('diagnosis.components.down', { count: outages.length }), say('remedy.components')),
    outages,
  );
};

/** A component that runs somewhere is expected there. */
const hostWith = (host: HostEvidence, component: string): HostEvidence =>
  host.components.some(({ name }) => name === component)
    ? { ...host, expected: [...host.expected, component] }
    : host;

const permissions: Tree = ({ missingBindings }) => {
  if (!missingBindings) return absent(say('diagnosis.api.needed'));
  if (missingBindings.length === 0) return ok(say('diagnosis.access.ok'));
  return {
    ...fixedBy(
      bad(say('diagnosis.access.missing', { names: someOf(missingBindings) }), say('remedy.access')),
      page('/access'),
    ),
    evidence: missingBindings.map((name) => say('cause.binding', { name })),
  };
};

const workloads: Tree = ({ waiting }) => {
  if (!waiting) return absent(say('diagnosis.api.needed'));
  if (waiting.length === 0) return ok(say('diagnosis.workloads.ok'));
  return {
    ...fixedBy(
      bad(
        say('diagnosis.workloads.stuck', { names: someOf(waiting.map(({ pod }) => pod)) }),
        say('remedy.workloads'),
      ),
      page('/workloads'),
    ),
    evidence: waiting.slice(0, 5).map((one) => say('cause.container', one)),
  };
};

/** In the order in which one explains the next: without quorum no API, without an API nothing else. */
const TREES: readonly (readonly [CheckId, Tree])[] = [
  ['doctorQuorum', quorum],
  ['doctorApi', apiServer],
  ['doctorDatabase', database],
  ['doctorDisk', disk],
  ['doctorCertificates', certificates],
  ['doctorClock', clock],
  ['doctorControllers', elected('kube-controller-manager', 'kube-controller-manager')],
  ['doctorComponents', otherComponents],
  ['doctorAccess', permissions],
  ['doctorAdmission', admission],
  ['doctorScheduling', scheduling],
  ['doctorNodes', nodesReady],
  ['doctorWorkloads', workloads],
];

/** Every tree with its finding: the cause is in `message` and `evidence`, the remedy in `advice` and `fix`. */
export const diagnose = (evidence: Evidence): readonly Finding[] =>
  TREES.map(([id, tree]) => {
    const { evidence: found, ...judged } = tree(evidence);
    return { id, ...judged, ...(found && found.length > 0 && { evidence: [...found] }) };
  });
