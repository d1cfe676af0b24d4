import { EXPOSITION_CONTENT_TYPE, type Registry } from '../../base/metrics/index.ts';
import { methodNotAllowed } from '../../api/meta/index.ts';
import type { HealthRegistry } from '../../component/health.ts';
import type { Stage } from './pipeline.ts';
import { JSON_TYPE, TEXT_TYPE } from './response.ts';
import type { VersionInfo } from './version-info.ts';

export interface ServingEndpoints {
  readonly health: HealthRegistry;
  readonly metrics: Registry;
  readonly version: VersionInfo;
}

const READS = new Set(['GET', 'HEAD']);

/** Health, metrics and version: what a server answers about itself. It stands behind authorization. */
export const endpointsStage = ({ health, metrics, version }: ServingEndpoints): Stage => {
  // Upstream pretty-prints this one answer.
  const versionText = JSON.stringify(version, null, 2);
  return {
    name: 'endpoints',
    async run({ request, response, info }) {
      if (info.isResourceRequest) return 'next';
      const isVersion = info.path === '/version' || info.path === '/version/';
      if (isVersion || info.path === '/metrics') {
        if (!READS.has(request.method)) throw methodNotAllowed();
        if (isVersion) await response.send(200, JSON_TYPE, versionText);
        else await response.send(200, EXPOSITION_CONTENT_TYPE, metrics.expose());
        return 'done';
      }
      const answer = await health.answer(info.path, request.query, request.signal);
      if (answer === undefined) return 'next';
      response.setHeader('x-content-type-options', 'nosniff');
      await response.send(answer.code, TEXT_TYPE, answer.text);
      return 'done';
    },
  };
};
