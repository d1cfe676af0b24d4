import { type Said, SaidError, say, together, verbatim } from '../../contract/index.ts';
import { NODE, type Client, type Node, type Stored } from '../../client/index.ts';
import type { HostLink } from './host-link.ts';
import type { Supervisor } from './supervisor.ts';
import { setImageTag, writeManifest } from '../data-folder/manifest-image.ts';

const READY_TIMEOUT_MS = 60_000;
const POLL_MS = 50;

export const clientOf = ({ client }: Supervisor): Client => {
  if (client) return client;
  throw new SaidError('NotReady', say('failure.notStarted'));
};

const whatIsMissing = (supervisor: Supervisor): Said | undefined => {
  for (const { name, phase, components } of supervisor.state().hosts) {
    if (phase !== 'running') return say('found.hosts.host', { host: name, phase });
    const late = components.find((component) => component.phase !== 'ready');
    if (late) return say('found.hosts.component', { component: late.name, host: name, phase: late.phase });
  }
  return undefined;
};

/** Says with what command to continue, too. */
export class UnhealthyError extends SaidError<'NotReady'> {}

/** The gate before each host: with one host down already, taking another is how a quorum is lost. */
export const assertHealthy = async (supervisor: Supervisor, resumeCommand?: string): Promise<void> => {
  const deadlineMs = supervisor.clock.monotonicMs() + READY_TIMEOUT_MS;
  for (;;) {
    const missing = whatIsMissing(supervisor);
    if (missing === undefined) return;
    const isLasting = supervisor.hosts.some(({ phase }) => !['running', 'starting'].includes(phase));
    if (isLasting || supervisor.clock.monotonicMs() > deadlineMs)
      throw new UnhealthyError(
        'NotReady',
        together([
          missing,
          resumeCommand === undefined
            ? say('failure.recoverFirst')
            : say('failure.recoverThen', { command: resumeCommand }),
        ]),
      );
    await supervisor.wait(POLL_MS);
  }
};

const readyApiServers = (supervisor: Supervisor): number =>
  supervisor.hosts.filter((host) => host.component('kube-apiserver')?.phase === 'ready').length;

/** Does something to an API server after no one is sent there any more; a single one has no one to take over. */
export const withoutClients = async (supervisor: Supervisor, host: HostLink): Promise<void> => {
  if (readyApiServers(supervisor) > 1) await supervisor.drainApiServer(host.plan.name);
};

/** One component of one host to another release; back again when it does not become ready. False: it was there. */
export const moveComponent = async (
  supervisor: Supervisor,
  host: HostLink,
  component: string,
  version: string,
): Promise<boolean> => {
  const { directory } = supervisor.folder;
  const { name } = host.plan;
  const isThere = (): boolean => {
    const now = host.component(component);
    return now?.version === version && now.phase === 'ready';
  };
  if (isThere() || host.component(component) === undefined) return false;
  if (component === 'kube-apiserver') await withoutClients(supervisor, host);
  const restarts = host.component(component)?.restarts ?? 0;
  const before = await setImageTag(directory, name, component, version);
  if (before === undefined) return false;
  const wait = { restarts, isThere, timeoutMs: READY_TIMEOUT_MS };
  if (await host.untilChanged(component, wait)) return true;
  const why = host.component(component)?.message;
  await writeManifest(directory, name, component, before);
  throw new SaidError(
    'UpgradeFailed',
    together([
      say('failure.upgrade.reverted', { component, host: name, version }),
      ...(why === undefined ? [] : [verbatim(why)]),
    ]),
  );
};

const isReady = ({ status }: Stored<Node>): boolean =>
  status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') === true;

/** The kubelet of one node to another release; resolves when the node says so and is Ready. */
export const moveKubelet = async (
  supervisor: Supervisor,
  host: HostLink,
  node: string,
  version: string,
): Promise<void> => {
  const client = clientOf(supervisor);
  host.setNodeVersion(node, version);
  const deadlineMs = supervisor.clock.monotonicMs() + READY_TIMEOUT_MS;
  for (;;) {
    const found = await client.resource(NODE).get(node);
    if (found.status?.nodeInfo?.kubeletVersion === version && isReady(found)) return;
    if (supervisor.clock.monotonicMs() > deadlineMs)
      throw new SaidError('UpgradeFailed', say('failure.upgrade.kubelet', { node, version }));
    await supervisor.wait(POLL_MS);
  }
};
