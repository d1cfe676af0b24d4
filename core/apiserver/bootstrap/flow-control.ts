import { isDeepStrictEqual } from 'node:util';
import type { GroupResource, KubernetesObject } from '../../api/meta/index.ts';
import { ensureObject } from './ensure.ts';
import {
  AUTO_UPDATE,
  MANDATORY_LEVELS,
  MANDATORY_SCHEMAS,
  SUGGESTED_LEVELS,
  SUGGESTED_SCHEMAS,
} from './flow-control-table.ts';
import { listedReads } from './listed-reads.ts';
import type { ObjectWriter } from './object-writer.ts';

const GROUP = 'flowcontrol.apiserver.k8s.io';
const LEVELS: GroupResource = { group: GROUP, resource: 'prioritylevelconfigurations' };
const SCHEMAS: GroupResource = { group: GROUP, resource: 'flowschemas' };
/** Upstream looks again so often: operators edit these, and a mandatory one must not stay edited. */
export const FLOW_CONTROL_INTERVAL_MS = 60_000;

/** Undefined where the annotation says neither. */
const wantsUpdates = ({ metadata }: KubernetesObject): boolean | undefined => {
  const value = metadata?.annotations?.[AUTO_UPDATE];
  return value === 'true' ? true : value === 'false' ? false : undefined;
};

/** The shares of the exempt level are the operator's to set: what is stored stands for ours. */
const wantedSpec = (stored: KubernetesObject, wanted: KubernetesObject): unknown => {
  const exempt = (stored['spec'] as { readonly exempt?: object } | undefined)?.exempt;
  const isExempt = wanted.kind === 'PriorityLevelConfiguration' && wanted.metadata?.name === 'exempt';
  return isExempt && exempt ? { ...(wanted['spec'] as object), exempt } : wanted['spec'];
};

/** A suggested object belongs to anyone who edited it, unless its annotation says that the server keeps it. */
const revised = (
  stored: KubernetesObject,
  wanted: KubernetesObject,
  isMandatory: boolean,
): KubernetesObject | undefined => {
  const keeps = isMandatory || (wantsUpdates(stored) ?? stored.metadata?.generation === 1);
  const spec = wantedSpec(stored, wanted);
  const isAnnotated = wantsUpdates(stored) === keeps;
  const hasSpec = !keeps || isDeepStrictEqual(stored['spec'], spec);
  if (isAnnotated && hasSpec) return undefined;
  return {
    ...stored,
    metadata: {
      ...stored.metadata,
      annotations: { ...stored.metadata?.annotations, [AUTO_UPDATE]: String(keeps) },
    },
    spec: keeps ? spec : stored['spec'],
  };
};

/** Creates the flow schemas and priority levels that flow control is used to, levels before what refers to them. */
export const ensureFlowControl = async (onStore: ObjectWriter): Promise<void> => {
  const writer = await listedReads(onStore, [LEVELS, SCHEMAS]);
  const ensureAll = async (
    resource: GroupResource,
    objects: readonly KubernetesObject[],
    isMandatory: boolean,
  ): Promise<void> => {
    await Promise.all(
      objects.map((object) =>
        ensureObject(writer, resource, { object, revise: (stored) => revised(stored, object, isMandatory) }),
      ),
    );
  };
  await ensureAll(LEVELS, SUGGESTED_LEVELS, false);
  await ensureAll(SCHEMAS, SUGGESTED_SCHEMAS, false);
  await ensureAll(LEVELS, MANDATORY_LEVELS, true);
  await ensureAll(SCHEMAS, MANDATORY_SCHEMAS, true);
};
