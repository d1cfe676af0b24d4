import { parseIp } from '../../api/validation/ip.ts';
import {
  CLASS_IN,
  isWithinZone,
  RCODE,
  splitName,
  TYPE,
  type Question,
  type RecordData,
  type ResourceRecord,
} from '../wire/index.ts';
import { canonical, endpointHostname, isHeadless, placesOf, servicePlaces, type Place } from './endpoints.ts';
import { parseName, reverseAddress, type Asked } from './parse-name.ts';
import { SERVICE_LABEL, type ZoneConfig, type ZoneSource } from './source.ts';

/** The schema that names follow: the Kubernetes DNS specification. */
export const SCHEMA_VERSION = '1.1.0';
const VERSION_TTL_SECONDS = 28_800;
const SOA_TTL_SECONDS_MAX = 300;
/** Of ExternalName services that lead to each other. */
const ALIASES_MAX = 8;

export const REVERSE_ZONES = ['in-addr.arpa.', 'ip6.arpa.'] as const;

export interface ZoneAnswer {
  readonly rcode: number;
  readonly answers: readonly ResourceRecord[];
  readonly authorities: readonly ResourceRecord[];
  readonly additionals: readonly ResourceRecord[];
  /** A name outside the zone, to which the last CNAME of the answers leads: anyone who forwards continues there. */
  readonly continuesAt?: string;
}

/** What a name has; undefined: there is no such name. */
type Found =
  | { readonly kind: 'places'; readonly places: readonly Place[]; readonly owner: string }
  | { readonly kind: 'alias'; readonly target: string }
  | { readonly kind: 'empty' };

const EMPTY: Found = { kind: 'empty' };

const fullName = (...labels: string[]): string => `${labels.join('.')}.`;

class Zone {
  readonly #source: ZoneSource;
  readonly #config: ZoneConfig;
  readonly #zoneLabels: string;

  constructor(source: ZoneSource, config: ZoneConfig) {
    this.#source = source;
    this.#config = config;
    this.#zoneLabels = config.zone.replace(/\.$/, '');
  }

  answer(question: Question): ZoneAnswer | undefined {
    const { name, type } = question;
    const reverse = REVERSE_ZONES.find((zone) => isWithinZone(name, zone));
    if (reverse !== undefined) return this.#reverse(question, reverse);
    if (!isWithinZone(name, this.#config.zone)) return undefined;
    const asked = parseName(name, this.#config.zone);
    if (asked.kind === 'apex' && splitName(name).length === splitName(this.#config.zone).length) {
      if (type === TYPE.SOA) return this.#positive([this.#soa(this.#config.zone)]);
      if (type === TYPE.NS) return this.#nameServers(name);
    }
    if (asked.kind === 'version')
      return type === TYPE.TXT
        ? this.#positive([
            this.#record(name, TYPE.TXT, { kind: 'txt', texts: [SCHEMA_VERSION] }, VERSION_TTL_SECONDS),
          ])
        : this.#negative(RCODE.NOERROR, this.#config.zone);
    return this.#lookUp(question, asked);
  }

  #lookUp(question: Question, asked: Asked): ZoneAnswer {
    const found = this.#find(asked);
    if (!found) return this.#negative(RCODE.NXDOMAIN, this.#config.zone);
    if (found.kind === 'alias') return this.#alias(question, found.target);
    if (found.kind === 'empty') return this.#negative(RCODE.NOERROR, this.#config.zone);
    const { name, type } = question;
    if (type === TYPE.SRV) return this.#services(name, found.places, found.owner);
    return this.#positive(this.#addresses(name, type, found.places));
  }

  #find(asked: Asked): Found | undefined {
    const { service } = this.#config;
    switch (asked.kind) {
      case 'outside':
        return undefined;
      case 'apex':
      case 'version':
        return EMPTY;
      case 'default-name-server':
        return this.#findService({ kind: 'service', namespace: service.namespace, service: service.name });
      case 'namespace':
        return this.#source.hasNamespace(asked.namespace) ? EMPTY : undefined;
      case 'pod': {
        if (!this.#source.hasNamespace(asked.namespace) || !parseIp(asked.address)) return undefined;
        const place: Place = { address: canonical(asked.address), port: undefined, hostname: undefined };
        return { kind: 'places', places: [place], owner: '' };
      }
      case 'service':
        return this.#findService(asked);
    }
  }

  #findService(asked: Extract<Asked, { kind: 'service' }>): Found | undefined {
    const { namespace, port, protocol, endpoint } = asked;
    const service = this.#source.service(namespace, asked.service);
    if (!service) return undefined;
    if (service.spec?.type === 'ExternalName') {
      const target = service.spec.externalName ?? '';
      const isName = endpoint === undefined && port === undefined && target !== '' && !parseIp(target);
      return isName ? { kind: 'alias', target: target.endsWith('.') ? target : `${target}.` } : undefined;
    }
    const places =
      isHeadless(service) || endpoint !== undefined
        ? placesOf(this.#source.slicesOf(namespace, asked.service))
        : servicePlaces(service);
    const matching = places.filter(
      (place) =>
        (endpoint === undefined || place.hostname?.toLowerCase() === endpoint) &&
        (port === undefined || place.port?.name.toLowerCase() === port) &&
        (protocol === undefined || place.port?.protocol.toLowerCase() === protocol),
    );
    if (matching.length === 0) return undefined;
    return {
      kind: 'places',
      places: matching,
      owner: fullName(asked.service, namespace, 'svc', this.#zoneLabels),
    };
  }

  /** Follows names that stay in the zone; what leads out of it is for anyone who forwards. */
  #alias(question: Question, first: string): ZoneAnswer {
    const records: ResourceRecord[] = [];
    let [name, target] = [question.name, first];
    for (let count = 0; count < ALIASES_MAX; count += 1) {
      records.push(this.#record(name, TYPE.CNAME, { kind: 'name', target }));
      if (question.type === TYPE.CNAME) return this.#positive(records);
      if (!isWithinZone(target, this.#config.zone))
        return { ...this.#positive(records), continuesAt: target };
      const found = this.#find(parseName(target, this.#config.zone));
      if (found?.kind !== 'alias') {
        const places = found?.kind === 'places' ? found.places : [];
        // RFC 2308, section 2.1: the code is that of the last name.
        const rcode = found ? RCODE.NOERROR : RCODE.NXDOMAIN;
        const addresses = this.#addresses(target, question.type, places);
        return {
          ...this.#positive([...records, ...addresses]),
          rcode,
          authorities: addresses.length === 0 ? [this.#soa(this.#config.zone)] : [],
        };
      }
      name = target;
      target = found.target;
    }
    return { rcode: RCODE.SERVFAIL, answers: [], authorities: [], additionals: [] };
  }

  #addresses(name: string, type: number, places: readonly Place[]): ResourceRecord[] {
    const family = type === TYPE.A ? 4 : type === TYPE.AAAA ? 6 : undefined;
    const addresses = new Set(
      places.map(({ address }) => address).filter((address) => parseIp(address)?.family === family),
    );
    if (family === undefined) return [];
    return [...addresses].map((address) => this.#record(name, type, { kind: 'address', address }));
  }

  /** Weights as CoreDNS has them: a hundred, shared by all. */
  #services(name: string, places: readonly Place[], owner: string): ZoneAnswer {
    const targets = new Map<string, { readonly place: Place; readonly target: string }>();
    for (const place of places) {
      if (!place.port) continue;
      const target = place.hostname === undefined ? owner : `${place.hostname}.${owner}`;
      targets.set(`${place.port.number} ${target}`, { place, target });
    }
    const weight = Math.floor(100 / Math.max(1, targets.size));
    const records = [...targets.values()].map(({ place, target }) =>
      this.#record(name, TYPE.SRV, { kind: 'srv', priority: 0, weight, port: place.port!.number, target }),
    );
    const additionals = new Map<string, ResourceRecord>();
    for (const place of places) {
      if (!place.port) continue;
      const target = place.hostname === undefined ? owner : `${place.hostname}.${owner}`;
      const type = parseIp(place.address)?.family === 4 ? TYPE.A : TYPE.AAAA;
      additionals.set(
        `${target} ${place.address}`,
        this.#record(target, type, { kind: 'address', address: place.address }),
      );
    }
    return { ...this.#positive(records), additionals: records.length === 0 ? [] : [...additionals.values()] };
  }

  #nameServers(name: string): ZoneAnswer {
    const { namespace, name: service } = this.#config.service;
    const found = this.#findService({ kind: 'service', namespace, service });
    const places = found?.kind === 'places' ? found.places : [];
    const target =
      places.length > 0
        ? fullName(service, namespace, 'svc', this.#zoneLabels)
        : fullName('ns', 'dns', this.#zoneLabels);
    return {
      ...this.#positive([this.#record(name, TYPE.NS, { kind: 'name', target })]),
      additionals: [TYPE.A, TYPE.AAAA].flatMap((type) => this.#addresses(target, type, places)),
    };
  }

  /** Undefined: not one of ours, so that it may be asked elsewhere. */
  #reverse({ name, type }: Question, zone: string): ZoneAnswer | undefined {
    const text = reverseAddress(name);
    const address = text === undefined ? undefined : canonical(text);
    const targets = address === undefined ? [] : this.#namesOf(address);
    if (targets.length === 0) return undefined;
    if (type !== TYPE.PTR) return this.#negative(RCODE.NOERROR, zone);
    return this.#positive(targets.map((target) => this.#record(name, TYPE.PTR, { kind: 'name', target })));
  }

  #namesOf(address: string): readonly string[] {
    const [service] = this.#source.servicesAt(address);
    if (service)
      return [
        fullName(
          service.metadata?.name ?? '',
          service.metadata?.namespace ?? 'default',
          'svc',
          this.#zoneLabels,
        ),
      ];
    const names = this.#source
      .slicesAt(address)
      .flatMap(({ metadata, endpoints }) =>
        (endpoints ?? [])
          .filter(
            ({ addresses, conditions }) =>
              conditions?.ready !== false && addresses.some((one) => canonical(one) === address),
          )
          .map(({ hostname }) =>
            fullName(
              endpointHostname(hostname, address),
              metadata?.labels?.[SERVICE_LABEL] ?? '',
              metadata?.namespace ?? 'default',
              'svc',
              this.#zoneLabels,
            ),
          ),
      );
    return [...new Set(names)];
  }

  #record(
    name: string,
    type: number,
    data: RecordData,
    ttlSeconds = this.#config.ttlSeconds,
  ): ResourceRecord {
    return { name, type, class: CLASS_IN, ttlSeconds, data };
  }

  #soa(zone: string): ResourceRecord {
    const { ttlSeconds } = this.#config;
    return this.#record(
      zone,
      TYPE.SOA,
      {
        kind: 'soa',
        primary: `ns.dns.${zone}`,
        mailbox: `hostmaster.${zone}`,
        serial: this.#source.serial,
        refreshSeconds: 7200,
        retrySeconds: 1800,
        expireSeconds: 86_400,
        minimumSeconds: ttlSeconds,
      },
      Math.min(ttlSeconds, SOA_TTL_SECONDS_MAX),
    );
  }

  /** Nothing of this type is NODATA. */
  #positive(answers: readonly ResourceRecord[]): ZoneAnswer {
    if (answers.length === 0) return this.#negative(RCODE.NOERROR, this.#config.zone);
    return { rcode: RCODE.NOERROR, answers, authorities: [], additionals: [] };
  }

  /** RFC 2308: the SOA of the zone says for how long the answer may be kept. */
  #negative(rcode: number, zone: string): ZoneAnswer {
    return { rcode, answers: [], authorities: [this.#soa(zone)], additionals: [] };
  }
}

/**
 * The answer to a question about the cluster's own names, after the Kubernetes DNS specification and, where it leaves
 * something open, CoreDNS. Undefined: the name is none of the cluster's.
 */
export const answerQuestion = (
  question: Question,
  source: ZoneSource,
  config: ZoneConfig,
): ZoneAnswer | undefined => new Zone(source, config).answer(question);
