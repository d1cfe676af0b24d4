import { ReasonError } from '../../../core/base/errors.ts';
import type { Supervisor } from '../../../core/cluster/index.ts';
import type { ClusterAction } from '../../../core/contract/index.ts';
import type { ActionOf, StepReport } from '../operation-runner.ts';

/** Longer than any component takes on a slow machine. */
const READY_TIMEOUT_MS = 60_000;

type Kind = ClusterAction['kind'];
export type LocalRunner<K extends Kind> = (
  action: ActionOf<K>,
  supervisor: Supervisor,
  report: StepReport,
  signal: AbortSignal,
) => Promise<string>;

const step = async <T>(report: StepReport, id: string, work: () => Promise<T>): Promise<T> => {
  report.begin(id);
  const result = await work();
  report.end(id);
  return result;
};

const untilHostReady = async (supervisor: Supervisor, name: string, report: StepReport): Promise<void> => {
  const link = supervisor.host(name);
  const late = (): string[] =>
    link
      .state()
      .components.filter(({ phase }) => phase !== 'ready')
      .map((component) => component.name);
  const following = supervisor.onChange(() => report.detail('ready', late().join(', ')));
  try {
    const isOver = (): boolean => link.phase !== 'running' || late().length === 0;
    await link.until(isOver, READY_TIMEOUT_MS);
  } finally {
    following.dispose();
  }
  if (link.phase !== 'running')
    throw new ReasonError('HostFailed', `${name} is ${link.phase} again: ${link.state().message ?? 'ended'}`);
  if (late().length > 0)
    throw new ReasonError('NotReady', `${name} runs, but ${late().join(', ')} did not become ready in time`);
  report.detail('ready', '');
};

export const hostRunners: { readonly [K in Extract<Kind, `host.${string}`>]: LocalRunner<K> } = {
  async 'host.kill'({ host }, supervisor, report) {
    report.plan([{ id: 'kill', title: `SIGKILL to the process of ${host}` }]);
    await step(report, 'kill', () => supervisor.killHost(host));
    return `${host} was killed. It stays down until it is started.`;
  },
  async 'host.stop'({ host }, supervisor, report) {
    report.plan([{ id: 'stop', title: `End ${host} in order` }]);
    await step(report, 'stop', () => supervisor.stopHost(host));
    return `${host} has stopped. It stays down until it is started.`;
  },
  async 'host.start'({ host }, supervisor, report) {
    report.plan([
      { id: 'start', title: `Start the process of ${host}` },
      { id: 'ready', title: 'Wait until its components are ready' },
    ]);
    await step(report, 'start', () => supervisor.startHost(host));
    await step(report, 'ready', () => untilHostReady(supervisor, host, report));
    return `${host} runs, and everything on it is ready.`;
  },
  async 'host.pause'({ host }, supervisor, report) {
    report.plan([{ id: 'pause', title: `SIGSTOP to the process of ${host}` }]);
    await step(report, 'pause', () => supervisor.pauseHost(host));
    return `${host} is frozen: it answers nothing, and its connections stay open.`;
  },
  async 'host.resume'({ host }, supervisor, report) {
    report.plan([{ id: 'resume', title: `SIGCONT to the process of ${host}` }]);
    await step(report, 'resume', () => supervisor.resumeHost(host));
    return `${host} goes on where it was.`;
  },
};

export const componentRunners: { readonly [K in Extract<Kind, `component.${string}`>]: LocalRunner<K> } = {
  async 'component.kill'({ host, component }, supervisor, report) {
    report.plan([{ id: 'kill', title: `End the thread of ${component} on ${host}` }]);
    await step(report, 'kill', () => supervisor.killComponent(host, component));
    return `${component} on ${host} was killed. Its kubelet starts it again.`;
  },
  async 'component.stop'({ host, component }, supervisor, report) {
    report.plan([{ id: 'stop', title: `Move the manifest of ${component} out of ${host}'s folder` }]);
    await step(report, 'stop', () => supervisor.stopComponent(host, component));
    return `${component} on ${host} has stopped. It stays down until its manifest is back.`;
  },
  async 'component.start'({ host, component }, supervisor, report, signal) {
    report.plan([
      { id: 'manifest', title: `Move the manifest of ${component} back` },
      { id: 'ready', title: `Wait until ${component} is ready` },
    ]);
    await step(report, 'manifest', () => supervisor.startComponent(host, component));
    const link = supervisor.host(host);
    const isReady = (): boolean => link.component(component)?.phase === 'ready';
    report.begin('ready');
    const isInTime = await link.until(() => isReady() || signal.aborted || !link.isAlive, READY_TIMEOUT_MS);
    if (!isInTime || !isReady())
      throw new ReasonError(
        'NotReady',
        `${component} on ${host} did not become ready: ${link.component(component)?.message ?? 'its host does not run'}`,
      );
    report.end('ready');
    return `${component} on ${host} is ready.`;
  },
};
