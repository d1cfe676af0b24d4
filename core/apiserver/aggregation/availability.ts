import { messageOf } from '../../base/errors.ts';
import { apiPathOf, type KubernetesObject } from '../../api/meta/index.ts';
import { goQuote } from '../../api/field/go-text.ts';
import { has, num, obj, objs, str } from '../../api/validation/read.ts';
import type { ObjectReader } from '../storage/object-reader.ts';
import { PASSED, type Availability, type RemoteApiService } from './api-service.ts';
import { urlOf, type RemoteClient } from './remote-client.ts';
import { isReady, SERVICES, slicesOf } from './service-objects.ts';

const ATTEMPTS = 5;
const CHECK_TIMEOUT_MS = 5_000;
/** More of an answer than this is not read: only its code counts. */
const CHECK_BYTES_MAX = 4 * 1024 * 1024;

const unavailable = (reason: string, message: string): Availability => ({ status: 'False', reason, message });

const hasEndpoint = (slices: readonly KubernetesObject[], portName: string): boolean =>
  slices.some(
    (slice) =>
      objs(slice, 'endpoints').some(isReady) &&
      objs(slice, 'ports').some((port) => str(port, 'name') === portName && has(port, 'port')),
  );

/** What the Service and its endpoints say, before anything is asked over the network; undefined: nothing is wrong. */
export const checkService = async (
  reader: ObjectReader,
  { service: reference }: RemoteApiService,
): Promise<Availability | undefined> => {
  const where = `service/${reference.name} in ${goQuote(reference.namespace)}`;
  const service = await reader.get(SERVICES, reference.namespace, reference.name);
  if (service === undefined) return unavailable('ServiceNotFound', `${where} is not present`);
  const spec = obj(service, 'spec');
  if ((str(spec, 'type') || 'ClusterIP') !== 'ClusterIP') return undefined;
  const port = objs(spec, 'ports').find((one) => num(one, 'port') === reference.port);
  if (port === undefined)
    return unavailable('ServicePortError', `${where} is not listening on port ${reference.port}`);
  const slices = await slicesOf(reader, reference);
  if (slices.length === 0) return unavailable('EndpointsNotFound', `cannot find endpointslices for ${where}`);
  const portName = str(port, 'name');
  return hasEndpoint(slices, portName)
    ? undefined
    : unavailable(
        'MissingEndpoints',
        `endpointslices for ${where} have no addresses with port name ${goQuote(portName)}`,
      );
};

/** Asks for a document that every API server has to serve; undefined when it did, else what went wrong. */
const probe = async (client: RemoteClient, service: RemoteApiService): Promise<string | undefined> => {
  try {
    const endpoint = await client.resolve(service);
    const path = apiPathOf(service);
    const url = urlOf(endpoint, path);
    try {
      const { code } = await client.get(service, endpoint, {
        path,
        timeoutMs: CHECK_TIMEOUT_MS,
        bytesMax: CHECK_BYTES_MAX,
      });
      if (code >= 200 && code < 300) return undefined;
      return `failing or missing response from ${url}: bad status from ${url}: ${code}`;
    } catch (error) {
      return `failing or missing response from ${url}: ${messageOf(error)}`;
    }
  } catch (error) {
    return messageOf(error);
  }
};

/** Upstream's check: one answer of five attempts, which may meet different endpoints, is enough. */
export const checkAvailability = async (
  reader: ObjectReader,
  client: RemoteClient,
  service: RemoteApiService,
): Promise<Availability> => {
  const found = await checkService(reader, service);
  if (found) return found;
  const first = await probe(client, service);
  if (first === undefined) return PASSED;
  const others = await Promise.all(Array.from({ length: ATTEMPTS - 1 }, () => probe(client, service)));
  return others.includes(undefined) ? PASSED : unavailable('FailedDiscoveryCheck', others.at(-1) ?? first);
};
