import { readdir } from 'node:fs/promises';
import type { Supervisor } from '../../../core/cluster/supervisor/supervisor.ts';
import { manifestsFolder } from '../../../core/cluster/data-folder/layout.ts';
import { setFlags } from '../../../core/cluster/flags/set-flags.ts';
import { inStep, type StepReport } from '../../../core/cluster/operation/step-report.ts';
import { SaidError, say, together, verbatim, type Said } from '../../../core/contract/index.ts';
import type { ActionOf } from '../operation-runner.ts';
import { requireSupervisor } from '../hosted-cluster.ts';
import { askHost } from './ask-host.ts';
import type { Elsewhere, Kind, RunnerContext, RunnersOf } from './runner.ts';

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
  const following = supervisor.onChange(() => report.detail('ready', verbatim(late().join(', '))));
  try {
    await link.until(() => link.phase !== 'running' || late().length === 0, READY_TIMEOUT_MS);
  } finally {
    following.dispose();
  }
  if (link.phase !== 'running')
    throw new SaidError(
      'HostFailed',
      say('failure.host.again', { host: name, phase: link.phase, why: link.state().message ?? '' }),
    );
  if (late().length > 0)
    throw new SaidError('NotReady', say('failure.host.late', { host: name, components: late().join(', ') }));
  report.detail('ready', null);
};

type HostKind = Extract<Kind, `host.${string}`>;
type ComponentKind = Extract<Kind, `component.${string}`>;

export const hostRunners: RunnersOf<HostKind> = {
  async 'host.kill'({ host }, { cluster, report }) {
    const supervisor = requireSupervisor(cluster);
    report.plan([{ id: 'kill', title: say('step.host.kill', { host }) }]);
    await inStep(report, 'kill', () => supervisor.commands.kill(host));
    return say('done.host.kill', { host });
  },
  async 'host.stop'({ host }, { cluster, report }) {
    const supervisor = requireSupervisor(cluster);
    report.plan([{ id: 'stop', title: say('step.host.stop', { host }) }]);
    await inStep(report, 'stop', () => supervisor.commands.stop(host));
    return say('done.host.stop', { host });
  },
  async 'host.start'({ host }, { cluster, report }) {
    const supervisor = requireSupervisor(cluster);
    report.plan([
      { id: 'start', title: say('step.host.start', { host }) },
      { id: 'ready', title: say('step.host.ready') },
    ]);
    await inStep(report, 'start', () => supervisor.commands.start(host));
    await inStep(report, 'ready', () => untilHostReady(supervisor, host, report));
    return say('done.host.start', { host });
  },
  async 'host.restart'({ host }, { cluster, report }) {
    const supervisor = requireSupervisor(cluster);
    report.plan([
      { id: 'stop', title: say('step.host.stop', { host }) },
      { id: 'start', title: say('step.host.start', { host }) },
      { id: 'ready', title: say('step.host.ready') },
    ]);
    await inStep(report, 'stop', () => supervisor.commands.stop(host));
    await inStep(report, 'start', () => supervisor.commands.start(host));
    await inStep(report, 'ready', () => untilHostReady(supervisor, host, report));
    return say('done.host.restart', { host });
  },
  async 'host.pause'({ host }, { cluster, report }) {
    const supervisor = requireSupervisor(cluster);
    report.plan([{ id: 'pause', title: say('step.host.pause', { host }) }]);
    await inStep(report, 'pause', () => supervisor.commands.pause(host));
    return say('done.host.pause', { host });
  },
  async 'host.resume'({ host }, { cluster, report }) {
    const supervisor = requireSupervisor(cluster);
    report.plan([{ id: 'resume', title: say('step.host.resume', { host }) }]);
    await inStep(report, 'resume', () => supervisor.commands.resume(host));
    return say('done.host.resume', { host });
  },
};

export const componentRunners: RunnersOf<ComponentKind> = {
  async 'component.kill'({ host, component }, { cluster, report }) {
    const supervisor = requireSupervisor(cluster);
    report.plan([{ id: 'kill', title: say('step.component.kill', { component, host }) }]);
    await inStep(report, 'kill', () => supervisor.commands.killComponent(host, component));
    return say('done.component.kill', { component, host });
  },
  async 'component.stop'({ host, component }, { cluster, report }) {
    const supervisor = requireSupervisor(cluster);
    report.plan([{ id: 'stop', title: say('step.component.stop', { component, host }) }]);
    await inStep(report, 'stop', () => supervisor.commands.stopComponent(host, component));
    return say('done.component.stop', { component, host });
  },
  async 'component.flags'(request, { cluster, report }) {
    const count = await setFlags(requireSupervisor(cluster), request, report);
    const { component } = request;
    return count === 0 ? say('done.flags.none') : say('done.flags', { component, count });
  },
  async 'component.start'({ host, component }, { cluster, report, signal }) {
    const supervisor = requireSupervisor(cluster);
    report.plan([
      { id: 'manifest', title: say('step.component.manifest', { component }) },
      { id: 'ready', title: say('step.component.ready', { component }) },
    ]);
    const link = supervisor.host(host);
    const restarts = link.component(component)?.restarts ?? -1;
    await inStep(report, 'manifest', () => supervisor.commands.startComponent(host, component));
    const isReady = (): boolean => link.component(component)?.phase === 'ready';
    report.begin('ready');
    const isThere = (): boolean => isReady() || signal.aborted || !link.isAlive;
    const isInTime = await link.untilChanged(component, { restarts, isThere, timeoutMs: READY_TIMEOUT_MS });
    if (!isInTime || !isReady())
      throw new SaidError(
        'NotReady',
        together([
          say('failure.notReady.component', { component, host }),
          link.isAlive
            ? verbatim(link.component(component)?.message ?? '')
            : say('failure.host.down', { host }),
        ]),
      );
    report.end('ready');
    return say('done.component.start', { component, host });
  },
};

const hostElsewhere = async ({ kind, host }: ActionOf<HostKind>, context: RunnerContext): Promise<Said> => {
  await askHost(context, kind, { host });
  return say('done.elsewhere.host', { host, cluster: context.cluster.state().name });
};

const componentElsewhere = async (
  { kind, host, component }: ActionOf<Exclude<ComponentKind, 'component.flags'>>,
  context: RunnerContext,
): Promise<Said> => {
  await askHost(context, kind, { host, component });
  return say('done.elsewhere.component', { component, host, cluster: context.cluster.state().name });
};

/** A change of flags needs the supervisor, which waits for each component: it is refused with where to do it. */
export const hostsElsewhere: Elsewhere<HostKind | ComponentKind> = {
  'host.kill': hostElsewhere,
  'host.stop': hostElsewhere,
  'host.start': hostElsewhere,
  'host.restart': hostElsewhere,
  'host.pause': hostElsewhere,
  'host.resume': hostElsewhere,
  'component.kill': componentElsewhere,
  'component.stop': componentElsewhere,
  'component.start': componentElsewhere,
};
