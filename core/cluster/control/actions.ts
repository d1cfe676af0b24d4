import type { Supervisor } from '../supervisor/supervisor.ts';
import { lineReport } from '../operation/step-report.ts';
import { restoreCluster } from '../backup/restore-cluster.ts';
import { applyUpgrade } from '../upgrade/apply.ts';
import type { ControlHandlers } from './server.ts';

/** What commands from outside do to a running cluster. */
export const controlHandlers = (supervisor: Supervisor): ControlHandlers => {
  const done = (work: unknown): Promise<null> => Promise.resolve(work).then(() => null);
  return {
    async status() {
      await supervisor.refreshUsage();
      return supervisor.state();
    },
    'host.kill': ({ host }) => done(supervisor.killHost(host)),
    'host.stop': ({ host }) => done(supervisor.stopHost(host)),
    'host.start': ({ host }) => done(supervisor.startHost(host)),
    'host.pause': ({ host }) => done(supervisor.pauseHost(host)),
    'host.resume': ({ host }) => done(supervisor.resumeHost(host)),
    'component.kill': ({ host, component }) => done(supervisor.killComponent(host, component)),
    'component.stop': ({ host, component }) => done(supervisor.stopComponent(host, component)),
    'component.start': ({ host, component }) => done(supervisor.startComponent(host, component)),
    'snapshot.restore': ({ file, bumpRevision }, progress) =>
      restoreCluster(supervisor, { file, bumpRevision, report: lineReport(progress) }),
    'upgrade.apply': ({ version }, progress) => applyUpgrade(supervisor, version, lineReport(progress)),
  };
};
