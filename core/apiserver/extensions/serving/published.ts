import type { OpenApiSchema, OpenApiVersion } from '../../../api/schema/index.ts';
import type { PublishedGroupVersion, PublishedSchemas } from '../../discovery/catalog.ts';
import { definitionName, openApiDefinitions } from './openapi.ts';
import type { ServedResource } from './served-resource.ts';

/** As upstream registers the group versions of custom resources. */
const GROUP_PRIORITY = 1000;
const VERSION_PRIORITY = 100;

const schemasOf = (version: string, all: readonly ServedResource[]): PublishedSchemas => {
  const names = new Map<string, string>();
  for (const { resource } of all)
    for (const kind of [resource.names.kind, resource.names.listKind])
      names.set(kind, definitionName(resource.group, version, kind));
  return {
    definitionNameOf: (kind) => names.get(kind),
    definitions(openApi: OpenApiVersion) {
      const definitions: Record<string, OpenApiSchema> = {};
      for (const served of all) {
        const found = served.version(version);
        if (found) Object.assign(definitions, openApiDefinitions(served.resource, found, openApi));
      }
      return definitions;
    },
  };
};

/** What discovery and OpenAPI tell of one group version; undefined where nothing is served in it. */
export const publishedVersion = (
  group: string,
  version: string,
  resources: Iterable<ServedResource>,
): PublishedGroupVersion | undefined => {
  const all = [...resources].filter(
    ({ resource }) =>
      resource.group === group &&
      resource.isEstablished &&
      resource.versions.some((one) => one.name === version && one.isServed),
  );
  if (all.length === 0) return undefined;
  return {
    group,
    version,
    groupPriority: GROUP_PRIORITY,
    versionPriority: VERSION_PRIORITY,
    resources: all.map((served) => served.typeIn(served.version(version)!)),
    schemas: schemasOf(version, all),
  };
};
