import { createHash } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import type { Disposable } from '../../base/disposable.ts';
import type { KubernetesObject } from '../../api/meta/index.ts';
import type { UserInfo } from '../server/user.ts';
import type { Follower, InternalInformer } from '../informer/internal-informer.ts';
import type { RequestInfo } from '../server/request-info.ts';
import { flowSchemaOf, priorityLevelOf, type FlowSchema, type PriorityLevel } from './configuration.ts';
import { Levels, type LevelState } from './levels.ts';
import { concernsUser, inOrder, matchesSchema } from './matching.ts';

const LEND_EVERY_MS = 10_000;
const HASHES_MAX = 10_000;
const HASH_BYTES = 6;
const CATCH_ALL = 'catch-all';
const GROUP = 'flowcontrol.apiserver.k8s.io';

/** What a request is treated as. */
export interface Classified {
  readonly schema: FlowSchema;
  readonly level: LevelState;
  readonly distinguisher: string;
  readonly hash: number;
}

export interface FlowControllerOptions {
  readonly clock: Clock;
  /** Requests worked on at a time, of all levels together. */
  readonly serverSeats: number;
  /** In use until the cluster's own are known; the mandatory ones also where those were deleted. */
  readonly initial: {
    readonly levels: readonly KubernetesObject[];
    readonly schemas: readonly KubernetesObject[];
  };
}

/** Which FlowSchema and priority level a request belongs to, kept up to date with the objects of the API. */
export class FlowController implements Disposable {
  readonly levels: Levels;
  readonly #clock: Clock;
  readonly #levelConfigs = new Map<string, PriorityLevel>();
  readonly #schemaConfigs = new Map<string, FlowSchema>();
  readonly #hashes = new Map<string, number>();
  #schemas: readonly FlowSchema[] = [];
  #schemasByUser = new WeakMap<UserInfo, readonly FlowSchema[]>();
  #timer: Disposable | undefined;

  constructor({ clock, serverSeats, initial }: FlowControllerOptions) {
    this.#clock = clock;
    this.levels = new Levels(clock, serverSeats);
    for (const level of initial.levels.map(priorityLevelOf)) this.#levelConfigs.set(level.name, level);
    for (const schema of initial.schemas.map(flowSchemaOf)) this.#schemaConfigs.set(schema.name, schema);
    this.#apply();
    this.#scheduleLending();
  }

  /** Objects replace the initial ones by name. One that is deleted stays in use until the next start. */
  follow(informer: InternalInformer): Disposable {
    const follower = <T extends { readonly name: string }>(
      known: Map<string, T>,
      read: (object: KubernetesObject) => T,
    ): Follower => ({
      upsert: (object) => {
        const config = read(object);
        known.set(config.name, config);
        this.#apply();
      },
      remove: ({ metadata }) => {
        // Without these two there would be requests that belong nowhere.
        if (metadata?.name === CATCH_ALL || metadata?.name === 'exempt') return;
        known.delete(metadata?.name ?? '');
        this.#apply();
      },
    });
    const following = [
      informer.follow(
        { group: GROUP, resource: 'prioritylevelconfigurations' },
        follower(this.#levelConfigs, priorityLevelOf),
      ),
      informer.follow({ group: GROUP, resource: 'flowschemas' }, follower(this.#schemaConfigs, flowSchemaOf)),
    ];
    return {
      dispose() {
        for (const one of following) one.dispose();
      },
    };
  }

  classify(info: RequestInfo, user: UserInfo): Classified {
    const schema =
      this.#schemasOf(user).find((one) => matchesSchema(one, info, user)) ?? this.#schemas.at(-1)!;
    const level = this.levels.get(schema.level) ?? this.levels.get(CATCH_ALL)!;
    const distinguisher =
      schema.distinguisher === 'ByUser'
        ? user.name
        : schema.distinguisher === 'ByNamespace'
          ? info.namespace
          : '';
    return { schema, level, distinguisher, hash: this.#hashOf(`${schema.name},${distinguisher}`) };
  }

  dispose(): void {
    this.#timer?.dispose();
  }

  #apply(): void {
    // A schema whose level is missing would lead nowhere: its requests go by the next that matches.
    this.#schemas = inOrder(
      [...this.#schemaConfigs.values()].filter(({ level }) => this.#levelConfigs.has(level)),
    );
    this.#schemasByUser = new WeakMap();
    this.levels.configure([...this.#levelConfigs.values()]);
  }

  /** Most schemas are for others, whatever the request; a connection keeps its user. */
  #schemasOf(user: UserInfo): readonly FlowSchema[] {
    let known = this.#schemasByUser.get(user);
    if (known === undefined) {
      known = this.#schemas.filter((schema) => concernsUser(schema, user));
      this.#schemasByUser.set(user, known);
    }
    return known;
  }

  #hashOf(flow: string): number {
    const known = this.#hashes.get(flow);
    if (known !== undefined) return known;
    const hash = createHash('sha256').update(flow).digest().readUIntLE(0, HASH_BYTES);
    if (this.#hashes.size >= HASHES_MAX) this.#hashes.clear();
    this.#hashes.set(flow, hash);
    return hash;
  }

  #scheduleLending(): void {
    this.#timer = this.#clock.after(LEND_EVERY_MS, () => {
      this.levels.lend();
      this.#scheduleLending();
    });
  }
}
