import type { Clock } from '../../../base/clock.ts';
import { ACTION, ACTION_UPDATE } from '../../framework/cluster-event.ts';
import { stateKey } from '../../framework/cycle-state.ts';
import type { Handle } from '../../framework/handle.ts';
import type { Plugin } from '../../framework/plugin.ts';
import { failed, skip, type Status } from '../../framework/status.ts';
import {
  ANNOTATION_BOUND_BY_CONTROLLER,
  ANNOTATION_SELECTED_NODE,
  type PersistentVolume,
  type PersistentVolumeClaim,
} from '../../model/volumes.ts';
import { VOLUME_BINDING } from '../../framework/plugin-names.ts';
import { VolumeAssumptions } from './assumptions.ts';
import { volumeFinder, type NodeVolumes } from './find-volumes.ts';
import { claimsOf, isFullyBound } from './pod-claims.ts';

export interface VolumeBindingArgs {
  readonly bindTimeoutSeconds?: number;
}

const BIND_TIMEOUT_SECONDS = 600;
const BIND_POLL_MS = 1000;
const SKIP = { status: skip(VOLUME_BINDING) };

interface Reserved {
  readonly volumes: readonly { readonly before: PersistentVolume; readonly after: PersistentVolume }[];
  readonly claims: readonly {
    readonly before: PersistentVolumeClaim;
    readonly after: PersistentVolumeClaim;
  }[];
  readonly waitFor: readonly PersistentVolumeClaim[];
}

interface State {
  readonly find: (slot: number) => NodeVolumes | Status;
  readonly byNode: Map<string, NodeVolumes>;
  reserved?: Reserved;
}

const STATE = stateKey<State>(VOLUME_BINDING);

/** The volume as it will be once it belongs to the claim. */
const boundVolume = (volume: PersistentVolume, claim: PersistentVolumeClaim): PersistentVolume => ({
  ...volume,
  metadata: {
    ...volume.metadata,
    annotations: { ...volume.metadata.annotations, [ANNOTATION_BOUND_BY_CONTROLLER]: 'yes' },
  },
  spec: {
    ...volume.spec,
    claimRef: {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      namespace: claim.metadata.namespace ?? '',
      name: claim.metadata.name ?? '',
      uid: claim.metadata.uid ?? '',
    },
  },
});

const provisionedOn = (claim: PersistentVolumeClaim, nodeName: string): PersistentVolumeClaim => ({
  ...claim,
  metadata: {
    ...claim.metadata,
    annotations: { ...claim.metadata.annotations, [ANNOTATION_SELECTED_NODE]: nodeName },
  },
});

const pause = (clock: Clock, delayMs: number): Promise<void> =>
  new Promise((resolve) => void clock.after(delayMs, resolve));

/** Finds, holds and binds the volumes of a pod: those that are there, and those to be made for the node. */
export const volumeBinding = (args: VolumeBindingArgs, handle: Handle): Plugin => {
  const { lister, api, clock } = handle;
  const assumptions = new VolumeAssumptions(lister);
  const timeoutMs = (args.bindTimeoutSeconds ?? BIND_TIMEOUT_SECONDS) * 1000;
  const anyChange = ACTION.add | ACTION_UPDATE;
  return {
    name: VOLUME_BINDING,
    preFilter(cycle, { pod }) {
      const claims = claimsOf(pod, assumptions, lister);
      if (!claims) return SKIP;
      if ('code' in claims) return { status: claims };
      const find = volumeFinder(cycle.snapshot, claims, assumptions, lister);
      cycle.write(STATE, { find, byNode: new Map() });
      return undefined;
    },
    filter(cycle, _, slot) {
      const state = cycle.mustRead(STATE);
      const found = state.find(slot);
      if ('code' in found) return found;
      state.byNode.set(cycle.snapshot.entry(slot).name, found);
      return undefined;
    },
    reserve(cycle, _, nodeName) {
      const state = cycle.read(STATE);
      const found = state?.byNode.get(nodeName);
      if (!state || !found) return undefined;
      const volumes = found.bindings
        .filter(({ volume }) => !volume.spec?.claimRef?.uid)
        .map(({ volume, claim }) => ({ before: volume, after: boundVolume(volume, claim) }));
      const claims = found.provisions.map((claim) => ({
        before: claim,
        after: provisionedOn(claim, nodeName),
      }));
      for (const { before, after } of volumes) assumptions.assumeVolume(before, after);
      for (const { before, after } of claims) assumptions.assumeClaim(before, after);
      const waitFor = [...found.bindings.map(({ claim }) => claim), ...found.provisions];
      state.reserved = { volumes, claims, waitFor };
      return undefined;
    },
    unreserve(cycle) {
      const reserved = cycle.read(STATE)?.reserved;
      for (const { after } of reserved?.volumes ?? []) assumptions.revertVolume(after);
      for (const { after } of reserved?.claims ?? []) assumptions.revertClaim(after);
    },
    async preBind(cycle, pod) {
      const reserved = cycle.read(STATE)?.reserved;
      if (!reserved || reserved.waitFor.length === 0) return undefined;
      for (const { after } of reserved.volumes) await api.updateVolume(after);
      for (const { before, after } of reserved.claims)
        if (before.metadata.annotations?.[ANNOTATION_SELECTED_NODE] === undefined)
          await api.updateClaim(after);
      const untilMs = clock.monotonicMs() + timeoutMs;
      const isBound = ({ metadata }: PersistentVolumeClaim): boolean => {
        const claim = lister.claim(metadata.namespace ?? '', metadata.name ?? '');
        return claim !== undefined && isFullyBound(claim);
      };
      while (!reserved.waitFor.every(isBound)) {
        if (clock.monotonicMs() >= untilMs)
          return failed(VOLUME_BINDING, 'binding volumes: context deadline exceeded');
        if (!lister.pod(pod.namespace, pod.pod.metadata.name ?? ''))
          return failed(VOLUME_BINDING, `binding volumes: pod ${pod.key} was deleted`);
        await pause(clock, BIND_POLL_MS);
      }
      return undefined;
    },
    eventsToRegister: () => [
      { resource: 'StorageClass', action: anyChange },
      { resource: 'PersistentVolumeClaim', action: anyChange },
      { resource: 'PersistentVolume', action: anyChange },
      { resource: 'Node', action: ACTION.add | ACTION.updateNodeLabel },
      { resource: 'CSINode', action: anyChange },
      { resource: 'CSIDriver', action: anyChange },
      { resource: 'CSIStorageCapacity', action: anyChange },
    ],
  };
};
