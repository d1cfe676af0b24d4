import { LOAD_BALANCER_END, type ActiveFault, type FaultRequest } from '../../core/contract/index.ts';
import { formatDuration, formatMilliseconds } from '../locales/format.ts';
import { t } from '../locales/i18n.ts';

const SECOND_MS = 1000;

/** A second and more as a clock says it, less as a measurement. */
export const amountText = (ms: number): string =>
  ms < SECOND_MS ? formatMilliseconds(ms) : formatDuration(ms);

export const endName = (name: string): string => (name === LOAD_BALANCER_END ? t('map.balancer') : name);

/** The hosts that a fault is of. */
export const faultEnds = (fault: FaultRequest): readonly string[] =>
  'host' in fault ? [fault.host] : [fault.from, fault.to];

/** What is broken, as a sentence about the present. */
export const faultText = (fault: FaultRequest): string => {
  switch (fault.kind) {
    case 'cut':
      return t(fault.isOneWay ? 'fault.cut.oneWay' : 'fault.cut', {
        from: endName(fault.from),
        to: endName(fault.to),
      });
    case 'delay':
      return t(fault.isOneWay ? 'fault.delay.oneWay' : 'fault.delay', {
        from: endName(fault.from),
        to: endName(fault.to),
        amount: amountText(fault.delayMs),
      });
    case 'slow-disk':
      return t('fault.slowDisk', { host: fault.host, amount: amountText(fault.delayMs) });
    case 'clock':
      return t(fault.offsetMs < 0 ? 'fault.clock.behind' : 'fault.clock.ahead', {
        host: fault.host,
        amount: amountText(Math.abs(fault.offsetMs)),
      });
  }
};

export const faultsOn = (faults: readonly ActiveFault[], host: string): readonly ActiveFault[] =>
  faults.filter((fault) => faultEnds(fault).includes(host));
