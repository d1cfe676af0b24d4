import { faultRequest, type FaultRequest } from './fault.ts';
import { defineAction, name, type ActionTitle } from './define.ts';

const words = (fault: FaultRequest): readonly string[] => {
  switch (fault.kind) {
    case 'cut':
      return ['cut', fault.from, fault.to, ...(fault.isOneWay ? ['--one-way'] : [])];
    case 'delay':
      return ['delay', fault.from, fault.to, `${fault.delayMs}`, ...(fault.isOneWay ? ['--one-way'] : [])];
    case 'slow-disk':
      return ['slow-disk', fault.host, `${fault.delayMs}`];
    case 'clock':
      return ['clock', fault.host, fault.offsetMs < 0 ? `${fault.offsetMs}` : `+${fault.offsetMs}`];
  }
};

/** What is broken, in the words of the button: "Cut traffic from cp-1 to cp-2". */
const title = (fault: FaultRequest): ActionTitle => {
  switch (fault.kind) {
    case 'cut':
      return {
        variant: fault.isOneWay ? '.cut.oneWay' : '.cut',
        values: { from: fault.from, to: fault.to },
      };
    case 'delay':
      return {
        variant: fault.isOneWay ? '.delay.oneWay' : '.delay',
        values: { from: fault.from, to: fault.to, ms: fault.delayMs },
      };
    case 'slow-disk':
      return { variant: '.slowDisk', values: { host: fault.host, ms: fault.delayMs } };
    case 'clock':
      return {
        variant: fault.offsetMs < 0 ? '.clock.behind' : '.clock.ahead',
        values: { host: fault.host, ms: Math.abs(fault.offsetMs) },
      };
  }
};

export const faultActions = {
  /** Breaks something intentionally, until it is healed or a host that it names is started again. */
  'fault.add': defineAction(
    'fault.add',
    { fault: faultRequest },
    {
      icon: 'unplug',
      title: ({ fault }) => title(fault),
      meaning: ({ fault }) => `fault.${fault.kind}`,
      subject: ({ fault }) => ('host' in fault ? fault.host : fault.from),
      words: ({ fault }) => ['fault', ...words(fault)],
    },
  ),
  /** Cuts a host off from all others and from the load balancer. */
  'fault.isolate': defineAction(
    'fault.isolate',
    { host: name },
    {
      icon: 'unplug',
      meaning: () => 'fault.isolate',
      subject: ({ host }) => host,
      words: ({ host }) => ['fault', 'isolate', host],
    },
  ),
  /** One by its id, or `all`. */
  'fault.heal': defineAction(
    'fault.heal',
    { id: name },
    {
      icon: 'ok',
      title: ({ id }) => (id === 'all' ? { variant: '.all' } : { values: { id } }),
      typing: 'never',
      words: ({ id }) => ['fault', 'heal', id],
    },
  ),
};
