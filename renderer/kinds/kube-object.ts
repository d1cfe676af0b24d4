/** Reading of objects of any kind: what is not there is empty, never an error. */
export type KubeObject = Readonly<Record<string, unknown>>;

export const fieldsOf = (value: unknown): KubeObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as KubeObject) : {};
export const listOf = (value: unknown): readonly KubeObject[] =>
  Array.isArray(value) ? value.map(fieldsOf) : [];
export const textOf = (value: unknown): string =>
  typeof value === 'string'
    ? value
    : typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean'
      ? `${value}`
      : '';

/** `at(pod, 'spec', 'nodeName')`. */
export const at = (object: unknown, ...path: readonly string[]): unknown =>
  path.reduce<unknown>((value, key) => fieldsOf(value)[key], object);
export const textAt = (object: unknown, ...path: readonly string[]): string => textOf(at(object, ...path));
export const listAt = (object: unknown, ...path: readonly string[]): readonly KubeObject[] =>
  listOf(at(object, ...path));
export const entriesAt = (
  object: unknown,
  ...path: readonly string[]
): readonly (readonly [string, string])[] =>
  Object.entries(fieldsOf(at(object, ...path))).map(([key, value]) => [key, textOf(value)] as const);

export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  readonly changedAtMs: number | undefined;
  /** Whether this state asks for a person; undefined when we cannot know. */
  readonly isGood: boolean | undefined;
}

/** Conditions that are healthy when False. */
const GOOD_WHEN_FALSE = /(Pressure|Unavailable|Failure|Failed|Failing|Stalled|Terminating|DisruptionTarget)$/;
const KNOWN_GOOD =
  /^(Ready|Available|Progressing|Initialized|PodScheduled|ContainersReady|PodReadyToStartContainers|Established|NamesAccepted|Complete|SuccessCriteriaMet|Approved)$/;

export const conditionsOf = (object: unknown): Condition[] =>
  listAt(object, 'status', 'conditions').map((condition) => {
    const type = textAt(condition, 'type');
    const status = textAt(condition, 'status');
    const changedAtMs = Date.parse(textAt(condition, 'lastTransitionTime'));
    const isGood = GOOD_WHEN_FALSE.test(type)
      ? status === 'False'
      : KNOWN_GOOD.test(type)
        ? status === 'True'
        : undefined;
    return {
      type,
      status,
      reason: textAt(condition, 'reason'),
      message: textAt(condition, 'message'),
      changedAtMs: Number.isNaN(changedAtMs) ? undefined : changedAtMs,
      isGood,
    };
  });

export interface Owner {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly isController: boolean;
}

export const ownersOf = (object: unknown): Owner[] =>
  listAt(object, 'metadata', 'ownerReferences').map((owner) => ({
    apiVersion: textAt(owner, 'apiVersion'),
    kind: textAt(owner, 'kind'),
    name: textAt(owner, 'name'),
    isController: at(owner, 'controller') === true,
  }));

/** The pods that an object stands for, as selectors of a list; undefined when it stands for none. */
export const podSelectorsOf = (
  object: unknown,
): { readonly labelSelector: string; readonly fieldSelector: string } | undefined => {
  const kind = textAt(object, 'kind');
  if (kind === 'Node')
    return { labelSelector: '', fieldSelector: `spec.nodeName=${textAt(object, 'metadata', 'name')}` };
  const labels =
    kind === 'Service' || kind === 'ReplicationController'
      ? entriesAt(object, 'spec', 'selector')
      : entriesAt(object, 'spec', 'selector', 'matchLabels');
  const expressions = listAt(object, 'spec', 'selector', 'matchExpressions').map((each) => {
    const key = textAt(each, 'key');
    const values = Array.isArray(each['values']) ? each['values'].join(',') : '';
    switch (each['operator']) {
      case 'In':
        return `${key} in (${values})`;
      case 'NotIn':
        return `${key} notin (${values})`;
      case 'Exists':
        return key;
      default:
        return `!${key}`;
    }
  });
  const parts = [...labels.map(([key, value]) => `${key}=${value}`), ...expressions];
  return parts.length === 0 ? undefined : { labelSelector: parts.join(','), fieldSelector: '' };
};

/** Names of containers in the order in which they matter: those that serve, then those that prepared. */
export const containersOf = (pod: unknown): string[] =>
  ['containers', 'initContainers', 'ephemeralContainers'].flatMap((field) =>
    listAt(pod, 'spec', field).map((container) => textAt(container, 'name')),
  );

/** What is wrong with a pod, in the words of its containers; undefined when nothing is. */
export const podFinding = (
  pod: unknown,
): { readonly title: string; readonly text: string; readonly restarts: number } | undefined => {
  const statuses = [
    ...listAt(pod, 'status', 'initContainerStatuses'),
    ...listAt(pod, 'status', 'containerStatuses'),
  ];
  for (const status of statuses) {
    const waiting = fieldsOf(at(status, 'state', 'waiting'));
    const ended = fieldsOf(at(status, 'state', 'terminated'));
    const before = fieldsOf(at(status, 'lastState', 'terminated'));
    const reason =
      textAt(waiting, 'reason') || (Number(ended['exitCode'] ?? 0) === 0 ? '' : textAt(ended, 'reason'));
    if (reason === '' || reason === 'ContainerCreating' || reason === 'PodInitializing') continue;
    const exit = ended['exitCode'] ?? before['exitCode'];
    return {
      title: exit === undefined ? reason : `${reason}: exit code ${textOf(exit)}`,
      text: textAt(waiting, 'message') || textAt(ended, 'message') || textAt(before, 'message'),
      restarts: Number(status['restartCount'] ?? 0),
    };
  }
  const unscheduled = conditionsOf(pod).find(
    ({ type, status }) => type === 'PodScheduled' && status === 'False',
  );
  return unscheduled && { title: unscheduled.reason, text: unscheduled.message, restarts: 0 };
};
