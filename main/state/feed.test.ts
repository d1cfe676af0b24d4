import { expect, test } from 'vitest';
import { Feed } from './feed.ts';

test('a listener gets what was unheard, then what comes, and ends with its signal', async () => {
  const feed = new Feed<number>({ listenerItemsMax: 8, unheardItemsMax: 2 });
  for (const item of [1, 2, 3]) feed.publish(item);
  const abort = new AbortController();
  const batches = feed.listen(abort.signal);
  const first = await batches.next();
  feed.publish(4);
  const second = await batches.next();
  const waiting = batches.next();
  abort.abort();
  expect([first.value, second.value, (await waiting).done, feed.listenerCount]).toEqual([
    [2, 3],
    [4],
    true,
    0,
  ]);
});

test('a slow listener loses its oldest items, not its newest', async () => {
  const feed = new Feed<number>({ listenerItemsMax: 2 });
  const batches = feed.listen(new AbortController().signal, [0]);
  await batches.next();
  for (const item of [1, 2, 3]) feed.publish(item);
  expect((await batches.next()).value).toEqual([2, 3]);
  await batches.return();
  expect(feed.listenerCount).toBe(0);
});

test('the source is notified of the first listener and when the last one leaves', async () => {
  const heard: boolean[] = [];
  const feed = new Feed<number>({ listenerItemsMax: 2, onHeard: (now) => heard.push(now) });
  const one = feed.listen(new AbortController().signal, [1]);
  const two = feed.listen(new AbortController().signal, [1]);
  await one.next();
  await two.next();
  await one.return();
  await two.return();
  expect(heard).toEqual([true, false]);
});

test('closing the feed ends a listener that waits', async () => {
  const feed = new Feed<number>({ listenerItemsMax: 2 });
  const next = feed.listen(new AbortController().signal).next();
  feed.close();
  expect((await next).done).toBe(true);
});
