import type { Random } from '../../base/random.ts';
import type { ApiRequest, Peer } from './request.ts';
import type { Stage } from './pipeline.ts';

export interface ConnectionStageOptions {
  /** 0: clients stay. */
  readonly goawayChance: number;
  readonly strictTransportSecurity: readonly string[];
  readonly random: Random;
}

export interface ConnectionStage extends Stage {
  /** How many API servers share the clients from now on. */
  setServerCount(count: number): void;
}

/**
 * What the answer says about its connection: HSTS, and by chance that an HTTP/2 client should connect again (`connection:
 * close` becomes GOAWAY). Behind a load balancer long-lived clients then spread over all servers. When a server joins,
 * each connection that was there before leaves once with the share that the new one is to have: otherwise everything
 * that connected while a cluster started would stay with its first server.
 */
export const connectionStage = (options: ConnectionStageOptions): ConnectionStage => {
  const { goawayChance, random } = options;
  const security = options.strictTransportSecurity.join('; ');
  /** This one, until it is known better: the others may join before it looks for the first time. */
  let servers = 1;
  /** Counts the times that servers joined; each connection remembers the last one it was asked about. */
  let joining = 0;
  let leavingShare = 0;
  const askedAt = new WeakMap<Peer, number>();

  const leavesForNewServer = (peer: Peer): boolean => {
    const asked = askedAt.get(peer);
    if (asked === joining) return false;
    askedAt.set(peer, joining);
    return asked !== undefined && random.next() < leavingShare;
  };
  const isToLeave = ({ protocol, peer }: ApiRequest): boolean => {
    if (goawayChance === 0 || protocol !== 'HTTP/2.0') return false;
    return leavesForNewServer(peer) || random.next() < goawayChance;
  };
  return {
    name: 'connection',
    run({ request, response }) {
      if (security !== '') response.setHeader('strict-transport-security', security);
      if (isToLeave(request)) response.setHeader('connection', 'close');
      return 'next';
    },
    setServerCount(count) {
      if (count > servers) {
        joining += 1;
        leavingShare = (count - servers) / count;
      }
      servers = count;
    },
  };
};
