import { skewSystemClock } from '../../base/node/clock.ts';
import { slowSyncs } from '../../base/node/disk.ts';
import type { HostFaults } from './messages.ts';
import { installLinkGate } from '../faults/link-gate.ts';

export interface ThreadFaults {
  set(faults: HostFaults): void;
  /** Nothing that comes in any more is read. */
  silence(): void;
}

/** What is broken intentionally in this thread. Called once, before anything in it dials or listens. */
export const applyFaults = (place: { readonly address: string; readonly network: string }): ThreadFaults => {
  const gate = installLinkGate(place);
  return {
    set({ links, syncDelayMs, clockOffsetMs }) {
      gate.setRules(links);
      slowSyncs(syncDelayMs);
      skewSystemClock(clockOffsetMs);
    },
    silence: () => gate.silence(),
  };
};
