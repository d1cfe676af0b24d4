import { messageOf } from '../../base/errors.ts';
import {
  apiPathOf,
  isJsonObject,
  isNotFound,
  parseApiVersion,
  type KubernetesObject,
} from '../../api/meta/index.ts';
import type { Client, DiscoveredResource } from '../../client/index.ts';
import { say, verbatim, type HelmChangeReport, type HelmRevision, type Said } from '../../contract/index.ts';
import { identityOf, isKept, objectsOf } from './objects.ts';
import { encodeRelease, secretNameOf, type Release } from './release.ts';
import { listRevisions, readRelease } from './releases.ts';

const FIELD_MANAGER = 'helm';
const MS_PER_SECOND = 1000;

type Fields = Record<string, unknown>;
type Step = HelmChangeReport['steps'][number];

export interface HelmContext {
  readonly client: Client;
  resources(): Promise<readonly DiscoveredResource[]>;
  readonly nowMs: () => number;
  readonly dryRun: boolean;
}

/** The newer manifest as a merge patch over the older one: what the older had and the newer has not is removed. */
export const mergePatchOf = (older: unknown, newer: Fields): Fields => {
  const patch: Fields = {};
  for (const [name, value] of Object.entries(newer)) {
    const before = isJsonObject(older) ? older[name] : undefined;
    patch[name] = isJsonObject(value) ? mergePatchOf(before, value) : value;
  }
  if (isJsonObject(older)) for (const name of Object.keys(older)) if (!(name in newer)) patch[name] = null;
  return patch;
};

const fieldsOf = (value: unknown): Fields => (isJsonObject(value) ? value : {});

/** Where an object of a release is served; undefined for a kind that the server does not know. */
export const pathOf = (
  resources: readonly DiscoveredResource[],
  object: KubernetesObject,
  defaultNamespace: string,
): { readonly collection: string; readonly path: string; readonly namespace: string } | undefined => {
  const gv = parseApiVersion(object.apiVersion ?? '');
  const resource = resources.find(
    ({ group, version, kind }) => group === gv?.group && version === gv.version && kind === object.kind,
  );
  if (!resource) return undefined;
  const namespace = resource.namespaced ? (object.metadata?.namespace ?? defaultNamespace) : '';
  const scope = resource.namespaced ? `/namespaces/${encodeURIComponent(namespace)}` : '';
  const collection = `${apiPathOf(resource)}${scope}/${resource.plural}`;
  return { collection, path: `${collection}/${encodeURIComponent(object.metadata?.name ?? '')}`, namespace };
};

class Change {
  readonly #context: HelmContext;
  readonly #namespace: string;
  readonly steps: Step[] = [];

  constructor(context: HelmContext, namespace: string) {
    this.#context = context;
    this.#namespace = namespace;
  }

  get hasFailed(): boolean {
    return this.steps.some(({ outcome }) => outcome === 'failed');
  }

  async apply(object: KubernetesObject, older: KubernetesObject | undefined): Promise<void> {
    const { client, dryRun } = this.#context;
    const query = { fieldManager: FIELD_MANAGER, dryRun: dryRun ? 'All' : undefined };
    await this.#step(object, async ({ collection, path, namespace }) => {
      const body = mergePatchOf(older, object as Fields);
      try {
        const contentType = 'application/merge-patch+json';
        await client.json({ method: 'PATCH', path, query, body, contentType });
      } catch (error) {
        if (!isNotFound(error)) throw error;
        const metadata = { ...object.metadata, ...(namespace !== '' && { namespace }) };
        await client.json({ method: 'POST', path: collection, query, body: { ...object, metadata } });
      }
      return 'applied';
    });
  }

  async remove(object: KubernetesObject): Promise<void> {
    const { client, dryRun } = this.#context;
    await this.#step(object, async ({ path }) => {
      if (isKept(object)) return 'kept';
      try {
        // In the body: a server that gets one does not look at the options in the query.
        const body = {
          apiVersion: 'v1',
          kind: 'DeleteOptions',
          propagationPolicy: 'Background',
          ...(dryRun && { dryRun: ['All'] }),
        };
        await client.json({ method: 'DELETE', path, body });
        return 'deleted';
      } catch (error) {
        if (isNotFound(error)) return 'absent';
        throw error;
      }
    });
  }

  async #step(
    object: KubernetesObject,
    run: (at: NonNullable<ReturnType<typeof pathOf>>) => Promise<Step['outcome']>,
  ): Promise<void> {
    const at = pathOf(await this.#context.resources(), object, this.#namespace);
    const { kind = '', metadata } = object;
    const base = { kind, namespace: at?.namespace ?? '', name: metadata?.name ?? '' };
    if (!at) {
      const message = say('failure.history.notServed', { kind, version: object.apiVersion ?? '' });
      this.steps.push({ ...base, outcome: 'failed', message });
      return;
    }
    try {
      this.steps.push({ ...base, outcome: await run(at), message: null });
    } catch (error) {
      this.steps.push({ ...base, outcome: 'failed', message: verbatim(messageOf(error)) });
    }
  }
}

const secrets = (namespace: string): string => `/api/v1/namespaces/${encodeURIComponent(namespace)}/secrets`;

const withStatus = (raw: Fields, status: string, description?: string): Fields => ({
  ...raw,
  info: { ...fieldsOf(raw['info']), status, ...(description !== undefined && { description }) },
});

/** Labels and content say the status both: helm selects by the one and prints the other. */
const recordStatus = async (
  { client, nowMs }: HelmContext,
  release: Pick<HelmRevision, 'name' | 'namespace' | 'revision'>,
  raw: Fields,
  status: string,
): Promise<void> => {
  const body = {
    metadata: { labels: { status, modifiedAt: String(Math.floor(nowMs() / MS_PER_SECOND)) } },
    data: { release: await encodeRelease(withStatus(raw, status)) },
  };
  const path = `${secrets(release.namespace)}/${secretNameOf(release.name, release.revision)}`;
  const query = { fieldManager: FIELD_MANAGER };
  await client.json({ method: 'PATCH', path, query, body, contentType: 'application/merge-patch+json' });
};

const hookWarnings = ({ hooks }: Release, events: readonly string[]): Said[] =>
  hooks
    .filter((hook) => hook.events.some((event) => events.includes(event)))
    .map(({ kind, name }) => say('helm.warn.hook', { kind, name }));

interface Target {
  readonly namespace: string;
  readonly name: string;
}

/** As `helm rollback`: a new revision with the chart, values and manifest of an older one. Hooks are not run. */
export const rollback = async (
  context: HelmContext,
  { namespace, name }: Target,
  to: number,
): Promise<HelmChangeReport> => {
  const { client, dryRun, nowMs } = context;
  const { revisions } = await listRevisions(client, { namespace, name });
  const newest = revisions[0]?.revision ?? 0;
  const [current, target] = [
    await readRelease(client, { namespace, name, revision: newest }),
    await readRelease(client, { namespace, name, revision: to }),
  ];
  const revision = newest + 1;
  const raw: Fields = {
    ...target.raw,
    version: revision,
    info: {
      ...fieldsOf(target.raw['info']),
      first_deployed: fieldsOf(current.raw['info'])['first_deployed'],
      last_deployed: new Date(nowMs()).toISOString(),
      deleted: '',
      status: 'pending-rollback',
      description: `Rollback to ${to}`,
    },
  };
  if (!dryRun)
    await client.json({
      method: 'POST',
      path: secrets(namespace),
      query: { fieldManager: FIELD_MANAGER },
      body: {
        apiVersion: 'v1',
        kind: 'Secret',
        type: 'helm.sh/release.v1',
        metadata: {
          name: secretNameOf(name, revision),
          labels: {
            name,
            owner: 'helm',
            status: 'pending-rollback',
            version: String(revision),
            createdAt: String(Math.floor(nowMs() / MS_PER_SECOND)),
          },
        },
        data: { release: await encodeRelease(raw) },
      },
    });
  const change = new Change(context, namespace);
  const before = new Map(objectsOf(current.manifest).map((object) => [identityOf(object), object]));
  const wanted = objectsOf(target.manifest);
  for (const object of wanted) await change.apply(object, before.get(identityOf(object)));
  const kept = new Set(wanted.map(identityOf));
  if (!change.hasFailed)
    for (const object of [...before.values()].reverse())
      if (!kept.has(identityOf(object))) await change.remove(object);
  if (!dryRun) {
    for (const one of revisions)
      if (one.status === 'deployed' || one.revision === newest)
        await recordStatus(context, one, (await readRelease(client, one)).raw as Fields, 'superseded');
    const description = change.hasFailed ? `Rollback "${name}" failed` : `Rollback to ${to}`;
    const status = change.hasFailed ? 'failed' : 'deployed';
    await recordStatus(context, { name, namespace, revision }, withStatus(raw, status, description), status);
  }
  const warnings = hookWarnings(target, ['pre-rollback', 'post-rollback']);
  return { revision: dryRun ? null : revision, steps: change.steps, warnings };
};

/** As `helm uninstall`: deletes the objects in the reverse of their order, then the record. Hooks are not run. */
export const uninstall = async (
  context: HelmContext,
  { namespace, name }: Target,
): Promise<HelmChangeReport> => {
  const { client, dryRun } = context;
  const { revisions } = await listRevisions(client, { namespace, name });
  const current = await readRelease(client, { namespace, name, revision: revisions[0]?.revision ?? 0 });
  const change = new Change(context, namespace);
  for (const object of objectsOf(current.manifest).reverse()) await change.remove(object);
  if (!dryRun && !change.hasFailed)
    for (const { revision } of revisions)
      await client.json({ method: 'DELETE', path: `${secrets(namespace)}/${secretNameOf(name, revision)}` });
  const warnings = hookWarnings(current, ['pre-delete', 'post-delete']);
  return { revision: null, steps: change.steps, warnings };
};
