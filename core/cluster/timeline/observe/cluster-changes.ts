import { say, TIMELINE_ABOUT_MAX, verbatim, type ActiveFault, type Said } from '../../../contract/index.ts';
import type { ClusterState, ComponentState, HostState } from '../../state/cluster-state.ts';
import type { Draft, Observation } from '../draft.ts';

const aboutHost = ({ name, nodes }: HostState): readonly string[] =>
  [...new Set([name, ...nodes])].slice(0, TIMELINE_ABOUT_MAX);

const faultText = (fault: ActiveFault): Said => {
  switch (fault.kind) {
    case 'cut':
      return say(fault.isOneWay ? 'timeline.fault.cut.oneWay' : 'timeline.fault.cut', {
        from: fault.from,
        to: fault.to,
      });
    case 'delay':
      return say('timeline.fault.delay', { from: fault.from, to: fault.to, ms: fault.delayMs });
    case 'slow-disk':
      return say('timeline.fault.slowDisk', { host: fault.host, ms: fault.delayMs });
    case 'clock':
      return say('timeline.fault.clock', { host: fault.host, ms: fault.offsetMs });
  }
};

const faultDraft = (fault: ActiveFault): Draft => ({
  lane: 'faults',
  kind: 'fault',
  severity: 'warn',
  about: 'host' in fault ? [fault.host] : [fault.from, fault.to],
  text: faultText(fault),
  source: '/',
  span: `fault/${fault.id}`,
});

const process = (
  host: HostState,
  { kind, severity, text, span }: Pick<Draft, 'kind' | 'severity' | 'text' | 'span'>,
): Draft => ({
  lane: 'processes',
  kind,
  severity,
  about: aboutHost(host),
  text,
  source: '/',
  ...(span !== undefined && { span }),
});

const pauseSpan = (host: string): string => `paused/${host}`;

const hostChanges = (before: HostState | undefined, now: HostState): readonly Observation[] => {
  const { name, phase, lastExit, isEndWanted } = now;
  const seen: Observation[] = [];
  if (before?.phase === 'paused' && phase !== 'paused') seen.push({ end: pauseSpan(name) });
  if (lastExit && lastExit.atMs > (before?.lastExit?.atMs ?? 0))
    seen.push(
      process(now, {
        kind: 'hostExited',
        severity: 'error',
        text: say('timeline.hostExited', { host: name, why: lastExit.reason }),
      }),
    );
  if (phase === before?.phase) return seen;
  const told = { host: name };
  if (phase === 'killed' && isEndWanted)
    seen.push(
      process(now, { kind: 'hostKilled', severity: 'error', text: say('timeline.hostKilled', told) }),
    );
  if (phase === 'stopped' && before)
    seen.push(
      process(now, { kind: 'hostStopped', severity: 'warn', text: say('timeline.hostStopped', told) }),
    );
  if (phase === 'paused')
    seen.push(
      process(now, {
        kind: 'hostPaused',
        severity: 'error',
        text: say('timeline.hostPaused', told),
        span: pauseSpan(name),
      }),
    );
  if (phase === 'running' && before && before.phase !== 'paused')
    seen.push(process(now, { kind: 'hostStarted', severity: 'ok', text: say('timeline.hostStarted', told) }));
  return seen;
};

const componentChanges = (
  host: HostState,
  before: ComponentState | undefined,
  now: ComponentState,
): readonly Observation[] => {
  const about = { host: host.name, component: now.name };
  const hasExited =
    host.phase === 'running' &&
    before !== undefined &&
    // One that was stopped and is started has ended before, not now.
    before.phase !== 'exited' &&
    (now.phase === 'exited' || now.restarts > before.restarts);
  const [why = ''] = (now.message ?? '').split('\n');
  const seen: Observation[] = [];
  if (hasExited)
    seen.push(
      process(host, {
        kind: 'componentExited',
        severity: 'error',
        text:
          why === ''
            ? say('timeline.componentExited.plain', about)
            : say('timeline.componentExited', { ...about, why: verbatim(why) }),
      }),
    );
  if (now.phase === 'ready' && before?.phase !== 'ready')
    seen.push(
      process(host, {
        kind: 'componentReady',
        severity: 'ok',
        text: say('timeline.componentReady', { ...about, version: now.version }),
      }),
    );
  return seen;
};

/** What has happened to processes and faults. A start and a stop of the whole cluster are one entry, not forty. */
export const clusterChanges = (before: ClusterState, now: ClusterState): readonly Observation[] => {
  const seen: Observation[] = [];
  const known = new Set(before.faults.map(({ id }) => id));
  const active = new Set(now.faults.map(({ id }) => id));
  for (const fault of now.faults) if (!known.has(fault.id)) seen.push(faultDraft(fault));
  for (const id of known) if (!active.has(id)) seen.push({ end: `fault/${id}` });
  if (now.phase !== 'ready' || before.phase !== 'ready') return seen;
  for (const host of now.hosts) {
    const was = before.hosts.find(({ name }) => name === host.name);
    seen.push(...hostChanges(was, host));
    for (const component of host.components)
      seen.push(
        ...componentChanges(
          host,
          was?.components.find(({ name }) => name === component.name),
          component,
        ),
      );
  }
  return seen;
};
