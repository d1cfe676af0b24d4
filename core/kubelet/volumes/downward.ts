import { quantityFrom, parseQuantity, type Quantity } from '../../api/quantity/index.ts';
import type { V1Container, V1Pod, V1ResourceFieldSelector } from '../../api/schema/index.ts';
import { own } from './own.ts';
import { goQuote } from '../../api/field/go-text.ts';

/** Facts of the node that a pod may ask for. */
export interface DownwardContext {
  readonly pod: V1Pod;
  readonly hostIP: string;
  readonly podIPs: readonly string[];
  /** What stands for a limit that is not set. */
  readonly allocatable: Readonly<Record<string, string>>;
}

const mapText = (map: Readonly<Record<string, string>> | undefined): string =>
  Object.keys(map ?? {})
    .sort()
    .map((key) => `${key}=${goQuote(map![key]!)}`)
    .join('\n');

const SUBSCRIPT = /^metadata\.(labels|annotations)\['(.+)'\]$/;

/** The value of a field path; undefined for one that the downward API does not serve. */
export const fieldValue = (context: DownwardContext, path: string): string | undefined => {
  const { metadata, spec } = context.pod;
  const subscript = SUBSCRIPT.exec(path);
  if (subscript) return own(metadata?.[subscript[1] as 'labels' | 'annotations'], subscript[2]!) ?? '';
  switch (path) {
    case 'metadata.name':
      return metadata?.name ?? '';
    case 'metadata.namespace':
      return metadata?.namespace ?? '';
    case 'metadata.uid':
      return metadata?.uid ?? '';
    case 'metadata.labels':
      return mapText(metadata?.labels);
    case 'metadata.annotations':
      return mapText(metadata?.annotations);
    case 'spec.nodeName':
      return spec?.nodeName ?? '';
    case 'spec.serviceAccountName':
      return spec?.serviceAccountName ?? '';
    case 'status.hostIP':
    case 'status.hostIPs':
      return context.hostIP;
    case 'status.podIP':
      return context.podIPs[0] ?? '';
    case 'status.podIPs':
      return context.podIPs.join(',');
    default:
      return undefined;
  }
};

const amountOf = (context: DownwardContext, container: V1Container, resource: string): Quantity => {
  const [list, name = ''] = resource.split(/\.(.*)/s);
  const amounts = list === 'limits' || list === 'requests' ? container.resources?.[list] : undefined;
  const amount = own(amounts, name);
  if (amount !== undefined) return quantityFrom(amount);
  return list === 'limits' ? quantityFrom(own(context.allocatable, name)) : quantityFrom(undefined);
};

/** `limits.cpu` and its kin, divided and rounded up. */
export const resourceValue = (
  context: DownwardContext,
  selector: V1ResourceFieldSelector,
  container: V1Container,
): string => {
  const target =
    [...(context.pod.spec?.containers ?? []), ...(context.pod.spec?.initContainers ?? [])].find(
      ({ name }) => name === selector.containerName,
    ) ?? container;
  const asked = quantityFrom(selector.divisor);
  const divisor = asked.sign > 0 ? asked : parseQuantity('1');
  const { nanos } = amountOf(context, target, selector.resource);
  return String((nanos + divisor.nanos - 1n) / divisor.nanos);
};
