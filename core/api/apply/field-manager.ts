import { ReasonError } from '../../base/errors.ts';
import { groupVersionKindText, parseApiVersion } from '../meta/group-version.ts';
import { badRequest } from '../meta/status-errors.ts';
import type { JsonObject } from '../patch/json.ts';
import { getOwn } from '../patch/json.ts';
import { conflictStatus } from './conflicts.ts';
import { FieldSet } from './field-set.ts';
import {
  KUBECTL_MANAGER,
  lastAppliedOf,
  unchangedSinceLastApplied,
  withLastApplied,
} from './last-applied.ts';
import type { Managed, VersionedSet } from './managed-fields.ts';
import {
  decodeManagedFields,
  emptyManaged,
  encodeManagedFields,
  isReset,
  managedFieldsOf,
  managerId,
  metadataOf,
  withManagedFields,
} from './managed-fields.ts';
import { fieldElement } from './path-element.ts';
import { typeErrors } from './typed-fields.ts';
import type { Applied, Managers, Versions } from './updater.ts';
import { applyConfig, ConflictsError, recordUpdate } from './updater.ts';

/** Older updaters beyond this are folded into one, or an object with many writers would only grow. */
export const UPDATE_MANAGERS_MAX = 10;

const OLD_UPDATES_MANAGER = 'ancient-changes';
const BEFORE_FIRST_APPLY_MANAGER = 'before-first-apply';
const CURRENT_OPERATION = '{"manager":"current-operation"}';

/** What the server sets belongs to no one. */
const UNMANAGED = FieldSet.of(
  ...['apiVersion', 'kind', 'metadata'].map((name) => [fieldElement(name)]),
  ...[
    'name',
    'namespace',
    'creationTimestamp',
    'selfLink',
    'uid',
    'clusterName',
    'generation',
    'managedFields',
    'resourceVersion',
  ].map((name) => ['f:metadata', fieldElement(name)]),
);

/** One endpoint: a kind in the version of the request, and the subresource if it is one. */
export interface FieldManagerConfig {
  readonly apiVersion: string;
  readonly kind: string;
  readonly subresource?: string;
  readonly versions: Versions;
  /**
   * What a new object is before anything is set: the structs that are held by value are there, so that setting
   * a field in one does not make its setter the owner of the struct.
   */
  readonly empty?: JsonObject;
  /** Fills in defaults after an apply: a field that was given up may have one. */
  readonly defaults?: (object: JsonObject) => JsonObject;
}

export interface UpdateRequest {
  /** Undefined on create. */
  readonly live: JsonObject | undefined;
  readonly next: JsonObject;
  readonly manager: string;
  /** RFC 3339, whole seconds: the clock is the caller's. */
  readonly time: string;
}

export interface ApplyRequest {
  readonly live: JsonObject | undefined;
  readonly config: JsonObject;
  readonly manager: string;
  readonly force: boolean;
  readonly time: string;
}

export interface FieldManager {
  /** The object with managedFields that tell of this create, update or patch. Never fails for its entries. */
  update(request: UpdateRequest): JsonObject;
  /** The object after the apply. Throws StatusError: 409 with causes on conflict, 400 for a bad configuration. */
  apply(request: ApplyRequest): JsonObject;
}

export function createFieldManager(config: FieldManagerConfig): FieldManager {
  const subresource = config.subresource ?? '';
  const idOf = (manager: string, operation: 'Apply' | 'Update'): string =>
    managerId({ manager: manager || 'unknown', operation, apiVersion: config.apiVersion, subresource });

  return {
    update({ live, next, manager, time }) {
      const managed = managedForUpdate(live, next, subresource !== '');
      const bare = withManagedFields(next, undefined);
      const isCreate = uidOf(live) === '';
      // An object that no one has ever tracked is only tracked from its first apply on.
      if (managed.fields.size === 0 && !isCreate) return bare;
      const before = live === undefined ? emptyObject(config) : withManagedFields(live, undefined);
      const tracked = trackUpdate(managed, {
        before,
        after: bare,
        id: idOf(manager, 'Update'),
        time,
        config,
      });
      return withManagedFields(bare, encodeManagedFields(foldOldUpdaters(tracked)));
    },

    apply({ live, config: applied, manager, force, time }) {
      checkConfiguration(applied, config);
      const before = live === undefined ? emptyObject(config) : withManagedFields(live, undefined);
      let managed = decodeManagedFields(live && managedFieldsOf(live));
      if (managed.fields.size === 0)
        managed = foldOldUpdaters(
          trackUpdate(managed, {
            before: emptyObject(config),
            after: before,
            id: idOf(BEFORE_FIRST_APPLY_MANAGER, 'Update'),
            time,
            config,
          }),
        );
      const id = idOf(manager, 'Apply');
      const attempt = (mayTake: boolean): Applied =>
        applyConfig(
          managed.fields,
          { live: before, config: applied, apiVersion: config.apiVersion, actor: id, force: mayTake },
          config.versions,
        );
      const result = applyOrConflict(attempt, { before, manager, force, config });
      stripUnmanaged(result.managers, id);
      const times = new Map(managed.times);
      if (result.object !== undefined) times.set(id, time);
      let object = result.object ?? before;
      if (config.defaults !== undefined && result.object !== undefined) object = config.defaults(object);
      if (manager === KUBECTL_MANAGER && lastAppliedOf(object) !== undefined)
        object = withLastApplied(object, applied);
      return withManagedFields(object, encodeManagedFields({ fields: result.managers, times }));
    },
  };
}

const emptyObject = ({ apiVersion, kind, empty }: FieldManagerConfig): JsonObject => ({
  ...empty,
  apiVersion,
  kind,
});

const uidOf = (object: JsonObject | undefined): string => {
  const uid = object && getOwn(metadataOf(object), 'uid');
  return typeof uid === 'string' ? uid : '';
};

function decodeOrEmpty(entries: Parameters<typeof decodeManagedFields>[0]): Managed {
  try {
    return decodeManagedFields(entries);
  } catch (error) {
    if (error instanceof ReasonError && error.reason === 'FieldsMalformed') return emptyManaged();
    throw error;
  }
}

/** The entries of the request, if it brings any that can be read; those of a subresource are not its to bring. */
function managedForUpdate(live: JsonObject | undefined, next: JsonObject, isSubresource: boolean): Managed {
  const held = live && managedFieldsOf(live);
  if (isSubresource) return decodeOrEmpty(held);
  const given = managedFieldsOf(next);
  if (isReset(given)) return emptyManaged();
  const decoded = decodeOrEmpty(given);
  return decoded.fields.size === 0 ? decodeOrEmpty(held) : decoded;
}

function trackUpdate(
  managed: Managed,
  step: {
    readonly before: JsonObject;
    readonly after: JsonObject;
    readonly id: string;
    readonly time: string;
    readonly config: FieldManagerConfig;
  },
): Managed {
  const { config } = step;
  const fields = recordUpdate(
    managed.fields,
    { before: step.before, after: step.after, apiVersion: config.apiVersion, actor: CURRENT_OPERATION },
    config.versions,
  );
  stripUnmanaged(fields, CURRENT_OPERATION);
  const times = new Map(managed.times);
  // The actor gets an entry, and a new time, only if it changed something.
  const changed = fields.get(CURRENT_OPERATION);
  if (changed !== undefined) {
    fields.delete(CURRENT_OPERATION);
    const previous = fields.get(step.id);
    const set = previous === undefined ? changed.set : changed.set.union(previous.set);
    fields.set(step.id, { ...changed, set });
    times.set(step.id, step.time);
  }
  return { fields, times };
}

function stripUnmanaged(fields: Managers, id: string): void {
  const owned = fields.get(id);
  if (owned === undefined) return;
  const set = owned.set.difference(UNMANAGED);
  if (set.isEmpty) fields.delete(id);
  else fields.set(id, { ...owned, set });
}

function foldOldUpdaters(managed: Managed): Managed {
  const updaters = [...managed.fields]
    .filter(([, { applied }]) => !applied)
    .map(([id]) => id)
    .sort((a, b) => {
      const [left, right] = [managed.times.get(a) ?? '', managed.times.get(b) ?? ''];
      if (left !== right) return left < right ? -1 : 1;
      return a < b ? -1 : 1;
    });
  let count = updaters.length;
  if (count <= UPDATE_MANAGERS_MAX) return managed;
  const fields = new Map(managed.fields);
  const times = new Map(managed.times);
  const firstOf = new Map<string, string>();
  for (const id of updaters) {
    if (count <= UPDATE_MANAGERS_MAX) break;
    const owned = fields.get(id);
    if (owned === undefined) continue;
    const first = firstOf.get(owned.apiVersion);
    if (first === undefined) {
      firstOf.set(owned.apiVersion, id);
      continue;
    }
    const bucket = managerId({
      manager: OLD_UPDATES_MANAGER,
      operation: 'Update',
      apiVersion: owned.apiVersion,
      subresource: '',
    });
    const gathered: VersionedSet | undefined = fields.get(bucket) ?? fields.get(first);
    if (!fields.has(bucket)) fields.delete(first);
    fields.delete(id);
    fields.set(bucket, { ...owned, set: gathered === undefined ? owned.set : owned.set.union(gathered.set) });
    const time = times.get(id);
    if (time !== undefined) times.set(bucket, time);
    count -= 1;
  }
  return { fields, times };
}

function checkConfiguration(applied: JsonObject, config: FieldManagerConfig): void {
  const apiVersion = String(getOwn(applied, 'apiVersion') ?? '');
  const kind = String(getOwn(applied, 'kind') ?? '');
  const given = parseApiVersion(apiVersion) ?? { group: '', version: '' };
  if (kind !== config.kind || apiVersion !== config.apiVersion)
    throw badRequest(`invalid object type: ${groupVersionKindText({ ...given, kind })}`);
  const entries = managedFieldsOf(applied);
  if (entries !== undefined && entries !== null) throw badRequest('metadata.managedFields must be nil');
  const type = config.versions.typeOf(config.apiVersion);
  const errors = type === undefined ? [] : typeErrors(applied, type);
  if (errors.length === 0) return;
  const metadata = metadataOf(applied);
  const name = `${String(getOwn(metadata, 'namespace') ?? '')}/${String(getOwn(metadata, 'name') ?? '')}`;
  const text =
    errors.length === 1 ? errors[0] : ['errors:', ...errors.map((error) => `  ${error}`)].join('\n');
  throw new ReasonError(
    'ConfigurationMistyped',
    `failed to create typed patch object (${name}; ${given.group}/${given.version}, Kind=${kind}): ${text}`,
  );
}

function applyOrConflict(
  attempt: (force: boolean) => Applied,
  context: {
    readonly before: JsonObject;
    readonly manager: string;
    readonly force: boolean;
    readonly config: FieldManagerConfig;
  },
): Applied {
  try {
    return attempt(context.force);
  } catch (error) {
    if (!(error instanceof ConflictsError)) throw error;
    const { config, before } = context;
    const allowed =
      context.manager === KUBECTL_MANAGER
        ? unchangedSinceLastApplied(before, config.apiVersion, config.versions)
        : undefined;
    if (allowed === undefined) throw conflictStatus(error.conflicts);
    const rest = error.conflicts.filter(({ path }) => !allowed.has(path));
    if (rest.length > 0) throw conflictStatus(rest);
    return attempt(true);
  }
}
