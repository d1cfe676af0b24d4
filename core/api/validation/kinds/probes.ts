import { format, nonnegative, portNumberOrName, portNumber, supportedOnly } from '../checks.ts';
import type { FieldError } from '../../field/field-error.ts';
import { forbidden, invalid, required } from '../../field/field-error.ts';
import type { FieldPath } from '../../field/field-path.ts';
import { child } from '../../field/field-path.ts';
import { isHttpHeaderName } from '../../field/formats.ts';
import type { Obj } from '../read.ts';
import { has, int, maybeObj, num, objs, str, strs } from '../read.ts';

const HANDLERS = ['exec', 'httpGet', 'tcpSocket', 'grpc', 'sleep'] as const;
type HandlerName = (typeof HANDLERS)[number];

interface Grace {
  readonly graceSeconds: number | undefined;
}

function handlerDetails(
  path: FieldPath,
  name: HandlerName,
  action: Obj,
  { graceSeconds }: Grace,
): FieldError[] {
  switch (name) {
    case 'exec':
      return strs(action, 'command').length === 0 ? [required(child(path, 'command'))] : [];
    case 'httpGet':
      return [
        ...(str(action, 'path') === '' ? [required(child(path, 'path'))] : []),
        ...portNumberOrName(child(path, 'port'), action['port']),
        ...supportedOnly(child(path, 'scheme'), str(action, 'scheme'), ['HTTP', 'HTTPS']),
        ...objs(action, 'httpHeaders').flatMap((header) =>
          format(child(path, 'httpHeaders'), str(header, 'name'), isHttpHeaderName),
        ),
      ];
    case 'tcpSocket':
      return portNumberOrName(child(path, 'port'), action['port']);
    case 'grpc':
      return portNumber(child(path, 'port'), int(action, 'port'));
    case 'sleep': {
      const seconds = int(action, 'seconds');
      if (graceSeconds === undefined || (seconds >= 0 && seconds <= graceSeconds)) return [];
      return [
        invalid(
          path,
          seconds,
          `must be greater than 0 and less than terminationGracePeriodSeconds (${graceSeconds}). Enable AllowPodLifecycleSleepActionZeroValue feature gate for zero sleep.`,
        ),
      ];
    }
  }
}

function handler(path: FieldPath, of: Obj, allowed: readonly HandlerName[], grace: Grace): FieldError[] {
  const errors: FieldError[] = [];
  let found = 0;
  for (const name of allowed) {
    const action = maybeObj(of, name);
    if (action === undefined) continue;
    found += 1;
    if (found > 1) errors.push(forbidden(child(path, name), 'may not specify more than 1 handler type'));
    else errors.push(...handlerDetails(child(path, name), name, action, grace));
  }
  return found === 0 ? [required(path, 'must specify a handler type')] : errors;
}

const COUNTERS = [
  'initialDelaySeconds',
  'timeoutSeconds',
  'periodSeconds',
  'successThreshold',
  'failureThreshold',
] as const;

function probe(path: FieldPath, of: Obj, grace: Grace): FieldError[] {
  const terminationSeconds = num(of, 'terminationGracePeriodSeconds');
  return [
    ...handler(path, of, ['exec', 'httpGet', 'tcpSocket', 'grpc'], grace),
    ...COUNTERS.flatMap((name) => nonnegative(child(path, name), num(of, name))),
    ...(terminationSeconds !== undefined && terminationSeconds <= 0
      ? [invalid(child(path, 'terminationGracePeriodSeconds'), terminationSeconds, 'must be greater than 0')]
      : []),
  ];
}

function successIsOne(path: FieldPath, of: Obj): FieldError[] {
  const threshold = int(of, 'successThreshold');
  return threshold === 1 ? [] : [invalid(child(path, 'successThreshold'), threshold, 'must be 1')];
}

export function probes(path: FieldPath, container: Obj, grace: Grace): FieldError[] {
  const errors: FieldError[] = [];
  const lifecycle = maybeObj(container, 'lifecycle');
  if (lifecycle !== undefined)
    for (const name of ['postStart', 'preStop']) {
      const hook = maybeObj(lifecycle, name);
      if (hook !== undefined) errors.push(...handler(child(path, 'lifecycle', name), hook, HANDLERS, grace));
    }
  const liveness = maybeObj(container, 'livenessProbe');
  if (liveness !== undefined) {
    const at = child(path, 'livenessProbe');
    errors.push(...probe(at, liveness, grace), ...successIsOne(at, liveness));
  }
  const readiness = maybeObj(container, 'readinessProbe');
  if (readiness !== undefined) {
    const at = child(path, 'readinessProbe');
    errors.push(...probe(at, readiness, grace));
    if (has(readiness, 'terminationGracePeriodSeconds'))
      errors.push(
        invalid(
          child(at, 'terminationGracePeriodSeconds'),
          readiness['terminationGracePeriodSeconds'],
          'must not be set for readinessProbes',
        ),
      );
  }
  const startup = maybeObj(container, 'startupProbe');
  if (startup !== undefined) {
    const at = child(path, 'startupProbe');
    errors.push(...probe(at, startup, grace), ...successIsOne(at, startup));
  }
  return errors;
}
