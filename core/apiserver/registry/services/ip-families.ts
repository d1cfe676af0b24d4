import { invalid, type FieldError } from '../../../api/field/field-error.ts';
import { sameValue } from '../../../api/validation/read.ts';
import type { IpFamily } from './address-range.ts';
import { HEADLESS, needsClusterIp, type ServiceSpec } from './service-fields.ts';

export interface ClusterFamilies {
  readonly defaultFamily: IpFamily;
  readonly families: readonly IpFamily[];
}

const familyOf = (address: string): IpFamily => (address.includes(':') ? 'IPv6' : 'IPv4');
const other = (family: string | undefined): IpFamily => (family === 'IPv4' ? 'IPv6' : 'IPv4');

/** A service that prefers two families is neither upgraded nor downgraded because the cluster changed. */
export const keepsPreferredFamilies = (spec: ServiceSpec, old: ServiceSpec | undefined): boolean =>
  old !== undefined &&
  old.ipFamilyPolicy === 'PreferDualStack' &&
  spec.ipFamilyPolicy === 'PreferDualStack' &&
  spec.type === old.type &&
  sameValue(spec.clusterIPs, old.clusterIPs) &&
  sameValue(spec.ipFamilies, old.ipFamilies);

const defaultPolicy = (spec: ServiceSpec, old: ServiceSpec | undefined): string => {
  if (old?.ipFamilyPolicy) return old.ipFamilyPolicy;
  const isBare = spec.clusterIP === HEADLESS && Object.keys(spec.selector ?? {}).length === 0;
  return isBare ? 'RequireDualStack' : 'SingleStack';
};

const updateErrors = (spec: ServiceSpec, old: ServiceSpec): FieldError[] => {
  if (spec.ipFamilyPolicy === 'SingleStack') {
    if (sameValue(spec.clusterIPs, old.clusterIPs)) spec.clusterIPs = spec.clusterIPs?.slice(0, 1) ?? [];
    if (sameValue(spec.ipFamilies, old.ipFamilies)) spec.ipFamilies = spec.ipFamilies?.slice(0, 1) ?? [];
    return [];
  }
  const shrank = (after: readonly string[] = [], before: readonly string[] = []): boolean =>
    after.length > 0 && after.length < before.length && after[0] === before[0];
  const at = 'spec.ipFamilyPolicy';
  return [
    ...(shrank(spec.clusterIPs, old.clusterIPs)
      ? [invalid(at, spec.ipFamilyPolicy, "must be 'SingleStack' to release the secondary cluster IP")]
      : []),
    ...(shrank(spec.ipFamilies, old.ipFamilies)
      ? [invalid(at, spec.ipFamilyPolicy, "must be 'SingleStack' to release the secondary IP family")]
      : []),
  ];
};

const inferFamilies = (spec: ServiceSpec, cluster: ClusterFamilies): FieldError[] => {
  const errors: FieldError[] = [];
  const families = [...(spec.ipFamilies ?? [])];
  for (const [i, ip] of (spec.clusterIPs ?? []).entries()) {
    if (ip === HEADLESS) break;
    if (i < families.length || ip === '') continue;
    const family = familyOf(ip);
    if (cluster.families.includes(family)) families.push(family);
    else
      errors.push(
        invalid(`spec.clusterIPs[${i}]`, spec.clusterIPs, `${family} is not configured on this cluster`),
      );
  }
  if (families.length > 0) spec.ipFamilies = families;
  return errors;
};

/** Fills in policy and families as the cluster has them, and says what cannot be. Changes `spec`. */
export const fillIpFamilies = (
  spec: ServiceSpec,
  old: ServiceSpec | undefined,
  cluster: ClusterFamilies,
): FieldError[] => {
  if (!needsClusterIp(spec) || keepsPreferredFamilies(spec, old)) return [];
  spec.ipFamilyPolicy ??= defaultPolicy(spec, old);
  const policy = spec.ipFamilyPolicy;
  const errors = old === undefined ? [] : updateErrors(spec, old);
  const at = 'spec.ipFamilyPolicy';
  if (policy === 'SingleStack') {
    const why = "must be 'RequireDualStack' or 'PreferDualStack' when multiple";
    if (spec.clusterIPs?.length === 2) errors.push(invalid(at, policy, `${why} cluster IPs are specified`));
    if (spec.ipFamilies?.length === 2) errors.push(invalid(at, policy, `${why} IP families are specified`));
  }
  errors.push(...inferFamilies(spec, cluster));
  if (errors.length > 0) return errors;
  if (spec.clusterIP === HEADLESS && Object.keys(spec.selector ?? {}).length === 0) {
    // Nothing is given out here, so families that the cluster lacks do no harm.
    const [first = cluster.defaultFamily, second] = spec.ipFamilies ?? [];
    const extra = second ?? (policy === 'SingleStack' ? undefined : other(first));
    spec.ipFamilies = extra === undefined ? [first] : [first, extra];
    return [];
  }
  if (policy === 'RequireDualStack' && cluster.families.length < 2)
    errors.push(invalid(at, policy, 'this cluster is not configured for dual-stack services'));
  for (const [i, family] of (spec.ipFamilies ?? []).entries())
    if (!cluster.families.includes(family as IpFamily))
      errors.push(invalid(`spec.ipFamilies[${i}]`, family, 'not configured on this cluster'));
  if (errors.length > 0) return errors;
  if (!spec.ipFamilies?.length) spec.ipFamilies = [cluster.defaultFamily];
  if (policy !== 'SingleStack' && spec.ipFamilies.length === 1 && cluster.families.length === 2)
    spec.ipFamilies = [spec.ipFamilies[0]!, other(spec.ipFamilies[0])];
  return [];
};
