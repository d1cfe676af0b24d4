import { hasStatusReason, methodNotAllowed, type KubernetesObject } from '../../api/meta/index.ts';
import type { Updated, UpdateOptions } from '../registry/rest-storage.ts';
import { authorizeCreate, mutate, validator } from './admission.ts';
import type { Handler, HandlerCall } from './handler-call.ts';
import { trackUpdate, trackViewed } from './managed-fields.ts';
import { checkName, dedupOwners, ensureNamespace, metaOf } from './object-checks.ts';
import { readObject } from './request-body.ts';
import { objectForm, sendHeld } from './respond.ts';
import { writeOptionsOf, type WriteOptions } from './write-options.ts';

/** Makes the object that is wanted of the one there is, in the version of the path. Called for each attempt. */
export type MakeNext = (live: KubernetesObject | undefined) => Promise<KubernetesObject> | KubernetesObject;

export interface Change {
  readonly options: WriteOptions;
  readonly createIfMissing: boolean;
  readonly isPatch?: boolean;
  readonly next: MakeNext;
  /** Through a view: the object behind it with who owns what was changed. An update's unless said otherwise. */
  readonly trackBehind?: (live: KubernetesObject, next: KubernetesObject) => KubernetesObject;
}

/** The callbacks of one update, in upstream's order: make, admit, validate, write. */
const updateOptions = (
  call: HandlerCall,
  { options, createIfMissing, isPatch = false, next, trackBehind }: Change,
  keepsManagers: boolean,
): UpdateOptions => {
  const { endpoint, scope, timer } = call;
  const { isDryRun } = options;
  const creating = { operation: 'CREATE', options: options.objectAs('CreateOptions'), isDryRun } as const;
  const updating = { operation: 'UPDATE', options: options.objectAs('UpdateOptions'), isDryRun } as const;
  const validateCreate = validator(call, creating);
  return {
    dryRun: isDryRun,
    createIfMissing,
    isPatch,
    async change(current) {
      timer.enter('conversion');
      if (current) await endpoint.prepare?.([current]);
      const live = current && endpoint.fromHub(current);
      const wanted = endpoint.toHub(await next(live));
      const object = await mutate(call, {
        ...(current ? updating : creating),
        object: wanted,
        oldObject: current,
      });
      timer.enter('validation');
      dedupOwners(metaOf(object), true, (text) => scope.warn(text));
      if (!keepsManagers) delete metaOf(object).managedFields;
      return object;
    },
    track:
      trackBehind ??
      ((live, after) => trackViewed(call, { live, next: after, fieldManager: options.fieldManager })),
    async validateCreate(object, old) {
      await authorizeCreate(call);
      await validateCreate(object, old);
    },
    validateUpdate: validator(call, updating),
  };
};

/** Writes a change; where the object grows too large by who owns what, without that. */
export const writeChange = async (call: HandlerCall, change: Change): Promise<Updated> => {
  const { endpoint, scope, name, timer } = call;
  const { storage } = endpoint;
  if (!storage.update) throw methodNotAllowed();
  timer.enter('storage');
  try {
    return await storage.update(scope, name, updateOptions(call, change, true));
  } catch (error) {
    const isApply = change.createIfMissing;
    if (isApply || !hasStatusReason(error, 'RequestEntityTooLarge')) throw error;
    return storage.update(scope, name, updateOptions(call, change, false));
  }
};

export const handleUpdate: Handler = async (call) => {
  const { context, endpoint, scope } = call;
  if (!endpoint.storage.update) throw methodNotAllowed();
  const form = objectForm(call);
  const options = writeOptionsOf(context.request.query, 'UpdateOptions');
  const body = await readObject(call, 'update', options);
  const decode = (): KubernetesObject => {
    const object = body.object();
    const meta = metaOf(object);
    ensureNamespace(meta, scope.namespace);
    checkName(call, meta);
    dedupOwners(meta, false, (text) => scope.warn(text));
    return object;
  };
  // Admission changes the object in place: each further attempt decodes the body again.
  let first: KubernetesObject | undefined = decode();
  const { held, created } = await writeChange(call, {
    options,
    createIfMissing: false,
    next(live) {
      const next = first ?? decode();
      first = undefined;
      return trackUpdate(call, { live, next, fieldManager: options.fieldManager });
    },
  });
  await sendHeld(call, form, created ? 201 : 200, held);
};
