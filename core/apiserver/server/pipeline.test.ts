import { expect, test } from 'vitest';
import { manualClock } from '../../base/manual-clock.ts';
import { silentLog } from '../../base/log.ts';
import { notFound } from '../../api/meta/index.ts';
import { runPipeline, type Stage, type StageResult } from './pipeline.ts';
import { fakeContext } from './testing/fake-context.ts';

const clock = manualClock();
const environment = { clock, log: silentLog };

const passing = (name: string, durationMs = 0): Stage => ({
  name,
  run() {
    clock.advance(durationMs);
    return 'next';
  },
});

test('stages run in order until one answers, and each leaves its trace', async () => {
  const { context, sent } = fakeContext({ url: '/api/v1/pods' });
  const answering: Stage = {
    name: 'answer',
    async run({ response }): Promise<StageResult> {
      await response.send(200, 'text/plain', 'hello');
      return 'done';
    },
  };
  await runPipeline([passing('a', 3), passing('b'), answering, passing('never')], context, environment);
  expect(context.stages).toEqual([
    { stage: 'a', durationMs: 3, verdict: 'passed' },
    { stage: 'b', durationMs: 0, verdict: 'passed' },
    { stage: 'answer', durationMs: 0, verdict: 'answered' },
  ]);
  expect([sent.code, sent.text()]).toEqual([200, 'hello']);
});

test('a stage that tells its parts has only what is left over, so that a trace adds up', async () => {
  const { context } = fakeContext({ url: '/api/v1/pods' });
  const withParts: Stage = {
    name: 'api',
    run({ stages }) {
      clock.advance(10);
      stages.push({ stage: 'storage', durationMs: 7, verdict: 'passed' });
      return 'done';
    },
  };
  await runPipeline([passing('a', 3), withParts], context, environment);
  expect(context.stages.map(({ stage, durationMs }) => [stage, durationMs])).toEqual([
    ['a', 3],
    ['storage', 7],
    ['api', 3],
  ]);
});

test('a refusal is answered as its Status, with the warnings collected so far', async () => {
  const { context, sent } = fakeContext({ url: '/api/v1/pods' });
  context.warnings.add('v1 "x" is \n deprecated');
  const refusing: Stage = {
    name: 'refuse',
    run() {
      throw notFound({ group: '', resource: 'pods' }, 'a');
    },
  };
  await runPipeline([refusing], context, environment);
  expect(JSON.parse(sent.text())).toMatchObject({ message: 'pods "a" not found', code: 404 });
  expect(sent.headers.get('warning')).toBe('299 - "v1 \\"x\\" is   deprecated"');
  expect(context.stages).toMatchObject([{ verdict: 'refused', reason: 'NotFound' }]);
});

test('a defect is answered as 500 without its text', async () => {
  const { context, sent } = fakeContext({ url: '/api/v1/pods' });
  const broken: Stage = { name: 'broken', run: () => Promise.reject(new TypeError('secret detail')) };
  await runPipeline([broken], context, environment);
  expect([sent.code, sent.text().includes('secret detail')]).toEqual([500, false]);
  expect(context.stages).toMatchObject([{ verdict: 'failed' }]);
});

test('a stage that breaks off because its client has gone is no defect', async () => {
  const { context } = fakeContext({ url: '/api/v1/pods' });
  Object.assign(context.request, { signal: AbortSignal.abort() });
  const errors: string[] = [];
  const log = { ...environment.log, write: (_level: string, message: string) => void errors.push(message) };
  const broken: Stage = { name: 'broken', run: () => Promise.reject(new Error('aborted')) };
  await runPipeline([broken], context, { ...environment, log });
  expect([errors, context.stages]).toMatchObject([[], [{ verdict: 'answered' }]]);
});

test('a defect in the middle of an answer cuts it off', async () => {
  const { context, sent } = fakeContext({ url: '/api/v1/pods' });
  const broken: Stage = {
    name: 'broken',
    async run({ response }): Promise<StageResult> {
      response.begin(200);
      await response.write('half');
      throw new TypeError('boom');
    },
  };
  await runPipeline([broken], context, environment);
  expect([sent.code, sent.isCut]).toEqual([200, true]);
});

test('a pipeline in which no one answers is a defect too', async () => {
  const { context, sent } = fakeContext({ url: '/' });
  await runPipeline([passing('a')], context, environment);
  expect(sent.code).toBe(500);
});
