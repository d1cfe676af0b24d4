/** Names of kinds and resources as the API spells them: the core group is the empty string. */
export interface GroupVersion {
  readonly group: string;
  readonly version: string;
}

export interface GroupKind {
  readonly group: string;
  readonly kind: string;
}

export interface GroupVersionKind extends GroupVersion {
  readonly kind: string;
}

export interface GroupResource {
  readonly group: string;
  readonly resource: string;
}

export interface GroupVersionResource extends GroupVersion {
  readonly resource: string;
}

/** `v1` for the core group, `apps/v1` for the others. */
export const apiVersionOf = (gv: GroupVersion): string =>
  gv.group === '' ? gv.version : `${gv.group}/${gv.version}`;

/** Undefined when the text has more than one slash; an empty text is the empty version of the core group. */
export const parseApiVersion = (apiVersion: string): GroupVersion | undefined => {
  const parts = apiVersion.split('/');
  if (parts.length === 1) return { group: '', version: parts[0]! };
  if (parts.length === 2) return { group: parts[0]!, version: parts[1]! };
  return undefined;
};

export const kindOf = (object: { apiVersion?: string; kind?: string }): GroupVersionKind | undefined => {
  const gv = parseApiVersion(object.apiVersion ?? '');
  return gv && { ...gv, kind: object.kind ?? '' };
};

export const sameKind = (a: GroupVersionKind, b: GroupVersionKind): boolean =>
  a.group === b.group && a.version === b.version && a.kind === b.kind;

/** As upstream's messages name a resource: `pods`, `deployments.apps`. */
export const groupResourceText = ({ group, resource }: GroupResource): string =>
  group === '' ? resource : `${resource}.${group}`;

/** As upstream's messages name a kind: `Pod`, `Deployment.apps`. */
export const groupKindText = ({ group, kind }: GroupKind): string =>
  group === '' ? kind : `${kind}.${group}`;

/** As upstream prints a kind with its version: `apps/v1, Kind=Deployment`. */
export const groupVersionKindText = (gvk: GroupVersionKind): string =>
  `${apiVersionOf(gvk)}, Kind=${gvk.kind}`;

/** Where a version of a group is served. */
export const apiPathOf = (gv: GroupVersion): string =>
  gv.group === '' ? `/api/${gv.version}` : `/apis/${gv.group}/${gv.version}`;

const KUBE_VERSION = /^v([1-9]\d*)(?:(alpha|beta)([1-9]\d*))?$/;
const STAGE_RANK = { alpha: 0, beta: 1, ga: 2 } as const;

const rank = (version: string): readonly [number, number, number] | undefined => {
  const match = KUBE_VERSION.exec(version);
  if (!match) return undefined;
  const stage = (match[2] ?? 'ga') as keyof typeof STAGE_RANK;
  return [STAGE_RANK[stage], Number(match[1]), Number(match[3] ?? 0)];
};

/**
 * Order of preference, most stable and newest first: v2, v1, v2beta1, v1beta2, v1alpha1; names that are no
 * Kubernetes version come last, by alphabet.
 */
export const compareKubeVersions = (a: string, b: string): number => {
  const [left, right] = [rank(a), rank(b)];
  if (!left || !right) return left ? -1 : right ? 1 : a < b ? -1 : a > b ? 1 : 0;
  return right[0] - left[0] || right[1] - left[1] || right[2] - left[2];
};
