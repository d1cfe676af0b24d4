import { expect, test } from 'vitest';
import { debugContainer, debugState } from './debug-container.ts';

const pod = (state: object) => ({ status: { ephemeralContainerStatuses: [{ name: 'debugger-a', state }] } });

test('a debug container shares the process namespace of its target, and has a name of its own', () => {
  const [first, second] = [debugContainer('busybox', 'web'), debugContainer('busybox', '')];
  expect(first).toMatchObject({ image: 'busybox', stdin: true, tty: true, targetContainerName: 'web' });
  expect(first.name).toMatch(/^debugger-[a-z0-9]{5}$/);
  expect([first.name === second.name, 'targetContainerName' in second]).toEqual([false, false]);
});

test('its state is what the kubelet says', () => {
  expect([
    debugState({}, 'debugger-a'),
    debugState(pod({ waiting: { reason: 'ErrImagePull', message: 'no such image' } }), 'debugger-a'),
    debugState(pod({ running: {} }), 'debugger-a'),
    debugState(pod({ terminated: { reason: 'Completed' } }), 'debugger-a'),
  ]).toEqual([
    { phase: 'waiting', reason: '' },
    { phase: 'waiting', reason: 'ErrImagePull: no such image' },
    { phase: 'running', reason: '' },
    { phase: 'ended', reason: 'Completed' },
  ]);
});
