import { expect, test } from 'vitest';
import { queueFiguresIn } from './view-controllers.ts';

test('figures of work queues are read from metrics by the name of the queue', () => {
  const text = [
    '# TYPE workqueue_depth gauge',
    'workqueue_depth{name="deployment"} 3',
    'workqueue_depth{name="job"} 0',
    'workqueue_adds_total{name="deployment"} 41',
    'workqueue_retries_total{name="deployment"} 7',
    'workqueue_longest_running_processor_seconds{name="deployment"} 1.5',
    'workqueue_unfinished_work_seconds{name="deployment"} 2',
  ].join('\n');
  expect(queueFiguresIn(text).get('deployment')).toEqual({
    name: 'deployment',
    depth: 3,
    adds: 41,
    retries: 7,
    longestRunningSeconds: 1.5,
    unfinishedSeconds: 2,
  });
});
