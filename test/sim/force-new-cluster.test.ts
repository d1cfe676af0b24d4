import { expect, test } from 'vitest';
import * as proto from '../../core/etcd/proto/index.ts';
import type { MemberApi } from '../../core/etcd/rpc/member-api.ts';
import { CONTEXT, putRequest, rangeRequest, valueOf } from './workload/requests.ts';
import type { Machine } from './world/machine.ts';
import { World } from './world/world.ts';

const LIMIT_MS = 2000;
const ATTEMPTS_MAX = 20;
const LIST = proto.MemberListRequest.create({ linearizable: true });

/** A world of three or five without faults, in which calls are made until they succeed. */
class Quiet {
  readonly world: World;

  constructor(seed: number) {
    this.world = new World({ seed });
    this.world.found();
  }

  async ask<T>(machine: Machine, run: (api: MemberApi) => Promise<T>): Promise<T> {
    const { timeline } = this.world;
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
      const result = this.world.call(machine, LIMIT_MS, run);
      let settled: Awaited<typeof result> | undefined;
      void result.then((value) => (settled = value));
      await timeline.run(timeline.nowMs + LIMIT_MS + 100, () => settled !== undefined);
      if (settled?.kind === 'ok') return settled.value;
      await timeline.run(timeline.nowMs + 200, () => false);
    }
    throw new Error(`${machine.name} does not answer: ${this.world.trace.text}`);
  }

  async write(machine: Machine, value: string): Promise<void> {
    await this.ask(machine, (api) => api.put(putRequest('k', value), CONTEXT));
  }

  async read(machine: Machine): Promise<string | undefined> {
    return valueOf(await this.ask(machine, (api) => api.range(rangeRequest('k'), CONTEXT)));
  }
}

test.each([1, 2, 3, 4, 5, 6])(
  'the last member continues alone with what was committed (seed %i)',
  async (seed) => {
    const quiet = new Quiet(seed);
    const { world } = quiet;
    const machines = world.machines.filter(({ config }) => config !== undefined);
    const [last, ...others] = machines as [Machine, ...Machine[]];
    for (let n = 0; n < 10; n += 1) await quiet.write(world.pick(machines), `before ${n}`);
    // Read through the one that stays, so that it knows of all that was committed.
    expect(await quiet.read(last)).toBe('before 9');
    await world.timeline.run(world.timeline.nowMs + 1000, () => false);
    for (const machine of machines) machine.crash('lost');
    for (const machine of others) machine.wipe();
    last.config = { ...last.config!, forceNewCluster: true };
    last.start();
    expect(await quiet.read(last)).toBe('before 9');
    await quiet.write(last, 'after');
    expect(await quiet.ask(last, (api) => api.memberList(LIST, CONTEXT))).toHaveLength(1);
    // With or without the flag, the next start finds the member alone.
    last.crash('lost');
    last.config = { ...last.config, forceNewCluster: seed % 2 === 0 };
    last.start();
    expect(await quiet.read(last)).toBe('after');
    expect(world.trace.violation).toBeUndefined();
  },
);
