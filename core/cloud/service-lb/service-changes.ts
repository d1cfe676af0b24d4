import { canonicalJson, type Service } from '../../client/index.ts';

export const CLEANUP_FINALIZER = 'service.kubernetes.io/load-balancer-cleanup';

/** A class says that somebody else's load balancer is wanted. */
export const wantsLoadBalancer = ({ spec }: Service): boolean =>
  spec?.type === 'LoadBalancer' && spec.loadBalancerClass === undefined;

export const hasFinalizer = ({ metadata }: Service): boolean =>
  (metadata?.finalizers ?? []).includes(CLEANUP_FINALIZER);

export const needsCleanup = (service: Service): boolean =>
  hasFinalizer(service) &&
  (service.metadata?.deletionTimestamp !== undefined || service.spec?.type !== 'LoadBalancer');

export interface Change {
  /** What to tell about it, in upstream's words; undefined: nothing. */
  readonly event: { readonly reason: string; readonly message: string } | undefined;
}

const same = (a: unknown, b: unknown): boolean => canonicalJson(a) === canonicalJson(b);
/** As Go prints a list of texts. */
const listText = (list: readonly string[] | undefined): string => `[${(list ?? []).join(' ')}]`;

const told = (reason: string, before: unknown, after: unknown): Change => ({
  event: { reason, message: `${String(before ?? '')} -> ${String(after ?? '')}` },
});
const SILENT: Change = { event: undefined };

const portsOf = ({ spec }: Service) =>
  (spec?.ports ?? []).map(({ name, protocol, port, nodePort, targetPort, appProtocol }) => [
    name,
    protocol,
    port,
    nodePort,
    targetPort,
    appProtocol,
  ]);

const externalIPChange = (before: readonly string[], after: readonly string[]): Change | undefined => {
  if (before.length !== after.length)
    return { event: { reason: 'ExternalIP', message: `Count: ${before.length} -> ${after.length}` } };
  const other = after.find((address, index) => address !== before[index]);
  return other === undefined ? undefined : { event: { reason: 'ExternalIP', message: `Added: ${other}` } };
};

/** What about a service has changed that its load balancer must follow; undefined: nothing. */
export const changeOf = (before: Service, after: Service): Change | undefined => {
  const [old, next] = [before.spec ?? {}, after.spec ?? {}];
  const [wanted, wants] = [wantsLoadBalancer(before), wantsLoadBalancer(after)];
  if (!wanted && !wants) return undefined;
  if (wanted !== wants) return told('Type', old.type, next.type);
  if (!same(old.loadBalancerSourceRanges, next.loadBalancerSourceRanges))
    return told(
      'LoadBalancerSourceRanges',
      listText(old.loadBalancerSourceRanges),
      listText(next.loadBalancerSourceRanges),
    );
  if (!same(portsOf(before), portsOf(after))) return SILENT;
  if (old.sessionAffinity !== next.sessionAffinity) return SILENT;
  if (!same(old.sessionAffinityConfig, next.sessionAffinityConfig)) return SILENT;
  if ((old.loadBalancerIP ?? '') !== (next.loadBalancerIP ?? ''))
    return told('LoadbalancerIP', old.loadBalancerIP, next.loadBalancerIP);
  const external = externalIPChange(old.externalIPs ?? [], next.externalIPs ?? []);
  if (external) return external;
  if (!same(before.metadata?.annotations, after.metadata?.annotations)) return SILENT;
  if (before.metadata?.uid !== after.metadata?.uid)
    return told('UID', before.metadata?.uid, after.metadata?.uid);
  if (old.externalTrafficPolicy !== next.externalTrafficPolicy)
    return told('ExternalTrafficPolicy', old.externalTrafficPolicy, next.externalTrafficPolicy);
  if ((old.healthCheckNodePort ?? 0) !== (next.healthCheckNodePort ?? 0))
    return told('HealthCheckNodePort', old.healthCheckNodePort ?? 0, next.healthCheckNodePort ?? 0);
  return undefined;
};
