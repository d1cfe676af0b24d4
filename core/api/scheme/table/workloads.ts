import { humanDuration } from '../../meta/human-duration.ts';
import { controllerOf, type KubernetesObject } from '../../meta/object-meta.ts';
import { groupKindText, parseApiVersion } from '../../meta/group-version.ts';
import { parseTime } from '../../meta/time.ts';
import { CONTAINER_COLUMNS, containerCells, isConditionTrue, labelsText, selectorText } from './formats.ts';
import {
  AGE,
  ageOf,
  at,
  column,
  count,
  integer,
  isDeleted,
  list,
  NAME,
  nameOf,
  since,
  text,
  textOr,
  wide,
  type TablePrinter,
} from './printer.ts';

const SELECTOR = wide('Selector', 'The labels of the pods it looks after.');
const templateCells = (object: KubernetesObject): [string, string] =>
  containerCells(at(object, 'spec', 'template', 'spec'));

const replicaColumns = [
  NAME,
  integer('Desired', 'How many pods are wanted.'),
  integer('Current', 'How many pods there are.'),
  integer('Ready', 'How many pods are ready.'),
  AGE,
  ...CONTAINER_COLUMNS,
  SELECTOR,
];

const replicaPrinter = (selectorOf: (object: KubernetesObject) => string): TablePrinter => ({
  columns: replicaColumns,
  cells: (object, nowMs) => [
    nameOf(object),
    count(object, 'spec', 'replicas'),
    count(object, 'status', 'replicas'),
    count(object, 'status', 'readyReplicas'),
    ageOf(object, nowMs),
    ...templateCells(object),
    selectorOf(object),
  ],
});

const DEPLOYMENT: TablePrinter = {
  columns: [
    NAME,
    column('Ready', 'How many pods are ready, of how many wanted.'),
    column('Up-to-date', 'How many pods have the template of now.'),
    column('Available', 'How many pods have been ready for long enough.'),
    AGE,
    ...CONTAINER_COLUMNS,
    SELECTOR,
  ],
  cells: (object, nowMs) => [
    nameOf(object),
    `${count(object, 'status', 'readyReplicas')}/${count(object, 'spec', 'replicas')}`,
    count(object, 'status', 'updatedReplicas'),
    count(object, 'status', 'availableReplicas'),
    ageOf(object, nowMs),
    ...templateCells(object),
    selectorText(at(object, 'spec', 'selector')),
  ],
};

const STATEFUL_SET: TablePrinter = {
  columns: [NAME, column('Ready', 'How many pods are ready, of how many wanted.'), AGE, ...CONTAINER_COLUMNS],
  cells: (object, nowMs) => [
    nameOf(object),
    `${count(object, 'status', 'readyReplicas')}/${count(object, 'spec', 'replicas')}`,
    ageOf(object, nowMs),
    ...templateCells(object),
  ],
};

const DAEMON_SET: TablePrinter = {
  columns: [
    NAME,
    integer('Desired', 'How many nodes should run a pod.'),
    integer('Current', 'How many of them do.'),
    integer('Ready', 'How many of those pods are ready.'),
    integer('Up-to-date', 'How many pods have the template of now.'),
    integer('Available', 'How many pods have been ready for long enough.'),
    column('Node Selector', 'The labels of the nodes it runs on.'),
    AGE,
    ...CONTAINER_COLUMNS,
    SELECTOR,
  ],
  cells: (object, nowMs) => [
    nameOf(object),
    count(object, 'status', 'desiredNumberScheduled'),
    count(object, 'status', 'currentNumberScheduled'),
    count(object, 'status', 'numberReady'),
    count(object, 'status', 'updatedNumberScheduled'),
    count(object, 'status', 'numberAvailable'),
    labelsText(at(object, 'spec', 'template', 'spec', 'nodeSelector')),
    ageOf(object, nowMs),
    ...templateCells(object),
    selectorText(at(object, 'spec', 'selector')),
  ],
};

/** The first of these that holds, in this order. */
const jobStatus = (job: KubernetesObject): string => {
  const holds = (type: string): boolean => isConditionTrue(at(job, 'status'), type);
  if (holds('Complete')) return 'Complete';
  if (holds('Failed')) return 'Failed';
  if (isDeleted(job)) return 'Terminating';
  return ['Suspended', 'FailureTarget', 'SuccessCriteriaMet'].find(holds) ?? 'Running';
};

const jobCompletions = (job: KubernetesObject): string => {
  const succeeded = count(job, 'status', 'succeeded');
  const wanted = at(job, 'spec', 'completions');
  if (wanted !== undefined) return `${succeeded}/${String(wanted)}`;
  const parallelism = count(job, 'spec', 'parallelism');
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`;
};

const jobDuration = (job: KubernetesObject, nowMs: number): string => {
  const started = parseTime(text(job, 'status', 'startTime'));
  if (started === undefined) return '';
  return humanDuration((parseTime(text(job, 'status', 'completionTime')) ?? nowMs) - started);
};

const JOB: TablePrinter = {
  columns: [
    NAME,
    column('Status', 'What became of the job.'),
    column('Completions', 'How many pods succeeded, of how many wanted.'),
    column('Duration', 'How long it has run, or ran.'),
    AGE,
    ...CONTAINER_COLUMNS,
    SELECTOR,
  ],
  cells: (job, nowMs) => [
    nameOf(job),
    jobStatus(job),
    jobCompletions(job),
    jobDuration(job, nowMs),
    ageOf(job, nowMs),
    ...templateCells(job),
    selectorText(at(job, 'spec', 'selector')),
  ],
};

const suspendText = (value: unknown): string =>
  value === undefined ? '<unset>' : value === true ? 'True' : 'False';

const CRON_JOB: TablePrinter = {
  columns: [
    NAME,
    column('Schedule', 'When it runs, as a cron expression.'),
    column('Timezone', 'The time zone of the schedule.'),
    column('Suspend', 'Whether it is held back.', { type: 'boolean' }),
    integer('Active', 'How many of its jobs run now.'),
    column('Last Schedule', 'The time since a job was last started.'),
    AGE,
    ...CONTAINER_COLUMNS,
    SELECTOR,
  ],
  cells(object, nowMs) {
    const last = at(object, 'status', 'lastScheduleTime');
    const job = at(object, 'spec', 'jobTemplate', 'spec');
    return [
      nameOf(object),
      text(object, 'spec', 'schedule'),
      textOr('<none>', object, 'spec', 'timeZone'),
      suspendText(at(object, 'spec', 'suspend')),
      list(object, 'status', 'active').length,
      last === undefined ? '<none>' : since(last, nowMs),
      ageOf(object, nowMs),
      ...containerCells(at(job, 'template', 'spec')),
      selectorText(at(job, 'selector')),
    ];
  },
};

const CONTROLLER_REVISION: TablePrinter = {
  columns: [
    NAME,
    column('Controller', 'The object whose template this is.'),
    column('Revision', 'The number of the revision.'),
    AGE,
  ],
  cells(object, nowMs) {
    const owner = controllerOf(object);
    const group = owner && parseApiVersion(owner.apiVersion)?.group;
    const controller = owner
      ? `${groupKindText({ group: group ?? '', kind: owner.kind }).toLowerCase()}/${owner.name}`
      : '<none>';
    return [nameOf(object), controller, count(object, 'revision'), ageOf(object, nowMs)];
  },
};

const POD_TEMPLATE: TablePrinter = {
  columns: [
    NAME,
    column('Containers', 'The names of the containers in the template.'),
    column('Images', 'The images of the containers in the template.'),
    column('Pod Labels', 'The labels its pods get.'),
  ],
  cells: (object) => [
    nameOf(object),
    ...containerCells(at(object, 'template', 'spec')),
    labelsText(at(object, 'template', 'metadata', 'labels')),
  ],
};

const POD_DISRUPTION_BUDGET: TablePrinter = {
  columns: [
    NAME,
    column('Min Available', 'How many pods must stay available.'),
    column('Max Unavailable', 'How many pods may be unavailable.'),
    integer('Allowed Disruptions', 'How many pods may be evicted now.'),
    AGE,
  ],
  cells: (object, nowMs) => [
    nameOf(object),
    textOr('N/A', object, 'spec', 'minAvailable'),
    textOr('N/A', object, 'spec', 'maxUnavailable'),
    count(object, 'status', 'disruptionsAllowed'),
    ageOf(object, nowMs),
  ],
};

const PRIORITY_CLASS: TablePrinter = {
  columns: [
    NAME,
    integer('Value', 'The priority; higher goes first.'),
    column('Global-Default', 'Whether pods that name no class get this one.', { type: 'boolean' }),
    AGE,
    column('PreemptionPolicy', 'Whether its pods push others out.'),
  ],
  cells: (object, nowMs) => [
    nameOf(object),
    count(object, 'value'),
    at(object, 'globalDefault') === true,
    ageOf(object, nowMs),
    text(object, 'preemptionPolicy'),
  ],
};

export const WORKLOAD_PRINTERS: Readonly<Record<string, TablePrinter>> = {
  '/ReplicationController': replicaPrinter((object) => labelsText(at(object, 'spec', 'selector'))),
  'apps/ReplicaSet': replicaPrinter((object) => selectorText(at(object, 'spec', 'selector'))),
  'apps/Deployment': DEPLOYMENT,
  'apps/StatefulSet': STATEFUL_SET,
  'apps/DaemonSet': DAEMON_SET,
  'apps/ControllerRevision': CONTROLLER_REVISION,
  'batch/Job': JOB,
  'batch/CronJob': CRON_JOB,
  '/PodTemplate': POD_TEMPLATE,
  'policy/PodDisruptionBudget': POD_DISRUPTION_BUDGET,
  'scheduling.k8s.io/PriorityClass': PRIORITY_CLASS,
};
