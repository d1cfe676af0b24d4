import type { FlagValues } from '../../base/flags.ts';
import { bad } from './bad-configuration.ts';
import type { ETCD_FLAGS } from './flags.ts';

/** Another etcd, through which the members of a new cluster find each other. */
export interface DiscoveryConfig {
  readonly endpoints: readonly DiscoveryEndpoint[];
  readonly token: string;
  readonly dialTimeoutMs: number;
  readonly requestTimeoutMs: number;
  readonly certFile: string;
  readonly keyFile: string;
  readonly caFile: string;
  readonly skipVerify: boolean;
  readonly user: { readonly name: string; readonly password: string } | undefined;
}

export interface DiscoveryEndpoint {
  readonly secure: boolean;
  readonly host: string;
  readonly port: number;
}

const ENDPOINT = /^(?:(https?):\/\/)?(\[[^\]]+\]|[^:/]+):(\d{1,5})\/?$/;

const endpointOf = (text: string, isSecure: boolean): DiscoveryEndpoint => {
  const [, scheme, host, port] = ENDPOINT.exec(text) ?? [];
  if (host === undefined || port === undefined)
    return bad(
      `--discovery-endpoints: ${JSON.stringify(text)} must be host:port, http://host:port or https://host:port`,
    );
  return {
    secure: scheme === undefined ? isSecure : scheme === 'https',
    host: host.replace(/^\[|\]$/g, ''),
    port: Number(port),
  };
};

const userOf = (user: string, password: string): DiscoveryConfig['user'] => {
  if (user === '') return undefined;
  const colon = user.indexOf(':');
  if (colon >= 0 && password === '') return { name: user.slice(0, colon), password: user.slice(colon + 1) };
  if (password === '') bad('--discovery-user needs a password: give user:password or --discovery-password');
  return { name: user, password };
};

/** Undefined where the flags name no discovery service. */
export const discoveryOf = (
  values: FlagValues<typeof ETCD_FLAGS>,
  isClusterGiven: boolean,
): DiscoveryConfig | undefined => {
  const endpoints = values['discovery-endpoints'];
  const token = values['discovery-token'];
  if ((token !== '') !== endpoints.length > 0)
    bad('both --discovery-token and --discovery-endpoints must be set');
  if (endpoints.length === 0) return undefined;
  if (isClusterGiven)
    bad(
      'multiple discovery or bootstrap flags are set. Choose one of "initial-cluster" or "discovery-endpoints"',
    );
  if ((values['discovery-cert'] === '') !== (values['discovery-key'] === ''))
    bad('--discovery-cert and --discovery-key must be given together');
  const isSecure =
    !values['discovery-insecure-transport'] ||
    values['discovery-insecure-skip-tls-verify'] ||
    values['discovery-cacert'] !== '' ||
    values['discovery-cert'] !== '';
  return {
    endpoints: endpoints.map((text) => endpointOf(text, isSecure)),
    token,
    dialTimeoutMs: values['discovery-dial-timeout'],
    requestTimeoutMs: values['discovery-request-timeout'],
    certFile: values['discovery-cert'],
    keyFile: values['discovery-key'],
    caFile: values['discovery-cacert'],
    skipVerify: values['discovery-insecure-skip-tls-verify'],
    user: userOf(values['discovery-user'], values['discovery-password']),
  };
};
