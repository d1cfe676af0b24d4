import {
  conflict,
  generateName,
  generateNameConflict,
  hasStatusReason,
  invalid as invalidStatus,
  isAlreadyExists,
  StatusError,
  type GroupResource,
  type KubernetesObject,
} from '../../../api/meta/index.ts';
import { ignoreTimestampChanges } from '../../../api/apply/index.ts';
import { jsonEquals, type JsonObject } from '../../../api/patch/json.ts';
import { fillZeroValues, nullEmptyCollections } from '../../../api/schema/index.ts';
import { errorText, invalid } from '../../../api/field/field-error.ts';
import { statusOf } from '../../../api/validation/validate.ts';
import { CachedObject } from '../../storage/watch-cache/cached-object.ts';
import { StorageError } from '../../storage/errors.ts';
import type { StoredValue } from '../../storage/store.ts';
import type { CreateOptions, Held, Scope, UpdateOptions, Updated } from '../rest-storage.ts';
import {
  draftOf,
  ensureNamespace,
  fillSystemFields,
  keepSystemFields,
  metaOf,
  setGeneration,
  wipeSystemFields,
} from './metadata.ts';
import type { ObjectReads } from './object-reads.ts';
import { namesRevision, parseObjectRevision } from './object-reads.ts';
import type { ResourceCore } from './resource-core.ts';
import { fromStorage } from './storage-errors.ts';
import type { Claim, Draft, Strategy, WriteContext } from './strategy.ts';

/** Names tried for one generateName: upstream's figure, good for a million names of one prefix. */
const NAME_ATTEMPTS_MAX = 8;
const NAME_RETRY_SECONDS = 1;

/** Ends an update whose object lost its last finalizer: it is deleted instead. */
class EmptiedFinalizers extends Error {
  readonly draft: Draft;
  readonly current: StoredValue;

  constructor(draft: Draft, current: StoredValue) {
    super('the last finalizer is gone');
    this.draft = draft;
    this.current = current;
  }
}

const NOTHING_CLAIMED: Claim = { keep() {}, release() {} };

/** A write that may have happened keeps what it took: the repair finds out, and no one is given it twice. */
const releaseAfter = async (error: unknown, claim: Claim): Promise<void> => {
  if (error instanceof StorageError && !error.outcomeKnown) return;
  await claim.release();
};

/** Creations and updates of one resource, as upstream's generic store orders them. */
export class ObjectWrites {
  readonly #core: ResourceCore;
  readonly #reads: ObjectReads;
  readonly strategy: Strategy;

  constructor(core: ResourceCore, reads: ObjectReads, strategy: Strategy) {
    this.#core = core;
    this.#reads = reads;
    this.strategy = strategy;
  }

  /** The object is the caller's no more: it is changed and kept. */
  async create(scope: Scope, object: KubernetesObject, options: CreateOptions): Promise<Held> {
    const { generateName: base, name } = metaOf(object);
    if (!base || name) return this.#createOnce(scope, object, options);
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#createOnce(scope, structuredClone(object), options);
      } catch (error) {
        if (!isAlreadyExists(error) || attempt === NAME_ATTEMPTS_MAX) throw error;
      }
    }
  }

  async update(scope: Scope, name: string, options: UpdateOptions): Promise<Updated> {
    const { resource, store } = this.#core;
    const key = this.#core.key(scope.namespace, name);
    const createIfMissing = options.createIfMissing || this.strategy.allowCreateOnUpdate === true;
    let attempt: Attempt | undefined;
    const transform = async (current: StoredValue | undefined) => {
      await attempt?.claim.release();
      attempt = undefined;
      attempt = await this.#attempt({ scope, name, options, key, current });
      return attempt;
    };
    try {
      if (options.dryRun) return await this.#updateDry(key, createIfMissing, transform);
      const cached = this.#core.cacheIfStarted?.peek(key);
      const written = await store.guaranteedUpdate(key, {
        createIfMissing,
        cached,
        transform: async (current) => {
          const { value } = await transform(current);
          return { value, ttlSeconds: this.strategy.ttlSeconds };
        },
        signal: scope.signal,
      });
      const { draft, stored, created, claim } = attempt!;
      attempt = undefined;
      await claim.keep();
      return { held: this.#written(key, written, draft, stored), created };
    } catch (error) {
      const failed = attempt as Attempt | undefined;
      if (failed) await releaseAfter(error, failed.claim);
      if (error instanceof EmptiedFinalizers)
        return { held: await this.#deleteFinalized(error, options.dryRun), created: false };
      const told = fromStorage(error, failed?.created === true ? 'create' : 'update', resource, name);
      throw failed?.created === true ? this.#nameTaken(told, failed.draft) : told;
    }
  }

  context(scope: Scope, isDryRun: boolean): WriteContext {
    return {
      user: scope.user,
      namespace: scope.namespace,
      apiGroup: scope.apiGroup,
      isDryRun,
      nowMs: this.#core.clock.nowMs(),
      warn: (text) => scope.warn(text),
    };
  }

  async #createOnce(scope: Scope, draft: Draft, options: CreateOptions): Promise<Held> {
    const { store, codec, resource, random } = this.#core;
    const meta = metaOf(draft);
    if (namesRevision(meta.resourceVersion ?? ''))
      throw new StatusError('', 'resourceVersion should not be set on objects to be created', { code: 500 });
    wipeSystemFields(meta);
    if (meta.generateName && !meta.name) meta.name = generateName(meta.generateName, random);
    const claim = await this.#prepareCreate(scope, draft, options);
    const key = this.#core.key(scope.namespace, meta.name ?? '');
    const name = meta.name ?? '';
    try {
      const { value, stored } = await this.#encode(draft);
      if (options.dryRun) {
        await this.#mustBeMissing(key);
        await claim.release();
        return new CachedObject(key, value, 0, draft);
      }
      const { revision } = await store.create(key, value, { ttlSeconds: this.strategy.ttlSeconds });
      await claim.keep();
      return this.#written(key, { value, revision }, draft, stored);
    } catch (error) {
      const own = await this.#ownWrite(error, key, meta.uid ?? '');
      if (own) {
        await claim.keep();
        return codec.written(key, own.value, own.revision, this.#reads.heldOf(own).object);
      }
      await releaseAfter(error, claim);
      const told = this.#nameTaken(fromStorage(error, 'create', resource, name), draft);
      throw isAlreadyExists(told) ? await this.#orBeingDeleted(told, key) : told;
    }
  }

  /**
   * What a creation left behind although it was told to have failed: the answer was lost, and a second try found the
   * object of the first. Its uid tells it from everybody else's.
   */
  async #ownWrite(error: unknown, key: string, uid: string): Promise<StoredValue | undefined> {
    if (!(error instanceof StorageError)) return undefined;
    const mayBeOurs =
      error.reason === 'AlreadyExists' || (error.reason === 'Unavailable' && !error.outcomeKnown);
    if (!mayBeOurs) return undefined;
    try {
      const stored = await this.#core.store.get(key);
      const { object } = this.#reads.heldOf(stored);
      return uid !== '' && object.metadata?.uid === uid ? stored : undefined;
    } catch (cause) {
      if (cause instanceof StorageError) return undefined;
      throw cause;
    }
  }

  #warn(draft: Draft, old: KubernetesObject | undefined, context: WriteContext): void {
    const { definition } = this.#core;
    for (const text of definition.warnings?.(draft, old) ?? []) context.warn(text);
    for (const text of this.strategy.warnings?.(draft) ?? []) context.warn(text);
  }

  /** System fields, the strategy's own, validation, admission: everything but the write. */
  async #prepareCreate(
    scope: Scope,
    draft: Draft,
    options: Pick<CreateOptions, 'dryRun' | 'validate'>,
  ): Promise<Claim> {
    const { definition, type, kind, struct, clock, newUid } = this.#core;
    const meta = metaOf(draft);
    const context = this.context(scope, options.dryRun);
    fillSystemFields(meta, clock.nowMs(), newUid());
    ensureNamespace(meta, type.namespaced ? scope.namespace : '');
    this.strategy.prepareForCreate?.(draft, context);
    const claim = (await this.strategy.claim?.(draft, undefined, context)) ?? NOTHING_CLAIMED;
    try {
      const hasEmpty = struct !== undefined && fillZeroValues(struct, draft);
      const refusal = statusOf(kind, draft, await definition.validateCreate(draft));
      if (refusal) throw refusal;
      await this.strategy.checkCreate?.(draft, context);
      this.#warn(draft, undefined, context);
      await options.validate(draft, undefined);
      if (hasEmpty) nullEmptyCollections(struct, draft);
      return claim;
    } catch (error) {
      await claim.release();
      throw error;
    }
  }

  async #attempt(input: AttemptInput): Promise<Attempt> {
    const { scope, name, options, current } = input;
    const { resource } = this.#core;
    if (current === undefined) {
      const draft = draftOf(await options.change(undefined));
      const meta = metaOf(draft);
      if (meta.uid) throw uidConflict(resource, name, input.key, meta.uid, '');
      wipeSystemFields(meta);
      meta.name ??= name;
      const prepared = await this.#prepareCreate(scope, draft, {
        dryRun: options.dryRun,
        validate: options.validateCreate,
      });
      return { draft, ...(await this.#encode(draft)), created: true, claim: prepared, current };
    }
    return this.#attemptUpdate(input, current);
  }

  async #attemptUpdate({ scope, name, options, key }: AttemptInput, current: StoredValue): Promise<Attempt> {
    const { definition, type, kind, struct, resource } = this.#core;
    const { object } = this.#reads.heldOf(current);
    const old = definition.stored ? await definition.stored.load(object) : object;
    const oldMeta = old.metadata ?? {};
    const draft = draftOf(await options.change(old));
    const meta = metaOf(draft);
    if (meta.uid && meta.uid !== oldMeta.uid) {
      if (!options.isPatch) throw uidConflict(resource, name, key, meta.uid, oldMeta.uid ?? '');
      throw statusOf(kind, draft, [invalid('metadata.uid', meta.uid, 'field is immutable')])!;
    }
    this.#checkRevision(meta.resourceVersion ?? '', current.revision, name);
    meta.resourceVersion = String(current.revision);
    const context = this.context(scope, options.dryRun);
    ensureNamespace(meta, type.namespaced ? scope.namespace : '');
    setGeneration(meta, oldMeta.generation);
    this.strategy.prepareForUpdate?.(draft, old, context);
    keepSystemFields(meta, oldMeta);
    const claim = (await this.strategy.claim?.(draft, old, context)) ?? NOTHING_CLAIMED;
    try {
      const hasEmpty = struct !== undefined && fillZeroValues(struct, draft);
      const found = await definition.validateUpdate(draft, old, this.strategy.subresource ?? '');
      const errors = found.filter(({ isTolerated }) => isTolerated !== true);
      if (errors.length < found.length)
        for (const error of found) if (error.isTolerated) context.warn(errorText(error));
      const refusal = statusOf(kind, draft, errors);
      if (refusal) throw refusal;
      await this.strategy.checkUpdate?.(draft, old, context);
      if (this.strategy.subresource === undefined) this.#warn(draft, old, context);
      await options.validateUpdate(draft, old);
      if (hasEmpty) nullEmptyCollections(struct, draft);
      if (this.#isFinalized(draft, old)) throw new EmptiedFinalizers(draft, current);
      const encoded = await this.#encodeChange(draft, old, current);
      return { draft, ...encoded, created: false, claim, current };
    } catch (error) {
      await claim.release();
      throw error;
    }
  }

  /** The bytes as stored where nothing changed but the order of fields or the times of managers. */
  async #encodeChange(draft: Draft, old: KubernetesObject, current: StoredValue): Promise<Encoded> {
    const meta = metaOf(draft);
    const kept = ignoreTimestampChanges(old as JsonObject, draft as JsonObject) as Draft;
    if (kept !== draft && kept.metadata?.managedFields) meta.managedFields = kept.metadata.managedFields;
    const encoded = await this.#encode(draft);
    const { value } = encoded;
    // The same members in another order make texts of one length.
    if (value.length !== current.value.length || value.equals(current.value)) return encoded;
    meta.resourceVersion = String(current.revision);
    const isSame = jsonEquals(draft as JsonObject, old as JsonObject);
    return isSame ? { ...encoded, value: current.value } : encoded;
  }

  /** The bytes of an object, in the version that is stored. */
  async #encode(draft: Draft): Promise<Encoded & { readonly value: Buffer }> {
    const { codec, definition } = this.#core;
    delete metaOf(draft).resourceVersion;
    const stored = definition.stored ? draftOf(await definition.stored.save(draft)) : draft;
    return { value: codec.encode(stored), stored };
  }

  /** What was written as the answer to its writer: in its own version, while the cache finds the stored one. */
  #written(
    key: string,
    { value, revision }: Pick<StoredValue, 'value' | 'revision'>,
    draft: Draft,
    stored: KubernetesObject,
  ): Held {
    const held = this.#core.codec.written(key, value, revision, stored);
    return stored === draft ? held : new CachedObject(key, value, revision, withRevision(draft, revision));
  }

  #checkRevision(wanted: string, current: number, name: string): void {
    const { resource } = this.#core;
    const revision = parseObjectRevision(wanted);
    if (revision === 0) {
      if (this.strategy.allowUnconditionalUpdate !== false) return;
      throw invalidStatus({ group: resource.group, kind: resource.resource }, name, [
        {
          reason: 'FieldValueInvalid',
          field: 'metadata.resourceVersion',
          message: 'Invalid value: 0: must be specified for an update',
        },
      ]);
    }
    if (revision !== current) throw conflict(resource, name);
  }

  #isFinalized(draft: Draft, old: KubernetesObject): boolean {
    const { deletionTimestamp, deletionGracePeriodSeconds = 0 } = old.metadata ?? {};
    return (
      deletionTimestamp !== undefined &&
      deletionGracePeriodSeconds === 0 &&
      (draft.metadata?.finalizers ?? []).length === 0 &&
      this.strategy.mayDeleteDuringUpdate?.(draft) !== false
    );
  }

  /** The client sent an update and is answered with it, although the object is gone. */
  async #deleteFinalized({ draft, current }: EmptiedFinalizers, isDryRun: boolean): Promise<Held> {
    const { store, resource } = this.#core;
    const { key } = current;
    const name = draft.metadata?.name ?? '';
    const { value } = await this.#encode(draft);
    if (isDryRun)
      return new CachedObject(key, value, current.revision, withRevision(draft, current.revision));
    try {
      const { revision } = await store.delete(key, {
        cached: current,
        check: (now) => {
          if (now.revision !== current.revision) throw conflict(resource, name);
        },
      });
      await this.strategy.afterDelete?.(draft);
      return new CachedObject(key, value, revision, withRevision(draft, revision));
    } catch (error) {
      // Two clients may take off the last finalizer at the same time.
      if (!(error instanceof StorageError && error.reason === 'NotFound'))
        throw fromStorage(error, 'delete', resource, name);
      return new CachedObject(key, value, current.revision, withRevision(draft, current.revision));
    }
  }

  async #updateDry(
    key: string,
    createIfMissing: boolean,
    transform: (current: StoredValue | undefined) => Promise<Attempt>,
  ): Promise<Updated> {
    let current: StoredValue | undefined;
    try {
      current = await this.#core.store.get(key);
    } catch (error) {
      if (!(error instanceof StorageError && error.reason === 'NotFound' && createIfMissing)) throw error;
    }
    const { draft, value, created, claim } = await transform(current);
    await claim.release();
    const revision = current?.revision ?? 0;
    return {
      held: new CachedObject(key, value, revision, revision === 0 ? draft : withRevision(draft, revision)),
      created,
    };
  }

  async #mustBeMissing(key: string): Promise<void> {
    try {
      await this.#core.store.get(key);
    } catch (error) {
      if (error instanceof StorageError && error.reason === 'NotFound') return;
      throw error;
    }
    throw new StorageError('AlreadyExists', `key already exists: ${key}`, { key });
  }

  #nameTaken(error: unknown, draft: Draft): unknown {
    const { generateName: base, name = '' } = draft.metadata ?? {};
    return base && isAlreadyExists(error)
      ? generateNameConflict(this.#core.resource, name, NAME_RETRY_SECONDS)
      : error;
  }

  async #orBeingDeleted(error: StatusError, key: string): Promise<StatusError> {
    try {
      const { object } = this.#reads.heldOf(await this.#core.store.get(key));
      if (object.metadata?.deletionTimestamp === undefined) return error;
      return new StatusError(error.reason, `object is being deleted: ${error.message}`, {
        code: error.code,
        ...(error.details && { details: error.details }),
      });
    } catch (cause) {
      if (cause instanceof StorageError || hasStatusReason(cause, 'NotFound')) return error;
      throw cause;
    }
  }
}

interface AttemptInput {
  readonly scope: Scope;
  readonly name: string;
  readonly options: UpdateOptions;
  readonly key: string;
  readonly current: StoredValue | undefined;
}

interface Encoded {
  readonly value: Uint8Array;
  /** The object that the bytes hold: the draft itself, unless it is stored in another version. */
  readonly stored: KubernetesObject;
}

interface Attempt extends Encoded {
  readonly draft: Draft;
  readonly created: boolean;
  readonly claim: Claim;
  readonly current: StoredValue | undefined;
}

const withRevision = (draft: Draft, revision: number): Draft => {
  metaOf(draft).resourceVersion = String(revision);
  return draft;
};

/** Word for word what upstream's store lets through to the client. */
const uidConflict = (
  resource: GroupResource,
  name: string,
  key: string,
  wanted: string,
  actual: string,
): StatusError =>
  conflict(
    resource,
    name,
    `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: ` +
      `Precondition failed: UID in precondition: ${wanted}, UID in object meta: ${actual}`,
  );
