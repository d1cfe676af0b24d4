import { isLoopbackAddress } from '../listeners.ts';
import { PORTS } from '../../manifests/control-plane.ts';
import { SECURITY_ITEMS } from '../items/security.ts';
import type { Look } from '../look.ts';
import { statusFor } from '../network-probes.ts';
import { servingRotation } from './nodes.ts';
import {
  bad,
  type BenchmarkCheck,
  equals,
  flagCheck,
  type FlagRule,
  given,
  listOf,
  measuredBy,
  ok,
  type Result,
  shownFlags,
  valueOf,
} from './check.ts';

const CONTROLLER_MANAGER = 'kube-controller-manager';
const SCHEDULER = 'kube-scheduler';

/** `/metrics` of a manager on every host, without credentials. */
const rejectsAnonymous =
  (port: number) =>
  async ({ controlPlanes }: Look): Promise<Result> => {
    const open: string[] = [];
    for (const { name, address } of controlPlanes) {
      // Managers present certificates of their own, as upstream's do.
      const status = await statusFor(`https://${address}:${port}/metrics`, { rejectUnauthorized: false });
      if (status < 400) open.push(`${name} returned ${status}`);
    }
    return open.length === 0
      ? ok('metrics are served to no one without credentials')
      : bad(
          `metrics are served without credentials: ${open.join(', ')}`,
          'set --client-ca-file in the manifest',
        );
  };

const boundToLoopback = (component: string, port: number): FlagRule => ({
  component,
  remedy: 'set --bind-address to a loopback address in the manifest',
  fault: (command) =>
    isLoopbackAddress(valueOf(command, 'bind-address') ?? '127.0.0.1')
      ? undefined
      : shownFlags(command, 'bind-address'),
  evidence: (command) => `${shownFlags(command, 'bind-address')}, which is a loopback address`,
  probe: rejectsAnonymous(port),
});

/** Sections 1.3 and 1.4. */
export const MANAGER_CHECKS: readonly BenchmarkCheck[] = [
  flagCheck('1.3.1', 'Terminated pods are deleted above a threshold', {
    component: CONTROLLER_MANAGER,
    remedy: 'set --terminated-pod-gc-threshold to a number above 0',
    fault: (command) =>
      valueOf(command, 'terminated-pod-gc-threshold') === '0'
        ? shownFlags(command, 'terminated-pod-gc-threshold')
        : undefined,
    evidence: (command) =>
      valueOf(command, 'terminated-pod-gc-threshold') === undefined
        ? '--terminated-pod-gc-threshold is 12500 by default'
        : shownFlags(command, 'terminated-pod-gc-threshold'),
  }),
  flagCheck(
    '1.3.2',
    'Controller manager: profiling is off',
    equals(CONTROLLER_MANAGER, ['profiling', 'false'], {
      probe: measuredBy(SECURITY_ITEMS.profiling),
      remedy: 'pilothouse harden apply',
    }),
  ),
  flagCheck(
    '1.3.3',
    'Controllers use separate service accounts',
    equals(CONTROLLER_MANAGER, ['use-service-account-credentials', 'true']),
  ),
  flagCheck(
    '1.3.4',
    'Controller manager: key of service accounts is set',
    given(CONTROLLER_MANAGER, ['service-account-private-key-file']),
  ),
  flagCheck(
    '1.3.5',
    'Controller manager: root authority is set',
    given(CONTROLLER_MANAGER, ['root-ca-file']),
  ),
  flagCheck('1.3.6', 'Serving certificates of kubelets are rotated', {
    component: CONTROLLER_MANAGER,
    remedy: 'remove RotateKubeletServerCertificate=false from --feature-gates',
    fault: (command) =>
      listOf(command, 'feature-gates').includes('RotateKubeletServerCertificate=false')
        ? shownFlags(command, 'feature-gates')
        : undefined,
    evidence: () => 'RotateKubeletServerCertificate is on by default',
    probe: (look) => servingRotation.measure(look),
  }),
  flagCheck(
    '1.3.7',
    'Controller manager listens on loopback only',
    boundToLoopback(CONTROLLER_MANAGER, PORTS.controllerManager),
  ),
  flagCheck(
    '1.4.1',
    'Scheduler: profiling is off',
    equals(SCHEDULER, ['profiling', 'false'], {
      probe: measuredBy(SECURITY_ITEMS.profiling),
      remedy: 'pilothouse harden apply',
    }),
  ),
  flagCheck('1.4.2', 'Scheduler listens on loopback only', boundToLoopback(SCHEDULER, PORTS.scheduler)),
];
