import { expect, test } from 'vitest';
import {
  afterCheck,
  chooseBackend,
  UNTESTED,
  type BackendStanding,
  type CheckOutcome,
} from './backend-health.ts';

const OK: CheckOutcome = { kind: 'ready', latencyMs: 3 };
const GONE: CheckOutcome = { kind: 'unreachable', error: 'connect ECONNREFUSED' };
const SICK: CheckOutcome = { kind: 'not-ready', isShuttingDown: false, error: '[-]etcd failed' };
const STOPPING: CheckOutcome = { kind: 'not-ready', isShuttingDown: true, error: '[-]shutdown failed' };

test.each<[string, readonly CheckOutcome[], BackendStanding]>([
  ['nothing is known before the first check', [], 'untested'],
  ['one success is enough', [OK], 'ready'],
  ['one failure is not', [OK, GONE], 'ready'],
  ['a success between two failures starts the count anew', [OK, GONE, OK, GONE], 'ready'],
  ['two failures in a row are', [OK, GONE, GONE], 'out'],
  ['one that answers that it is not ready is a last resort', [OK, SICK, SICK], 'failing'],
  ['but not when it never was ready', [SICK, SICK], 'out'],
  ['an untested one is out after the first failure', [GONE], 'out'],
  ['one that shuts down is out at once', [OK, STOPPING], 'out'],
  ['one success brings it back', [OK, GONE, GONE, GONE, OK], 'ready'],
])('%s', (_, outcomes, standing) => {
  expect(outcomes.reduce(afterCheck, UNTESTED).standing).toBe(standing);
});

const candidate = (name: string, standing: BackendStanding, connections = 0) => ({
  name,
  standing,
  connections,
});

test.each([
  [[candidate('a', 'ready', 2), candidate('b', 'ready', 1)], [], 0, 'b'],
  [[candidate('a', 'ready', 9), candidate('b', 'untested'), candidate('c', 'failing')], [], 0, 'a'],
  [[candidate('a', 'ready'), candidate('b', 'untested'), candidate('c', 'failing')], ['a'], 0, 'b'],
  [[candidate('a', 'out'), candidate('b', 'failing')], [], 0, 'b'],
  [[candidate('a', 'out')], [], 0, undefined],
  [[candidate('a', 'ready'), candidate('b', 'ready')], [], 1, 'b'],
])('of %j without %j at turn %i it is %s', (candidates, tried, turn, name) => {
  expect(chooseBackend(candidates, new Set(tried), turn)?.name).toBe(name);
});
