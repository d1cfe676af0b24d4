// @vitest-environment happy-dom
import { afterEach, expect, test, vi } from 'vitest';
import { effectScope } from 'vue';
import { ContractError, type Settings, settingsDefault, verbatim } from '../../core/contract/index.ts';
import { feed, inApp, settle, testConnection } from '../testing/mount.ts';
import { useStream } from './useStream.ts';

afterEach(() => {
  vi.useRealTimers();
});

const dark: Settings = { ...settingsDefault, theme: 'dark' };

test('items arrive in order and make the stream live', async () => {
  const source = feed(settingsDefault);
  const connection = testConnection({ 'settings.watch': source.handler });
  const seen: string[] = [];
  const app = await inApp(
    () => useStream('settings.watch', undefined, (items) => seen.push(...items.map((item) => item.theme))),
    connection,
  );
  source.push(dark);
  await settle();
  expect(seen).toEqual(['system', 'dark']);
  expect(app.value.health.value.phase).toBe('live');
  app.unmount();
});

test('the stream closes with the scope that opened it', async () => {
  const connection = testConnection({ 'settings.watch': feed(settingsDefault).handler });
  const scope = effectScope();
  const app = await inApp(
    () => scope.run(() => useStream('settings.watch', undefined, () => undefined)),
    connection,
  );
  expect(connection.openStreamCount).toBe(1);
  scope.stop();
  await settle();
  expect(connection.openStreamCount).toBe(0);
  app.unmount();
});

test('a lost wire leaves the stream lost with the age of its data, a new one opens it again', async () => {
  const source = feed(settingsDefault);
  const connection = testConnection({ 'settings.watch': source.handler });
  const batches: number[] = [];
  const app = await inApp(
    () => useStream('settings.watch', undefined, (items) => batches.push(items.length)),
    connection,
  );
  const before = app.value.health.value.lastAtMs;
  connection.lose();
  await settle();
  expect(app.value.health.value).toMatchObject({ phase: 'lost', lastAtMs: before });
  connection.join();
  await settle();
  expect([app.value.health.value.phase, batches.length, connection.openStreamCount]).toEqual(['live', 2, 1]);
  app.unmount();
});

test('a host that was never reached leaves the stream lost, not waiting', async () => {
  const connection = testConnection({ 'settings.watch': feed(settingsDefault).handler }, 'browser', 'later');
  const app = await inApp(() => useStream('settings.watch', undefined, () => undefined), connection);
  expect(app.value.health.value.phase).toBe('opening');
  connection.lose();
  await settle();
  expect(app.value.health.value.phase).toBe('lost');
  connection.join();
  await settle();
  expect(app.value.health.value.phase).toBe('live');
  app.unmount();
});

test('a stream the host does not offer is refused and not asked for again', async () => {
  vi.useFakeTimers();
  const connection = testConnection({});
  const app = await inApp(() => useStream('settings.watch', undefined, () => undefined), connection);
  expect(app.value.health.value).toMatchObject({ phase: 'refused', error: { reason: 'Unimplemented' } });
  expect(vi.getTimerCount()).toBe(0);
  app.unmount();
});

test('a stream that the host ended is opened again after a delay', async () => {
  vi.useFakeTimers();
  // The longest delay of a first attempt, so that a second one does not fit into the same wait.
  const chance = vi.spyOn(Math, 'random').mockReturnValue(1);
  let opened = 0;
  const connection = testConnection({
    'settings.watch': async function* () {
      opened += 1;
      yield [settingsDefault];
      throw new ContractError('Unavailable', verbatim('restarting'));
    },
  });
  const app = await inApp(() => useStream('settings.watch', undefined, () => undefined), connection);
  expect([opened, app.value.health.value.phase]).toEqual([1, 'lost']);
  await vi.advanceTimersByTimeAsync(300);
  await settle();
  expect(opened).toBe(2);
  chance.mockRestore();
  app.unmount();
});

test('the reason of a lost stream is shown while it reopens, until data arrives', async () => {
  vi.useFakeTimers();
  let opened = 0;
  const connection = testConnection({
    'settings.watch': async function* (_input, signal) {
      opened += 1;
      if (opened === 1) throw new ContractError('Unavailable', verbatim('the certificate has expired'));
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      yield [];
    },
  });
  const app = await inApp(() => useStream('settings.watch', undefined, () => undefined), connection);
  await vi.advanceTimersByTimeAsync(300);
  await settle();
  expect([opened, app.value.health.value]).toMatchObject([
    2,
    { phase: 'lost', error: { message: 'the certificate has expired' } },
  ]);
  app.unmount();
});

test('a stream that may pause is closed while the window is hidden', async () => {
  const connection = testConnection({ 'settings.watch': feed(settingsDefault).handler });
  const app = await inApp(
    () => useStream('settings.watch', undefined, () => undefined, { pauseWhenHidden: true }),
    connection,
  );
  const visibility = vi.spyOn(document, 'visibilityState', 'get').mockReturnValue('hidden');
  document.dispatchEvent(new Event('visibilitychange'));
  await settle();
  expect([app.value.health.value.phase, connection.openStreamCount]).toEqual(['paused', 0]);
  visibility.mockReturnValue('visible');
  document.dispatchEvent(new Event('visibilitychange'));
  await settle();
  expect([app.value.health.value.phase, connection.openStreamCount]).toEqual(['live', 1]);
  visibility.mockRestore();
  app.unmount();
});
