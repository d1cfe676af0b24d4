import { methodNotAllowed } from '../../api/meta/index.ts';
import type { Stage } from './pipeline.ts';
import { sendJson } from './response.ts';
import type { TraceRing } from './trace.ts';

const LIMIT_DEFAULT = 100;

/**
 * `/debug/traces?limit=N`: the newest finished requests, newest first, each with the stages it passed; `?auditID=`
 * finds one. Stands behind authorization like every path: who may read it is said by RBAC's nonResourceURLs.
 */
export const tracesStage = (traces: TraceRing): Stage => ({
  name: 'traces',
  async run({ request, response, info }) {
    if (info.isResourceRequest || info.path !== '/debug/traces') return 'next';
    if (request.method !== 'GET') throw methodNotAllowed();
    const auditId = request.query.get('auditID');
    if (auditId !== null) {
      const found = traces.find(auditId);
      await sendJson(response, 200, { items: found ? [found] : [] });
      return 'done';
    }
    const limit = Math.max(0, Number.parseInt(request.query.get('limit') ?? '', 10) || LIMIT_DEFAULT);
    await sendJson(response, 200, { items: limit === 0 ? [] : traces.list().slice(-limit).reverse() });
    return 'done';
  },
});
