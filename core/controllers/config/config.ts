import { ReasonError } from '../../base/errors.ts';
import { parseFlags, type FlagValues } from '../../base/flags.ts';
import { CONTROLLER_MANAGER_FLAGS } from './flags.ts';

type Values = FlagValues<typeof CONTROLLER_MANAGER_FLAGS>;

/** The flags by their names: a controller reads the few that are its own. */
export type ControllerSettings = Values;

export const DEFAULT_SETTINGS: ControllerSettings = parseFlags(CONTROLLER_MANAGER_FLAGS, []).values;

const bad = (message: string): never => {
  throw new ReasonError('BadConfiguration', message);
};

/** Reads kube-controller-manager's command line. Contradictions are one clear line that names the flags. */
export const readControllerSettings = (args: readonly string[]): ControllerSettings => {
  const { values, positional } = parseFlags(CONTROLLER_MANAGER_FLAGS, args);
  if (positional.length > 0) bad(`unexpected argument ${JSON.stringify(positional[0])}`);
  if (values.kubeconfig === '') bad('--kubeconfig must be given');
  if (values['allocate-node-cidrs'] && values['cluster-cidr'] === '')
    bad('--allocate-node-cidrs needs --cluster-cidr');
  if ((values['cluster-signing-cert-file'] === '') !== (values['cluster-signing-key-file'] === ''))
    bad('--cluster-signing-cert-file and --cluster-signing-key-file must be given together');
  if (!(values['leader-elect-lease-duration'] > values['leader-elect-renew-deadline']))
    bad('--leader-elect-lease-duration must be greater than --leader-elect-renew-deadline');
  return values;
};
