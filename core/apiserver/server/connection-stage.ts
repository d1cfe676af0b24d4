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
  /** How many API servers share the clients from now on; told at every look, also if nothing has changed. */
  setServerCount(count: number): void;
}

/**
 * Looks after a join at which connections are asked: immediately, and again, because the load balancer may not have seen the
 * new server ready when the first clients came back.
 */
const ASKING_LOOKS: readonly number[] = [0, 2, 8];

/**
 * What the answer says about its connection: HSTS, and by chance that an HTTP/2 client should connect again (`connection:
 * close` becomes GOAWAY). Behind a load balancer long-lived clients then spread over all servers. When a server joins,
 * connections leave with the share that the new one is to have, each asked at a few looks: otherwise everything that
 * connected while a cluster started would stay with its first server.
 */
export const connectionStage = (options: ConnectionStageOptions): ConnectionStage => {
  const { goawayChance, random } = options;
  const security = options.strictTransportSecurity.join('; ');
  /** This one, until it is known better: the others may join before it looks for the first time. */
  let servers = 1;
  /** Counts the times that connections are asked; each remembers the last one. */
  let asking = 0;
  let looksSinceJoin = Infinity;
  let leavingShare = 0;
  const askedAt = new WeakMap<Peer, number>();

  const leavesForNewServer = (peer: Peer): boolean => {
    const asked = askedAt.get(peer);
    if (asked === asking) return false;
    askedAt.set(peer, asking);
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
      looksSinceJoin += 1;
      if (count > servers) {
        looksSinceJoin = 0;
        leavingShare = (count - servers) / count;
      }
      if (ASKING_LOOKS.includes(looksSinceJoin)) asking += 1;
      servers = count;
    },
  };
};
