import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { messageOf, ReasonError } from '../../base/errors.ts';
import { parseFlags } from '../../base/flags.ts';
import type { DnsServerAddress } from '../exchange/exchange.ts';
import { isWireError, labelsOf, lowerName } from '../wire/index.ts';
import type { ZoneConfig } from '../zone/index.ts';
import { DNS_FLAGS } from './flags.ts';

export interface DnsConfig {
  readonly kubeconfig: string;
  readonly zone: ZoneConfig;
  readonly bind: DnsServerAddress;
  readonly metrics: DnsServerAddress | undefined;
  readonly upstreams: readonly DnsServerAddress[];
  readonly idleMs: number;
}

const DNS_PORT = 53;
/** As CoreDNS: more servers than that are a mistake. */
const UPSTREAMS_MAX = 15;

const bad = (message: string): never => {
  throw new ReasonError('BadConfiguration', message);
};

/** `10.0.0.2`, `10.0.0.2:5353`, `[::1]:5353`. */
const parseServer = (flagName: string, value: string, defaultPort?: number): DnsServerAddress => {
  if (isIP(value) !== 0 && defaultPort !== undefined) return { host: value, port: defaultPort };
  const match = /^(?:\[(.+)\]|([^:]+)):(\d{1,5})$/.exec(value);
  const [host, port] = [match?.[1] ?? match?.[2] ?? '', Number(match?.[3])];
  if (isIP(host) === 0 || !(port >= 1 && port <= 65_535))
    return bad(`--${flagName}: ${JSON.stringify(value)} must be an address and a port such as 10.0.0.2:53`);
  return { host, port };
};

const serversOfFile = (path: string, readFile: (path: string) => string): DnsServerAddress[] => {
  let content: string;
  try {
    content = readFile(path);
  } catch (cause) {
    throw new ReasonError('BadConfiguration', `--forward: cannot read ${path}: ${messageOf(cause)}`, {
      cause,
    });
  }
  const servers = content
    .split('\n')
    .map((line) => /^\s*nameserver\s+(\S+)/.exec(line)?.[1] ?? '')
    .filter((address) => isIP(address) !== 0);
  if (servers.length === 0) bad(`--forward: ${path} has no nameserver; name a server or another file`);
  return servers.map((host) => ({ host, port: DNS_PORT }));
};

const zoneName = (domain: string): string => {
  const zone = `${lowerName(domain).replace(/\.$/, '')}.`;
  try {
    if (labelsOf(zone).length === 0) bad('--cluster-domain must not be empty');
  } catch (error) {
    if (!isWireError(error)) throw error;
    bad(`--cluster-domain: ${error.message}`);
  }
  return zone;
};

export const readDnsConfig = (
  args: readonly string[],
  readFile: (path: string) => string = (path) => readFileSync(path, 'utf8'),
): DnsConfig => {
  const { values, positional } = parseFlags(DNS_FLAGS, args);
  if (positional.length > 0) bad(`unexpected argument ${JSON.stringify(positional[0])}`);
  if (values.kubeconfig === '') bad('--kubeconfig must be given');
  if (isIP(values['bind-address']) === 0)
    bad(`--bind-address: ${JSON.stringify(values['bind-address'])} must be an IP address`);
  const [namespace, name, ...rest] = values.service.split('/');
  if (!namespace || !name || rest.length > 0) return bad('--service must be a namespace and a name');
  const upstreams = values.forward.flatMap((server) =>
    server.startsWith('/') ? serversOfFile(server, readFile) : [parseServer('forward', server, DNS_PORT)],
  );
  if (upstreams.length > UPSTREAMS_MAX) bad(`--forward: more than ${UPSTREAMS_MAX} servers`);
  const metrics = values['metrics-bind-address'];
  return {
    kubeconfig: values.kubeconfig,
    zone: {
      zone: zoneName(values['cluster-domain']),
      ttlSeconds: values.ttl,
      service: { namespace, name },
    },
    bind: { host: values['bind-address'], port: values.port },
    metrics: metrics === '' ? undefined : parseServer('metrics-bind-address', metrics),
    upstreams,
    idleMs: values['watch-idle-timeout'],
  };
};
