import { duplicates, format, label, oneOf, portNumber, qualifiedName } from '../checks.ts';
import type { FieldError } from '../../field/field-error.ts';
import { duplicate, forbidden, invalid, notFound, notSupported, required } from '../../field/field-error.ts';
import type { FieldPath } from '../../field/field-path.ts';
import { child, index } from '../../field/field-path.ts';
import {
  isConfigMapKey,
  isDns1123Subdomain,
  isPortName,
  isPosixId,
  isRelaxedEnvVarName,
} from '../../field/formats.ts';
import type { Obj } from '../read.ts';
import { has, int, isTrue, maybeObj, num, obj, objs, str, strs } from '../read.ts';
import {
  appArmorProfile,
  initResizePolicy,
  initRestartPolicy,
  procMount,
  recursiveReadOnly,
  resizePolicy,
  restartPolicy,
} from './container-policies.ts';
import { probes } from './probes.ts';
import { resourceRequirements } from './resources.ts';
import { localDescendingPath, noBacksteps } from './volumes.ts';

export const PROTOCOLS = ['SCTP', 'TCP', 'UDP'];

/** What of the pod a container is checked against. */
export interface PodContext {
  readonly volumes: ReadonlyMap<string, Obj>;
  readonly claims: ReadonlySet<string>;
  readonly graceSeconds: number | undefined;
  readonly restartPolicy: string;
  readonly usesHostUsers: boolean;
}

function ports(path: FieldPath, list: readonly Obj[]): FieldError[] {
  const names = new Set<string>();
  return list.flatMap((port, i) => {
    const at = index(path, i);
    const name = str(port, 'name');
    const errors: FieldError[] = [];
    if (name !== '') {
      const wrong = format(child(at, 'name'), name, isPortName);
      errors.push(...wrong);
      if (wrong.length === 0 && names.has(name)) errors.push(duplicate(child(at, 'name'), name));
      names.add(name);
    }
    const containerPort = int(port, 'containerPort');
    errors.push(
      ...(containerPort === 0
        ? [required(child(at, 'containerPort'))]
        : portNumber(child(at, 'containerPort'), containerPort)),
    );
    if (int(port, 'hostPort') !== 0) errors.push(...portNumber(child(at, 'hostPort'), int(port, 'hostPort')));
    return [...errors, ...oneOf(child(at, 'protocol'), str(port, 'protocol'), PROTOCOLS)];
  });
}

export function hostPortConflicts(path: FieldPath, containers: readonly Obj[]): FieldError[] {
  const seen = new Set<string>();
  return containers.flatMap((container, c) =>
    objs(container, 'ports').flatMap((port, p) => {
      if (int(port, 'hostPort') === 0) return [];
      const id = `${str(port, 'protocol')}/${str(port, 'hostIP')}/${int(port, 'hostPort')}`;
      if (seen.has(id)) return [duplicate(child(index(child(index(path, c), 'ports'), p), 'hostPort'), id)];
      seen.add(id);
      return [];
    }),
  );
}

const keySelector = (path: FieldPath, selector: Obj): FieldError[] => [
  ...format(child(path, 'name'), str(selector, 'name'), isDns1123Subdomain),
  ...(str(selector, 'key') === ''
    ? [required(child(path, 'key'))]
    : format(child(path, 'key'), str(selector, 'key'), isConfigMapKey)),
];

const ENV_FIELDS = [
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
];
const SUBSCRIPTED = /^(metadata\.(?:labels|annotations))\['(.*)'\]$/;

function fieldRef(path: FieldPath, reference: Obj): FieldError[] {
  const fieldPath = str(reference, 'fieldPath');
  if (str(reference, 'apiVersion') === '') return [required(child(path, 'apiVersion'))];
  if (fieldPath === '') return [required(child(path, 'fieldPath'))];
  const subscripted = SUBSCRIPTED.exec(fieldPath);
  if (subscripted !== null) {
    const name = subscripted[2] ?? '';
    return qualifiedName(path, fieldPath.startsWith('metadata.annotations') ? name.toLowerCase() : name);
  }
  if (ENV_FIELDS.includes(fieldPath)) return [];
  if (fieldPath === 'metadata.labels' || fieldPath === 'metadata.annotations')
    return [notSupported(child(path, 'fieldPath'), fieldPath, ENV_FIELDS)];
  return [
    invalid(
      child(path, 'fieldPath'),
      fieldPath,
      `error converting fieldPath: field label not supported: ${fieldPath}`,
    ),
  ];
}

const ENV_SOURCES = ['fieldRef', 'resourceFieldRef', 'configMapKeyRef', 'secretKeyRef', 'fileKeyRef'];

function envValueFrom(path: FieldPath, variable: Obj): FieldError[] {
  const from = maybeObj(variable, 'valueFrom');
  if (from === undefined) return [];
  const errors: FieldError[] = [];
  const given = ENV_SOURCES.filter((name) => has(from, name));
  for (const name of given) {
    const at = child(path, name);
    const source = obj(from, name);
    if (name === 'fieldRef') errors.push(...fieldRef(at, source));
    else if (name === 'resourceFieldRef' && str(source, 'resource') === '')
      errors.push(required(child(at, 'resource')));
    else if (name.endsWith('KeyRef') && name !== 'fileKeyRef') errors.push(...keySelector(at, source));
  }
  if (given.length === 0)
    errors.push(
      invalid(
        path,
        '',
        'must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`',
      ),
    );
  else if (str(variable, 'value') !== '')
    errors.push(invalid(path, '', 'may not be specified when `value` is not empty'));
  else if (given.length > 1)
    errors.push(invalid(path, '', 'may not have more than one field specified at a time'));
  return errors;
}

const env = (path: FieldPath, list: readonly Obj[]): FieldError[] =>
  list.flatMap((variable, i) => {
    const at = index(path, i);
    const name = str(variable, 'name');
    return [
      ...(name === '' ? [required(child(at, 'name'))] : format(child(at, 'name'), name, isRelaxedEnvVarName)),
      ...envValueFrom(child(at, 'valueFrom'), variable),
    ];
  });

const envFrom = (path: FieldPath, list: readonly Obj[]): FieldError[] =>
  list.flatMap((source, i) => {
    const at = index(path, i);
    const given = ['configMapRef', 'secretRef'].filter((name) => has(source, name));
    return [
      ...(str(source, 'prefix') === ''
        ? []
        : format(child(at, 'prefix'), str(source, 'prefix'), isRelaxedEnvVarName)),
      ...given.flatMap((name) =>
        str(obj(source, name), 'name') === ''
          ? [required(child(at, name, 'name'))]
          : format(child(at, name, 'name'), str(obj(source, name), 'name'), isDns1123Subdomain),
      ),
      ...(given.length === 0
        ? [invalid(path, '', 'must specify one of: `configMapRef` or `secretRef`')]
        : []),
      ...(given.length > 1
        ? [invalid(path, '', 'may not have more than one field specified at a time')]
        : []),
    ];
  });

function volumeMounts(path: FieldPath, container: Obj, context: PodContext): FieldError[] {
  const devices = objs(container, 'volumeDevices');
  const seen = new Set<string>();
  return objs(container, 'volumeMounts').flatMap((mount, i) => {
    const at = index(path, i);
    const name = str(mount, 'name');
    const mountPath = str(mount, 'mountPath');
    const errors: FieldError[] = [];
    if (name === '') errors.push(required(child(at, 'name')));
    if (!context.volumes.has(name)) errors.push(notFound(child(at, 'name'), name));
    if (mountPath === '') errors.push(required(child(at, 'mountPath')));
    if (seen.has(mountPath)) errors.push(invalid(child(at, 'mountPath'), mountPath, 'must be unique'));
    seen.add(mountPath);
    if (devices.some((device) => str(device, 'name') === name))
      errors.push(invalid(child(at, 'name'), name, 'must not already exist in volumeDevices'));
    const subPath = str(mount, 'subPath');
    if (subPath !== '') errors.push(...localDescendingPath(child(path, 'subPath'), subPath));
    const expression = str(mount, 'subPathExpr');
    if (expression !== '') {
      if (subPath !== '')
        errors.push(
          invalid(child(at, 'subPathExpr'), expression, 'subPathExpr and subPath are mutually exclusive'),
        );
      errors.push(...localDescendingPath(child(path, 'subPathExpr'), expression));
    }
    return [
      ...errors,
      ...mountPropagation(child(path, 'mountPropagation'), mount, container),
      ...recursiveReadOnly(child(path, 'recursiveReadOnly'), mount),
    ];
  });
}

const PROPAGATIONS = ['Bidirectional', 'HostToContainer', 'None'];

function mountPropagation(path: FieldPath, mount: Obj, container: Obj): FieldError[] {
  if (!has(mount, 'mountPropagation')) return [];
  const mode = str(mount, 'mountPropagation');
  if (!PROPAGATIONS.includes(mode)) return [notSupported(path, mode, PROPAGATIONS)];
  return mode === 'Bidirectional' && !isTrue(obj(container, 'securityContext'), 'privileged')
    ? [forbidden(path, 'Bidirectional mount propagation is available only to privileged containers')]
    : [];
}

function volumeDevices(path: FieldPath, container: Obj, context: PodContext): FieldError[] {
  const paths = new Set<string>();
  return objs(container, 'volumeDevices').flatMap((device, i) => {
    const at = index(path, i);
    const name = str(device, 'name');
    const devicePath = str(device, 'devicePath');
    const volume = context.volumes.get(name);
    const errors: FieldError[] = [];
    if (name === '') errors.push(required(child(at, 'name')));
    if (volume === undefined) errors.push(notFound(child(at, 'name'), name));
    else if (!has(volume, 'persistentVolumeClaim') && !has(volume, 'ephemeral'))
      errors.push(
        invalid(
          child(at, 'name'),
          name,
          'can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode',
        ),
      );
    if (devicePath === '') errors.push(required(child(at, 'devicePath')));
    if (paths.has(devicePath)) errors.push(invalid(child(at, 'devicePath'), devicePath, 'must be unique'));
    paths.add(devicePath);
    if (noBacksteps(path, devicePath).length > 0)
      errors.push(invalid(child(at, 'devicePath'), devicePath, "can not contain backsteps ('..')"));
    return errors;
  });
}

export const posixId = (path: FieldPath, of: Obj, name: string): FieldError[] => {
  const value = num(of, name);
  return value === undefined
    ? []
    : isPosixId(value).map((message) => invalid(child(path, name), value, message));
};

export function seccompProfile(path: FieldPath, of: Obj): FieldError[] {
  const profile = maybeObj(of, 'seccompProfile');
  if (profile === undefined) return [];
  const at = child(path, 'seccompProfile');
  const type = str(profile, 'type');
  const file = str(profile, 'localhostProfile');
  const isSaid = has(profile, 'localhostProfile');
  const errors =
    type === ''
      ? [required(child(at, 'type'), 'type is required when seccompProfile is set')]
      : oneOf(child(at, 'type'), type, ['Localhost', 'RuntimeDefault', 'Unconfined']);
  if (type === 'Localhost')
    return !isSaid
      ? [...errors, required(child(at, 'localhostProfile'), 'must be set when seccomp type is Localhost')]
      : [...errors, ...localDescendingPath(child(at, 'localhostProfile'), file)];
  return !isSaid
    ? errors
    : [
        ...errors,
        invalid(child(at, 'localhostProfile'), profile, 'can only be set when seccomp type is Localhost'),
      ];
}

function securityContext(path: FieldPath, container: Obj, usesHostUsers: boolean): FieldError[] {
  const context = maybeObj(container, 'securityContext');
  if (context === undefined) return [];
  const errors = [
    ...posixId(path, context, 'runAsUser'),
    ...posixId(path, context, 'runAsGroup'),
    ...procMount(path, context, usesHostUsers),
    ...seccompProfile(path, context),
  ];
  const profile = appArmorProfile(path, context);
  if (context['allowPrivilegeEscalation'] !== false) return [...errors, ...profile];
  if (isTrue(context, 'privileged'))
    errors.push(
      invalid(path, context, 'cannot set `allowPrivilegeEscalation` to false and `privileged` to true'),
    );
  if (strs(obj(context, 'capabilities'), 'add').includes('CAP_SYS_ADMIN'))
    errors.push(
      invalid(
        path,
        context,
        'cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN',
      ),
    );
  return [...errors, ...profile];
}

export function containerCommon(path: FieldPath, container: Obj, context: PodContext): FieldError[] {
  const name = str(container, 'name');
  return [
    ...(name === '' ? [required(child(path, 'name'))] : label(child(path, 'name'), name)),
    ...(str(container, 'image') === '' ? [required(child(path, 'image'))] : []),
    ...oneOf(child(path, 'terminationMessagePolicy'), str(container, 'terminationMessagePolicy'), [
      'File',
      'FallbackToLogsOnError',
    ]),
    ...ports(child(path, 'ports'), objs(container, 'ports')),
    ...env(child(path, 'env'), objs(container, 'env')),
    ...envFrom(child(path, 'envFrom'), objs(container, 'envFrom')),
    ...volumeMounts(child(path, 'volumeMounts'), container, context),
    ...volumeDevices(child(path, 'volumeDevices'), container, context),
    ...oneOf(child(path, 'imagePullPolicy'), str(container, 'imagePullPolicy'), [
      'Always',
      'IfNotPresent',
      'Never',
    ]),
    ...resourceRequirements(child(path, 'resources'), obj(container, 'resources'), context.claims),
    ...resizePolicy(child(path, 'resizePolicy'), objs(container, 'resizePolicy'), context.restartPolicy),
    ...securityContext(child(path, 'securityContext'), container, context.usesHostUsers),
  ];
}

export function containers(path: FieldPath, list: readonly Obj[], context: PodContext): FieldError[] {
  if (list.length === 0) return [required(path)];
  const names = list.map((container) => str(container, 'name'));
  return [
    ...list.flatMap((container, i) => [
      ...containerCommon(index(path, i), container, context),
      ...probes(index(path, i), container, context),
      ...restartPolicy(index(path, i), container),
    ]),
    ...duplicates(names, (i) => child(index(path, i), 'name'), duplicate),
    ...hostPortConflicts(path, list),
  ];
}

const SIDECAR_ONLY = ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe'] as const;

export function initContainers(
  path: FieldPath,
  list: readonly Obj[],
  regular: readonly Obj[],
  context: PodContext,
): FieldError[] {
  const names = new Set(regular.map((container) => str(container, 'name')));
  return list.flatMap((container, i) => {
    const at = index(path, i);
    const name = str(container, 'name');
    const errors = containerCommon(at, container, context);
    errors.push(...initRestartPolicy(at, container));
    if (names.has(name)) errors.push(duplicate(child(at, 'name'), name));
    else if (name !== '') names.add(name);
    errors.push(...hostPortConflicts(path, [container]));
    if (str(container, 'restartPolicy') === 'Always') return [...errors, ...probes(at, container, context)];
    for (const field of SIDECAR_ONLY)
      if (has(container, field))
        errors.push(
          forbidden(child(at, field), 'may not be set for init containers without restartPolicy=Always'),
        );
    return [...errors, ...initResizePolicy(at, container)];
  });
}
