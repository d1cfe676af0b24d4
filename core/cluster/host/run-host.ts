import { join } from 'node:path';
import { messageOf } from '../../base/errors.ts';
import { systemClock } from '../../base/node/clock.ts';
import { jsonLog } from '../../base/node/log.ts';
import { logsFolder } from '../data-folder/layout.ts';
import { applyFaults, type ThreadFaults } from './thread-faults.ts';
import { startHostKubelet, type HostKubelet } from './host-kubelet.ts';
import { STOP_STAGES, type FromHost, type HostStart, type ToHost } from './messages.ts';
import { rotatingFile } from './rotating-file.ts';
import { ComponentStarter } from './start-component.ts';
import { ContentStarter } from './start-content.ts';
import { Writable } from 'node:stream';

/** How long components may take when no one is there to say. */
const ORPHAN_GRACE_MS = 5_000;
const EXIT_FAILED = 1;

export interface HostPort {
  send(message: FromHost): void;
  onMessage(listener: (message: ToHost) => void): void;
  /** The supervisor is gone. */
  onClosed(listener: () => void): void;
  exit(code: number): void;
}

/** The life of a host process. */
export const runHost = (program: URL, port: HostPort): void => {
  let kubelet: HostKubelet | undefined;
  let starter: ComponentStarter | undefined;
  let content: ContentStarter | undefined;
  let broken: ThreadFaults | undefined;
  let isStopping = false;

  const start = async (plan: HostStart): Promise<void> => {
    // Its threads inherit it: who holds a lease is told by the name of the host.
    process.env['HOSTNAME'] = plan.host.name;
    const folder = logsFolder(plan.dataDirectory, plan.host.name);
    const file = rotatingFile(join(folder, 'kubelet.log'));
    const log = jsonLog(
      new Writable({
        write(chunk: Buffer, _encoding, done) {
          file.write(chunk.toString());
          done();
        },
      }),
    );
    // Links of a machine that has joined are real ones.
    const place = { address: plan.host.address, network: plan.joined ? 'none' : `127.${plan.network}.` };
    broken = applyFaults(place);
    starter = new ComponentStarter({
      program,
      place,
      logFile: (component) => join(folder, `${component}.log`),
      onPhase: (component, phase, version, end) =>
        port.send({ kind: 'component', component, phase, version, ...end }),
    });
    content = new ContentStarter(program, place);
    kubelet = await startHostKubelet({
      start: plan,
      startComponent: starter.start,
      openContent: content.open,
      clock: systemClock,
      log,
    });
    port.send({ kind: 'started' });
  };

  const stop = async (graceMs: number): Promise<void> => {
    if (isStopping) return;
    isStopping = true;
    starter?.enter(STOP_STAGES[0]);
    for (const stage of STOP_STAGES)
      void starter?.drained(stage).then(() => port.send({ kind: 'drained', stage }));
    await kubelet?.stop(graceMs);
    port.exit(0);
  };

  const fail = (error: unknown): void => {
    port.send({ kind: 'failed', message: messageOf(error) });
    port.exit(EXIT_FAILED);
  };

  port.onMessage((message) => {
    switch (message.kind) {
      case 'start':
        start(message.start).catch(fail);
        return;
      case 'stop':
        stop(message.graceMs).catch(fail);
        return;
      case 'stage':
        starter?.enter(message.stage);
        return;
      case 'kill-component':
        starter?.kill(message.component);
        return;
      case 'faults':
        broken?.set(message.faults);
        starter?.setFaults(message.faults);
        content?.setFaults(message.faults);
        return;
      case 'node-version':
        // What the node says of itself is looked at by anyone who asked; it tries again at its next report.
        void kubelet?.host.setVersion(message.node, message.version).catch(() => undefined);
        return;
      case 'report':
        port.send({
          kind: 'report',
          id: message.id,
          rssBytes: process.memoryUsage.rss(),
          components: starter?.usages() ?? [],
        });
    }
  });
  port.onClosed(() => {
    // The same order, as far as one host can know it.
    void starter?.drained('managers').then(() => starter?.enter('api-servers'));
    void starter?.drained('api-servers').then(() => starter?.enter('etcd'));
    stop(ORPHAN_GRACE_MS).catch(fail);
  });
};
