import { isConflict } from '../../api/meta/status.ts';
import { ENDPOINT_SLICE, ENDPOINTS, type Client } from '../../client/index.ts';
import type { AdvertisedEndpoint } from '../config/endpoints.ts';

const PLACE = { namespace: 'default', name: 'kubernetes' } as const;
const ATTEMPTS_MAX = 5;

/** Until no one else writes in between. */
const persistently = async (write: () => Promise<unknown>): Promise<void> => {
  for (let attempt = 1; ; attempt += 1)
    try {
      await write();
      return;
    } catch (error) {
      if (attempt === ATTEMPTS_MAX || !isConflict(error)) throw error;
    }
};

/**
 * Makes the advertised address the one endpoint of the `kubernetes` Service: machines that have joined do not reach the
 * API servers by their loopback addresses. API servers leave it alone with --endpoint-reconciler-type=none.
 */
export const writeKubernetesEndpoints = async (
  client: Client,
  { address, port }: AdvertisedEndpoint,
): Promise<void> => {
  const { name, namespace } = PLACE;
  const ports = [{ name: 'https', port, protocol: 'TCP' }];
  const slices = client.resource(ENDPOINT_SLICE, namespace);
  await persistently(async () => {
    const metadata = { name, namespace, labels: { 'kubernetes.io/service-name': name } };
    const endpoints = [{ addresses: [address], conditions: { ready: true } }];
    const found = await slices.find(name);
    const slice = {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      addressType: 'IPv4',
      endpoints,
      ports,
    };
    return found ? slices.update({ ...found, endpoints, ports }) : slices.create({ ...slice, metadata });
  });
  const endpoints = client.resource(ENDPOINTS, namespace);
  await persistently(async () => {
    const metadata = { name, namespace, labels: { 'endpointslice.kubernetes.io/skip-mirror': 'true' } };
    const subsets = [{ addresses: [{ ip: address }], ports }];
    const found = await endpoints.find(name);
    return found
      ? endpoints.update({ ...found, subsets })
      : endpoints.create({ apiVersion: 'v1', kind: 'Endpoints', metadata, subsets });
  });
};
