import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../base/node/clock.ts';
import { localContent } from './runtimes/simulated/content/content-channel.ts';
import { ContentClient } from './runtimes/simulated/content/content-client.ts';
import { rangeAddresses } from './runtimes/simulated/pod-addresses.ts';
import { SimulatedRuntime } from './runtimes/simulated/simulated-runtime.ts';
import { BEHAVIOURS, runBehaviours, type BehaviourNode } from './testing/behaviours/index.ts';

/** What simulated pods cannot show; the table says why. */
const NOT_SIMULATED: readonly string[] = [
  'Secrets are kept in memory, never on a disk of the node',
  'an emptyDir of medium Memory is a tmpfs',
  'sizeLimit bounds an emptyDir of medium Memory',
  'new files in an emptyDir belong to fsGroup',
  'hostPath mounts a file of the node',
  'a hostPath of the wrong type is FailedMount',
  'the environment of the image stays',
  'a program that is not there is StartError with code 128',
  'the message of StartError names the program',
  'a shell that does not find a command exits with 127',
  'targetContainerName shows the processes of a container',
  'a port that no one listens on fails a TCP probe',
  'runAsNonRoot does not start an image whose user is root',
  'a container that drops ALL has no capabilities',
  'allowPrivilegeEscalation false sets no_new_privs',
  'seccompProfile RuntimeDefault filters system calls',
  'added capabilities are there',
  'a privileged container has the devices of the node',
  'by default there is no filter, and /proc is masked',
  'shareProcessNamespace makes the sandbox process 1',
  'a container has processes of its own',
  'limits.memory bounds the cgroup',
  'limits.cpu is a quota',
  'the cgroup of a running container has the new limit',
];

/** All at the same time: most of them wait. */
const PODS_MAX = 100;
const clock = systemClock;
const content = new ContentClient({ clock, open: localContent(clock) });
const node: BehaviourNode = {
  runtime: new SimulatedRuntime({
    clock,
    nodeName: 'n1',
    addresses: rangeAddresses('127.77.40.0/24'),
    content,
    networks: ['127.77.0.0/16'],
    pullMs: 0,
  }),
  clock,
  hostIP: '127.77.0.40',
  image: 'registry.test/shell:1',
};

afterAll(() => content.dispose());

test('simulated pods show all but a few of the claims, and no claim is there twice', () => {
  const all = BEHAVIOURS.flatMap(({ claims, notSimulated }) =>
    claims.map((claim) => ({ claim: claim.claim, reason: claim.notSimulated ?? notSimulated })),
  );
  expect(new Set(all.map(({ claim }) => claim)).size).toBe(all.length);
  expect(all.length).toBeGreaterThan(250);
  expect(all.flatMap(({ claim, reason }) => (reason === undefined ? [] : [claim]))).toEqual(NOT_SIMULATED);
});

describe('simulated pods', () => {
  const isAsked = ({ notSimulated }: { readonly notSimulated?: string }): boolean =>
    notSimulated === undefined;
  const asked = BEHAVIOURS.filter(isAsked);
  let outcomes: ReturnType<typeof runBehaviours>;
  beforeAll(() => void (outcomes = runBehaviours(node, asked, { podsMax: PODS_MAX, isAsked })));

  test.each(asked)('$name', async ({ name }) => {
    const all = await outcomes.get(name)!;
    expect(all.map(({ claim, is }) => ({ claim, is }))).toEqual(
      all.map(({ claim, expected }) => ({ claim, is: expected })),
    );
  });
});
