import { ReasonError } from '../../base/errors.ts';
import { parseFlags, type FlagValues } from '../../base/flags.ts';
import { parseIpv4Range } from '../../base/bind-rules.ts';
import { parseRange } from '../address-range.ts';
import { CLOUD_FLAGS } from './flags.ts';

/** The flags by their names: a controller reads the few that are its own. */
export type CloudSettings = FlagValues<typeof CLOUD_FLAGS>;

export const DEFAULT_CLOUD_SETTINGS: CloudSettings = parseFlags(CLOUD_FLAGS, []).values;

const bad = (message: string): never => {
  throw new ReasonError('BadConfiguration', message);
};

/** Reads cloud-controller-manager's command line. Contradictions are one clear line that names the flags. */
export const readCloudSettings = (args: readonly string[]): CloudSettings => {
  const { values, positional } = parseFlags(CLOUD_FLAGS, args);
  if (positional.length > 0) bad(`unexpected argument ${JSON.stringify(positional[0])}`);
  if (values.kubeconfig === '') bad('--kubeconfig must be given');
  const range = values['load-balancer-range'];
  if (range !== '' && !parseRange(range))
    bad(
      `--load-balancer-range: ${JSON.stringify(range)} is no range of loopback addresses such as 127.20.8.0/21`,
    );
  const pods = values['cluster-cidr'];
  if (pods !== '' && !parseIpv4Range(pods))
    bad(`--cluster-cidr: ${JSON.stringify(pods)} is no IPv4 range such as 127.21.0.0/16`);
  if (values['allocate-node-cidrs'] && values['cluster-cidr'] === '')
    bad('--allocate-node-cidrs needs --cluster-cidr');
  if (!(values['leader-elect-lease-duration'] > values['leader-elect-renew-deadline']))
    bad('--leader-elect-lease-duration must be greater than --leader-elect-renew-deadline');
  return values;
};
