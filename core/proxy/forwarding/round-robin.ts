import type { Random } from '../../base/random.ts';
import type { SessionAffinity } from './session-affinity.ts';
import type { Target } from './target.ts';

/** Each target in turn. It starts at a random one, so that proxies which start together do not all begin with the first. */
export class RoundRobin {
  #next: number;

  constructor(random: Random) {
    this.#next = random.below(2 ** 16);
  }

  /** The next of `targets` that was not tried; with affinity the one that the client had, as long as it is there. */
  pick(
    targets: readonly Target[],
    client: string,
    tried: ReadonlySet<string>,
    affinity?: SessionAffinity,
  ): Target | undefined {
    const target = this.#kept(targets, client, tried, affinity) ?? this.#turn(targets, tried);
    if (target && affinity) affinity.bind(client, target.name);
    return target;
  }

  #kept(
    targets: readonly Target[],
    client: string,
    tried: ReadonlySet<string>,
    affinity: SessionAffinity | undefined,
  ): Target | undefined {
    const name = affinity?.find(client);
    return name === undefined || tried.has(name)
      ? undefined
      : targets.find((candidate) => candidate.name === name);
  }

  #turn(targets: readonly Target[], tried: ReadonlySet<string>): Target | undefined {
    for (let step = 0; step < targets.length; step += 1) {
      const target = targets[(this.#next + step) % targets.length]!;
      if (tried.has(target.name)) continue;
      this.#next = (this.#next + step + 1) % targets.length;
      return target;
    }
    return undefined;
  }
}
