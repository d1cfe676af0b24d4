import type { V1Pod, V1Service } from '../../api/schema/index.ts';
import type { ObjectSource } from './object-source.ts';

/** The Service of the API server: every pod gets its variables, whatever the pod's namespace. */
const MASTER = { namespace: 'default', name: 'kubernetes' } as const;

const variableName = (name: string): string => name.replaceAll('-', '_').toUpperCase();

const hostPort = (host: string, port: number): string =>
  host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;

const hasAddress = ({ spec }: V1Service): boolean => Boolean(spec?.clusterIP) && spec?.clusterIP !== 'None';

/** The variables of one Service: `*_SERVICE_HOST`, `*_SERVICE_PORT` and those of Docker's links. */
const variablesOf = ({ metadata, spec }: V1Service): [string, string][] => {
  const address = spec?.clusterIP ?? '';
  const ports = spec?.ports ?? [];
  const prefix = variableName(metadata?.name ?? '');
  const values: [string, string][] = [[`${prefix}_SERVICE_HOST`, address]];
  for (const [index, { port, name, protocol = 'TCP' }] of ports.entries()) {
    const url = `${protocol.toLowerCase()}://${hostPort(address, port)}`;
    const link = `${prefix}_PORT_${port}_${protocol.toUpperCase()}`;
    if (index === 0) values.push([`${prefix}_SERVICE_PORT`, String(port)], [`${prefix}_PORT`, url]);
    if (name) values.push([`${prefix}_SERVICE_PORT_${variableName(name)}`, String(port)]);
    values.push(
      [link, url],
      [`${link}_PROTO`, protocol.toLowerCase()],
      [`${link}_PORT`, String(port)],
      [`${link}_ADDR`, address],
    );
  }
  return values;
};

/**
 * What tells a pod where the Services of its namespace are, and where the API server is. `enableServiceLinks: false`
 * leaves the API server alone. Of two Services named `kubernetes` the one of the pod's namespace counts.
 */
export const serviceVariables = async (
  { metadata, spec }: V1Pod,
  source: Pick<ObjectSource, 'services'>,
): Promise<Map<string, string>> => {
  const master = await source.services(MASTER.namespace);
  const linked = spec?.enableServiceLinks === false ? [] : await source.services(metadata?.namespace ?? '');
  const services = [...master.filter((service) => service.metadata?.name === MASTER.name), ...linked];
  const byName = new Map(services.filter(hasAddress).map((service) => [service.metadata?.name, service]));
  return new Map([...byName.values()].flatMap(variablesOf));
};
