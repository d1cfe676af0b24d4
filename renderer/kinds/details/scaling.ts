import { formatMoment } from '../../locales/format.ts';
import { t } from '../../locales/i18n.ts';
import { at, listAt, podSelectorsOf, textAt, type KubeObject } from '../kube-object.ts';
import {
  blocks,
  facts,
  linkedKind,
  mono,
  namespaceOf,
  plain,
  section,
  toned,
  type Section,
} from './section.ts';

const count = (object: KubeObject, field: string): number => Number(textAt(object, 'status', field) || 0);

export const disruptionSections = (budget: KubeObject): Section[] => {
  const allowed = count(budget, 'disruptionsAllowed');
  return section(
    'budget',
    t('sec.budget'),
    blocks({
      form: 'facts',
      facts: facts(
        [t('sec.budget.allowed'), toned(`${allowed}`, allowed > 0 ? 'ok' : 'warn')],
        [
          t('sec.budget.healthy'),
          t('sec.budget.of', {
            healthy: count(budget, 'currentHealthy'),
            desired: count(budget, 'desiredHealthy'),
            expected: count(budget, 'expectedPods'),
          }),
        ],
        [t('sec.budget.minAvailable'), textAt(budget, 'spec', 'minAvailable')],
        [t('sec.budget.maxUnavailable'), textAt(budget, 'spec', 'maxUnavailable')],
        [t('sec.selector'), mono(podSelectorsOf(budget)?.labelSelector ?? '')],
      ),
    }),
  );
};

const metricTarget = (target: unknown): string =>
  textAt(target, 'averageUtilization') === ''
    ? textAt(target, 'averageValue') || textAt(target, 'value')
    : `${textAt(target, 'averageUtilization')} %`;

const METRIC_FIELDS: Readonly<Record<string, string>> = {
  Resource: 'resource',
  ContainerResource: 'containerResource',
  Pods: 'pods',
  Object: 'object',
  External: 'external',
};

const metricName = (type: string, metric: unknown): string => {
  const name = textAt(metric, 'name') || textAt(metric, 'metric', 'name');
  const container = textAt(metric, 'container');
  return [type, name, container && t('sec.hpa.ofContainer', { container })].filter(Boolean).join(' ');
};

export const autoscalerSections = (autoscaler: KubeObject): Section[] => {
  const target = at(autoscaler, 'spec', 'scaleTargetRef');
  const now = listAt(autoscaler, 'status', 'currentMetrics');
  const lastMs = Date.parse(textAt(autoscaler, 'status', 'lastScaleTime'));
  return section(
    'autoscaler',
    t('sec.hpa'),
    blocks(
      {
        form: 'facts',
        facts: facts(
          [
            t('sec.hpa.target'),
            linkedKind({
              apiVersion: textAt(target, 'apiVersion'),
              kind: textAt(target, 'kind'),
              namespace: namespaceOf(autoscaler),
              name: textAt(target, 'name'),
            }),
          ],
          [
            t('sec.hpa.replicas'),
            t('sec.hpa.now', {
              current: count(autoscaler, 'currentReplicas'),
              desired: count(autoscaler, 'desiredReplicas'),
            }),
          ],
          [
            t('sec.hpa.bounds'),
            t('sec.hpa.between', {
              min: textAt(autoscaler, 'spec', 'minReplicas') || '1',
              max: textAt(autoscaler, 'spec', 'maxReplicas'),
            }),
          ],
          [t('sec.hpa.lastScale'), Number.isNaN(lastMs) ? t('sec.never') : formatMoment(lastMs)],
        ),
      },
      {
        form: 'table',
        title: t('sec.hpa.metrics'),
        head: [t('sec.hpa.metric'), t('sec.hpa.current'), t('sec.hpa.wanted')],
        rows: listAt(autoscaler, 'spec', 'metrics').map((metric) => {
          const type = textAt(metric, 'type');
          const field = METRIC_FIELDS[type] ?? '';
          const wanted = at(metric, field, 'target');
          const found = now.find(
            (each) =>
              textAt(each, 'type') === type &&
              metricName(type, at(each, field)) === metricName(type, at(metric, field)),
          );
          const current = metricTarget(at(found, field, 'current'));
          const [part, whole] = [Number.parseFloat(current), Number.parseFloat(metricTarget(wanted))];
          const isPercent = textAt(wanted, 'averageUtilization') !== '';
          return [
            plain(metricName(type, at(metric, field))),
            current === ''
              ? toned(t('sec.hpa.unknown'), 'warn')
              : { text: current, ...(isPercent && whole > 0 && { share: Math.min(1, part / whole) }) },
            plain(metricTarget(wanted)),
          ];
        }),
      },
    ),
  );
};
