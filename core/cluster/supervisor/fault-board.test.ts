import { expect, test } from 'vitest';
import { NO_FAULTS, type HostFaults } from '../host/messages.ts';
import { FaultBoard } from './fault-board.ts';

const board = () => {
  const told = new Map<string, HostFaults>();
  const ends = ['cp-1', 'cp-2'].map((name) => ({ name, addresses: [`at-${name}`] }));
  const made = new FaultBoard({
    ends: () => ends,
    tell: (end, faults) => void told.set(end, faults),
    onChange: () => undefined,
  });
  return { board: made, told };
};

test('both ends are notified of a cut, and only the receiver of a cut in one direction', () => {
  const { board: faults, told } = board();
  const { id } = faults.add({ kind: 'cut', from: 'cp-1', to: 'cp-2', isOneWay: true });
  expect([told.get('cp-1'), told.get('cp-2')]).toEqual([
    NO_FAULTS,
    { ...NO_FAULTS, links: [{ addresses: ['at-cp-1'], delayMs: null }] },
  ]);
  faults.heal(id);
  faults.add({ kind: 'cut', from: 'cp-1', to: 'cp-2', isOneWay: false });
  expect(told.get('cp-1')?.links).toEqual([{ addresses: ['at-cp-2'], delayMs: null }]);
});

test('failures of one host accumulate', () => {
  const { board: faults, told } = board();
  faults.add({ kind: 'slow-disk', host: 'cp-1', delayMs: 30 });
  faults.add({ kind: 'slow-disk', host: 'cp-1', delayMs: 20 });
  faults.add({ kind: 'clock', host: 'cp-1', offsetMs: -5000 });
  expect(told.get('cp-1')).toEqual({ links: [], syncDelayMs: 50, clockOffsetMs: -5000 });
});

test('a fault is gone with the process of a host that it names', () => {
  const { board: faults, told } = board();
  faults.add({ kind: 'delay', from: 'cp-1', to: 'cp-2', delayMs: 5, isOneWay: false });
  faults.forget('cp-2');
  expect([faults.list(), told.get('cp-1')]).toEqual([[], NO_FAULTS]);
});

test.each([
  [
    { kind: 'cut', from: 'cp-1', to: 'cp-9', isOneWay: false },
    'host "cp-9" not found; known hosts: cp-1, cp-2',
  ],
  [{ kind: 'cut', from: 'cp-1', to: 'cp-1', isOneWay: false }, 'a link requires two different hosts'],
  [{ kind: 'slow-disk', host: 'cp-1', delayMs: 0 }, 'the delay must be from 1 to 60,000 ms'],
  [{ kind: 'clock', host: 'cp-1', offsetMs: 0 }, 'the clock offset must be non-zero'],
] as const)('%o is refused', (request, message) => {
  expect(() => board().board.add(request)).toThrow(message);
});
