import type { Clock } from '../base/clock.ts';
import type { Disposable } from '../base/disposable.ts';
import type { Log } from '../base/log.ts';
import type { Random } from '../base/random.ts';
import type { Labels } from '../api/selector/index.ts';
import {
  ENDPOINT_SLICE,
  InformerFactory,
  NAMESPACE,
  POD,
  SERVICE,
  type Client,
  type EndpointSlice,
  type Informer,
  type Namespace,
  type NetworkPolicy,
  type Pod,
  type Service,
  type Store,
} from '../client/index.ts';
import {
  asPolicyPod,
  policyPod,
  type PolicyEnd,
  type PolicySource,
  type Protocol,
} from '../network-policy/index.ts';
import { small, smallPod } from './small-objects.ts';

const ADDRESS_INDEX = 'address';
const SERVICE_INDEX = 'service';
const SERVICE_LABEL = 'kubernetes.io/service-name';

export interface PolicyObjectsOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly policies: Store<NetworkPolicy>;
}

/** What a connection to a Service may lead to. */
export interface Behind {
  readonly to: PolicyEnd;
  readonly port: number;
  readonly servicePort: number | undefined;
}

/** Pods, namespaces and Services, watched while there is a policy. */
export class PolicyObjects implements PolicySource, Disposable {
  readonly #policies: Store<NetworkPolicy>;
  readonly #informers: InformerFactory;
  readonly #pods: Informer<Pod>;
  readonly #namespaces: Informer<Namespace>;
  readonly #services: Informer<Service>;
  readonly #slices: Informer<EndpointSlice>;

  constructor({ policies, ...options }: PolicyObjectsOptions) {
    this.#policies = policies;
    this.#informers = new InformerFactory(options);
    this.#pods = this.#informers.informer(POD, {
      transform: smallPod,
      indexers: { [ADDRESS_INDEX]: ({ status }) => (status?.podIPs ?? []).map(({ ip }) => ip) },
    });
    this.#namespaces = this.#informers.informer(NAMESPACE, { transform: small });
    this.#services = this.#informers.informer(SERVICE, {
      transform: small,
      indexers: { [ADDRESS_INDEX]: ({ spec }) => spec?.clusterIPs ?? [] },
    });
    this.#slices = this.#informers.informer(ENDPOINT_SLICE, {
      transform: small,
      indexers: {
        [SERVICE_INDEX]: ({ metadata }) => [
          `${metadata.namespace}/${metadata.labels?.[SERVICE_LABEL] ?? ''}`,
        ],
      },
    });
    this.#informers.start();
  }

  ready(signal: AbortSignal): Promise<void> {
    return this.#informers.whenSynced(signal);
  }

  dispose(): void {
    this.#informers.dispose();
  }

  policiesOf(namespace: string): readonly NetworkPolicy[] {
    return this.#policies.inNamespace(namespace);
  }

  namespaceLabels(namespace: string): Labels | undefined {
    const found = this.#namespaces.store.get(namespace);
    return found && (found.metadata.labels ?? {});
  }

  endAt(address: string): PolicyEnd {
    for (const pod of this.#pods.store.byIndex(ADDRESS_INDEX, address)) {
      const found = policyPod(pod);
      if (found) return { address, pod: found };
    }
    return { address };
  }

  /** The endpoints of the Service that has this address and port; none where no Service has it. */
  behind(place: {
    readonly address: string;
    readonly protocol: Protocol;
    readonly port: number;
  }): readonly Behind[] {
    return this.#services.store.byIndex(ADDRESS_INDEX, place.address).flatMap(({ metadata, spec }) => {
      const servicePort = (spec?.ports ?? []).find(
        ({ port, protocol }) => port === place.port && (protocol ?? 'TCP') === place.protocol,
      );
      if (!servicePort) return [];
      const slices = this.#slices.store.byIndex(SERVICE_INDEX, `${metadata.namespace}/${metadata.name}`);
      return slices.flatMap(({ endpoints, ports }) => {
        const target = (ports ?? []).find(({ name }) => (name ?? '') === (servicePort.name ?? ''));
        if (target?.port === undefined) return [];
        return (endpoints ?? []).flatMap(({ addresses, targetRef }) =>
          addresses.map((address) => this.#behind(address, target.port!, place.port, targetRef)),
        );
      });
    });
  }

  /**
   * An endpoint in the network of its host, such as the cluster's own DNS, is the pod that the slice names, and the port
   * of the Service counts as its own: policies are written for servers that have their ports to themselves.
   */
  #behind(
    address: string,
    port: number,
    servicePort: number,
    ref: { readonly kind?: string; readonly namespace?: string; readonly name?: string } | undefined,
  ): Behind {
    const end = this.endAt(address);
    if (end.pod) return { to: end, port, servicePort: undefined };
    const pod = ref?.kind === 'Pod' ? this.#pods.store.find(ref.namespace, ref.name ?? '') : undefined;
    return { to: { address, pod: pod && asPolicyPod(pod) }, port, servicePort };
  }
}
