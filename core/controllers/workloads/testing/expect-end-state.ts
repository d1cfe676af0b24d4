import { expect } from 'vitest';
import {
  CONTROLLER_REVISION,
  JOB,
  PERSISTENT_VOLUME_CLAIM,
  POD,
  REPLICA_SET,
} from '../../../client/index.ts';
import { targetNodeOf } from '../../daemonset/node-fit.ts';
import type { KillRun } from './kill-run.ts';

const FIRST_MINUTE = Date.parse('2026-01-01T00:01:00Z') / 60_000;

/** All is as wanted, and nothing of it twice. */
export const expectEndState = ({ api, ended, minutesCount, violations }: KillRun): void => {
  const podsOf = (app: string) => api.list(POD).filter(({ metadata }) => metadata.labels?.['app'] === app);
  const imagesOf = (app: string) => podsOf(app).map(({ spec }) => spec!.containers[0]!.image);
  expect(violations).toEqual([]);

  expect(imagesOf('web')).toEqual(['v3', 'v3', 'v3', 'v3']);
  const sizes = api
    .list(REPLICA_SET)
    .map(({ spec }) => `${spec!.template!.spec!.containers[0]!.image}:${spec!.replicas}`);
  expect(sizes.sort()).toEqual(['v1:0', 'v2:0', 'v3:4']);

  expect(podsOf('db').map(({ metadata }) => metadata.name)).toEqual(['db-0', 'db-1', 'db-2']);
  expect(imagesOf('db')).toEqual(['v3', 'v3', 'v3']);
  expect(api.list(PERSISTENT_VOLUME_CLAIM).map(({ metadata }) => metadata.name)).toEqual([
    'data-db-0',
    'data-db-1',
    'data-db-2',
  ]);

  expect(podsOf('agent').map(targetNodeOf).sort()).toEqual(['a', 'b', 'c']);
  expect(imagesOf('agent')).toEqual(['v3', 'v3', 'v3']);
  expect(api.list(CONTROLLER_REVISION)).toHaveLength(6);

  for (const name of ['sum', 'map']) {
    const { status } = api.get(JOB, name);
    expect({ name, succeeded: status?.succeeded, failed: status?.failed ?? 0 }).toEqual({
      name,
      succeeded: 8,
      failed: ended.get(name)?.failed ?? 0,
    });
    expect(ended.get(name)?.succeeded).toBe(8);
    expect(status?.conditions?.map(({ type }) => type)).toEqual(['SuccessCriteriaMet', 'Complete']);
  }
  expect(api.get(JOB, 'map').status?.completedIndexes).toBe('0-7');

  const ticks = api.list(JOB).filter(({ metadata }) => metadata.name.startsWith('tick-'));
  for (const job of ticks) expect([job.metadata.name, job.status?.succeeded]).toEqual([job.metadata.name, 1]);
  // One a minute; none is made up for that came while nothing ran, and none comes between.
  const minutes = ticks.map(({ metadata }) => Number(metadata.name.slice('tick-'.length)) - FIRST_MINUTE);
  expect(minutes.length).toBeGreaterThanOrEqual(minutesCount - 2);
  expect(minutes.filter((minute) => minute < 0 || minute >= minutesCount)).toEqual([]);
  expect(api.list(POD).filter(({ metadata }) => metadata.finalizers?.length)).toEqual([]);
};
