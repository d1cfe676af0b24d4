import { expect, test } from 'vitest';
import {
  reachForm,
  reachQuestionOf,
  impersonationWords,
  questionOf,
  rulesQuestionOf,
  subjectForm,
  whoCanForm,
} from './question.ts';

test('a resource is written as kubectl writes it', () => {
  const form = whoCanForm({ verb: 'patch', resource: 'deployments.apps/scale', namespace: 'web' });
  expect(questionOf('c', form)).toEqual({
    cluster: 'c',
    verb: 'patch',
    group: 'apps',
    resource: 'deployments',
    subresource: 'scale',
    namespace: 'web',
    name: '',
  });
  expect(questionOf('c', { ...form, resource: ' ' })).toBeUndefined();
});

test('a service account has a namespace, other subjects have none', () => {
  const form = subjectForm({ kind: 'ServiceAccount', name: 'kube-system/bot' });
  expect(rulesQuestionOf('c', form)).toMatchObject({ namespace: 'kube-system', name: 'bot' });
  expect(rulesQuestionOf('c', { ...form, name: 'bot' })).toMatchObject({ namespace: 'default', name: 'bot' });
  expect(rulesQuestionOf('c', { ...form, kind: 'User', name: 'a/b' })).toMatchObject({
    namespace: '',
    name: 'a/b',
  });
});

test('kubectl asks as the subject', () => {
  const words = (kind: string, name: string) => impersonationWords(subjectForm({ kind, name })).join(' ');
  expect(words('ServiceAccount', 'web/bot')).toBe('--as system:serviceaccount:web:bot');
  expect(words('Group', 'ops')).toBe('--as USER --as-group ops');
  expect(words('User', '')).toBe('--as USER');
});

test('a connection has two ends and a port, which is of TCP unless it says another protocol', () => {
  const form = reachForm({ from: 'web/client', to: '10.0.0.1' });
  expect([
    reachQuestionOf('c', form),
    reachQuestionOf('c', { ...form, port: '53/udp' })?.protocol,
    reachQuestionOf('c', { ...form, port: '70000' }),
    reachQuestionOf('c', { ...form, port: 'http' }),
    reachQuestionOf('c', { ...form, to: ' ' }),
  ]).toEqual([
    { cluster: 'c', from: 'web/client', to: '10.0.0.1', port: 80, protocol: 'TCP' },
    'UDP',
    undefined,
    undefined,
    undefined,
  ]);
});
