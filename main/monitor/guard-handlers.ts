import type { Handlers } from '../../core/contract/index.ts';
import type { MonitorDependencies } from './handlers.ts';
import { ownOnly, running, type LocalRecords } from './local-records.ts';

/** Loaded when first asked for: the console is to be there before them. */
const loadAuditTrail = () => import('../../core/cluster/audit-trail/read-events.ts');
const loadEncryption = () => import('../../core/cluster/encryption/view.ts');
const loadAccess = () => import('./access-review.ts');
const loadReach = () => import('./reach.ts');
const loadFlowControl = () => import('./flow-control.ts');

/** What guards the API servers: audit, permissions, flow control, encryption. */
export const guardHandlers = (
  local: LocalRecords,
  connect: MonitorDependencies['connect'],
): Pick<
  Handlers,
  'audit.events' | 'encryption.view' | 'access.reach' | 'access.whoCan' | 'access.rules' | 'flowcontrol.view'
> => ({
  'audit.events': async ({ cluster, ...query }) => {
    const record = local.find(cluster);
    if (!record) throw ownOnly('audit');
    const { auditLogsOf, readAuditEvents } = await loadAuditTrail();
    const { directory, config } = record.cluster;
    return readAuditEvents(await auditLogsOf(directory, config), query);
  },
  'encryption.view': async ({ cluster }) => {
    const record = local.find(cluster);
    if (!record) throw ownOnly('encryption');
    const { viewEncryption } = await loadEncryption();
    return viewEncryption(record.cluster.directory, record.cluster.config);
  },
  'access.reach': async ({ cluster, ...question }) => {
    const { reach } = await loadReach();
    return reach((await connect(cluster)).client, question);
  },
  'access.whoCan': async ({ cluster, ...question }) => {
    const { whoCan } = await loadAccess();
    return whoCan((await connect(cluster)).client, question);
  },
  'access.rules': async ({ cluster, ...question }) => {
    const { rulesOf } = await loadAccess();
    return rulesOf((await connect(cluster)).client, question);
  },
  'flowcontrol.view': async ({ cluster }) => {
    const { localMetrics, remoteMetrics, viewFlowControl } = await loadFlowControl();
    const { client } = await connect(cluster);
    const record = local.find(cluster);
    const servers = record
      ? await localMetrics(running(record), record.cluster.config)
      : await remoteMetrics(client);
    return viewFlowControl(client, servers);
  },
});
