import { afterEach, expect, test } from 'vitest';
import { manualClock } from '../../base/manual-clock.ts';
import { CLAIMS, runClaim, type RuntimeUnderTest } from '../testing/runtime-contract.ts';
import { container, settle } from '../testing/world.ts';
import { ComponentRuntime, type ComponentHandle } from './component/component-runtime.ts';
import { localContent } from './simulated/content/content-channel.ts';
import { ContentClient } from './simulated/content/content-client.ts';
import { rangeAddresses } from './simulated/pod-addresses.ts';
import { SimulatedRuntime } from './simulated/simulated-runtime.ts';

const STEP_MS = 50;

/** Lets a manual clock run until the promise settles. */
const settledOn =
  (clock: ReturnType<typeof manualClock>) =>
  async <T>(promise: Promise<T>): Promise<T> => {
    let isOver = false;
    const over = (): void => void (isOver = true);
    promise.then(over, over);
    for (await settle(); !isOver; await settle()) clock.advance(STEP_MS);
    return promise;
  };

const simulated = (): RuntimeUnderTest => {
  const clock = manualClock();
  const content = new ContentClient({ clock, open: localContent(clock) });
  disposing.push(() => content.dispose());
  return {
    runtime: new SimulatedRuntime({
      clock,
      nodeName: 'n1',
      addresses: rangeAddresses('127.77.9.0/24'),
      content,
      opensPorts: false,
      pullMs: 10,
    }),
    hostIP: '127.77.0.1',
    speaks: (code) => container('speaks', { command: ['sh', '-c', `echo hello; echo again; exit ${code}`] }),
    waits: container('waits'),
    hasExec: true,
    settled: settledOn(clock),
  };
};

/** A component that says two lines and ends with the code of its flag, or waits for its end. */
const startComponent = ({ args }: { readonly args: readonly string[] }): ComponentHandle => {
  let end: (exit: { readonly exitCode: number }) => void = () => undefined;
  const exited = new Promise<{ readonly exitCode: number }>((resolve) => (end = resolve));
  const [code] = args;
  return {
    ready: Promise.resolve(),
    exited: code === undefined ? exited : Promise.resolve({ exitCode: Number(code) }),
    stop: () => end({ exitCode: 0 }),
    kill: () => end({ exitCode: 137 }),
    logs: (async function* () {
      if (code !== undefined) yield 'hello\nag';
      if (code !== undefined) yield 'ain\n';
      await Promise.resolve();
    })(),
  };
};

const component = (): RuntimeUnderTest => {
  const clock = manualClock();
  return {
    runtime: new ComponentRuntime({ clock, startComponent, version: '1.0.0' }),
    hostIP: '127.77.0.1',
    speaks: (code) => container('speaks', { command: ['speaker', String(code)] }),
    waits: container('waits', { command: ['waiter'] }),
    hasExec: false,
    settled: settledOn(clock),
  };
};

const disposing: (() => void)[] = [];
afterEach(() => disposing.splice(0).forEach((dispose) => dispose()));

const cases = [simulated, component].flatMap((make) =>
  CLAIMS.filter(({ appliesTo }) => {
    const isOfInterest = appliesTo?.(make()) ?? true;
    disposing.splice(0).forEach((dispose) => dispose());
    return isOfInterest;
  }).map((claim) => ({ name: `${make.name}: ${claim.claim}`, make, claim })),
);

test.each(cases)('$name', async ({ make, claim }) => {
  expect(await runClaim(make(), claim, 'uid-1')).toEqual(claim.expected);
});
