import * as v from 'valibot';
import { DRILL_DIFFICULTIES, DRILL_LIST_MAX, DRILL_TOPICS, isSentenceCode } from '../../contract/index.ts';
import { CLUSTER_API_VERSION } from '../config/config.ts';

/** Everything that a drill creates lives below this prefix, so that cleaning up deletes nothing else. */
export const NAMESPACE_PREFIX = 'drill-';
const TEXT_MAX = 1_000;
const SECONDS_MAX = 86_400;
/** The longest that one check waits. */
const WAIT_SECONDS_MAX = 120;
const FILL_MEBIBYTES_MAX = 64;
const DELAY_MS_MAX = 60_000;
const OFFSET_MS_MAX = 365 * 86_400_000;
const SETS_MAX = 16;

const text = v.pipe(v.string(), v.minLength(1), v.maxLength(TEXT_MAX));
const name = v.pipe(v.string(), v.minLength(1), v.maxLength(253));
const lines = v.pipe(v.array(text), v.minLength(1), v.maxLength(DRILL_LIST_MAX));
const whole = (min: number, max: number) => v.pipe(v.number(), v.integer(), v.minValue(min), v.maxValue(max));
/** It becomes part of a path, and of the pattern that finds its image. */
const componentName = v.pipe(v.string(), v.regex(/^[a-z][a-z0-9-]{0,62}$/));
/** A path would let a document choose a file that a component reads or writes. */
const flagValue = v.pipe(
  v.string(),
  v.maxLength(256),
  v.check((value) => !/[/\\\n\r]/.test(value), 'the value of a flag has no path and no line break'),
);
const drillNamespace = v.pipe(
  v.string(),
  v.check(
    (value) => value.startsWith(NAMESPACE_PREFIX) && /^[a-z0-9-]{1,63}$/.test(value),
    `a namespace of a drill starts with "${NAMESPACE_PREFIX}"`,
  ),
);

const reference = { apiVersion: name, kind: name, namespace: v.optional(name) };
const scalar = v.union([v.string(), v.number(), v.boolean()]);

const manifest = v.pipe(
  v.looseObject({
    apiVersion: name,
    kind: name,
    metadata: v.looseObject({ name, namespace: v.optional(name) }),
  }),
  v.check((object) => !('status' in object), 'a manifest of a drill has no status'),
);

const fault = v.variant('kind', [
  v.strictObject({ kind: v.literal('isolate') }),
  v.strictObject({ kind: v.literal('cut'), to: name, isOneWay: v.optional(v.boolean(), false) }),
  v.strictObject({
    kind: v.literal('delay'),
    to: name,
    delayMs: whole(1, DELAY_MS_MAX),
    isOneWay: v.optional(v.boolean(), false),
  }),
  v.strictObject({ kind: v.literal('slow-disk'), delayMs: whole(1, DELAY_MS_MAX) }),
  v.strictObject({ kind: v.literal('clock'), offsetMs: whole(-OFFSET_MS_MAX, OFFSET_MS_MAX) }),
]);

/** One thing to do. Each step has one verb; `on` says where, for those that act on hosts. */
const verbs = {
  host: v.optional(v.picklist(['kill', 'stop', 'pause', 'start', 'resume', 'restart'])),
  component: v.optional(v.strictObject({ name: componentName, do: v.picklist(['kill', 'stop', 'start']) })),
  flags: v.optional(
    v.strictObject({
      component: componentName,
      set: v.pipe(
        v.record(v.pipe(v.string(), v.regex(/^[a-z][a-z0-9-]{0,127}$/)), v.nullable(flagValue)),
        v.check((set) => Object.keys(set).length <= SETS_MAX, `at most ${SETS_MAX} flags`),
      ),
    }),
  ),
  image: v.optional(
    v.strictObject({
      component: componentName,
      version: v.nullable(v.pipe(v.string(), v.regex(/^v\d{1,3}\.\d{1,3}\.\d{1,3}$/))),
    }),
  ),
  fault: v.optional(fault),
  heal: v.optional(v.literal('all')),
  certificate: v.optional(v.strictObject({ name, do: v.picklist(['expire', 'renew']) })),
  etcd: v.optional(v.picklist(['compact', 'defragment', 'disarm'])),
  fill: v.optional(v.strictObject({ namespace: drillNamespace, mebibytes: whole(1, FILL_MEBIBYTES_MAX) })),
  snapshot: v.optional(v.literal('save')),
  restore: v.optional(v.strictObject({ namespace: drillNamespace })),
  apply: v.optional(manifest),
  patch: v.optional(v.strictObject({ ...reference, name, merge: v.looseObject({}) })),
  delete: v.optional(
    v.pipe(
      v.strictObject({ ...reference, name: v.optional(name), labelSelector: v.optional(name) }),
      v.check(
        (one) => (one.name === undefined) !== (one.labelSelector === undefined),
        'either name or labelSelector is expected',
      ),
    ),
  ),
} as const;

export type Verb = keyof typeof verbs;
export const VERBS = Object.keys(verbs) as readonly Verb[];
/** These act on hosts that `on` names. */
const ON_HOSTS: readonly Verb[] = ['host', 'component', 'image', 'fault'];
/** These write objects, which are declared by namespace and kind. */
export const OBJECT_VERBS: readonly Verb[] = ['apply', 'patch', 'delete', 'fill', 'restore'];
/** These repair, and have no place in a setup. */
const REPAIRS: readonly Verb[] = ['heal', 'etcd', 'restore'];

export const verbOf = (step: Readonly<Record<string, unknown>>): Verb =>
  VERBS.find((verb) => step[verb] !== undefined)!;

const step = v.pipe(
  v.strictObject({ on: v.optional(name), ...verbs }),
  v.check(
    (one) => VERBS.filter((verb) => one[verb] !== undefined).length === 1,
    `a step has exactly one of ${VERBS.join(', ')}`,
  ),
  v.check(
    (one) => {
      const verb = verbOf(one);
      return (one.on !== undefined) === ON_HOSTS.includes(verb);
    },
    `"on" names the hosts of ${ON_HOSTS.join(', ')}, and goes with no other step`,
  ),
);
export type Step = v.InferOutput<typeof step>;

const setupStep = v.pipe(
  step,
  v.check(
    (one) => !REPAIRS.includes(verbOf(one)),
    `${REPAIRS.join(', ')} repair; they belong in the solution`,
  ),
  v.check(
    (one) =>
      !['start', 'resume', 'restart'].includes(one.host ?? '') &&
      one.component?.do !== 'start' &&
      one.certificate?.do !== 'renew',
    'this repairs; it belongs in the solution',
  ),
);

const range = { atLeast: v.optional(v.number()), atMost: v.optional(v.number()) };
const questions = {
  /** An object exists, or what is at a path of it. */
  object: v.optional(
    v.strictObject({ ...reference, name, path: v.optional(text), is: v.optional(scalar), ...range }),
  ),
  absent: v.optional(v.strictObject({ ...reference, name })),
  count: v.optional(
    v.strictObject({
      ...reference,
      labelSelector: v.optional(text),
      fieldSelector: v.optional(text),
      ...range,
    }),
  ),
  /** Every member responds, one leads, no alarm is raised. */
  etcd: v.optional(v.literal('healthy')),
  hosts: v.optional(v.literal('running')),
  /** Runs on every host that should run it; `all`: every component. */
  component: v.optional(name),
  faults: v.optional(v.literal('none')),
  certificates: v.optional(v.literal('valid')),
  /** The API stores a ConfigMap, which is deleted again. */
  writes: v.optional(v.strictObject({ namespace: name })),
  allowed: v.optional(
    v.strictObject({
      user: name,
      verb: name,
      group: v.optional(v.string(), ''),
      resource: name,
      subresource: v.optional(name),
      namespace: v.optional(name),
    }),
  ),
  /** The doctor finds no problem of this kind, such as `doctorQuorum`. */
  doctor: v.optional(
    v.pipe(
      v.string(),
      v.check((id) => isSentenceCode(`check.${id}`), 'the name of a check of the doctor is expected'),
    ),
  ),
} as const;
export type Question = keyof typeof questions;
export const QUESTIONS = Object.keys(questions) as readonly Question[];

const assertion = v.pipe(
  v.strictObject({
    title: text,
    /** The title says what is broken: it is not shown before the drill has ended. */
    revealsCause: v.optional(v.boolean(), false),
    withinSeconds: v.optional(whole(0, WAIT_SECONDS_MAX), 0),
    ...questions,
  }),
  v.check(
    (one) => QUESTIONS.filter((question) => one[question] !== undefined).length === 1,
    `an assertion has exactly one of ${QUESTIONS.join(', ')}`,
  ),
);
export type Assertion = v.InferOutput<typeof assertion>;

const words = v.strictObject({
  title: text,
  symptoms: lines,
  hints: v.optional(v.array(text), []),
  assertions: lines,
});

/** Strict: a field that nothing reads would be believed to work. */
export const drillSchema = v.strictObject({
  apiVersion: v.literal(CLUSTER_API_VERSION),
  kind: v.literal('Drill'),
  metadata: v.strictObject({ name: v.pipe(v.string(), v.regex(/^[a-z0-9]([-a-z0-9]{0,60}[a-z0-9])?$/)) }),
  spec: v.strictObject({
    title: text,
    topic: v.picklist(DRILL_TOPICS),
    difficulty: v.picklist(DRILL_DIFFICULTIES),
    needs: v.optional(
      v.strictObject({ controlPlanes: v.optional(whole(1, 7), 1), workers: v.optional(whole(0, 5_000), 0) }),
      {},
    ),
    /** What its steps may do; a step that does more is refused. */
    allows: v.strictObject({
      steps: v.optional(v.array(v.picklist(VERBS)), []),
      namespaces: v.optional(v.array(drillNamespace), []),
      clusterKinds: v.optional(v.array(name), []),
    }),
    symptoms: lines,
    setup: v.pipe(v.array(setupStep), v.minLength(1), v.maxLength(DRILL_LIST_MAX)),
    /** How long it may take until the cluster is visibly broken. */
    brokenWithinSeconds: v.optional(whole(1, WAIT_SECONDS_MAX), 30),
    hints: v.optional(v.pipe(v.array(text), v.maxLength(DRILL_LIST_MAX)), []),
    assertions: v.pipe(v.array(assertion), v.minLength(1), v.maxLength(DRILL_LIST_MAX)),
    solution: v.pipe(v.array(step), v.minLength(1), v.maxLength(DRILL_LIST_MAX)),
    grade: v.strictObject({ parSeconds: whole(1, SECONDS_MAX), parSteps: whole(1, DRILL_LIST_MAX) }),
    translations: v.optional(v.strictObject({ de: v.optional(words) }), {}),
  }),
});
export type Drill = v.InferOutput<typeof drillSchema>;
