import { lowerName, splitName } from '../wire/index.ts';

/** What a name below the zone asks for; `outside` is no name that the schema has. */
export type Asked =
  /** The zone, `svc` and `pod` themselves: they exist and have no addresses. */
  | { readonly kind: 'apex' }
  | { readonly kind: 'version' }
  | { readonly kind: 'default-name-server' }
  | { readonly kind: 'namespace'; readonly namespace: string }
  | { readonly kind: 'pod'; readonly namespace: string; readonly address: string }
  | {
      readonly kind: 'service';
      readonly namespace: string;
      readonly service: string;
      /** `<hostname>.<service>...` */
      readonly endpoint?: string;
      /** `_<port>._<protocol>.<service>...`, without their underscores. */
      readonly port?: string;
      readonly protocol?: string;
    }
  | { readonly kind: 'outside' };

const OUTSIDE: Asked = { kind: 'outside' };
const withoutUnderscore = (label: string): string => label.replace(/^_/, '');

/** `10-1-2-3` is 10.1.2.3, `2001-db8--1` is 2001:db8::1. */
const podAddress = (label: string): string =>
  label.split('-').length === 4 && !label.includes('--')
    ? label.replaceAll('-', '.')
    : label.replaceAll('-', ':');

/** `name` is within the zone. */
export const parseName = (name: string, zone: string): Asked => {
  const labels = splitName(lowerName(name)).slice(0, -splitName(zone).length || undefined);
  const [last, namespace, service, ...rest] = labels.reverse();
  if (last === undefined) return { kind: 'apex' };
  if (labels.length === 1 && last === 'dns-version') return { kind: 'version' };
  if (labels.length === 2 && last === 'dns' && namespace === 'ns') return { kind: 'default-name-server' };
  if (last !== 'svc' && last !== 'pod') return OUTSIDE;
  if (namespace === undefined) return { kind: 'apex' };
  if (service === undefined) return { kind: 'namespace', namespace };
  if (last === 'pod')
    return rest.length === 0 ? { kind: 'pod', namespace, address: podAddress(service) } : OUTSIDE;
  const [first, second, ...more] = rest;
  if (more.length > 0) return OUTSIDE;
  if (first === undefined) return { kind: 'service', namespace, service };
  if (second === undefined) return { kind: 'service', namespace, service, endpoint: first };
  return {
    kind: 'service',
    namespace,
    service,
    port: withoutUnderscore(second),
    protocol: withoutUnderscore(first),
  };
};

const HEX = '0123456789abcdef';
const NIBBLES = 32;

/** The address that a name below in-addr.arpa or ip6.arpa stands for; undefined: a part of one, or none. */
export const reverseAddress = (name: string): string | undefined => {
  const labels = splitName(lowerName(name)).slice(0, -2).reverse();
  if (lowerName(name).endsWith('in-addr.arpa.'))
    return labels.length === 4 && labels.every((label) => /^\d{1,3}$/.test(label) && Number(label) <= 255)
      ? labels.map(Number).join('.')
      : undefined;
  if (labels.length !== NIBBLES || !labels.every((label) => label.length === 1 && HEX.includes(label)))
    return undefined;
  return (labels.join('').match(/.{4}/g) ?? []).join(':');
};
