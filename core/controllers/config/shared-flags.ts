import { boolean, flag, list, type FlagValues } from '../../base/flags.ts';

/** Flags of every manager of controllers: kube-controller-manager and cloud-controller-manager. */
export const CONTROLLER_FLAGS = {
  controllers: flag(list, ['*'], 'controllers to run: * is all, foo turns on, -foo turns off'),
  'use-service-account-credentials': flag(
    boolean,
    true,
    'a service account for each controller (upstream: false)',
  ),
} as const;

export type ControllerFlagValues = FlagValues<typeof CONTROLLER_FLAGS>;
