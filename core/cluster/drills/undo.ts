import { isNotFound, type KubernetesObject } from '../../api/meta/index.ts';
import { saidOf, together, type Said } from '../../contract/index.ts';
import { commandOf, flagOf } from '../data-folder/in-flight-limits.ts';
import { planHosts } from '../config/hosts.ts';
import { renewCertificate } from '../../pki/index.ts';
import { setImageTag } from '../data-folder/manifest-image.ts';
import { setFlags } from '../flags/set-flags.ts';
import { manifestOf } from '../history/manifest.ts';
import { silentReport } from '../operation/step-report.ts';
import type { Step } from './document.ts';
import type { Undo } from './drill-record.ts';
import { disarm, FIELD_MANAGER, flagsOf } from './perform.ts';
import { hostsOn, type World } from './world.ts';

const undoObject = async (
  world: World,
  at: { apiVersion: string; kind: string; namespace?: string | undefined },
  name: string,
): Promise<Undo> => {
  const before = await (await world.objects(at)).find(name);
  return {
    kind: 'object',
    apiVersion: at.apiVersion,
    objectKind: at.kind,
    namespace: at.namespace ?? null,
    name,
    before: before ? { ...manifestOf(before).object } : null,
  };
};

/** How a step of a setup is taken back, found before it is done, and the hosts that it acts on. */
export const undoOf = async (
  world: World,
  step: Step,
): Promise<{ readonly undo: readonly Undo[]; readonly hosts: readonly string[] }> => {
  const { supervisor, data } = world;
  const hosts = step.on === undefined ? [] : await hostsOn(supervisor, step.on, []);
  if (step.host) return { undo: hosts.map((host) => ({ kind: 'host', host })), hosts };
  if (step.component) {
    const component = step.component.name;
    const isBack = step.component.do === 'kill';
    return { undo: isBack ? [] : hosts.map((host) => ({ kind: 'component', host, component })), hosts };
  }
  if (step.image) {
    const { component } = step.image;
    return { undo: hosts.map((host) => ({ kind: 'image', host, component })), hosts };
  }
  if (step.fault) return { undo: [{ kind: 'heal' }], hosts };
  if (step.certificate) return { undo: [{ kind: 'certificate', name: step.certificate.name }], hosts };
  if (step.fill) return { undo: [{ kind: 'disarm' }], hosts };
  if (step.flags) {
    const { component, flags } = flagsOf(step.flags);
    const commands = await Promise.all(
      planHosts(supervisor.config).map(({ name }) => commandOf(data, name, component)),
    );
    const command = commands.find(({ length }) => length > 0) ?? [];
    const before = flags.map(({ name }) => ({ name, value: flagOf(command, name) ?? null }));
    return { undo: [{ kind: 'flags', component, flags: before }], hosts };
  }
  if (step.apply) {
    const { apiVersion, kind, metadata } = step.apply;
    const at = { apiVersion, kind, namespace: metadata.namespace };
    return { undo: [await undoObject(world, at, metadata.name)], hosts };
  }
  const object = step.patch ?? (step.delete?.name === undefined ? undefined : step.delete);
  return { undo: object ? [await undoObject(world, object, object.name!)] : [], hosts };
};

const putBack = async (world: World, { apiVersion, objectKind, namespace, name, before }: UndoObject) => {
  const objects = await world.objects({ apiVersion, kind: objectKind, namespace: namespace ?? undefined });
  if (!before) {
    await objects.delete(name, { propagationPolicy: 'Background' }).catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
    });
    return;
  }
  const live = await objects.find(name);
  const options = { fieldManager: FIELD_MANAGER };
  const object = before as KubernetesObject;
  if (!live) await objects.create(object, options);
  else {
    const { resourceVersion } = live.metadata;
    await objects.update(
      { ...object, metadata: { ...object.metadata, resourceVersion } } as KubernetesObject,
      options,
    );
  }
};
type UndoObject = Extract<Undo, { kind: 'object' }>;

const undoOne = async (world: World, undo: Undo): Promise<void> => {
  const { supervisor, data } = world;
  switch (undo.kind) {
    case 'host': {
      const link = supervisor.host(undo.host);
      if (link.phase === 'paused') await supervisor.commands.resume(undo.host);
      else if (!link.isAlive) await supervisor.commands.start(undo.host);
      return;
    }
    case 'component':
      // Where its manifest is in its place a person has put it back.
      return supervisor.commands.startComponent(undo.host, undo.component).catch(() => undefined);
    case 'flags':
      await setFlags(supervisor, undo, silentReport);
      return;
    case 'image':
      await setImageTag(data, undo.host, undo.component, supervisor.config.spec.kubernetesVersion);
      return;
    case 'heal':
      supervisor.faults.heal('all');
      return;
    case 'certificate':
      return renewCertificate(data, undo.name, supervisor.clock);
    case 'disarm':
      return disarm(world);
    case 'object':
      return putBack(world, undo);
  }
};

/** Without hosts and certificates there is no API by which objects are taken back. */
const ORDER: readonly Undo['kind'][] = [
  'heal',
  'certificate',
  'host',
  'component',
  'image',
  'flags',
  'disarm',
  'object',
];

export const undoOrder = (undo: readonly Undo[]): readonly Undo[] =>
  ORDER.flatMap((kind) => undo.filter((one) => one.kind === kind).reverse());

/** Takes everything back; what cannot be is told, and keeps nothing else from it. */
export const undoAll = async (world: World, undo: readonly Undo[]): Promise<Said | null> => {
  const problems: Said[] = [];
  for (const one of undoOrder(undo))
    try {
      await undoOne(world, one);
    } catch (error) {
      problems.push(saidOf(error));
    }
  return problems.length === 0 ? null : together(problems);
};
