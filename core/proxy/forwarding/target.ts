import { inIpv4Range, LOOPBACK } from '../../base/bind-rules.ts';

/** Somewhere to forward to. Two targets of one name are the same one. */
export interface Target {
  readonly name: string;
  readonly host: string;
  readonly port: number;
}

export const targetAt = (host: string, port: number): Target => ({ name: `${host}:${port}`, host, port });

/**
 * Who is next for a client; undefined when no one is left. `tried` are the names that could not be reached for this
 * client, and are never answered again.
 */
export type PickTarget = (clientAddress: string, tried: ReadonlySet<string>) => Target | undefined;

/** What a forwarder tells of its connections, for metrics and health. */
export interface ForwardObserver {
  opened?(target: Target): void;
  closed?(target: Target): void;
  connectFailed?(target: Target, error: Error): void;
  /** No one to forward to: the client was reset. */
  refused?(): void;
  /** The bound on connections was reached: the client was reset. */
  dropped?(): void;
}

/** Whether a client may reach a target; undefined: everyone may, and need not wait. */
export type MayReach = (clientAddress: string, target: Target) => Promise<boolean> | undefined;

/** The address from which a target is dialled for a client; undefined: the system's choice. */
export type SourceFor = (clientAddress: string, target: Target) => string | undefined;

const SYSTEMS_CHOICE = '127.0.0.1';

/**
 * The client's own address where it is one of this machine: every loopback address can be connected from, so that a pod
 * learns which pod talks to it. Clients from elsewhere come as the machine itself.
 */
export const ownSource: SourceFor = (clientAddress, { host }) =>
  clientAddress !== SYSTEMS_CHOICE && inIpv4Range(LOOPBACK, clientAddress) && inIpv4Range(LOOPBACK, host)
    ? clientAddress
    : undefined;
