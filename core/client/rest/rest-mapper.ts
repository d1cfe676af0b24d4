import type { Clock } from '../../base/clock.ts';
import type { Client } from '../client.ts';
import { discover, type DiscoveredResource, type Discovery } from './discovery.ts';

/** A name that was not found is looked for on the server again, but not more often than this. */
const REFRESH_PAUSE_MS = 10_000;

export interface KindName {
  readonly group: string;
  readonly kind: string;
  /** The preferred version without it. */
  readonly version?: string;
}

export interface ResourceName {
  readonly group: string;
  readonly plural: string;
  readonly version?: string;
}

/** From kinds to resources and back, by what the server offers; asks again when a name is unknown. */
export class RestMapper {
  readonly #client: Client;
  readonly #clock: Clock;
  #discovery: Promise<Discovery> | undefined;
  #askedMs = -Infinity;

  constructor(client: Client, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
  }

  /** What is known, from the server when nothing is. */
  discovery(): Promise<Discovery> {
    return this.#discovery ?? this.refresh();
  }

  refresh(): Promise<Discovery> {
    this.#askedMs = this.#clock.monotonicMs();
    const asked = discover(this.#client).catch((error: unknown) => {
      if (this.#discovery === asked) this.#discovery = undefined;
      throw error;
    });
    this.#discovery = asked;
    return asked;
  }

  ofKind({ group, kind, version }: KindName): Promise<DiscoveredResource | undefined> {
    return this.#find((r) => r.group === group && r.kind === kind, version);
  }

  ofResource({ group, plural, version }: ResourceName): Promise<DiscoveredResource | undefined> {
    return this.#find((r) => r.group === group && r.plural === plural, version);
  }

  /** As a user names it on the command line: `po`, `pod`, `pods`, `deployments.apps`. */
  ofName(name: string): Promise<DiscoveredResource | undefined> {
    const dot = name.indexOf('.');
    const [resource, group] = dot < 0 ? [name, undefined] : [name.slice(0, dot), name.slice(dot + 1)];
    return this.#find(
      (r) =>
        (group === undefined || r.group === group) &&
        (r.plural === resource || r.singular === resource || r.shortNames.includes(resource)),
      undefined,
    );
  }

  async #find(
    matches: (resource: DiscoveredResource) => boolean,
    version: string | undefined,
  ): Promise<DiscoveredResource | undefined> {
    const among = ({ resources }: Discovery): DiscoveredResource | undefined => {
      const found = resources.filter(matches);
      if (version !== undefined) return found.find((resource) => resource.version === version);
      return found.find(({ isPreferred }) => isPreferred) ?? found[0];
    };
    const known = among(await this.discovery());
    if (known || this.#clock.monotonicMs() - this.#askedMs < REFRESH_PAUSE_MS) return known;
    return among(await this.refresh());
  }
}
