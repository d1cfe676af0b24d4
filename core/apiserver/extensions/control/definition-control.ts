import type { Clock } from '../../../base/clock.ts';
import type { Disposable } from '../../../base/disposable.ts';
import { messageOf } from '../../../base/errors.ts';
import type { Log } from '../../../base/log.ts';
import { wait } from '../../../base/wait.ts';
import { formatTime, isConflict, isNotFound, type KubernetesObject } from '../../../api/meta/index.ts';
import { EVERY_FIELD, EVERYTHING } from '../../../api/selector/index.ts';
import { obj, str } from '../../../api/validation/read.ts';
import type { FieldManager } from '../../../api/apply/index.ts';
import type { JsonObject } from '../../../api/patch/json.ts';
import { builtInEndpoints } from '../../handlers/index.ts';
import type { UserInfo } from '../../server/user.ts';
import type { RestRegistry, RestStorage, Scope } from '../../registry/rest-storage.ts';
import { CLEANUP_FINALIZER } from '../../registry/strategies/custom-resource-definitions.ts';
import { conditionOf, conditionsOf, withConditions, type Condition } from './conditions.ts';
import { KeyedQueue } from './keyed-queue.ts';
import { hasItsNames, withAcceptedNames } from './names.ts';

const GROUP = 'apiextensions.k8s.io';
const RESOURCE = 'customresourcedefinitions';
/** Definitions whose instances are deleted at the same time. */
const FINALIZERS_MAX = 5;
const GONE_LIMIT_MS = 60_000;
const GONE_POLL_MS_MIN = 20;
const GONE_POLL_MS_MAX = 1_000;

export interface DefinitionControlOptions {
  readonly registry: RestRegistry;
  readonly user: UserInfo;
  /** The minor of Kubernetes that is emulated. */
  readonly minor: number;
  readonly clock: Clock;
  readonly log: Log;
}

/** As upstream's server names itself where it writes through its own client. */
const FIELD_MANAGER = 'kube-apiserver';

const LIST_ALL = {
  labelSelector: EVERYTHING,
  fieldSelector: EVERY_FIELD,
  limit: 0,
  continueToken: '',
  resourceVersion: '',
  resourceVersionMatch: '',
} as const;

const nameOf = (definition: KubernetesObject): string => definition.metadata?.name ?? '';

const terminating = (status: 'True' | 'False', reason: string, message: string): Condition => ({
  type: 'Terminating',
  status,
  reason,
  message,
});

const statusFields = ({ registry, minor, clock }: DefinitionControlOptions): FieldManager | undefined =>
  builtInEndpoints({ registry, minor, clock }).find({
    apiGroup: GROUP,
    apiVersion: 'v1',
    resource: RESOURCE,
    subresource: 'status',
  })?.fields;

/**
 * What becomes of definitions after they are written: names are accepted, resources established, and instances deleted
 * before a definition goes. Every server does this; a write that comes second finds nothing left to change.
 */
export class DefinitionControl implements Disposable {
  readonly #options: DefinitionControlOptions;
  readonly #known = new Map<string, KubernetesObject>();
  readonly #names: KeyedQueue;
  readonly #finalizers: KeyedQueue;
  readonly #life = new AbortController();
  readonly #fields: FieldManager | undefined;

  constructor(options: DefinitionControlOptions) {
    this.#options = options;
    const { clock, log } = options;
    this.#fields = statusFields(options);
    // One after the other: of two that want one name, the second must see what the first was given.
    this.#names = new KeyedQueue({ workers: 1, clock, log, sync: (key) => this.#acceptNames(key) });
    this.#finalizers = new KeyedQueue({
      workers: FINALIZERS_MAX,
      clock,
      log,
      sync: (key) => this.#finalize(key),
    });
  }

  upsert(definition: KubernetesObject): void {
    const name = nameOf(definition);
    this.#known.set(name, definition);
    this.#names.add(name);
    const { deletionTimestamp, finalizers = [] } = definition.metadata ?? {};
    if (deletionTimestamp !== undefined && finalizers.includes(CLEANUP_FINALIZER)) this.#finalizers.add(name);
  }

  remove(definition: KubernetesObject): void {
    this.#known.delete(nameOf(definition));
    this.#queueGroup(definition);
  }

  dispose(): void {
    this.#life.abort();
    this.#names.dispose();
    this.#finalizers.dispose();
  }

  #storage(subresource: string): RestStorage {
    return this.#options.registry.storageOf(GROUP, RESOURCE, subresource)!;
  }

  #scope(namespace = ''): Scope {
    return { user: this.#options.user, namespace, signal: this.#life.signal, warn: () => undefined };
  }

  /** Names that one definition gives up may be what another waits for. */
  #queueGroup(changed: KubernetesObject): void {
    const group = str(obj(changed, 'spec'), 'group');
    for (const [name, other] of this.#known)
      if (name !== nameOf(changed) && str(obj(other, 'spec'), 'group') === group && !hasItsNames(other))
        this.#names.add(name);
  }

  /** Undefined where the definition is gone. A write that changes nothing is none. */
  async #update(
    name: string,
    change: (definition: KubernetesObject) => KubernetesObject,
  ): Promise<KubernetesObject | undefined> {
    const storage = this.#storage('status');
    try {
      const { held } = await storage.update!(this.#scope(), name, {
        dryRun: false,
        createIfMissing: false,
        change: async (current) => this.#tracked(current!, change(current!)),
        validateCreate: async () => {},
        validateUpdate: async () => {},
      });
      return held.object;
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  /** What is written is owned as a client's would be. */
  #tracked(live: KubernetesObject, next: KubernetesObject): KubernetesObject {
    if (live === next || !this.#fields) return next;
    return this.#fields.update({
      live: live as JsonObject,
      next: next as JsonObject,
      manager: FIELD_MANAGER,
      time: formatTime(this.#options.clock.nowMs()),
    }) as unknown as KubernetesObject;
  }

  async #acceptNames(name: string): Promise<void> {
    const { clock } = this.#options;
    const known = this.#known.get(name);
    if (!known || known.metadata?.deletionTimestamp !== undefined || hasItsNames(known)) return;
    const now = (): string => formatTime(clock.nowMs());
    const others = (): KubernetesObject[] => [...this.#known.values()].filter((one) => nameOf(one) !== name);
    if (withAcceptedNames(known, others(), now()) === known) return;
    const written = await this.#update(name, (current) => withAcceptedNames(current, others(), now()));
    if (!written || !this.#known.has(name)) return;
    this.#known.set(name, written);
    this.#queueGroup(written);
  }

  #withTerminating(definition: KubernetesObject, condition: Condition): KubernetesObject {
    const conditions = withConditions(
      conditionsOf(definition),
      [condition],
      formatTime(this.#options.clock.nowMs()),
    );
    return { ...definition, status: { ...obj(definition, 'status'), conditions } };
  }

  async #finalize(name: string): Promise<void> {
    const definition = await this.#update(name, (current) =>
      current.metadata?.finalizers?.includes(CLEANUP_FINALIZER) && current.metadata.deletionTimestamp
        ? this.#withTerminating(
            current,
            terminating('True', 'InstanceDeletionInProgress', 'CustomResource deletion is in progress'),
          )
        : current,
    );
    const { deletionTimestamp, finalizers = [] } = definition?.metadata ?? {};
    if (!definition || deletionTimestamp === undefined || !finalizers.includes(CLEANUP_FINALIZER)) return;
    const { condition, failure } = await this.#deleteInstances(definition);
    await this.#update(name, (current) => {
      const next = this.#withTerminating(current, condition);
      if (failure !== undefined) return next;
      const left = (current.metadata?.finalizers ?? []).filter((one) => one !== CLEANUP_FINALIZER);
      return { ...next, metadata: { ...current.metadata, finalizers: left } };
    });
    if (failure !== undefined) throw failure;
  }

  async #deleteInstances(
    definition: KubernetesObject,
  ): Promise<{ readonly condition: Condition; readonly failure?: unknown }> {
    if (conditionOf(definition, 'Established')?.['status'] !== 'True')
      return { condition: terminating('False', 'NeverEstablished', 'resource was never established') };
    const failed = (reason: string, what: string, failure: unknown) => ({
      condition: terminating('True', reason, `${what}: ${messageOf(failure)}`),
      failure,
    });
    const group = str(obj(definition, 'spec'), 'group');
    const plural = str(obj(obj(definition, 'status'), 'acceptedNames'), 'plural');
    const storage = this.#options.registry.storageOf(group, plural, '');
    if (!storage?.list || !storage.deleteCollection)
      return failed(
        'InstanceDeletionFailed',
        'could not list instances',
        new Error(`unable to find a custom resource client for ${plural}.${group}`),
      );
    const namespaces = async (): Promise<Set<string>> => {
      const { items } = await storage.list!(this.#scope(), LIST_ALL);
      return new Set(items.map(({ object }) => object.metadata?.namespace ?? ''));
    };
    let left: Set<string>;
    try {
      left = await namespaces();
    } catch (error) {
      return failed('InstanceDeletionFailed', 'could not list instances', error);
    }
    try {
      for (const namespace of left)
        await storage.deleteCollection(this.#scope(namespace), LIST_ALL, {
          dryRun: false,
          validate: async () => {},
        });
    } catch (error) {
      if (!isConflict(error)) return failed('InstanceDeletionFailed', 'could not issue all deletes', error);
    }
    try {
      await this.#untilGone(namespaces);
    } catch (error) {
      return failed('InstanceDeletionCheck', 'could not confirm zero CustomResources remaining', error);
    }
    return { condition: terminating('False', 'InstanceDeletionCompleted', 'removed all instances') };
  }

  /** Instances may have finalizers of their own. */
  async #untilGone(namespaces: () => Promise<ReadonlySet<string>>): Promise<void> {
    const { clock } = this.#options;
    const endMs = clock.nowMs() + GONE_LIMIT_MS;
    for (let pollMs = GONE_POLL_MS_MIN; ; pollMs = Math.min(pollMs * 2, GONE_POLL_MS_MAX)) {
      if ((await namespaces()).size === 0) return;
      if (this.#life.signal.aborted || clock.nowMs() >= endMs)
        throw new Error('timed out waiting for the condition');
      await wait(clock, pollMs, this.#life.signal);
    }
  }
}
