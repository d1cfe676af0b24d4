import type { PublishedGroup } from '../catalog.ts';
import { META, type ApiOperation, type ApiPath } from './operations.ts';
import { operationIdParts, upperFirst } from './operation-ids.ts';

/** The paths above the group versions, by the name of their document in `/openapi/v3`. */
export interface RootDocument {
  readonly name: string;
  readonly paths: readonly ApiPath[];
}

const TYPES = ['application/json', 'application/yaml'] as const;

const get = (what: Pick<ApiOperation, 'id' | 'tag' | 'description'>, definition: string): ApiOperation => ({
  method: 'get',
  ...what,
  parameters: [],
  produces: TYPES,
  consumes: TYPES,
  responses: [[200, { definition }]],
});

const groupDocument = (group: string): RootDocument => {
  const tag = operationIdParts({ group, version: '' }).tag.replace(/_$/, '');
  const what = { id: `get${upperFirst(tag)}APIGroup`, tag, description: 'get information of a group' };
  return {
    name: `apis/${group}`,
    paths: [{ path: `/apis/${group}/`, operations: [get(what, `${META}.APIGroup`)] }],
  };
};

/** Groups of custom resources alone have no document of their own. */
const isDocumented = ({ group, versions }: PublishedGroup): boolean =>
  group !== '' && versions.some(({ schemas }) => schemas === undefined);

export const rootDocuments = (groups: readonly PublishedGroup[]): readonly RootDocument[] => {
  const versions = 'get available API versions';
  const api = { id: 'getCoreAPIVersions', tag: 'core', description: versions };
  const apis = { id: 'getAPIVersions', tag: 'apis', description: versions };
  const code = { id: 'getCodeVersion', tag: 'version', description: 'get the version of the server' };
  return [
    { name: 'api', paths: [{ path: '/api/', operations: [get(api, `${META}.APIVersions`)] }] },
    { name: 'apis', paths: [{ path: '/apis/', operations: [get(apis, `${META}.APIGroupList`)] }] },
    ...groups.filter(isDocumented).map(({ group }) => groupDocument(group)),
    {
      name: 'version',
      paths: [{ path: '/version/', operations: [get(code, 'io.k8s.apimachinery.pkg.version.Info')] }],
    },
  ];
};
