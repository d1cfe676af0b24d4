import type { KubernetesObject } from '../../api/meta/index.ts';
import { isNotFound, isStatusError } from '../../api/meta/index.ts';
import { discover } from '../../client/index.ts';
import {
  SaidError,
  say,
  type ClusterAction,
  type FaultRequest,
  type FlagsRequest,
  type Said,
} from '../../contract/index.ts';
import { ALARM_ACTION } from '../../etcd/proto/index.ts';
import { renewCertificate } from '../../pki/index.ts';
import { listSnapshots } from '../backup/list-backups.ts';
import { saveClusterSnapshot } from '../backup/save-snapshot.ts';
import { setImageTag } from '../data-folder/manifest-image.ts';
import { OPERATOR } from '../etcd-operator/methods.ts';
import {
  compact,
  defragmentMember,
  defragmentOrder,
  etcdAccessOf,
  withAny,
} from '../etcd-operator/operations.ts';
import { setFlags } from '../flags/set-flags.ts';
import { encryptionFilesOf, openDecoder, openSnapshotSource, restoreObjects } from '../history/index.ts';
import { silentReport } from '../operation/step-report.ts';
import { actionDraft } from '../timeline/action-draft.ts';
import type { Step } from './document.ts';
import { untilNamespace } from './until-namespace.ts';
import { hostsOn, type World } from './world.ts';

export const FIELD_MANAGER = 'pilothouse-drill';
/** Of one ConfigMap that only takes up space; the API takes up to 1 MiB. */
const FILL_BYTES = 700 * 1024;
const MIB = 1024 * 1024;
const RESTORES_MAX = 3;
/** Expired a minute ago. */
const EXPIRED_MS = -60_000;

export const flagsOf = ({ component, set }: NonNullable<Step['flags']>): FlagsRequest => ({
  component,
  flags: Object.entries(set).map(([name, value]) => ({ name, value })),
});

export const disarm = (world: World): Promise<void> =>
  withAny(etcdAccessOf(world.data, world.supervisor.config), async (member) => {
    const { alarms } = await member.call(OPERATOR.alarm, { action: ALARM_ACTION.GET });
    for (const { memberID, alarm } of alarms)
      await member.call(OPERATOR.alarm, { action: ALARM_ACTION.DEACTIVATE, memberID, alarm });
  });

const faultOf = (
  host: string,
  fault: Exclude<NonNullable<Step['fault']>, { kind: 'isolate' }>,
): FaultRequest => {
  switch (fault.kind) {
    case 'cut':
    case 'delay':
      return { ...fault, from: host };
    case 'slow-disk':
    case 'clock':
      return { ...fault, host };
  }
};

/** The operation of the console that does the same to one host; undefined for steps that have none. */
const hostAction = (step: Step, host: string): ClusterAction | undefined => {
  if (step.host) return { kind: `host.${step.host}`, host };
  if (step.component) return { kind: `component.${step.component.do}`, host, component: step.component.name };
  if (step.fault)
    return step.fault.kind === 'isolate'
      ? { kind: 'fault.isolate', host }
      : { kind: 'fault.add', fault: faultOf(host, step.fault) };
  return undefined;
};

const clusterActionOf = (step: Step): ClusterAction | undefined => {
  if (step.flags) return { kind: 'component.flags', ...flagsOf(step.flags) };
  if (step.heal) return { kind: 'fault.heal', id: 'all' };
  if (step.certificate?.do === 'renew') return { kind: 'certificates.renew', names: [step.certificate.name] };
  if (step.etcd === 'compact') return { kind: 'etcd.compact', revision: null };
  if (step.etcd === 'defragment') return { kind: 'etcd.defragment', member: null };
  if (step.etcd === 'disarm') return { kind: 'etcd.disarm' };
  return step.snapshot ? { kind: 'snapshot.save' } : undefined;
};

const onHost = async (world: World, step: Step, host: string): Promise<void> => {
  const { commands, faults, config } = world.supervisor;
  if (step.host) return commands[step.host](host);
  if (step.component) {
    const { name } = step.component;
    if (step.component.do === 'kill') return commands.killComponent(host, name);
    return step.component.do === 'stop'
      ? commands.stopComponent(host, name)
      : commands.startComponent(host, name);
  }
  if (step.image) {
    const { component, version } = step.image;
    await setImageTag(world.data, host, component, version ?? config.spec.kubernetesVersion);
    return;
  }
  if (step.fault?.kind === 'isolate') faults.isolate(host);
  else if (step.fault) faults.add(faultOf(host, step.fault));
};

/** Stops where etcd says that it is full, which is what a fill is for. */
const fill = async (world: World, { namespace, mebibytes }: NonNullable<Step['fill']>): Promise<void> => {
  const objects = await world.objects({ apiVersion: 'v1', kind: 'ConfigMap', namespace });
  const count = Math.ceil((mebibytes * MIB) / FILL_BYTES);
  for (let index = 0; index < count; index += 1) {
    const object = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: `export-${index}`, namespace, labels: { app: 'exporter' } },
      data: { rows: `${index}`.padEnd(FILL_BYTES, '.') },
    };
    try {
      await objects.create(object as KubernetesObject, { fieldManager: FIELD_MANAGER });
    } catch (error) {
      if (isStatusError(error) && error.code >= 500) return;
      throw error;
    }
  }
};

/** A namespace from the newest snapshot, as a person restores it in the console. */
const restoreNamespace = async (world: World, namespace: string): Promise<void> => {
  const { data, supervisor, client } = world;
  const [newest] = (await listSnapshots(data)).filter(({ problem }) => problem === null);
  if (!newest) throw new SaidError('NotFound', say('drill.noSnapshot'));
  // Nothing can be created in a namespace while it is being deleted.
  await untilNamespace(world, namespace, (found) => found?.metadata?.deletionTimestamp === undefined);
  const source = await openSnapshotSource(newest.file);
  const decoder = await openDecoder(await encryptionFilesOf(data, supervisor.config), supervisor.clock);
  try {
    const { resources } = await discover(client);
    const options = { client, source, decoder, dryRun: false, signal: supervisor.signal };
    // Controllers write to the new namespace at the same time; what they changed meanwhile is restored again.
    for (let attempt = 1; ; attempt += 1) {
      let problem: Said | null = null;
      for await (const { outcome, message } of restoreObjects(
        { kind: 'namespace', namespace },
        { ...options, resources: () => Promise.resolve(resources) },
      ))
        if (outcome === 'failed') problem = message;
      if (!problem) return;
      if (attempt === RESTORES_MAX) throw new SaidError('Failed', problem);
    }
  } finally {
    decoder.dispose();
    await source.close();
  }
};

const onObjects = async (world: World, step: Step): Promise<void> => {
  if (step.apply) {
    const { apiVersion, kind, metadata } = step.apply;
    const objects = await world.objects({ apiVersion, kind, namespace: metadata.namespace });
    await objects.apply(step.apply as KubernetesObject, { fieldManager: FIELD_MANAGER, force: true });
  } else if (step.patch) {
    const objects = await world.objects(step.patch);
    await objects.patch(
      step.patch.name,
      { type: 'merge', body: step.patch.merge },
      { fieldManager: FIELD_MANAGER },
    );
  } else if (step.delete) {
    const objects = await world.objects(step.delete);
    const { name, labelSelector } = step.delete;
    const options = { propagationPolicy: 'Background' } as const;
    if (labelSelector !== undefined) return objects.deleteCollection({ labelSelector }, options);
    await objects.delete(name!, options).catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
    });
  } else if (step.fill) await fill(world, step.fill);
  else if (step.restore) await restoreNamespace(world, step.restore.namespace);
};

const onCluster = async (world: World, step: Step): Promise<void> => {
  const { supervisor, data } = world;
  const access = () => etcdAccessOf(data, supervisor.config);
  if (step.flags) await setFlags(supervisor, flagsOf(step.flags), silentReport);
  else if (step.heal) supervisor.faults.heal('all');
  else if (step.certificate) {
    const validity = step.certificate.do === 'expire' ? { validityMs: EXPIRED_MS } : {};
    await renewCertificate(data, step.certificate.name, supervisor.clock, validity);
  } else if (step.etcd === 'compact') await compact(access(), undefined);
  else if (step.etcd === 'defragment')
    for (const member of await defragmentOrder(access(), null)) await defragmentMember(access(), member);
  else if (step.etcd === 'disarm') await disarm(world);
  else if (step.snapshot) await saveClusterSnapshot(supervisor, { report: silentReport });
  else await onObjects(world, step);
};

export interface PerformOptions {
  /** Hosts that the setup acted on. */
  readonly broken: readonly string[];
  /** As an operation of the person, on the timeline. */
  readonly isRecorded: boolean;
}

/** Does one step. Steps on several hosts do all of them concurrently: a quorum is lost at one stroke. */
export const perform = async (
  world: World,
  step: Step,
  { broken, isRecorded }: PerformOptions,
): Promise<void> => {
  const recorded = (action: ClusterAction | undefined, run: () => Promise<void>): Promise<void> => {
    if (!action || !isRecorded) return run();
    const { draft, failed } = actionDraft(action);
    return world.supervisor.timeline.during(draft, failed, run);
  };
  if (step.on === undefined) return recorded(clusterActionOf(step), () => onCluster(world, step));
  const hosts = await hostsOn(world.supervisor, step.on, broken);
  await Promise.all(hosts.map((host) => recorded(hostAction(step, host), () => onHost(world, step, host))));
};
