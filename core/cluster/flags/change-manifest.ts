import { say, SaidError, together, verbatim } from '../../contract/index.ts';
import type { Supervisor } from '../supervisor/supervisor.ts';
import { writeManifest } from '../data-folder/manifest-image.ts';
import { withoutClients } from '../supervisor/move.ts';

const READY_TIMEOUT_MS = 60_000;

export interface ManifestChange {
  readonly host: string;
  readonly component: string;
  readonly before: string;
  readonly after: string;
}

/**
 * Writes a manifest and waits until its component runs with it. A component that does not become ready gets the old
 * manifest back. The caller has checked that everything else is healthy.
 */
export const changeManifest = async (
  supervisor: Supervisor,
  { host: name, component, before, after }: ManifestChange,
): Promise<void> => {
  if (after === before) return;
  const { directory } = supervisor.folder;
  const host = supervisor.host(name);
  const restarts = host.component(component)?.restarts ?? 0;
  if (component === 'kube-apiserver') await withoutClients(supervisor, host);
  await writeManifest(directory, name, component, after);
  const isThere = (): boolean => {
    const now = host.component(component);
    return now !== undefined && now.restarts > restarts && now.phase === 'ready';
  };
  if (await host.untilChanged(component, { restarts, isThere, timeoutMs: READY_TIMEOUT_MS })) return;
  const why = host.component(component)?.message;
  await writeManifest(directory, name, component, before);
  throw new SaidError(
    'NotReady',
    together([
      say('failure.flags', { component, host: name }),
      ...(why === undefined ? [] : [verbatim(why)]),
    ]),
  );
};
