import './client-node-on-node-20.ts';
import {
  ApiException,
  AppsV1Api,
  CoreV1Api,
  KubeConfig,
  KubernetesObjectApi,
  makeInformer,
  PatchStrategy,
  setHeaderOptions,
  Watch,
  type V1ConfigMap,
  type V1Scale,
} from '@kubernetes/client-node';
import { Agent, request } from 'node:https';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { message, protobufBody } from '../../core/apiserver/protobuf/testing/protobuf-writer.ts';
import { RPC } from '../support/etcd-rpc.ts';
import { isBuilt, openKubectlCluster, type KubectlCluster } from './kubectl-cluster.ts';

const OCTET = 147;
const NAMESPACE = 'default';

/** Resolves when the list has grown to what is awaited. */
class Heard {
  readonly events: string[] = [];
  #look: () => void = () => undefined;

  add(event: string): void {
    this.events.push(event);
    this.#look();
  }

  until(count: number): Promise<readonly string[]> {
    return new Promise((resolve) => {
      this.#look = () => {
        if (this.events.length >= count) resolve(this.events);
      };
      this.#look();
    });
  }
}

interface Answer {
  readonly code: number;
  readonly type: string;
  readonly body: string;
}

describe.skipIf(!isBuilt)('the client of Node', () => {
  let cluster: KubectlCluster;
  let config: KubeConfig;
  let core: CoreV1Api;
  let agent: Agent;

  beforeAll(async () => {
    cluster = await openKubectlCluster({ etcd: 'pilothouse', members: 1, apiServers: 2, octet: OCTET });
    config = new KubeConfig();
    config.loadFromString(cluster.plane.kubeconfig());
    core = config.makeApiClient(CoreV1Api);
    const decoded = (text: string | undefined): Buffer => Buffer.from(text ?? '', 'base64');
    agent = new Agent({
      ca: decoded(config.getCurrentCluster()?.caData),
      cert: decoded(config.getCurrentUser()?.certData),
      key: decoded(config.getCurrentUser()?.keyData),
    });
  });

  afterAll(async () => {
    agent.destroy();
    await cluster.close();
  });

  const plain = (
    path: string,
    options: { method?: string; headers?: Record<string, string>; body?: string } = {},
  ): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const { method = 'GET', headers = {}, body } = options;
      request(`${cluster.plane.apiServers[0]!.url}${path}`, { agent, method, headers }, (answer) => {
        let text = '';
        answer.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
        answer.once('end', () =>
          resolve({
            code: answer.statusCode ?? 0,
            type: answer.headers['content-type'] ?? '',
            body: text,
          }),
        );
        answer.once('error', reject);
      })
        .once('error', reject)
        .end(body);
    });

  test('typed objects are created, read, replaced, listed and deleted', async () => {
    const body = { metadata: { name: 'typed', labels: { a: 'b' } }, data: { k: '1' } };
    const made = await core.createNamespacedConfigMap({ namespace: NAMESPACE, body });
    expect(made.metadata?.creationTimestamp).toBeInstanceOf(Date);
    const read = await core.readNamespacedConfigMap({ namespace: NAMESPACE, name: 'typed' });
    expect(read).toEqual(made);
    const replaced = await core.replaceNamespacedConfigMap({
      namespace: NAMESPACE,
      name: 'typed',
      body: { ...read, data: { k: '2' } },
    });
    expect(replaced.data).toEqual({ k: '2' });
    const stale = core.replaceNamespacedConfigMap({ namespace: NAMESPACE, name: 'typed', body: read });
    await expect(stale).rejects.toMatchObject({ code: 409 });
    const list = await core.listNamespacedConfigMap({
      namespace: NAMESPACE,
      labelSelector: 'a=b',
      limit: 10,
    });
    expect(list.items.map(({ metadata }) => metadata?.name)).toEqual(['typed']);
    const gone = await core.deleteNamespacedConfigMap({ namespace: NAMESPACE, name: 'typed' });
    expect(gone).toMatchObject({ status: 'Success', details: { name: 'typed', kind: 'configmaps' } });
    const missing = await core
      .readNamespacedConfigMap({ namespace: NAMESPACE, name: 'typed' })
      .catch((error: unknown) => error);
    expect(missing).toBeInstanceOf(ApiException);
    expect(missing).toMatchObject({ code: 404 });
  });

  test('patches of all kinds are taken', async () => {
    const apps = config.makeApiClient(AppsV1Api);
    const name = 'patched';
    const labels = { app: name };
    await apps.createNamespacedDeployment({
      namespace: NAMESPACE,
      body: {
        metadata: { name },
        spec: {
          selector: { matchLabels: labels },
          template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'nginx:1' }] } },
        },
      },
    });
    const patch = async (strategy: string, body: unknown): Promise<unknown> => {
      const target = { namespace: NAMESPACE, name, body, fieldManager: 'node', force: true };
      const { force, ...unforced } = target;
      const asked = strategy === PatchStrategy.ServerSideApply ? { ...unforced, force } : unforced;
      const answer = await apps.patchNamespacedDeployment(asked, setHeaderOptions('Content-Type', strategy));
      return [answer.spec?.replicas, answer.spec?.template.spec?.containers.map(({ name: of }) => of)];
    };
    const side = { spec: { template: { spec: { containers: [{ name: 'side', image: 's' }] } } } };
    expect(await patch(PatchStrategy.StrategicMergePatch, side)).toEqual([1, ['side', 'c']]);
    expect(await patch(PatchStrategy.MergePatch, side)).toEqual([1, ['side']]);
    expect(
      await patch(PatchStrategy.JsonPatch, [{ op: 'replace', path: '/spec/replicas', value: 3 }]),
    ).toEqual([3, ['side']]);
    expect(
      await patch(PatchStrategy.ServerSideApply, {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name },
        spec: { replicas: 5 },
      }),
    ).toEqual([5, ['side']]);
    const scale = await apps.readNamespacedDeploymentScale({ namespace: NAMESPACE, name });
    expect(scale.spec?.replicas).toBe(5);
  });

  test('scales are applied by who is to own them', async () => {
    const name = 'patched';
    const apps = config.makeApiClient(AppsV1Api);
    const body = { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name }, spec: { replicas: 7 } };
    const apply = (force: boolean): Promise<V1Scale> =>
      apps.patchNamespacedDeploymentScale(
        { namespace: NAMESPACE, name, fieldManager: 'scaler', force, body },
        setHeaderOptions('Content-Type', PatchStrategy.ServerSideApply),
      );
    await expect(apply(false)).rejects.toMatchObject({
      code: 409,
      body: expect.stringContaining('conflict with \\"node\\": .spec.replicas') as unknown,
    });
    const scale = await apply(true);
    expect(scale.spec?.replicas).toBe(7);
    const { metadata, spec } = await apps.readNamespacedDeployment({ namespace: NAMESPACE, name });
    expect(spec?.replicas).toBe(7);
    const owner = metadata?.managedFields?.find(({ manager }) => manager === 'scaler');
    expect(owner).toMatchObject({
      operation: 'Apply',
      subresource: 'scale',
      apiVersion: 'apps/v1',
      fieldsV1: { 'f:spec': { 'f:replicas': {} } },
    });
  });

  test('an informer sees what is there, what comes, what changes and what goes', async () => {
    const make = (name: string, data: string): V1ConfigMap => ({
      metadata: { name, labels: { seen: 'yes' } },
      data: { data },
    });
    await core.createNamespacedConfigMap({ namespace: NAMESPACE, body: make('before', '1') });
    const heard = new Heard();
    const informer = makeInformer(
      config,
      `/api/v1/namespaces/${NAMESPACE}/configmaps`,
      () => core.listNamespacedConfigMap({ namespace: NAMESPACE, labelSelector: 'seen=yes' }),
      'seen=yes',
    );
    for (const event of ['add', 'update', 'delete'] as const)
      informer.on(event, (object: V1ConfigMap) =>
        heard.add(`${event} ${object.metadata?.name} ${object.data?.['data']}`),
      );
    await informer.start();
    try {
      await heard.until(1);
      await core.createNamespacedConfigMap({ namespace: NAMESPACE, body: make('after', '1') });
      await core.replaceNamespacedConfigMap({
        namespace: NAMESPACE,
        name: 'after',
        body: make('after', '2'),
      });
      await core.deleteNamespacedConfigMap({ namespace: NAMESPACE, name: 'after' });
      expect(await heard.until(4)).toEqual([
        'add before 1',
        'add after 1',
        'update after 2',
        'delete after 2',
      ]);
      expect(informer.list().map(({ metadata }) => metadata?.name)).toEqual(['before']);
    } finally {
      await informer.stop();
    }
  });

  test('a watch starts at its revision and sends bookmarks on request', async () => {
    const list = await core.listNamespacedConfigMap({ namespace: NAMESPACE });
    const heard = new Heard();
    const controller = await new Watch(config).watch(
      `/api/v1/namespaces/${NAMESPACE}/configmaps`,
      {
        resourceVersion: list.metadata?.resourceVersion,
        sendInitialEvents: true,
        resourceVersionMatch: 'NotOlderThan',
        allowWatchBookmarks: true,
        fieldSelector: 'metadata.name=before',
      },
      (phase: string, object: V1ConfigMap) => {
        const end = object.metadata?.annotations?.['k8s.io/initial-events-end'];
        heard.add([phase, object.metadata?.name, end].filter(Boolean).join(' '));
      },
      () => undefined,
    );
    try {
      expect(await heard.until(2)).toEqual(['ADDED before', 'BOOKMARK true']);
    } finally {
      controller.abort();
    }
  });

  test('objects of any kind are applied by their own words', async () => {
    const objects = KubernetesObjectApi.makeApiClient(config);
    const object = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'any', namespace: NAMESPACE } };
    await objects.create({ ...object, stringData: { a: 'b' } } as typeof object);
    expect(await objects.read(object)).toMatchObject({ data: { a: 'Yg==' }, type: 'Opaque' });
    await objects.delete(object);
    await expect(objects.read(object)).rejects.toMatchObject({ code: 404 });
  });

  test('objects that kube-apiserver stored as protobuf are read, listed and changed', async () => {
    const name = 'from-upstream';
    const value = protobufBody(
      'v1',
      'ConfigMap',
      message(
        [1, message([1, name], [3, NAMESPACE], [5, 'b0b5a1c2-0000-4000-8000-000000000001'])],
        [2, message([1, 'k'], [2, 'v'])],
      ),
    );
    const etcd = cluster.plane.etcd.connect(0);
    try {
      const key = Buffer.from(`/registry/configmaps/${NAMESPACE}/${name}`);
      await etcd.unary(RPC.put, { key, value: Buffer.from(value) });
    } finally {
      etcd.close();
    }
    const read = await core.readNamespacedConfigMap({ namespace: NAMESPACE, name });
    expect(read).toMatchObject({ metadata: { name, namespace: NAMESPACE }, data: { k: 'v' } });
    const list = await core.listNamespacedConfigMap({ namespace: NAMESPACE });
    expect(list.items.map(({ metadata }) => metadata?.name)).toContain(name);
    const body = { ...read, data: { k: 'w' } };
    const changed = await core.replaceNamespacedConfigMap({ namespace: NAMESPACE, name, body });
    expect(changed.data).toEqual({ k: 'w' });
  });

  test('plain requests get JSON, YAML, tables, and statuses in the form they ask for', async () => {
    const path = `/api/v1/namespaces/${NAMESPACE}/configmaps/before`;
    expect(await plain(path)).toMatchObject({ code: 200, type: 'application/json' });
    const yaml = await plain(path, { headers: { accept: 'application/yaml' } });
    expect(yaml).toMatchObject({ code: 200, type: 'application/yaml' });
    expect(yaml.body).toMatch(/^apiVersion: v1\ndata:\n {2}data: "1"\nkind: ConfigMap\n/);
    const table = await plain(path, {
      headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' },
    });
    expect(JSON.parse(table.body)).toMatchObject({
      kind: 'Table',
      rows: [{ cells: ['before', 1, expect.any(String)] }],
    });
    const missing = await plain(`${path}-not`, { headers: { accept: 'application/yaml' } });
    expect(missing).toEqual({
      code: 404,
      type: 'application/yaml',
      body: [
        'apiVersion: v1',
        'code: 404',
        'details:',
        '  kind: configmaps',
        '  name: before-not',
        'kind: Status',
        'message: configmaps "before-not" not found',
        'metadata: {}',
        'reason: NotFound',
        'status: Failure',
        '',
      ].join('\n'),
    });
    const refused = await plain(path, { headers: { accept: 'image/png' } });
    expect([refused.code, JSON.parse(refused.body)]).toEqual([
      406,
      expect.objectContaining({ reason: 'NotAcceptable' }),
    ]);
    const unsupported = await plain(`/api/v1/namespaces/${NAMESPACE}/configmaps`, {
      method: 'POST',
      headers: { 'content-type': 'text/plain' },
      body: 'x',
    });
    expect([unsupported.code, JSON.parse(unsupported.body)]).toEqual([
      415,
      expect.objectContaining({ reason: 'UnsupportedMediaType' }),
    ]);
    expect((await plain(path, { method: 'POST', body: '{}' })).code).toBe(405);
    const definition = await plain('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
      method: 'POST',
      headers: { 'content-type': 'application/vnd.kubernetes.protobuf' },
      body: 'k8s\0',
    });
    // An envelope without an object is an object without a name.
    expect([definition.code, JSON.parse(definition.body)]).toEqual([
      422,
      expect.objectContaining({ reason: 'Invalid' }),
    ]);
  });
});
