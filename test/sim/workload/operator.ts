import * as proto from '../../../core/etcd/proto/index.ts';
import type { Machine } from '../world/machine.ts';
import { peerUrl, type World } from '../world/world.ts';
import { CONTEXT } from './requests.ts';

const LIMIT_MS = 2500;
const VOTERS_MIN = 3;
const COMPACT_KEEP_MAX = 30;

/**
 * The operator: adds, promotes, moves and removes members, compacts history, moves leadership. Goes by what the
 * cluster answers alone, so a change whose answer got lost is found in the next list.
 */
export class Operator {
  readonly #world: World;
  readonly #pauseMs: number;
  #movedCount = 0;
  changeCount = 0;

  constructor(world: World, pauseMs: number) {
    this.#world = world;
    this.#pauseMs = pauseMs;
  }

  async run(): Promise<void> {
    const world = this.#world;
    while (!world.isDone) {
      await world.timeline.sleep(!world.isBusy ? 200 : world.between(0, 2 * this.#pauseMs));
      const members = await this.list();
      if (members === undefined) continue;
      this.tend(members);
      if (world.isBusy) await this.#act(members);
    }
  }

  async list(): Promise<readonly proto.Member[] | undefined> {
    const world = this.#world;
    const request = proto.MemberListRequest.decode(proto.MemberListRequest.encode({ linearizable: true }));
    const result = await world.call(world.pickMember(), LIMIT_MS, async (api) =>
      (await api.memberList(request, CONTEXT)).map((member) =>
        proto.Member.decode(proto.Member.encode(member)),
      ),
    );
    return result.kind === 'ok' ? result.value : undefined;
  }

  machineOf(member: proto.Member): Machine | undefined {
    const host = /^http:\/\/([a-z0-9]+)/.exec(member.peerURLs[0] ?? '')?.[1];
    return this.#world.machines.find(({ name }) => name === host);
  }

  /** Members that were added are started, machines that were removed are wiped. */
  tend(members: readonly proto.Member[]): void {
    const named = new Set(members.map((member) => this.machineOf(member)));
    for (const machine of this.#world.machines)
      if (machine.config !== undefined && (machine.isRemoved || !named.has(machine))) machine.wipe();
    for (const member of members) {
      const machine = this.machineOf(member);
      const isNew = member.name === '' && machine?.config?.initialClusterState !== 'new';
      if (machine === undefined || !isNew || machine.member !== undefined) continue;
      const cluster = members
        .flatMap((each) => each.peerURLs.map((url) => `${this.machineOf(each)?.name}=${url}`))
        .join(',');
      machine.config = this.#world.configOf(machine.name, {
        cluster,
        peerUrls: member.peerURLs,
        state: 'existing',
      });
      machine.start();
    }
  }

  async #act(members: readonly proto.Member[]): Promise<void> {
    const world = this.#world;
    const dice = world.random.next();
    const voters = members.filter(({ isLearner }) => !isLearner);
    const learner = members.find(({ isLearner }) => isLearner);
    if (dice < 0.3) await this.#compact();
    else if (dice < 0.4) await this.#moveLeader(voters);
    else if (dice < 0.5) await this.#update(world.pick(members));
    else if (learner !== undefined && dice < 0.8) await this.#promote(learner);
    else if (learner === undefined && dice < 0.75) await this.#add();
    else if (voters.length > VOTERS_MIN) await this.#remove(world.pick(voters));
  }

  async #do(what: string, run: (machine: Machine) => Promise<{ readonly kind: string }>): Promise<void> {
    const machine = this.#world.pickMember();
    const { kind } = await run(machine);
    if (kind === 'ok') this.changeCount += 1;
    if (kind !== 'refused') this.#world.trace.note(`operator ${what} through ${machine.name}: ${kind}`);
  }

  #add(): Promise<void> {
    const world = this.#world;
    const spare = world.machines.find(({ config }) => config === undefined);
    if (spare === undefined) return Promise.resolve();
    const peerURLs = [peerUrl(spare.name, (this.#movedCount += 1))];
    return this.#do(`adds ${spare.name}`, (machine) =>
      world.call(machine, LIMIT_MS, (api) => api.memberAdd({ peerURLs, isLearner: true }, CONTEXT)),
    );
  }

  #promote(member: proto.Member): Promise<void> {
    return this.#do(`promotes ${this.machineOf(member)?.name}`, (machine) =>
      this.#world.call(machine, LIMIT_MS, (api) => api.memberPromote(member.ID, CONTEXT)),
    );
  }

  #remove(member: proto.Member): Promise<void> {
    return this.#do(`removes ${this.machineOf(member)?.name}`, (machine) =>
      this.#world.call(machine, LIMIT_MS, (api) => api.memberRemove(member.ID, CONTEXT)),
    );
  }

  #update(member: proto.Member): Promise<void> {
    const machine = this.machineOf(member);
    if (machine === undefined || member.name === '') return Promise.resolve();
    const peerURLs = [peerUrl(machine.name, (this.#movedCount += 1))];
    return this.#do(`moves ${machine.name}`, (through) =>
      this.#world.call(through, LIMIT_MS, (api) => api.memberUpdate({ ID: member.ID, peerURLs }, CONTEXT)),
    );
  }

  #moveLeader(voters: readonly proto.Member[]): Promise<void> {
    const target = this.#world.pick(voters);
    return this.#do(`moves leadership to ${this.machineOf(target)?.name}`, (machine) =>
      this.#world.call(machine, LIMIT_MS, (api) => api.moveLeader(target.ID, CONTEXT)),
    );
  }

  #compact(): Promise<void> {
    const { truth, random } = this.#world;
    const revision = Math.max(1, truth.lastRevision - random.below(COMPACT_KEEP_MAX));
    return this.#do(`compacts to ${revision}`, (machine) =>
      this.#world.call(machine, LIMIT_MS, (api) => api.compact({ revision, physical: false }, CONTEXT)),
    );
  }
}
