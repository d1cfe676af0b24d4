import type {
  CriticalMetric,
  HostState,
  LocalClusterState,
  MetricsHealth,
} from '../../../core/contract/index.ts';
import {
  formatAgo,
  formatBytes,
  formatCount,
  formatMilliseconds,
  formatPercent,
} from '../../locales/format.ts';
import { t, tell } from '../../locales/i18n.ts';
import type { FailingFamily, NodeFact } from './data/workload.ts';

/** Something that asks for a person: what, what is the matter, where to look. */
export interface Attention {
  readonly id: string;
  readonly tone: 'error' | 'warn';
  readonly title: string;
  readonly text: string;
  readonly to: string | undefined;
}

const RESTART_SHOWN_MS = 3_600_000;
const HOST_MATTERS = ['killed', 'failed', 'paused', 'stopped'] as const;
type HostMatter = (typeof HOST_MATTERS)[number];
const isMatter = (phase: HostState['phase']): phase is HostMatter =>
  (HOST_MATTERS as readonly string[]).includes(phase);

const ofHost = (host: HostState): readonly Attention[] => {
  if (isMatter(host.phase))
    return [
      {
        id: `host-${host.name}`,
        tone: host.phase === 'killed' || host.phase === 'failed' ? 'error' : 'warn',
        title: host.name,
        // A signal that was asked for has no more to say than its phase; what ended on its own gives a reason.
        text:
          (host.message && (host.phase === 'failed' || host.lastExit !== null) ? tell(host.message) : null) ??
          t(`attention.host.${host.phase}`),
        to: undefined,
      },
    ];
  return host.components
    .filter(({ phase }) => phase === 'exited')
    .map(({ name, message }) => ({
      id: `component-${host.name}-${name}`,
      tone: message === null ? 'warn' : 'error',
      title: t('attention.component', { component: name, host: host.name }),
      text: message ?? t('attention.component.aside'),
      to: undefined,
    }));
};

/** A host that exited on its own and runs again: worth checking for as long as it is fresh. */
const ofRestart = ({ name, phase, restarts, lastExit }: HostState, nowMs: number): readonly Attention[] =>
  phase === 'running' && lastExit !== null && nowMs - lastExit.atMs < RESTART_SHOWN_MS
    ? [
        {
          id: `restart-${name}`,
          tone: 'warn',
          title: name,
          text: t('attention.host.restarted', {
            count: restarts,
            reason: tell(lastExit.reason),
            ago: formatAgo(nowMs - lastExit.atMs),
          }),
          to: undefined,
        },
      ]
    : [];

const ofNode = (node: NodeFact, heartbeatAtMs: number | undefined, nowMs: number): Attention => ({
  id: `node-${node.name}`,
  tone: 'warn',
  title: node.name,
  text:
    heartbeatAtMs === undefined
      ? t('attention.node', { status: node.status })
      : t('attention.node.heartbeat', { status: node.status, ago: formatAgo(nowMs - heartbeatAtMs) }),
  to: `/cluster?kind=nodes&open=${encodeURIComponent(`/${node.name}`)}`,
});

const ofFamily = ({ name, failing, total, status, key }: FailingFamily): Attention => ({
  id: `pods-${name}`,
  tone: 'error',
  title: name,
  text: t('attention.pods', { failing, count: total, status }),
  to: `/workloads?kind=pods&open=${encodeURIComponent(key)}`,
});

const amount = (value: number, unit: CriticalMetric['unit']): string => {
  switch (unit) {
    case 'seconds':
      return formatMilliseconds(value * 1000);
    case 'ratio':
      return formatPercent(value * 100);
    case 'bytes':
      return formatBytes(value);
    case 'count':
      return formatCount(value);
  }
};

const overLimit = (
  figures: { readonly value: string; readonly threshold: string },
  { subject, isNoneExpected }: { readonly subject: string; readonly isNoneExpected: boolean },
): string => {
  const { value } = figures;
  if (isNoneExpected)
    return subject === ''
      ? t('attention.metric.unexpected', { value })
      : t('attention.metric.unexpected.of', { value, subject });
  return subject === '' ? t('attention.metric', figures) : t('attention.metric.of', { ...figures, subject });
};

const ofMetrics = (health: MetricsHealth | undefined): readonly Attention[] =>
  (health?.critical ?? [])
    .filter(({ state }) => state === 'firing')
    .map(({ id, subject, value, threshold, unit }) => {
      const figures = { value: amount(value ?? 0, unit), threshold: amount(threshold, unit) };
      return {
        id: `metric-${id}`,
        tone: 'warn',
        title: t(`attention.metric.${id}`),
        text: overLimit(figures, { subject, isNoneExpected: threshold === 0 }),
        to: '/metrics',
      };
    });

export interface AttentionSources {
  readonly state: LocalClusterState | undefined;
  readonly nodes: readonly NodeFact[];
  readonly families: readonly FailingFamily[];
  readonly metrics: MetricsHealth | undefined;
  readonly heartbeats: ReadonlyMap<string, number>;
  readonly nowMs: number;
}

/** All that needs a person, errors first. */
export const attentionOf = (sources: AttentionSources): readonly Attention[] => {
  const { state, nodes, families, metrics, heartbeats, nowMs } = sources;
  const down = new Set(
    state?.hosts.filter(({ phase }) => phase !== 'running').flatMap(({ nodes: names }) => names),
  );
  const all = [
    ...(state?.hosts.flatMap((host) => [...ofHost(host), ...ofRestart(host, nowMs)]) ?? []),
    ...(state?.warnings.map((warning): Attention => ({
      id: `warning-${warning.code}-${tell(warning)}`,
      tone: 'warn',
      title: t('attention.start'),
      text: tell(warning),
      to: undefined,
    })) ?? []),
    ...families.map(ofFamily),
    // A node of a host that is down is told by its host.
    ...nodes
      .filter(({ isReady, name }) => !isReady && !down.has(name))
      .map((node) => ofNode(node, heartbeats.get(node.name), nowMs)),
    ...ofMetrics(metrics),
  ];
  return all.sort((a, b) => Number(a.tone === 'warn') - Number(b.tone === 'warn'));
};
