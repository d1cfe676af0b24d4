import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../core/base/node/clock.ts';
import { silentLog } from '../../core/base/log.ts';
import { inEnglish, verbatim } from '../../core/contract/index.ts';
import { createNotificationHub } from '../state/notification-hub.ts';
import { openNoticeBoard } from './notice-board.ts';

test('a notice that the desktop has seen still waits for the next page', async () => {
  const hub = createNotificationHub(systemClock);
  const board = openNoticeBoard(hub, silentLog);
  const page = new AbortController();
  onTestFinished(() => {
    page.abort();
    board.dispose();
    hub.dispose();
  });
  const seen = new Promise<string>((resolve) => board.observe(({ title }) => resolve(inEnglish(title))));
  hub.post({ severity: 'warn', title: verbatim('the page was reloaded') });
  expect(await seen).toBe('the page was reloaded');
  for await (const batch of board.watch(page.signal)) {
    expect(batch.map(({ title }) => inEnglish(title))).toEqual(['the page was reloaded']);
    break;
  }
});
