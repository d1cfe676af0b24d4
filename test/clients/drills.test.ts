import { afterAll, beforeAll, expect, test } from 'vitest';
import { silentLog } from '../../core/base/log.ts';
import { systemClock } from '../../core/base/node/clock.ts';
import { callControl } from '../../core/cluster/control/client.ts';
import { examineRunning } from '../../core/cluster/doctor/doctor.ts';
import { listDrills } from '../../core/cluster/drills/library/index.ts';
import { requireCluster } from '../../core/cluster/data-folder/open.ts';
import { inEnglish, type CheckId, type DrillRequest, type DrillView } from '../../core/contract/index.ts';
import { operate, type OperatedCluster } from '../support/operated-cluster.ts';
import { until } from '../support/until.ts';

/** What the doctor says of each: the check that is not ok, and its message or evidence. Some leave nothing to diagnose. */
const DIAGNOSES: Readonly<Record<string, readonly [CheckId, RegExp] | null>> = {
  'pods-pending': ['doctorScheduling', /kube-scheduler on cp-1 is stopped/],
  'no-pods': ['doctorControllers', /kube-controller-manager on cp-1 is stopped/],
  'write-pause': ['doctorQuorum', /host cp-\d is killed/],
  'silent-workers': ['doctorNodes', /host workers is killed/],
  'stuck-release': ['doctorWorkloads', /drill-web\/web-.*ImagePull/],
  'nothing-created': ['doctorAdmission', /policy\.drill\.example calls drill-policy\/policy/],
  'idle-scheduler': ['doctorAccess', /ClusterRoleBinding system:kube-scheduler/],
  'pod-flood': null,
  'future-times': ['doctorClock', /injected fault: .*cp-\d/],
  'slow-writes': ['doctorDisk', /99th percentile/],
  'half-upgraded': ['doctorApi', /kube-apiserver on cp-\d is \w+: .*v?1\.99/],
  'lost-ledger': null,
  'after-restart': ['doctorCertificates', /scheduler\.conf/],
  'read-only': ['doctorDatabase', /is full/],
  'silent-api': ['doctorQuorum', /quorum is lost/],
};

let cluster: OperatedCluster;

const ask = (request: DrillRequest): Promise<DrillView> =>
  callControl(cluster.data, 'drill.request', { request: JSON.stringify(request) });

/** Everything that the doctor says of one check, while it is not ok. */
const diagnosisOf = async (id: CheckId): Promise<string> => {
  const options = { clock: systemClock, log: silentLog };
  const { findings } = await examineRunning(cluster.data, await requireCluster(cluster.data), options);
  const found = findings.find((finding) => finding.id === id);
  if (!found || found.verdict === 'ok') return '';
  return [found.message, ...(found.evidence ?? [])].map(inEnglish).join('\n');
};

beforeAll(async () => {
  cluster = await operate('--network', '206', '--workers', '2', '--drills');
});
afterAll(() => cluster?.close());

const assertDiagnosed = async (name: string): Promise<void> => {
  const diagnosis = DIAGNOSES[name];
  if (!diagnosis) return;
  const [id, cause] = diagnosis;
  await until(`${id} of ${name} to say ${cause}`, async () => cause.test(await diagnosisOf(id)));
};

const FIRST = 'pods-pending';
const GIVEN_UP = 'future-times';

test('a drill is started, hinted, checked and solved from the command line', async () => {
  expect(await cluster.run('drill', 'start', FIRST)).toContain('stay Pending');
  expect(await cluster.run('drill', 'hint')).toContain('hint 1 of 3');
  const { code, stdout } = await cluster.attempt('drill', 'check', '-o', 'json');
  const { run } = JSON.parse(stdout) as DrillView;
  expect([code, run?.phase, run?.checks?.some(({ isPassed }) => !isPassed)]).toEqual([1, 'broken', true]);
  expect(await cluster.refused('drill', 'start', 'silent-workers')).toContain(`${FIRST} is running`);
  await assertDiagnosed(FIRST);
  expect(await cluster.run('drill', 'solve')).toContain('(solved)');
});

test('giving up undoes what a drill did', async () => {
  await ask({ kind: 'start', name: GIVEN_UP });
  expect((await cluster.state()).faults).toHaveLength(1);
  expect((await ask({ kind: 'giveUp' })).run).toMatchObject({ phase: 'abandoned', grade: null });
  expect((await cluster.state()).faults).toEqual([]);
});

test.for(
  listDrills()
    .map(({ name }) => name)
    .filter((name) => name !== FIRST),
)('drill %s breaks the cluster, the doctor names the cause, and the solution repairs it', async (name) => {
  const started = await ask({ kind: 'start', name });
  expect(started.run).toMatchObject({ name, phase: 'broken', problem: null });
  await assertDiagnosed(name);
  const solved = await ask({ kind: 'solve' });
  expect(solved.run).toMatchObject({ name, phase: 'solved', problem: null });
});
