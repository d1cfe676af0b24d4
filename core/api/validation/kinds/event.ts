import { immutable, qualifiedName, subdomain } from '../checks.ts';
import type { FieldError } from '../../field/field-error.ts';
import { invalid, required } from '../../field/field-error.ts';
import { nameIsDnsSubdomain } from '../../field/formats.ts';
import { byteLength } from '../../field/go-text.ts';
import { objectMeta, objectMetaUpdate } from '../object-meta.ts';
import type { Obj } from '../read.ts';
import { has, int, maybeObj, obj, sameValue, str } from '../read.ts';

const META = { namespaced: true, name: nameIsDnsSubdomain };
const TEXT_BYTES_MAX = 128;
const MESSAGE_BYTES_MAX = 1024;
const OTHER_NAMESPACE = 'does not match event.namespace';

const bounded = (path: string, text: string, bytesMax: number): FieldError[] =>
  byteLength(text) > bytesMax ? [invalid(path, '', `can have at most ${bytesMax} characters`)] : [];

const needed = (path: string, text: string): FieldError[] => [
  ...(text === '' ? [required(path)] : []),
  ...bounded(path, text, TEXT_BYTES_MAX),
];

/** Events with a time of their own come from the newer recorders, which fill in more. */
function everyEvent(event: Obj, isStrict: boolean): FieldError[] {
  const namespace = str(obj(event, 'metadata'), 'namespace');
  const involved = str(obj(event, 'involvedObject'), 'namespace');
  const other = invalid('involvedObject.namespace', involved, OTHER_NAMESPACE);
  const named = subdomain('namespace', namespace);
  if (!has(event, 'eventTime')) {
    const isSame = involved === '' ? namespace === '' || namespace === 'default' : namespace === involved;
    return [...(isSame ? [] : [other]), ...named];
  }
  const controller = str(event, 'reportingComponent');
  const controllerPath = isStrict ? 'reportingController' : 'reportingComponent';
  return [
    ...(involved === '' && namespace !== 'default' && namespace !== 'kube-system' ? [other] : []),
    ...(controller === '' ? [required(controllerPath)] : []),
    ...qualifiedName(controllerPath, controller),
    ...needed('reportingInstance', str(event, 'reportingInstance')),
    ...needed('action', str(event, 'action')),
    ...needed('reason', str(event, 'reason')),
    ...bounded('message', str(event, 'message'), MESSAGE_BYTES_MAX),
    ...named,
  ];
}

function series(event: Obj): FieldError[] {
  const found = maybeObj(event, 'series');
  if (found === undefined) return [];
  return [
    ...(int(found, 'count') < 2 ? [invalid('series.count', '', 'should be at least 2')] : []),
    ...(has(found, 'lastObservedTime') ? [] : [required('series.lastObservedTime')]),
  ];
}

const UNSET = 'needs to be unset';

/** As it is stored, in core's version. `isStrict`: through events.k8s.io, which has no old clients to spare. */
export const eventErrors = (event: Obj, isStrict: boolean): FieldError[] => {
  const errors = everyEvent(event, isStrict);
  if (!isStrict) return errors;
  const [type, source] = [str(event, 'type'), obj(event, 'source')];
  return [
    ...errors,
    ...objectMeta(event, META),
    ...series(event),
    ...(has(event, 'eventTime') ? [] : [required('eventTime')]),
    ...(type === 'Normal' || type === 'Warning' ? [] : [invalid('type', '', `has invalid value: ${type}`)]),
    ...(has(event, 'firstTimestamp') ? [invalid('firstTimestamp', '', UNSET)] : []),
    ...(has(event, 'lastTimestamp') ? [invalid('lastTimestamp', '', UNSET)] : []),
    ...(int(event, 'count') === 0 ? [] : [invalid('count', '', UNSET)]),
    ...(str(source, 'component') + str(source, 'host') === '' ? [] : [invalid('source', '', UNSET)]),
  ];
};

const FIXED = [
  'involvedObject',
  'reason',
  'message',
  'source',
  'firstTimestamp',
  'lastTimestamp',
  'count',
  'type',
  'eventTime',
  'action',
  'related',
] as const;

export const eventUpdateErrors = (event: Obj, before: Obj, isStrict: boolean): FieldError[] => {
  const errors = everyEvent(event, isStrict);
  if (!isStrict) return errors;
  return [
    ...errors,
    ...objectMetaUpdate(event, before),
    ...(sameValue(event['series'], before['series']) ? [] : series(event)),
    ...FIXED.flatMap((name) => immutable(name, event[name], before[name])),
    ...immutable('reportingController', event['reportingComponent'], before['reportingComponent']),
    ...immutable('reportingInstance', event['reportingInstance'], before['reportingInstance']),
  ];
};
