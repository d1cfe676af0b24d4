import { readdir } from 'node:fs/promises';
import { ReasonError } from '../../../core/base/errors.ts';
import type { Supervisor } from '../../../core/cluster/index.ts';
import { manifestsFolder } from '../../../core/cluster/data-folder/layout.ts';
import { inStep } from '../../../core/cluster/operation/step-report.ts';
import type { StepReport } from '../operation-runner.ts';
import { requireSupervisor } from '../hosted-cluster.ts';
import type { Kind, RunnersOf } from './runner.ts';

/** Longer than any component takes on a slow machine. */
const READY_TIMEOUT_MS = 60_000;

/** What the kubelet of a host starts: one component a manifest. */
const plannedComponents = async (supervisor: Supervisor, host: string): Promise<readonly string[]> => {
  const files = await readdir(manifestsFolder(supervisor.folder.directory, host));
  return files.filter((name) => /^[^.].*\.ya?ml$/.test(name)).map((name) => name.replace(/\.ya?ml$/, ''));
};

const untilHostReady = async (supervisor: Supervisor, name: string, report: StepReport): Promise<void> => {
  const link = supervisor.host(name);
  const planned = await plannedComponents(supervisor, name);
  const late = (): readonly string[] =>
    planned.filter((component) => link.component(component)?.phase !== 'ready');
  const following = supervisor.onChange(() => report.detail('ready', late().join(', ')));
  try {
    await link.until(() => link.phase !== 'running' || late().length === 0, READY_TIMEOUT_MS);
  } finally {
    following.dispose();
  }
  if (link.phase !== 'running')
    throw new ReasonError(
      'HostFailed',
      `${name} is ${link.phase} again: ${link.state().message ?? 'exited'}`,
    );
  if (late().length > 0)
    throw new ReasonError(
      'NotReady',
      `${name} is running, but ${late().join(', ')} did not become ready in time`,
    );
  report.detail('ready', '');
};

export const hostRunners: RunnersOf<Extract<Kind, `host.${string}`>> = {
  async 'host.kill'({ host }, { cluster, report }) {
    const supervisor = requireSupervisor(cluster);
    report.plan([{ id: 'kill', title: `Send SIGKILL to the process of ${host}` }]);
    await inStep(report, 'kill', () => supervisor.commands.kill(host));
    return `${host} was killed. It stays down until you start it.`;
  },
  async 'host.stop'({ host }, { cluster, report }) {
    const supervisor = requireSupervisor(cluster);
    report.plan([{ id: 'stop', title: `Stop ${host} gracefully` }]);
    await inStep(report, 'stop', () => supervisor.commands.stop(host));
    return `${host} stopped. It stays down until you start it.`;
  },
  async 'host.start'({ host }, { cluster, report }) {
    const supervisor = requireSupervisor(cluster);
    report.plan([
      { id: 'start', title: `Start the process of ${host}` },
      { id: 'ready', title: 'Wait until its components are ready' },
    ]);
    await inStep(report, 'start', () => supervisor.commands.start(host));
    await inStep(report, 'ready', () => untilHostReady(supervisor, host, report));
    return `${host} is running and all its components are ready.`;
  },
  async 'host.restart'({ host }, { cluster, report }) {
    const supervisor = requireSupervisor(cluster);
    report.plan([
      { id: 'stop', title: `Stop ${host} gracefully` },
      { id: 'start', title: `Start the process of ${host}` },
      { id: 'ready', title: 'Wait until its components are ready' },
    ]);
    await inStep(report, 'stop', () => supervisor.commands.stop(host));
    await inStep(report, 'start', () => supervisor.commands.start(host));
    await inStep(report, 'ready', () => untilHostReady(supervisor, host, report));
    return `${host} was restarted and all its components are ready.`;
  },
  async 'host.pause'({ host }, { cluster, report }) {
    const supervisor = requireSupervisor(cluster);
    report.plan([{ id: 'pause', title: `Send SIGSTOP to the process of ${host}` }]);
    await inStep(report, 'pause', () => supervisor.commands.pause(host));
    return `${host} is paused: connections stay open, but nothing responds.`;
  },
  async 'host.resume'({ host }, { cluster, report }) {
    const supervisor = requireSupervisor(cluster);
    report.plan([{ id: 'resume', title: `Send SIGCONT to the process of ${host}` }]);
    await inStep(report, 'resume', () => supervisor.commands.resume(host));
    return `${host} resumed.`;
  },
};

export const componentRunners: RunnersOf<Extract<Kind, `component.${string}`>> = {
  async 'component.kill'({ host, component }, { cluster, report }) {
    const supervisor = requireSupervisor(cluster);
    report.plan([{ id: 'kill', title: `End the thread of ${component} on ${host}` }]);
    await inStep(report, 'kill', () => supervisor.commands.killComponent(host, component));
    return `${component} on ${host} was killed. Its kubelet restarts it.`;
  },
  async 'component.stop'({ host, component }, { cluster, report }) {
    const supervisor = requireSupervisor(cluster);
    report.plan([{ id: 'stop', title: `Remove the manifest of ${component} from ${host}` }]);
    await inStep(report, 'stop', () => supervisor.commands.stopComponent(host, component));
    return `${component} on ${host} stopped. It stays down until you start it.`;
  },
  async 'component.start'({ host, component }, { cluster, report, signal }) {
    const supervisor = requireSupervisor(cluster);
    report.plan([
      { id: 'manifest', title: `Restore the manifest of ${component}` },
      { id: 'ready', title: `Wait until ${component} is ready` },
    ]);
    await inStep(report, 'manifest', () => supervisor.commands.startComponent(host, component));
    const link = supervisor.host(host);
    const isReady = (): boolean => link.component(component)?.phase === 'ready';
    report.begin('ready');
    const isInTime = await link.until(() => isReady() || signal.aborted || !link.isAlive, READY_TIMEOUT_MS);
    if (!isInTime || !isReady())
      throw new ReasonError(
        'NotReady',
        `${component} on ${host} did not become ready: ${link.component(component)?.message ?? 'its host is not running'}`,
      );
    report.end('ready');
    return `${component} on ${host} is ready.`;
  },
};
