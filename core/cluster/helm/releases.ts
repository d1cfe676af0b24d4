import { ReasonError } from '../../base/errors.ts';
import { metadataOnly, SECRET, type Client, type Secret, type Stored } from '../../client/index.ts';
import { HELM_RELEASES_MAX, type HelmRevision } from '../../contract/index.ts';
import { decodeRelease, secretNameOf, type Release } from './release.ts';

const SECRETS_PER_PAGE = 200;

/** What labels tell of a revision, without its chart: those are megabytes. */
const revisionOf = ({
  labels = {},
  namespace = '',
  creationTimestamp,
}: Stored['metadata']): HelmRevision => ({
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
  const secrets = metadataOnly(client).resource(SECRET, namespace === '' ? undefined : namespace);
  const labelSelector = name === undefined ? 'owner=helm' : `owner=helm,name=${name}`;
  const revisions: HelmRevision[] = [];
  let next: string | undefined;
  do {
    const page = await secrets.list({
      labelSelector,
      limit: SECRETS_PER_PAGE,
      ...(next !== undefined && { continue: next }),
    });
    for (const { metadata } of page.items) revisions.push(revisionOf(metadata));
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
  const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/secrets/${encodeURIComponent(secretNameOf(name, revision))}`;
  const { data = {} } = await client.json<Secret>({ method: 'GET', path });
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
