import { afterEach, beforeEach, expect } from 'vitest';
import { silentLog } from '../../../base/log.ts';
import { Registry as Metrics } from '../../../base/metrics/index.ts';
import { systemClock } from '../../../base/node/clock.ts';
import { seededRandom } from '../../../base/random.ts';
import type { KubernetesObject, Status } from '../../../api/meta/index.ts';
import type { AdmissionChain } from '../../admission/attributes.ts';
import { userInfo } from '../../server/user.ts';
import { DiscoveryCatalog } from '../../discovery/catalog.ts';
import { apiStage } from '../../handlers/index.ts';
import { createInternalInformer } from '../../informer/internal-informer.ts';
import { createRegistry, type ObjectRegistry } from '../../registry/create-registry.ts';
import { MemoryStore } from '../../registry/testing/fixtures.ts';
import { runPipeline, type Stage } from '../../server/pipeline.ts';
import { fakeContext } from '../../server/testing/fake-context.ts';
import type { WebhookClient } from '../../webhook/webhook-client.ts';
import { definitionErrors, Extensions } from '../extensions.ts';
import { widgetDefinition } from './definitions.ts';

export const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
export const WIDGETS = '/apis/example.com/v1/namespaces/default/widgets';
const MINOR = 36;
const admin = userInfo('admin', ['system:masters']);
const admission: AdmissionChain = { admit: async () => undefined, validate: async () => {} };

export interface Asked {
  readonly code: number;
  readonly text: string;
  readonly body: KubernetesObject & Status;
  readonly warnings: string;
}

/** A server of custom resources on a store in memory, new for each test. */
export interface ServedExtensions {
  readonly registry: ObjectRegistry;
  readonly catalog: DiscoveryCatalog;
  readonly extensions: Extensions;
  /** What conversion webhooks were sent. */
  readonly posted: unknown[];
  /** How they answer. */
  answerOf: (review: KubernetesObject) => KubernetesObject;
  ask(method: string, url: string, body?: unknown, headers?: Record<string, string>): Promise<Asked>;
  /** Creates a definition and waits until it is served. */
  define(definition?: KubernetesObject): Promise<void>;
}

class Server implements ServedExtensions {
  readonly posted: unknown[] = [];
  answerOf = (review: KubernetesObject): KubernetesObject => review;
  readonly catalog = new DiscoveryCatalog(MINOR);
  readonly registry = createRegistry({
    store: new MemoryStore(),
    minor: MINOR,
    clock: systemClock,
    random: seededRandom(2),
    log: silentLog,
    deepChecks: {
      'CustomResourceDefinition.apiextensions.k8s.io': (definition, before, found) =>
        definitionErrors(definition, before, found, MINOR),
    },
  });
  readonly extensions: Extensions;
  readonly #informer;
  readonly #stage: Stage;

  constructor() {
    const { registry, catalog } = this;
    const user = userInfo('system:apiserver');
    const webhooks: WebhookClient = {
      post: async (_target, body) => {
        this.posted.push(body);
        return this.answerOf(body as KubernetesObject);
      },
      dispose() {},
    };
    const shared = { clock: systemClock, log: silentLog };
    this.#informer = createInternalInformer({ registry, user, ...shared });
    this.extensions = new Extensions({ registry, catalog, minor: MINOR, user, webhooks, ...shared });
    this.#stage = apiStage({
      registry,
      admission,
      minor: MINOR,
      random: seededRandom(1),
      metrics: new Metrics(),
      endpoints: this.extensions,
      ...shared,
    });
  }

  start(): Promise<unknown> {
    return this.extensions.follow(this.#informer);
  }

  close(): void {
    this.extensions.dispose();
    this.#informer.dispose();
    this.registry.close();
  }

  async ask(
    method: string,
    url: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Asked> {
    const { context, sent } = fakeContext({
      user: admin,
      method,
      url,
      headers,
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    await runPipeline([this.#stage], context, { clock: systemClock, log: silentLog });
    return {
      code: sent.code,
      text: sent.text(),
      body: (sent.text().startsWith('{') ? JSON.parse(sent.text()) : {}) as Asked['body'],
      warnings: String(sent.headers.get('warning') ?? ''),
    };
  }

  async define(definition: KubernetesObject = widgetDefinition()): Promise<void> {
    const { code, body } = await this.ask('POST', DEFINITIONS, definition);
    expect([code, body.message]).toEqual([201, undefined]);
    await expect
      .poll(() => this.catalog.find({ group: 'example.com', version: 'v1' })?.resources.length)
      .toBeGreaterThan(0);
  }
}

/** Opens a server before each test of a file and closes it after; the answer is the one of the running test. */
export const servedExtensions = (): (() => ServedExtensions) => {
  let server: Server;
  beforeEach(async () => {
    server = new Server();
    await server.start();
  });
  afterEach(() => server.close());
  return () => server;
};

export const widget = (name: string, spec: object, more: object = {}): object => ({
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: { name },
  spec,
  ...more,
});
