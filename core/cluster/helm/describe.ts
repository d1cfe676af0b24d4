import { stringify } from 'yaml';
import { isJsonObject, isNotFound, isStatusError, type KubernetesObject } from '../../api/meta/index.ts';
import type { Client, DiscoveredResource } from '../../client/index.ts';
import { HELM_OBJECTS_MAX, type HelmRelease } from '../../contract/index.ts';
import { pathOf } from './change.ts';
import { healthOf } from './health.ts';
import { objectsOf } from './objects.ts';
import { noRelease } from './release.ts';
import { listRevisions, readRelease, withChart } from './releases.ts';

const HISTORY_SHOWN_MAX = 20;
const AT_ONCE = 8;

const liveOf = async (
  client: Client,
  path: string | undefined,
): Promise<{ readonly object?: KubernetesObject | undefined; readonly isHidden: boolean }> => {
  if (path === undefined) return { isHidden: true };
  try {
    return { object: await client.json<KubernetesObject>({ method: 'GET', path }), isHidden: false };
  } catch (error) {
    if (isNotFound(error)) return { isHidden: false };
    // An object that this user may not read is no missing one.
    if (isStatusError(error)) return { isHidden: true };
    throw error;
  }
};

const managedObjects = async (
  client: Client,
  resources: readonly DiscoveredResource[],
  { manifest, namespace }: { readonly manifest: string; readonly namespace: string },
): Promise<HelmRelease['objects']> => {
  const objects = objectsOf(manifest).slice(0, HELM_OBJECTS_MAX);
  const told: HelmRelease['objects'] = [];
  for (let at = 0; at < objects.length; at += AT_ONCE)
    told.push(
      ...(await Promise.all(
        objects.slice(at, at + AT_ONCE).map(async (object) => {
          const place = pathOf(resources, object, namespace);
          const { object: live, isHidden } = await liveOf(client, place?.path);
          const { health, figures } = isHidden
            ? ({ health: 'unknown', figures: '' } as const)
            : healthOf(live);
          const { apiVersion = '', kind = '', metadata } = object;
          return {
            apiVersion,
            kind,
            namespace: place?.namespace ?? '',
            name: metadata?.name ?? '',
            health,
            figures,
          };
        }),
      )),
    );
  return told;
};

/** One revision of a release as people read it, with the objects that it manages and how they are now. */
export const describeRelease = async (
  client: Client,
  resources: readonly DiscoveredResource[],
  {
    namespace,
    name,
    revision,
  }: { readonly namespace: string; readonly name: string; readonly revision: number | null },
): Promise<HelmRelease> => {
  const { revisions } = await listRevisions(client, { namespace, name });
  const wanted = revisions.find((one) => revision === null || one.revision === revision);
  if (!wanted) throw noRelease(namespace, name, revision);
  const release = await readRelease(client, wanted);
  const history = [];
  for (const one of revisions.slice(0, HISTORY_SHOWN_MAX)) history.push(await withChart(client, one));
  const yaml = (values: object): string =>
    Object.keys(values).length === 0 ? '' : stringify(values, { lineWidth: 0 });
  return {
    ...wanted,
    chart: `${release.chart.name}-${release.chart.version}`,
    appVersion: release.chart.appVersion,
    description: release.description,
    history,
    values: yaml(release.values),
    allValues: yaml(overlaid(release.defaults, release.values)),
    notes: release.notes,
    manifest: release.manifest,
    hooks: release.hooks.map((hook) => ({ ...hook, events: [...hook.events] })),
    objects: await managedObjects(client, resources, release),
  };
};

/** Values of the user over those of the chart; lists are replaced, as helm does. */
const overlaid = (under: unknown, over: Readonly<Record<string, unknown>>): Record<string, unknown> => {
  const merged: Record<string, unknown> = isJsonObject(under) ? { ...under } : {};
  for (const [name, value] of Object.entries(over))
    merged[name] = isJsonObject(value) ? overlaid(merged[name], value) : value;
  return merged;
};
