import type { Clock } from '../../base/clock.ts';
import { methodNotAllowed, notAcceptable } from '../../api/meta/index.ts';
import { sendJson } from '../server/response.ts';
import type { RequestContext } from '../server/context.ts';
import type { Stage } from '../server/pipeline.ts';
import {
  aggregatedDocument,
  aggregatedList,
  aggregatedMediaType,
  negotiateDiscovery,
  type AggregatedDocument,
  type AggregatedVersion,
} from './aggregated-document.ts';
import type { DiscoveryCatalog, PublishedGroup } from './catalog.ts';
import { apiGroup, apiGroupList, apiResourceList, apiVersions } from './legacy-documents.ts';
import { answerOpenApi } from './openapi/openapi-answers.ts';
import { OpenApiDocuments } from './openapi/documents.ts';
import { goYaml } from '../server/go-yaml.ts';
import { rootPaths } from './root-paths.ts';

export interface DiscoveryOptions {
  readonly catalog: DiscoveryCatalog;
  /** Where clients reach this server: `host:port`. */
  readonly serverAddress: string;
  /** Paths outside the API that the index at `/` lists: health checks, metrics, version. */
  readonly otherPaths?: () => readonly string[];
  /** The version of the server, as `v1.36.0`. */
  readonly version: string;
  readonly clock: Clock;
}

const READS = new Set(['GET', 'HEAD']);
const YAML_MEDIA_TYPE = 'application/yaml';
const ACCEPTED = ['application/json', YAML_MEDIA_TYPE, 'application/vnd.kubernetes.protobuf'] as const;

/** Which of the two halves of the API a path is about. */
type Half = 'api' | 'apis';

const isCore = ({ group }: PublishedGroup): boolean => group === '';

/** Tells what is served: the index, the lists of groups, versions and resources, and the OpenAPI documents. */
export const discoveryStage = (options: DiscoveryOptions): Stage => {
  const { catalog, serverAddress, otherPaths, version, clock } = options;
  const documents = new OpenApiDocuments({ catalog, version });
  const aggregated = new Map<Half, AggregatedDocument & { readonly generation: number }>();

  const groupsOf = (half: Half): readonly PublishedGroup[] =>
    catalog.groups().filter((group) => isCore(group) === (half === 'api'));

  const aggregatedOf = (half: Half): AggregatedDocument => {
    const { generation } = catalog;
    const known = aggregated.get(half);
    if (known?.generation === generation) return known;
    const document = { ...aggregatedDocument(groupsOf(half)), generation };
    aggregated.set(half, document);
    return document;
  };

  const answerAggregated = async (
    { request, response }: RequestContext,
    half: Half,
    version: AggregatedVersion,
  ): Promise<void> => {
    const { items, etag } = aggregatedOf(half);
    response.setHeader('etag', etag);
    response.setHeader('vary', 'Accept');
    response.setHeader('cache-control', 'public');
    if (request.headers.get('if-none-match') === etag) {
      response.begin(304);
      await response.end();
      return;
    }
    const text = `${JSON.stringify(aggregatedList(version, items))}\n`;
    await response.send(200, aggregatedMediaType(version), text);
  };

  /** The legacy document at a path of the API; undefined where there is none. */
  const legacyDocument = (parts: readonly string[]): object | undefined => {
    const [half, ...rest] = parts;
    if (half === 'api') {
      if (rest.length === 0) return apiVersions(groupsOf('api'), serverAddress);
      const published = rest.length === 1 && catalog.find({ group: '', version: rest[0]! });
      return published ? apiResourceList(published) : undefined;
    }
    if (rest.length === 0) return apiGroupList(catalog.groups());
    const [group = '', version] = rest;
    if (group === '' || rest.length > 2) return undefined;
    if (version === undefined) {
      const published = catalog.groups().find((known) => known.group === group);
      return published && apiGroup(published);
    }
    const published = catalog.find({ group, version });
    return published && apiResourceList(published);
  };

  return {
    name: 'discovery',
    async run(context) {
      const { request, response, info } = context;
      if (info.isResourceRequest) return 'next';
      const { path } = info;
      if (path === '/' || path === '/index.html') {
        await response.send(200, 'application/json', rootPaths(catalog, otherPaths?.() ?? []));
        return 'done';
      }
      if (path.startsWith('/openapi/')) {
        if (!READS.has(request.method)) throw methodNotAllowed();
        return (await answerOpenApi(context, documents, clock.nowMs())) ? 'done' : 'next';
      }
      const parts = path.replace(/^\/|\/$/g, '').split('/');
      const [half] = parts;
      if (half !== 'api' && half !== 'apis') return 'next';
      const document = legacyDocument(parts);
      if (document === undefined) return 'next';
      if (!READS.has(request.method)) throw methodNotAllowed();
      const wanted = negotiateDiscovery(request.headers.get('accept'), parts.length === 1);
      if (wanted === undefined) throw notAcceptable(ACCEPTED);
      if (wanted === 'legacy') await sendJson(response, 200, document);
      else if (wanted === 'yaml') await response.send(200, YAML_MEDIA_TYPE, goYaml(document));
      else await answerAggregated(context, half, wanted);
      return 'done';
    },
  };
};
