import { expect, test } from 'vitest';
import { parseLogLine } from './log-format.ts';

test('klog lines give level, message and fields; the caller is a field', () => {
  expect(
    parseLogLine(
      'E0912 10:04:12.123456       1 pod_workers.go:1301] "Error syncing pod, skipping" err="exit \\"1\\"" pod="shop/web-1" podUID=77',
    ),
  ).toEqual({
    format: 'klog',
    level: 'error',
    message: 'Error syncing pod, skipping',
    fields: [
      ['err', 'exit "1"'],
      ['pod', 'shop/web-1'],
      ['podUID', '77'],
      ['caller', 'pod_workers.go:1301'],
    ],
  });
  expect(parseLogLine('I0912 10:04:12.123456   1 main.go:3] Serving on :6443, "quoted" later')).toEqual({
    format: 'klog',
    level: 'info',
    message: 'Serving on :6443, "quoted" later',
    fields: [['caller', 'main.go:3']],
  });
});

test('JSON lines of etcd, of Kubernetes components and of applications', () => {
  expect(
    parseLogLine('{"level":"warn","ts":"2026-01-01T00:00:00Z","msg":"slow","took":"120ms","n":3}'),
  ).toEqual({
    format: 'json',
    level: 'warn',
    message: 'slow',
    fields: [
      ['took', '120ms'],
      ['n', '3'],
    ],
  });
  expect(parseLogLine('{"ts":1,"v":0,"msg":"started"}')).toMatchObject({ level: 'info', message: 'started' });
  expect(parseLogLine('{"ts":1,"msg":"failed","err":"no route"}')).toMatchObject({ level: 'error' });
  expect(parseLogLine('{"severity":"ERROR","message":"boom","http":{"status":500}}')).toMatchObject({
    level: 'error',
    message: 'boom',
    fields: [['http', '{"status":500}']],
  });
});

test('logfmt lines need a level or a message to be more than text with equal signs', () => {
  expect(parseLogLine('time=2026-01-01T00:00:00Z level=info msg="listening now" addr=:80')).toEqual({
    format: 'logfmt',
    level: 'info',
    message: 'listening now',
    fields: [['addr', ':80']],
  });
  expect(parseLogLine('a=1 b=2').format).toBe('plain');
  expect(parseLogLine('level=info but then words').format).toBe('plain');
});

test('everything else keeps its text, with a level where a word says so', () => {
  expect(parseLogLine('2026 WARN disk is almost full')).toEqual({
    format: 'plain',
    level: 'warn',
    message: '2026 WARN disk is almost full',
    fields: [],
  });
  expect(parseLogLine('{"not": "closed"').format).toBe('plain');
  expect(parseLogLine('[1, 2]').level).toBeUndefined();
});

test('a hostile line is read in a moment', () => {
  for (const text of ['a='.repeat(8000), `x="${'\\'.repeat(16_000)}`, '"'.repeat(16_384), '{'.repeat(16_384)])
    expect(parseLogLine(text).message).toBe(text);
});
