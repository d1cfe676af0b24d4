import { parseCron } from '../cron.ts';
import {
  domainPrefixedPath,
  immutable,
  labelSelector,
  nonnegative,
  oneOf,
  supportedOnly,
} from '../checks.ts';
import type { FieldError } from '../../field/field-error.ts';
import { invalid, notSupported, required, tooLong, tooMany } from '../../field/field-error.ts';
import type { FieldPath } from '../../field/field-path.ts';
import { child, index } from '../../field/field-path.ts';
import { nameIsDnsSubdomain } from '../../field/formats.ts';
import { byteLength } from '../../field/go-text.ts';
import { objectMeta, objectMetaUpdate } from '../object-meta.ts';
import type { Obj } from '../read.ts';
import { has, int, isTrue, maybeObj, num, obj, objs, sameValue, str } from '../read.ts';
import type { KindRules } from '../rules.ts';
import { podTemplate } from './pod.ts';
import { selectorMatches } from './workloads.ts';

const META = { namespaced: true, name: nameIsDnsSubdomain };
const INDEXED_PARALLELISM_MAX = 100_000;
const FAILURE_POLICY_RULES_MAX = 20;
/** A job's name is the cron job's and eleven characters more. */
const CRON_JOB_NAME_MAX = 52;
const COUNTS = [
  'parallelism',
  'completions',
  'activeDeadlineSeconds',
  'backoffLimit',
  'ttlSecondsAfterFinished',
  'backoffLimitPerIndex',
  'maxFailedIndexes',
] as const;

function completionMode(path: FieldPath, spec: Obj): FieldError[] {
  const mode = str(spec, 'completionMode');
  const errors: FieldError[] = [];
  if (has(spec, 'completionMode'))
    errors.push(...supportedOnly(child(path, 'completionMode'), mode, ['NonIndexed', 'Indexed']));
  if (mode === 'Indexed') {
    if (!has(spec, 'completions'))
      errors.push(required(child(path, 'completions'), 'when completion mode is Indexed'));
    if (int(spec, 'parallelism') > INDEXED_PARALLELISM_MAX)
      errors.push(
        invalid(
          child(path, 'parallelism'),
          int(spec, 'parallelism'),
          `must be less than or equal to ${INDEXED_PARALLELISM_MAX} when completion mode is Indexed`,
        ),
      );
    if (has(spec, 'completions') && int(spec, 'maxFailedIndexes') > int(spec, 'completions'))
      errors.push(
        invalid(
          child(path, 'maxFailedIndexes'),
          int(spec, 'maxFailedIndexes'),
          'must be less than or equal to completions',
        ),
      );
    return errors;
  }
  const isPlain = !has(spec, 'completionMode') || mode === 'NonIndexed';
  for (const name of ['backoffLimitPerIndex', 'maxFailedIndexes', 'successPolicy'])
    if (has(spec, name) && (isPlain || name === 'successPolicy'))
      errors.push(invalid(child(path, name), spec[name], 'requires indexed completion mode'));
  return errors;
}

const MANAGED_BY_BYTES_MAX = 63;

const managedBy = (path: FieldPath, controller: string): FieldError[] => [
  ...domainPrefixedPath(path, controller),
  ...(byteLength(controller) > MANAGED_BY_BYTES_MAX ? [tooLong(path, MANAGED_BY_BYTES_MAX)] : []),
];

const ACTIONS = ['Count', 'FailIndex', 'FailJob', 'Ignore'];

function podFailurePolicy(path: FieldPath, policy: Obj): FieldError[] {
  const rules = objs(policy, 'rules');
  const at = child(path, 'rules');
  if (rules.length > FAILURE_POLICY_RULES_MAX) return [tooMany(at, rules.length, FAILURE_POLICY_RULES_MAX)];
  return rules.flatMap((rule, i) => {
    const here = index(at, i);
    const action = str(rule, 'action');
    const errors: FieldError[] =
      action === ''
        ? [required(child(here, 'action'), `valid values: [${ACTIONS.map((name) => `"${name}"`).join(' ')}]`)]
        : supportedOnly(child(here, 'action'), action, ACTIONS);
    const exitCodes = maybeObj(rule, 'onExitCodes');
    if (exitCodes !== undefined) {
      errors.push(
        ...(str(exitCodes, 'operator') === ''
          ? [required(child(here, 'onExitCodes', 'operator'), 'valid values: ["In" "NotIn"]')]
          : supportedOnly(child(here, 'onExitCodes', 'operator'), str(exitCodes, 'operator'), [
              'In',
              'NotIn',
            ])),
      );
      const values = Array.isArray(exitCodes['values']) ? exitCodes['values'] : [];
      if (values.length === 0)
        errors.push(
          invalid(
            child(here, 'onExitCodes', 'values'),
            exitCodes['values'] ?? null,
            'at least one value is required',
          ),
        );
      values.forEach((value: unknown, v) => {
        if (value === 0 && str(exitCodes, 'operator') === 'In')
          errors.push(
            invalid(index(child(here, 'onExitCodes', 'values'), v), 0, 'must not be 0 for the In operator'),
          );
      });
    }
    return errors;
  });
}

function jobSpecCommon(path: FieldPath, spec: Obj): FieldError[] {
  const podSpec = obj(obj(spec, 'template'), 'spec');
  const restartPolicy = str(podSpec, 'restartPolicy');
  const at = child(path, 'template', 'spec', 'restartPolicy');
  const errors = COUNTS.flatMap((name) => nonnegative(child(path, name), num(spec, name)));
  if (has(spec, 'maxFailedIndexes') && !has(spec, 'backoffLimitPerIndex'))
    errors.push(required(child(path, 'backoffLimitPerIndex'), 'when maxFailedIndexes is specified'));
  if (has(spec, 'managedBy')) errors.push(...managedBy(child(path, 'managedBy'), str(spec, 'managedBy')));
  errors.push(...completionMode(path, spec));
  const policy = maybeObj(spec, 'podFailurePolicy');
  if (policy !== undefined) errors.push(...podFailurePolicy(child(path, 'podFailurePolicy'), policy));
  if (has(spec, 'podReplacementPolicy'))
    errors.push(
      ...supportedOnly(
        child(path, 'podReplacementPolicy'),
        str(spec, 'podReplacementPolicy'),
        policy === undefined ? ['Failed', 'TerminatingOrFailed'] : ['Failed'],
      ),
    );
  errors.push(...podTemplate(child(path, 'template'), obj(spec, 'template')));
  if (restartPolicy === 'Always' || restartPolicy === '')
    errors.push(required(at, 'valid values: "OnFailure", "Never"'));
  else if (restartPolicy !== 'OnFailure' && restartPolicy !== 'Never')
    errors.push(notSupported(at, restartPolicy, ['OnFailure', 'Never']));
  else if (policy !== undefined && restartPolicy !== 'Never')
    errors.push(invalid(at, restartPolicy, 'only "Never" is supported when podFailurePolicy is specified'));
  return errors;
}

/** The selector is made by the server unless it is manual; both are in place when validation runs. */
function jobSpec(path: FieldPath, spec: Obj): FieldError[] {
  const selector = maybeObj(spec, 'selector');
  const template = obj(spec, 'template');
  return [
    ...jobSpecCommon(path, spec),
    ...(selector === undefined
      ? [required(child(path, 'selector'))]
      : labelSelector(child(path, 'selector'), selector)),
    ...(selector !== undefined && selectorMatches(selector, template) === false
      ? [
          invalid(
            child(path, 'template', 'metadata', 'labels'),
            obj(obj(template, 'metadata'), 'labels'),
            '`selector` does not match template `labels`',
          ),
        ]
      : []),
  ];
}

/** A job that has never run and is suspended may still be steered by a queue controller. */
function jobTemplateUpdate(spec: Obj, old: Obj, isStarted: boolean): FieldError[] {
  if (!isTrue(old, 'suspend') || isStarted)
    return immutable('spec.template', spec['template'], old['template']);
  const mutable = (template: Obj): Obj => {
    const {
      nodeSelector: _n,
      tolerations: _t,
      schedulingGates: _g,
      affinity,
      ...rest
    } = obj(template, 'spec');
    const { nodeAffinity: _a, ...affinities } = (affinity ?? {}) as Record<string, unknown>;
    const { labels: _l, annotations: _x, ...metadata } = obj(template, 'metadata');
    return { ...template, metadata, spec: { ...rest, affinity: affinities } };
  };
  const [next, before] = [mutable(obj(spec, 'template')), mutable(obj(old, 'template'))];
  return sameValue(next, before) ? [] : immutable('spec.template', spec['template'], old['template']);
}

function jobUpdate(job: Obj, before: Obj): FieldError[] {
  const [spec, old] = [obj(job, 'spec'), obj(before, 'spec')];
  const isIndexed = str(spec, 'completionMode') === 'Indexed';
  const inTandem =
    isIndexed &&
    !sameValue(spec['completions'], old['completions']) &&
    has(spec, 'completions') &&
    spec['completions'] !== spec['parallelism'];
  return [
    ...objectMetaUpdate(job, before),
    ...jobSpec('spec', spec),
    ...(isIndexed ? [] : immutable('spec.completions', spec['completions'], old['completions'])),
    ...(inTandem
      ? [
          invalid(
            'spec.completions',
            spec['completions'],
            'can only be modified in tandem with spec.parallelism',
          ),
        ]
      : []),
    ...immutable('spec.selector', spec['selector'], old['selector']),
    ...jobTemplateUpdate(spec, old, has(obj(before, 'status'), 'startTime')),
    ...['completionMode', 'podFailurePolicy', 'backoffLimitPerIndex', 'managedBy', 'successPolicy'].flatMap(
      (name) => immutable(child('spec', name), spec[name], old[name]),
    ),
  ];
}

export const JobRules: KindRules = {
  ...META,
  create: (job) => [...objectMeta(job, META), ...jobSpec('spec', obj(job, 'spec'))],
  update: jobUpdate,
};

const isKnownTimeZone = (zone: string): boolean => {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: zone }) !== undefined;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
};

function timeZone(path: FieldPath, spec: Obj): FieldError[] {
  if (!has(spec, 'timeZone')) return [];
  const zone = str(spec, 'timeZone');
  if (zone === '') return [invalid(path, zone, 'timeZone must be nil or non-empty string')];
  if (zone.toLowerCase() === 'local')
    return [
      invalid(
        path,
        zone,
        'timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones',
      ),
    ];
  const isSpelled = zone
    .split('/')
    .every((part) => /^[A-Za-z._0-9+][-A-Za-z._0-9+]*$/.test(part) && !/^\.\.?$/.test(part));
  return isSpelled && isKnownTimeZone(zone) ? [] : [invalid(path, zone, `unknown time zone ${zone}`)];
}

function schedule(path: FieldPath, text: string): FieldError[] {
  if (text === '') return [required(path)];
  const withoutZone = text.replace(/^(CRON_)?TZ=\S*\s+/, '');
  const parsed = parseCron(withoutZone);
  return [
    ...(parsed.kind === 'invalid' ? [invalid(path, text, parsed.message)] : []),
    ...(text.includes('TZ')
      ? [invalid(path, text, 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead')]
      : []),
  ];
}

function cronJobSpec(path: FieldPath, spec: Obj): FieldError[] {
  const job = obj(obj(spec, 'jobTemplate'), 'spec');
  const jobPath = child(path, 'jobTemplate', 'spec');
  return [
    ...schedule(child(path, 'schedule'), str(spec, 'schedule')),
    ...nonnegative(child(path, 'startingDeadlineSeconds'), num(spec, 'startingDeadlineSeconds')),
    ...timeZone(child(path, 'timeZone'), spec),
    ...oneOf(child(path, 'concurrencyPolicy'), str(spec, 'concurrencyPolicy'), [
      'Allow',
      'Forbid',
      'Replace',
    ]),
    ...jobSpecCommon(jobPath, job),
    ...(has(job, 'selector')
      ? [invalid(child(jobPath, 'selector'), job['selector'], '`selector` will be auto-generated')]
      : []),
    ...(isTrue(job, 'manualSelector')
      ? [notSupported(child(jobPath, 'manualSelector'), true, ['nil', 'false'])]
      : []),
    ...['successfulJobsHistoryLimit', 'failedJobsHistoryLimit'].flatMap((name) =>
      nonnegative(child(path, name), num(spec, name)),
    ),
  ];
}

const cronJobName = (job: Obj): FieldError[] => {
  const name = str(obj(job, 'metadata'), 'name');
  return name.length > CRON_JOB_NAME_MAX
    ? [invalid('metadata.name', name, `must be no more than ${CRON_JOB_NAME_MAX} characters`)]
    : [];
};

export const CronJobRules: KindRules = {
  ...META,
  create: (job) => [...objectMeta(job, META), ...cronJobSpec('spec', obj(job, 'spec')), ...cronJobName(job)],
  update: (job, before) => [...objectMetaUpdate(job, before), ...cronJobSpec('spec', obj(job, 'spec'))],
};
