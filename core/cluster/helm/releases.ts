import { ReasonError } from '../../base/errors.ts';
import type { Client } from '../../client/index.ts';
import { HELM_RELEASES_MAX, type HelmRevision } from '../../contract/index.ts';
import { decodeRelease, secretNameOf, type Release } from './release.ts';

const SECRETS_PER_PAGE = 200;

interface Metadata {
  readonly name: string;
  readonly namespace: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly creationTimestamp?: string;
}
interface StoredSecret {
  readonly metadata: Metadata;
  readonly data?: Readonly<Record<string, string>>;
}
interface Page<T> {
  /** Null: an empty list of bare metadata. */
  readonly items: readonly T[] | null;
  readonly metadata: { readonly continue?: string };
}

const collection = (namespace: string): string =>
  namespace === '' ? '/api/v1/secrets' : `/api/v1/namespaces/${encodeURIComponent(namespace)}/secrets`;

/** What labels tell of a revision, without its chart: those are megabytes. */
const revisionOf = ({ labels = {}, namespace, creationTimestamp }: Metadata): HelmRevision => ({
  name: labels['name'] ?? '',
  namespace,
  revision: Number(labels['version'] ?? 0),
  status: labels['status'] ?? '',
  updatedAtMs:
    Number(labels['modifiedAt'] ?? labels['createdAt'] ?? 0) * 1000 ||
    Date.parse(creationTimestamp ?? '') ||
    null,
  chart: '',
  appVersion: '',
  description: '',
});

/** Every stored revision, newest first of each release. Reads labels alone. */
export const listRevisions = async (
  client: Client,
  { namespace, name }: { readonly namespace: string; readonly name?: string },
): Promise<{ readonly revisions: readonly HelmRevision[]; readonly isCut: boolean }> => {
  const revisions: HelmRevision[] = [];
  let next: string | undefined;
  do {
    const page = await client.json<Page<{ readonly metadata: Metadata }>>({
      method: 'GET',
      path: collection(namespace),
      accept: 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1',
      query: {
        labelSelector: name === undefined ? 'owner=helm' : `owner=helm,name=${name}`,
        limit: String(SECRETS_PER_PAGE),
        continue: next,
      },
    });
    for (const { metadata } of page.items ?? []) revisions.push(revisionOf(metadata));
    next = page.metadata.continue || undefined;
  } while (next !== undefined && revisions.length < HELM_RELEASES_MAX);
  revisions.sort(
    (a, b) =>
      a.namespace.localeCompare(b.namespace) || a.name.localeCompare(b.name) || b.revision - a.revision,
  );
  return { revisions, isCut: next !== undefined };
};

/** One revision with its chart, values and manifest. */
export const readRelease = async (
  client: Client,
  {
    namespace,
    name,
    revision,
  }: { readonly namespace: string; readonly name: string; readonly revision: number },
): Promise<Release> => {
  const path = `${collection(namespace)}/${encodeURIComponent(secretNameOf(name, revision))}`;
  const { data = {} } = await client.json<StoredSecret>({ method: 'GET', path });
  return decodeRelease(data['release'] ?? '');
};

/** The newest revision of each release, with its chart. A revision that cannot be read keeps what its labels tell. */
export const listReleases = async (
  client: Client,
  namespace: string,
): Promise<{ readonly releases: readonly HelmRevision[]; readonly isCut: boolean }> => {
  const { revisions, isCut } = await listRevisions(client, { namespace });
  const newest = revisions.filter(
    ({ name, namespace: of }, at) => revisions[at - 1]?.name !== name || revisions[at - 1]?.namespace !== of,
  );
  const releases: HelmRevision[] = [];
  for (const one of newest) releases.push(await withChart(client, one));
  return { releases, isCut };
};

export const withChart = async (client: Client, one: HelmRevision): Promise<HelmRevision> => {
  try {
    const { chart, description } = await readRelease(client, one);
    return { ...one, chart: `${chart.name}-${chart.version}`, appVersion: chart.appVersion, description };
  } catch (error) {
    if (error instanceof ReasonError) return { ...one, description: error.message };
    throw error;
  }
};
