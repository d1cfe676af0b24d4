import type { Random } from '../../base/random.ts';
import {
  LABEL_ZONE,
  type Affinity,
  type Node,
  type Pod,
  type PodAffinityTerm,
  type PodSpec,
  type Taint,
  type Toleration,
  type TopologySpreadConstraint,
} from '../model/objects.ts';
import { makeNode, makePod } from './objects.ts';

const APPS = ['web', 'db', 'cache'];
const TIERS = ['front', 'back'];
const NAMESPACES = ['default', 'prod'];
const ZONES = ['a', 'b', 'c'];
const KEYS = ['kubernetes.io/hostname', LABEL_ZONE, 'disk'];
const IMAGES = ['app:v1', 'db', 'repo/cache:latest'];
const EFFECTS = ['NoSchedule', 'NoExecute', 'PreferNoSchedule'];

/** Clusters in which every rule meets something to apply to: few labels, few values, scarce room. */
export class RandomCluster {
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  #chance(percent: number): boolean {
    return this.#random.below(100) < percent;
  }

  #pick<T>(values: readonly T[]): T {
    return values[this.#random.below(values.length)]!;
  }

  #some<T>(values: readonly T[]): T[] {
    return values.filter(() => this.#chance(50));
  }

  #taint(): Taint {
    return { key: this.#pick(['gpu', 'spot']), value: this.#pick(['', 'x']), effect: this.#pick(EFFECTS) };
  }

  node(name: string): Node {
    return makeNode(name, {
      labels: {
        ...(this.#chance(85) && { [LABEL_ZONE]: this.#pick(ZONES) }),
        ...(this.#chance(60) && { disk: this.#pick(['ssd', 'hdd']) }),
        ...(this.#chance(50) && { rank: String(this.#random.below(9)) }),
      },
      ...(this.#chance(25) && { taints: [this.#taint(), ...(this.#chance(30) ? [this.#taint()] : [])] }),
      unschedulable: this.#chance(7),
      allocatable: {
        cpu: `${500 + this.#random.below(8) * 500}m`,
        memory: `${1 + this.#random.below(8)}Gi`,
        pods: this.#chance(10) ? '2' : '20',
        ...(this.#chance(20) && { 'example.com/gpu': this.#random.below(3) }),
      },
      images: this.#some(IMAGES).map((image) => ({
        names: [image.includes(':') ? image : `${image}:latest`],
        sizeBytes: { 'app:v1': 300e6, db: 900e6 }[image] ?? 50e6,
      })),
    });
  }

  #toleration(): Toleration {
    return {
      ...(this.#chance(80) && { key: this.#pick(['gpu', 'spot', 'node.kubernetes.io/unschedulable']) }),
      ...(this.#chance(50) ? { operator: 'Exists' } : { operator: 'Equal', value: this.#pick(['', 'x']) }),
      ...(this.#chance(50) && { effect: this.#pick(EFFECTS) }),
    };
  }

  #selector(): NonNullable<PodAffinityTerm['labelSelector']> {
    if (this.#chance(15)) return {};
    return this.#chance(60)
      ? { matchLabels: { app: this.#pick(APPS) } }
      : {
          matchExpressions: [
            { key: 'app', operator: this.#pick(['In', 'NotIn']), values: [this.#pick(APPS)] },
            ...(this.#chance(30) ? [{ key: 'tier', operator: this.#pick(['Exists', 'DoesNotExist']) }] : []),
          ],
        };
  }

  #term(): PodAffinityTerm {
    return {
      topologyKey: this.#pick(KEYS),
      ...(this.#chance(92) && { labelSelector: this.#selector() }),
      ...(this.#chance(20) && { namespaces: [this.#pick(NAMESPACES)] }),
      ...(this.#chance(20) && {
        namespaceSelector: this.#chance(50) ? {} : { matchLabels: { team: this.#pick(['x', 'y']) } },
      }),
    };
  }

  #terms(count: number): {
    required: PodAffinityTerm[];
    preferred: { weight: number; podAffinityTerm: PodAffinityTerm }[];
  } {
    return {
      required: this.#chance(45) ? Array.from({ length: count }, () => this.#term()) : [],
      preferred: this.#chance(45)
        ? [{ weight: 1 + this.#random.below(100), podAffinityTerm: this.#term() }]
        : [],
    };
  }

  #nodeTerm(): { matchExpressions: { key: string; operator: string; values?: string[] }[] } {
    const one = (): { key: string; operator: string; values?: string[] } =>
      this.#pick([
        { key: 'disk', operator: this.#pick(['In', 'NotIn']), values: ['ssd'] },
        { key: 'disk', operator: this.#pick(['Exists', 'DoesNotExist']) },
        { key: 'rank', operator: this.#pick(['Gt', 'Lt']), values: [String(this.#random.below(9))] },
        { key: LABEL_ZONE, operator: 'In', values: ['a', 'b'] },
      ]);
    return { matchExpressions: this.#chance(70) ? [one()] : [one(), one()] };
  }

  #affinity(): Affinity {
    const near = this.#terms(1 + this.#random.below(2));
    const far = this.#terms(1);
    return {
      ...(this.#chance(40) && {
        nodeAffinity: {
          ...(this.#chance(60) && {
            requiredDuringSchedulingIgnoredDuringExecution: {
              nodeSelectorTerms: [this.#nodeTerm(), ...(this.#chance(40) ? [this.#nodeTerm()] : [])],
            },
          }),
          preferredDuringSchedulingIgnoredDuringExecution: [
            { weight: 1 + this.#random.below(50), preference: this.#nodeTerm() },
          ],
        },
      }),
      ...(this.#chance(35) && {
        podAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: near.required,
          preferredDuringSchedulingIgnoredDuringExecution: near.preferred,
        },
      }),
      ...(this.#chance(35) && {
        podAntiAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: far.required,
          preferredDuringSchedulingIgnoredDuringExecution: far.preferred,
        },
      }),
    };
  }

  #constraint(): TopologySpreadConstraint {
    return {
      maxSkew: 1 + this.#random.below(3),
      topologyKey: this.#pick(KEYS),
      whenUnsatisfiable: this.#pick(['DoNotSchedule', 'ScheduleAnyway']),
      ...(this.#chance(92) && { labelSelector: this.#selector() }),
      ...(this.#chance(20) && { minDomains: 1 + this.#random.below(4) }),
      ...(this.#chance(20) && { nodeAffinityPolicy: this.#pick(['Honor', 'Ignore']) }),
      ...(this.#chance(20) && { nodeTaintsPolicy: this.#pick(['Honor', 'Ignore']) }),
    };
  }

  pod(name: string, options: { readonly plain?: boolean } = {}): Pod {
    const constraints = this.#chance(40)
      ? [this.#constraint(), ...(this.#chance(40) ? [this.#constraint()] : [])]
      : [];
    const requests = {
      ...(this.#chance(80) && { cpu: `${this.#random.below(8) * 100}m` }),
      ...(this.#chance(80) && { memory: `${this.#random.below(8) * 128}Mi` }),
      ...(this.#chance(8) && { 'example.com/gpu': 1 }),
    };
    const spec: Partial<PodSpec> = {
      containers: [
        {
          name: 'main',
          image: this.#pick(IMAGES),
          resources: { requests },
          ...(this.#chance(10) && {
            ports: [
              {
                hostPort: this.#pick([80, 443]),
                ...(this.#chance(40) && { hostIP: this.#pick(['10.0.0.1', '10.0.0.2']) }),
              },
            ],
          }),
        },
        ...(this.#chance(20) ? [{ name: 'side', image: this.#pick(IMAGES) }] : []),
      ],
      ...(this.#chance(40) && { tolerations: [this.#toleration(), this.#toleration()] }),
      ...(!options.plain && this.#chance(10) && { nodeSelector: { disk: 'ssd' } }),
      ...(this.#chance(70) && { affinity: this.#affinity() }),
      ...(constraints.length > 0 && { topologySpreadConstraints: constraints }),
    };
    return makePod(name, {
      namespace: this.#pick(NAMESPACES),
      labels: { app: this.#pick(APPS), ...(this.#chance(40) && { tier: this.#pick(TIERS) }) },
      spec,
      ...(this.#chance(8) && { deletionTimestamp: '2026-01-01T00:00:00Z' }),
    });
  }
}
