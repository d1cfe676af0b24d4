import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { ReasonError } from '../../base/errors.ts';
import { writeClusterConfig } from '../data-folder/create.ts';
import { backupsFolder, PRIVATE_FOLDER_MODE } from '../data-folder/layout.ts';
import { etcdAccessOf, saveSnapshot } from '../etcd-operator/operations.ts';
import type { StepReport } from '../operation/step-report.ts';
import { ELECTED_COMPONENTS } from '../supervisor/bootstrap.ts';
import type { HostLink } from '../supervisor/host-link.ts';
import type { Supervisor } from '../supervisor/supervisor.ts';
import { setImageTag, writeManifest } from './manifest-image.ts';
import { assertUpgradable } from './plan.ts';

const READY_TIMEOUT_MS = 60_000;

export interface UpgradeOutcome {
  readonly from: string;
  readonly to: string;
  readonly snapshot: string | undefined;
}

/** One component of one host to another release; back again when it does not become ready. */
const moveComponent = async (
  supervisor: Supervisor,
  host: HostLink,
  component: string,
  version: string,
): Promise<boolean> => {
  const { directory } = supervisor.folder;
  const { name } = host.plan;
  if (host.component(component)?.version === version) return false;
  const before = await setImageTag(directory, name, component, version);
  if (before === undefined) return false;
  const isReady = (): boolean => {
    const now = host.component(component);
    return now?.version === version && now.phase === 'ready';
  };
  if (await host.until(isReady, READY_TIMEOUT_MS)) return true;
  const why = host.component(component)?.message;
  await writeManifest(directory, name, component, before);
  throw new ReasonError(
    'UpgradeFailed',
    `${component} on ${name} did not become ready as ${version} and is back at its release of before${why === undefined ? '' : `: ${why}`}`,
  );
};

const backUp = async (supervisor: Supervisor, target: string): Promise<string | undefined> => {
  const { directory, config } = supervisor.folder;
  if (config.spec.externalEtcd) return undefined;
  await mkdir(backupsFolder(directory), { recursive: true, mode: PRIVATE_FOLDER_MODE });
  const stamp = new Date().toISOString().replaceAll(/[-:]|\.\d+/g, '');
  const file = join(backupsFolder(directory), `before-${target}-${stamp}.db`);
  return (await saveSnapshot(etcdAccessOf(directory, config), file)).file;
};

/** Takes a running cluster to another release. What was moved before a failure stays: skew of one minor is allowed. */
export const applyUpgrade = async (
  supervisor: Supervisor,
  target: string,
  report: StepReport,
): Promise<UpgradeOutcome> => {
  const progress = (line: string): void => report.detail('upgrade', line);
  const { directory } = supervisor.folder;
  const from = supervisor.config.spec.kubernetesVersion;
  assertUpgradable(from, target);
  const down = supervisor.hosts.filter(({ phase }) => phase !== 'running');
  if (down.length > 0)
    throw new ReasonError(
      'NotReady',
      `host ${down[0]!.plan.name} is ${down[0]!.phase}; bring every host up first`,
    );
  const snapshot = await backUp(supervisor, target);
  if (snapshot !== undefined) progress(`snapshot ${snapshot}`);
  const controlPlanes = supervisor.hosts.filter(({ plan }) => plan.role === 'control-plane');
  for (const components of [['kube-apiserver'], ELECTED_COMPONENTS])
    for (const host of controlPlanes)
      for (const component of components)
        if (await moveComponent(supervisor, host, component, target))
          progress(`${host.plan.name} ${component} ${target}`);
  const config = { ...supervisor.config, spec: { ...supervisor.config.spec, kubernetesVersion: target } };
  await writeClusterConfig(directory, config);
  supervisor.setConfig(config);
  for (const host of supervisor.hosts) {
    if (host.plan.nodes.length === 0) continue;
    // Nothing but the kubelet's host runs it, and it starts with that.
    await setImageTag(directory, host.plan.name, 'kube-proxy', target);
    await supervisor.restartHost(host.plan.name);
    progress(`${host.plan.name} kubelet ${target}`);
  }
  return { from, to: target, snapshot };
};
