import { expect, test } from 'vitest';
import { emptyForm, oidcProblem, wishesOf } from './harden-form.ts';

test('an empty form wishes for nothing', () => {
  expect(wishesOf(emptyForm())).toEqual({ skip: [], backupDirectory: null, oidc: null });
});

test.each([
  ['', '', false],
  ['https://login.example', 'desk', false],
  ['http://login.example', 'desk', true],
  ['https://login.example', '', true],
  ['', 'desk', true],
])('issuer %j with client %j: wrong is %j', (issuerUrl, clientId, isWrong) => {
  expect(oidcProblem({ ...emptyForm(), issuerUrl, clientId })).toBe(isWrong);
});

test('typed values are trimmed', () => {
  const form = {
    ...emptyForm(),
    skip: ['audit' as const],
    backupDirectory: ' /mnt/backups ',
    issuerUrl: ' https://login.example ',
    clientId: 'desk',
    groupsClaim: ' ',
  };
  expect(wishesOf(form)).toEqual({
    skip: ['audit'],
    backupDirectory: '/mnt/backups',
    oidc: { issuerUrl: 'https://login.example', clientId: 'desk', usernameClaim: 'sub', groupsClaim: null },
  });
});
