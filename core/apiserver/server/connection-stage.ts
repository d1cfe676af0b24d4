import type { Random } from '../../base/random.ts';
import type { Stage } from './pipeline.ts';

export interface ConnectionStageOptions {
  readonly goawayChance: number;
  readonly strictTransportSecurity: readonly string[];
  readonly random: Random;
}

/**
 * What the answer says about its connection: HSTS, and by chance that an HTTP/2 client should connect again (`connection:
 * close` becomes GOAWAY). Behind a load balancer long-lived clients then spread over all servers.
 */
export const connectionStage = (options: ConnectionStageOptions): Stage => {
  const { goawayChance, random } = options;
  const security = options.strictTransportSecurity.join('; ');
  return {
    name: 'connection',
    run({ request, response }) {
      if (security !== '') response.setHeader('strict-transport-security', security);
      if (goawayChance > 0 && request.protocol === 'HTTP/2.0' && random.next() < goawayChance)
        response.setHeader('connection', 'close');
      return 'next';
    },
  };
};
