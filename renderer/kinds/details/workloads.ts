import { formatMoment } from '../../locales/format.ts';
import { t } from '../../locales/i18n.ts';
import { at, entriesAt, listAt, podSelectorsOf, textAt, type KubeObject } from '../kube-object.ts';
import { containerSection } from './containers.ts';
import {
  blocks,
  coreLink,
  facts,
  linked,
  linkedKind,
  mono,
  namespaceOf,
  pairsText,
  section,
  toned,
  type Cell,
  type Related,
  type Section,
} from './section.ts';

const tolerationText = (toleration: KubeObject): string => {
  const key = textAt(toleration, 'key') || t('sec.toleration.all');
  const value = textAt(toleration, 'value');
  const effect = textAt(toleration, 'effect');
  const seconds = textAt(toleration, 'tolerationSeconds');
  return [
    value === '' ? key : `${key}=${value}`,
    effect === '' ? '' : `:${effect}`,
    seconds === '' ? '' : t('sec.toleration.for', { seconds }),
  ].join('');
};

const placementFacts = (spec: unknown) =>
  facts(
    [t('sec.serviceAccount'), textAt(spec, 'serviceAccountName')],
    [t('sec.nodeSelector'), mono(pairsText(entriesAt(spec, 'nodeSelector')))],
    [t('sec.tolerations'), mono(listAt(spec, 'tolerations').map(tolerationText).join(', '))],
    [t('sec.priorityClass'), textAt(spec, 'priorityClassName')],
    [t('sec.hostNetwork'), at(spec, 'hostNetwork') === true ? t('sec.yes') : ''],
    [
      t('sec.gracePeriod'),
      textAt(spec, 'terminationGracePeriodSeconds') && `${textAt(spec, 'terminationGracePeriodSeconds')} s`,
    ],
  );

const CONTAINER_LISTS = [
  ['containers', 'containerStatuses', 'main'],
  ['initContainers', 'initContainerStatuses', 'init'],
  ['ephemeralContainers', 'ephemeralContainerStatuses', 'ephemeral'],
] as const;

const containerSections = (
  spec: unknown,
  namespace: string,
  pod?: { readonly status: unknown; readonly related: Related },
): Section[] =>
  CONTAINER_LISTS.flatMap(([list, statuses, role]) =>
    listAt(spec, list).map((container) =>
      containerSection(container, role, {
        namespace,
        volumes: listAt(spec, 'volumes'),
        status:
          pod &&
          listAt(pod.status, statuses).find((each) => textAt(each, 'name') === textAt(container, 'name')),
        probeFailures: pod?.related.probeFailures,
      }),
    ),
  );

export const podSections = (pod: KubeObject, related: Related): Section[] => {
  const node = textAt(pod, 'spec', 'nodeName');
  const addresses = listAt(pod, 'status', 'podIPs').map((each) => textAt(each, 'ip'));
  return [
    ...section(
      'placement',
      t('sec.placement'),
      blocks({
        form: 'facts',
        facts: [
          ...facts(
            [t('sec.node'), node === '' ? undefined : linked(coreLink('Node', node))],
            [t('sec.podIps'), mono(addresses.join(', ') || textAt(pod, 'status', 'podIP'))],
            [t('sec.hostIp'), mono(textAt(pod, 'status', 'hostIP'))],
            [t('sec.qos'), textAt(pod, 'status', 'qosClass')],
            [t('sec.restartPolicy'), textAt(pod, 'spec', 'restartPolicy')],
          ),
          ...placementFacts(at(pod, 'spec')),
        ],
      }),
    ),
    ...containerSections(at(pod, 'spec'), namespaceOf(pod), { status: at(pod, 'status'), related }),
  ];
};

const count = (object: KubeObject, field: string): number => Number(textAt(object, 'status', field) || 0);

const readyCell = (ready: number, wanted: number): Cell =>
  toned(t('sec.ofReady', { ready, wanted }), ready >= wanted ? 'ok' : 'pending');

const rollingText = (strategy: unknown): string => {
  const type = textAt(strategy, 'type');
  const surge = textAt(strategy, 'rollingUpdate', 'maxSurge');
  const unavailable = textAt(strategy, 'rollingUpdate', 'maxUnavailable');
  return [
    type,
    surge && t('sec.maxSurge', { value: surge }),
    unavailable && t('sec.maxUnavailable', { value: unavailable }),
  ]
    .filter(Boolean)
    .join(', ');
};

const scaleFacts = (object: KubeObject) => {
  if (textAt(object, 'kind') === 'DaemonSet') {
    const wanted = count(object, 'desiredNumberScheduled');
    return facts(
      [t('sec.replicas'), readyCell(count(object, 'numberReady'), wanted)],
      [t('sec.updated'), `${count(object, 'updatedNumberScheduled')}`],
      [t('sec.available'), `${count(object, 'numberAvailable')}`],
      [t('sec.strategy'), rollingText(at(object, 'spec', 'updateStrategy'))],
    );
  }
  const wanted = Number(textAt(object, 'spec', 'replicas') || 1);
  return facts(
    [t('sec.replicas'), readyCell(count(object, 'readyReplicas'), wanted)],
    [t('sec.updated'), textAt(object, 'status', 'updatedReplicas')],
    [t('sec.available'), textAt(object, 'status', 'availableReplicas')],
    [t('sec.strategy'), rollingText(at(object, 'spec', 'strategy') ?? at(object, 'spec', 'updateStrategy'))],
    [
      t('sec.serviceName'),
      textAt(object, 'spec', 'serviceName') === ''
        ? undefined
        : linked(coreLink('Service', textAt(object, 'spec', 'serviceName'), namespaceOf(object))),
    ],
  );
};

/** Deployment, StatefulSet, DaemonSet, ReplicaSet, ReplicationController. */
export const scaledSections = (object: KubeObject): Section[] => [
  ...section(
    'scale',
    t('sec.scale'),
    blocks({
      form: 'facts',
      facts: [
        ...scaleFacts(object),
        ...facts([t('sec.selector'), mono(podSelectorsOf(object)?.labelSelector ?? '')]),
        ...placementFacts(at(object, 'spec', 'template', 'spec')),
      ],
    }),
  ),
  ...containerSections(at(object, 'spec', 'template', 'spec'), namespaceOf(object)),
];

export const jobSections = (job: KubeObject): Section[] => {
  const failed = count(job, 'failed');
  const completions = textAt(job, 'spec', 'completions') || '1';
  const finishedAt = Date.parse(textAt(job, 'status', 'completionTime'));
  return [
    ...section(
      'job',
      t('sec.job'),
      blocks({
        form: 'facts',
        facts: facts(
          [t('sec.job.succeeded'), t('sec.ofCount', { part: count(job, 'succeeded'), whole: completions })],
          [t('sec.job.active'), `${count(job, 'active')}`],
          [t('sec.job.failed'), failed > 0 ? toned(`${failed}`, 'warn') : '0'],
          [t('sec.job.parallelism'), textAt(job, 'spec', 'parallelism')],
          [t('sec.job.backoffLimit'), textAt(job, 'spec', 'backoffLimit')],
          [
            t('sec.job.deadline'),
            textAt(job, 'spec', 'activeDeadlineSeconds') &&
              `${textAt(job, 'spec', 'activeDeadlineSeconds')} s`,
          ],
          [t('sec.job.finished'), Number.isNaN(finishedAt) ? '' : formatMoment(finishedAt)],
        ),
      }),
    ),
    ...containerSections(at(job, 'spec', 'template', 'spec'), namespaceOf(job)),
  ];
};

export const cronJobSections = (cronJob: KubeObject): Section[] => {
  const lastMs = Date.parse(textAt(cronJob, 'status', 'lastScheduleTime'));
  const successMs = Date.parse(textAt(cronJob, 'status', 'lastSuccessfulTime'));
  const isSuspended = at(cronJob, 'spec', 'suspend') === true;
  return [
    ...section(
      'cronjob',
      t('sec.schedule'),
      blocks(
        {
          form: 'facts',
          facts: facts(
            [t('sec.schedule'), mono(textAt(cronJob, 'spec', 'schedule'))],
            [t('sec.timeZone'), textAt(cronJob, 'spec', 'timeZone')],
            [t('sec.suspended'), isSuspended ? toned(t('sec.yes'), 'warn') : t('sec.no')],
            [t('sec.concurrency'), textAt(cronJob, 'spec', 'concurrencyPolicy')],
            [t('sec.lastRun'), Number.isNaN(lastMs) ? t('sec.never') : formatMoment(lastMs)],
            [t('sec.lastSuccess'), Number.isNaN(successMs) ? t('sec.never') : formatMoment(successMs)],
          ),
        },
        {
          form: 'table',
          title: t('sec.activeJobs'),
          head: [t('sec.name')],
          rows: listAt(cronJob, 'status', 'active').map((ref) => [
            linkedKind({
              apiVersion: 'batch/v1',
              kind: 'Job',
              namespace: namespaceOf(cronJob),
              name: textAt(ref, 'name'),
            }),
          ]),
        },
      ),
    ),
    ...containerSections(
      at(cronJob, 'spec', 'jobTemplate', 'spec', 'template', 'spec'),
      namespaceOf(cronJob),
    ),
  ];
};
