import type { KubernetesObject } from '../../api/meta/index.ts';
import { saidOf, say, verbatim, type Said } from '../../contract/index.ts';
import { silentLog } from '../../base/log.ts';
import { listExpiry } from '../../pki/index.ts';
import { planHosts } from '../config/hosts.ts';
import { examineRunning } from '../doctor/doctor.ts';
import { expectedComponents } from '../doctor/collect.ts';
import { etcdAccessOf, listMembers } from '../etcd-operator/operations.ts';
import type { Assertion, Question } from './document.ts';
import type { Check } from './drill-record.ts';
import { valueAt } from './value-at.ts';
import type { World } from './world.ts';

const POLL_MS = 200;
/** Of one list; more is enough for any assertion. */
const ITEMS_MAX = 1_000;
const VALUE_CHARACTERS_MAX = 120;

const PASSED: Check = { isPassed: true, detail: null };
const failing = (detail: Said): Check => ({ isPassed: false, detail });

const inRange = (
  value: number,
  { atLeast, atMost }: { atLeast?: number | undefined; atMost?: number | undefined },
) => value >= (atLeast ?? -Infinity) && value <= (atMost ?? Infinity);

const shown = (value: unknown): string => String(JSON.stringify(value)).slice(0, VALUE_CHARACTERS_MAX);

type Ask<Q extends Question> = (world: World, wanted: NonNullable<Assertion[Q]>) => Promise<Check>;

const object: Ask<'object'> = async (world, wanted) => {
  const found = await (await world.objects(wanted)).find(wanted.name);
  if (!found) return failing(say('drill.found.missing', { kind: wanted.kind, name: wanted.name }));
  if (wanted.path === undefined) return PASSED;
  const value = valueAt(found, wanted.path);
  const isRight =
    wanted.is === undefined
      ? typeof value === 'number' && inRange(value, wanted)
      : String(value) === String(wanted.is);
  if (isRight) return PASSED;
  return failing(
    value === undefined
      ? say('drill.found.unset', { path: wanted.path })
      : say('drill.found.value', { path: wanted.path, value: shown(value) }),
  );
};

const etcdHealthy: Ask<'etcd'> = async ({ data, supervisor }) => {
  const members = await listMembers(etcdAccessOf(data, supervisor.config));
  const down = members.find(({ status }) => status === undefined);
  if (down) return failing(say('drill.found.member', { member: down.name }));
  const alarmed = members.find(({ status }) => (status?.errors.length ?? 0) > 0);
  if (alarmed) return failing(verbatim(`${alarmed.name}: ${alarmed.status?.errors[0]}`));
  return members.some(({ isLeader }) => isLeader) ? PASSED : failing(say('failure.etcd.noLeader'));
};

const componentReady: Ask<'component'> = ({ supervisor }, wanted) => {
  const states = new Map(supervisor.state().hosts.map((host) => [host.name, host]));
  for (const plan of planHosts(supervisor.config)) {
    const expected = expectedComponents(plan).filter((name) => wanted === 'all' || wanted === name);
    const state = states.get(plan.name);
    for (const component of expected) {
      const phase = state?.components.find(({ name }) => name === component)?.phase ?? 'exited';
      if (phase !== 'ready' || state?.phase !== 'running')
        return Promise.resolve(failing(say('cause.component.phase', { component, host: plan.name, phase })));
    }
  }
  return Promise.resolve(PASSED);
};

const ASKS: { readonly [Q in Question]: Ask<Q> } = {
  object,
  async absent(world, wanted) {
    const found = await (await world.objects(wanted)).find(wanted.name);
    return found ? failing(say('drill.found.exists', { kind: wanted.kind, name: wanted.name })) : PASSED;
  },
  async count(world, wanted) {
    const { labelSelector, fieldSelector, kind } = wanted;
    const { items } = await (
      await world.objects(wanted)
    ).list({
      limit: ITEMS_MAX,
      ...(labelSelector !== undefined && { labelSelector }),
      ...(fieldSelector !== undefined && { fieldSelector }),
    });
    return inRange(items.length, wanted)
      ? PASSED
      : failing(say('drill.found.count', { kind, count: items.length }));
  },
  etcd: etcdHealthy,
  hosts({ supervisor }) {
    const down = supervisor.state().hosts.find(({ phase }) => phase !== 'running');
    return Promise.resolve(
      down ? failing(say('cause.host', { host: down.name, phase: down.phase })) : PASSED,
    );
  },
  component: componentReady,
  faults({ supervisor }) {
    const [fault] = supervisor.faults.list();
    return Promise.resolve(fault ? failing(say('drill.found.fault')) : PASSED);
  },
  async certificates({ data, supervisor }) {
    const expired = (await listExpiry(data, supervisor.clock)).find(({ residualMs }) => residualMs <= 0);
    return expired ? failing(say('drill.found.expired')) : PASSED;
  },
  async writes(world, { namespace }) {
    const objects = await world.objects({ apiVersion: 'v1', kind: 'ConfigMap', namespace });
    const probe = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { generateName: 'drill-probe-', namespace },
    };
    const created = await objects.create(probe as KubernetesObject);
    await objects.delete(created.metadata.name);
    return PASSED;
  },
  async allowed({ client }, { user, verb, group, resource, subresource, namespace }) {
    const review = await client.json<{ status?: { allowed?: boolean } }>({
      method: 'POST',
      path: '/apis/authorization.k8s.io/v1/subjectaccessreviews',
      body: {
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'SubjectAccessReview',
        spec: { user, resourceAttributes: { verb, group, resource, subresource, namespace } },
      },
    });
    return review.status?.allowed === true
      ? PASSED
      : failing(say('drill.found.denied', { user, verb, resource }));
  },
  async doctor({ supervisor, data }, check) {
    const options = { clock: supervisor.clock, log: silentLog };
    const { findings } = await examineRunning(data, supervisor.config, options);
    const found = findings.find(({ id }) => id === check);
    return found?.verdict === 'problem' ? failing(found.message) : PASSED;
  },
};

const askOnce = async (world: World, assertion: Assertion): Promise<Check> => {
  const [question] = Object.entries(ASKS).filter(([name]) => assertion[name as Question] !== undefined);
  const [name, ask] = question as [Question, Ask<Question>];
  try {
    return await ask(world, assertion[name] as never);
  } catch (error) {
    // An API that does not respond is how most of them fail.
    return failing(saidOf(error));
  }
};

/** Each assertion, asked again until it passes or its time is over. When one has failed, the others end too. */
export const askAll = (world: World, assertions: readonly Assertion[]): Promise<readonly Check[]> => {
  const { supervisor } = world;
  let isFailed = false;
  return Promise.all(
    assertions.map(async (assertion) => {
      const deadlineMs = supervisor.clock.monotonicMs() + assertion.withinSeconds * 1000;
      for (;;) {
        const check = await askOnce(world, assertion);
        isFailed ||= !check.isPassed && supervisor.clock.monotonicMs() >= deadlineMs;
        if (check.isPassed || isFailed) return check;
        await supervisor.wait(POLL_MS);
      }
    }),
  );
};

/** True as soon as one assertion fails; those that take long are not waited for. */
const isBroken = async (world: World, assertions: readonly Assertion[]): Promise<boolean> => {
  try {
    await Promise.any(
      assertions.map(async (assertion) => {
        if ((await askOnce(world, assertion)).isPassed) throw new Error('passed');
      }),
    );
    return true;
  } catch {
    return false;
  }
};

export const untilBroken = async (
  world: World,
  assertions: readonly Assertion[],
  withinSeconds: number,
): Promise<boolean> => {
  const { supervisor } = world;
  const deadlineMs = supervisor.clock.monotonicMs() + withinSeconds * 1000;
  for (;;) {
    if (await isBroken(world, assertions)) return true;
    if (supervisor.clock.monotonicMs() >= deadlineMs) return false;
    await supervisor.wait(POLL_MS);
  }
};
