import { saidOf, say, type Finding, type Said } from '../../contract/index.ts';
import { bad, type CheckItem, type Judged } from './item.ts';
import { anonymousPaths } from './items/anonymous-paths.ts';
import { API_ITEMS } from './items/api-server.ts';
import { controlSocket } from './items/control-socket.ts';
import { ETCD_ITEMS } from './items/etcd.ts';
import { fileModes } from './items/file-modes.ts';
import { kubeletAccess } from './items/kubelet-access.ts';
import { nodeIdentity } from './items/node-identity.ts';
import { exposure } from './items/exposure.ts';
import { OPERATIONS_ITEMS } from './items/operations.ts';
import { SECURITY_ITEMS } from './items/security.ts';
import { tlsSuites } from './items/tls-suites.ts';
import { unenforcedObjects } from './items/unenforced-objects.ts';
import { openLook, type Look, type LookOptions } from './look.ts';
import { ITEM_MS_MAX, runItems, withinLimit } from './run-items.ts';

/** The things that a production control plane has, in the order in which they are told. */
export const CHECKLIST: readonly CheckItem[] = [
  ETCD_ITEMS.members,
  API_ITEMS.replicas,
  API_ITEMS.encryption,
  API_ITEMS.audit,
  OPERATIONS_ITEMS.rotation,
  OPERATIONS_ITEMS.backups,
  ETCD_ITEMS.diskLatency,
  API_ITEMS.limits,
  ETCD_ITEMS.quota,
  SECURITY_ITEMS.authorization,
  API_ITEMS.admission,
  API_ITEMS.anonymous,
  anonymousPaths,
  SECURITY_ITEMS.insecurePorts,
  tlsSuites,
  nodeIdentity,
  kubeletAccess,
  fileModes,
  controlSocket,
  exposure,
  SECURITY_ITEMS.profiling,
  ETCD_ITEMS.peerCertificates,
  SECURITY_ITEMS.taints,
  SECURITY_ITEMS.requests,
  ETCD_ITEMS.compaction,
  API_ITEMS.oidc,
  OPERATIONS_ITEMS.monitoring,
  unenforcedObjects,
];

const unmeasured = (why: Said): Judged => bad(say('found.unmeasured', { why }), say('advice.unmeasured'));

const measure = async (item: CheckItem, look: Look): Promise<Finding> => {
  const { id } = item;
  const late = (): Judged => unmeasured(say('found.noResult', { seconds: ITEM_MS_MAX / 1000 }));
  try {
    return { id, ...(await withinLimit(look.clock, look.once(item), late)) };
  } catch (error) {
    return { id, ...unmeasured(saidOf(error)) };
  }
};

/** Measures every item on the cluster as it runs now. Never rejects for what the cluster does. */
export const runChecklist = async (
  dataDirectory: string,
  options: LookOptions,
): Promise<readonly Finding[]> => {
  const look = await openLook(dataDirectory, options);
  try {
    return await runItems(CHECKLIST, (item) => measure(item, look));
  } finally {
    look.dispose();
  }
};
