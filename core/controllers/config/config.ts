import { ReasonError } from '../../base/errors.ts';
import { UNSUPPORTED_CONTROLLER_FLAGS } from '../../component/unsupported-flags.ts';
import { parseFlags, rejectUnsupportedFlags, type FlagValues } from '../../base/flags.ts';
import { CONTROLLER_MANAGER_FLAGS } from './flags.ts';

type Values = FlagValues<typeof CONTROLLER_MANAGER_FLAGS>;

/** The flags by their names: a controller reads the few that are its own. */
export type ControllerSettings = Values;

export const DEFAULT_SETTINGS: ControllerSettings = parseFlags(CONTROLLER_MANAGER_FLAGS, []).values;

const bad = (message: string): never => {
  throw new ReasonError('BadConfiguration', message);
};

const SIGNER_FLAGS = [
  'kube-apiserver-client',
  'kubelet-client',
  'kubelet-serving',
  'legacy-unknown',
] as const;

/** The files of a signer; empty: it does not sign. As upstream, one pair is for all, or each has its own. */
export const signingFiles = (
  values: ControllerSettings,
  signer: (typeof SIGNER_FLAGS)[number],
): { readonly certFile: string; readonly keyFile: string } => {
  const own = {
    certFile: values[`cluster-signing-${signer}-cert-file`],
    keyFile: values[`cluster-signing-${signer}-key-file`],
  };
  return own.certFile !== ''
    ? own
    : { certFile: values['cluster-signing-cert-file'], keyFile: values['cluster-signing-key-file'] };
};

const checkSigning = (values: ControllerSettings): void => {
  const common = ['cluster-signing-cert-file', 'cluster-signing-key-file'] as const;
  const own = SIGNER_FLAGS.map(
    (name) => [`cluster-signing-${name}-cert-file`, `cluster-signing-${name}-key-file`] as const,
  );
  for (const [cert, key] of [common, ...own])
    if ((values[cert] === '') !== (values[key] === '')) bad(`--${cert} and --${key} must be given together`);
  const specific = own.find(([cert]) => values[cert] !== '')?.[0];
  if (values['cluster-signing-cert-file'] !== '' && specific !== undefined)
    bad(`cannot specify default and per controller certs at the same time: --${common[0]} and --${specific}`);
};

/** Reads kube-controller-manager's command line. Contradictions are one clear line that names the flags. */
export const readControllerSettings = (args: readonly string[]): ControllerSettings => {
  rejectUnsupportedFlags(args, CONTROLLER_MANAGER_FLAGS, UNSUPPORTED_CONTROLLER_FLAGS);
  const { values, positional } = parseFlags(CONTROLLER_MANAGER_FLAGS, args);
  if (positional.length > 0) bad(`unexpected argument ${JSON.stringify(positional[0])}`);
  if (values.kubeconfig === '') bad('--kubeconfig must be given');
  if (values['allocate-node-cidrs'] && values['cluster-cidr'] === '')
    bad('--allocate-node-cidrs needs --cluster-cidr');
  checkSigning(values);
  if (!(values['leader-elect-lease-duration'] > values['leader-elect-renew-deadline']))
    bad('--leader-elect-lease-duration must be greater than --leader-elect-renew-deadline');
  return values;
};

/** As upstream's `/configz` names it, as far as this manager has it. */
export const controllerManagerConfiguration = (settings: ControllerSettings): Record<string, unknown> => ({
  'kubecontrollermanager.config.k8s.io': {
    Generic: {
      Controllers: settings.controllers,
      LeaderElection: {
        LeaderElect: settings['leader-elect'],
        ResourceName: settings['leader-elect-resource-name'],
        ResourceNamespace: settings['leader-elect-resource-namespace'],
      },
    },
    KubeCloudShared: {
      // In upstream, too, it names the cluster to clouds and is otherwise only shown here.
      ClusterName: settings['cluster-name'],
      ClusterCIDR: settings['cluster-cidr'],
      AllocateNodeCIDRs: settings['allocate-node-cidrs'],
      UseServiceAccountCredentials: settings['use-service-account-credentials'],
    },
  },
});
