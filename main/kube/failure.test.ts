import { expect, test } from 'vitest';
import { inEnglish } from '../../core/contract/index.ts';
import { statusErrorFrom } from '../../core/api/meta/status.ts';
import { failureSaid, kubeFailure, refusalOf } from './failure.ts';

test('credentials that a server does not believe are reported with what to do, wherever they are refused', () => {
  const unauthorized = statusErrorFrom({ code: 401, reason: 'Unauthorized', message: 'Unauthorized' });
  const words = /rejected the credentials of this kubeconfig \(Unauthorized\); sign in again/;
  expect(kubeFailure(unauthorized)).toMatchObject({
    reason: 'Forbidden',
    message: expect.stringMatching(words) as string,
  });
  expect(inEnglish(failureSaid(unauthorized))).toMatch(words);
  expect(refusalOf(unauthorized)).toMatchObject({
    code: 401,
    message: expect.stringMatching(words) as string,
  });
});

test('a denial is shown in the words of the server', () => {
  const forbidden = statusErrorFrom({ code: 403, reason: 'Forbidden', message: 'pods is forbidden: no' });
  expect(kubeFailure(forbidden)).toMatchObject({ reason: 'Forbidden', message: 'pods is forbidden: no' });
});
