import { say, type CriticalMetric, type MetricsHealth } from '../../../contract/index.ts';
import type { Observation } from '../draft.ts';

type Alerts = ReadonlySet<CriticalMetric['id']>;

const firing = ({ critical }: Pick<MetricsHealth, 'critical'>): readonly CriticalMetric[] =>
  critical.filter(({ state }) => state === 'firing');

const alertDraft = ({ id, subject, value, sinceMs }: CriticalMetric): Observation => {
  const what = say(`timeline.metric.${id}`);
  const isErrors = id === 'apiErrors';
  const about = subject === '' ? {} : { subject };
  return {
    lane: 'alerts',
    kind: isErrors ? 'apiErrors' : 'alert',
    severity: isErrors ? 'error' : 'warn',
    about: subject === '' ? [] : [subject],
    text: isErrors
      ? say('timeline.apiErrors', { percent: Math.round((value ?? 0) * 100), subject })
      : 'subject' in about
        ? say('timeline.alert.about', { what, subject })
        : say('timeline.alert', { what }),
    source: '/metrics',
    span: `alert/${id}`,
    ...(sinceMs !== null && { atMs: sinceMs }),
  };
};

/** A figure that is not known for a moment does not end its alert. */
export const alertChanges = (
  before: Alerts,
  health: Pick<MetricsHealth, 'critical'>,
): { readonly alerts: Alerts; readonly seen: readonly Observation[] } => {
  const now = firing(health);
  const isOver = (id: CriticalMetric['id']): boolean =>
    health.critical.some((one) => one.id === id && one.state === 'ok');
  const over = [...before].filter(isOver);
  const begun = now.filter(({ id }) => !before.has(id));
  return {
    alerts: new Set([...[...before].filter((id) => !over.includes(id)), ...begun.map(({ id }) => id)]),
    seen: [...over.map((id) => ({ end: `alert/${id}` })), ...begun.map(alertDraft)],
  };
};
