import type { KeyObject } from 'node:crypto';
import type { CertificateView } from '../../../contract/index.ts';
import {
  AUTHORITIES,
  AUTHORITY_NAMES,
  certificatePath,
  inspectBundle,
  listCertificates,
  readBundle,
  type AuthorityName,
  type Certificate,
} from '../../../pki/index.ts';
import type { ClusterConfig } from '../../config/config.ts';
import { planHosts } from '../../config/hosts.ts';
import { PORTS } from '../../manifests/control-plane.ts';
import { presentedCertificate, type ServingAddress } from './presented.ts';

/** Where the files of a certificate are served, by the name of the certificate. */
const servingAddresses = (config: ClusterConfig): ReadonlyMap<string, ServingAddress> => {
  const addresses = new Map<string, ServingAddress>();
  for (const { name, role, address, etcd, nodes } of planHosts(config)) {
    if (role === 'control-plane')
      addresses.set(`hosts/${name}/apiserver`, { host: address, port: PORTS.apiServer, serverName: name });
    if (etcd) {
      const at = { host: etcd.address, serverName: etcd.name };
      addresses.set(`hosts/${etcd.name}/etcd/server`, { ...at, port: PORTS.etcdClient });
      addresses.set(`hosts/${etcd.name}/etcd/peer`, { ...at, port: PORTS.etcdPeer });
    }
    const [node] = nodes;
    if (node)
      addresses.set(`hosts/${name}/kubelet`, {
        host: node.address,
        port: PORTS.kubelet,
        serverName: node.name,
      });
  }
  return addresses;
};

const algorithmOf = (key: KeyObject): string => {
  const { namedCurve, modulusLength } = key.asymmetricKeyDetails ?? {};
  if (key.asymmetricKeyType === 'ec')
    return `ECDSA ${namedCurve === 'prime256v1' ? 'P-256' : (namedCurve ?? '')}`;
  return [key.asymmetricKeyType?.toUpperCase() ?? 'unknown', modulusLength].filter(Boolean).join(' ');
};

const viewOf = (
  certificate: Certificate,
  place: Pick<CertificateView, 'name' | 'path' | 'kind' | 'authority'>,
): CertificateView => {
  const { subject, alternativeNames: names, usages, serialNumber } = certificate;
  return {
    ...place,
    subject: subject.commonName,
    organizations: [...subject.organizations],
    alternativeNames: [...names.dnsNames, ...names.ipAddresses, ...names.uris, ...names.emailAddresses],
    usages: [...usages],
    serial: serialNumber,
    algorithm: algorithmOf(certificate.publicKey),
    fingerprint: certificate.fingerprint256,
    notBeforeMs: certificate.notBeforeMs,
    notAfterMs: certificate.notAfterMs,
    served: null,
  };
};

const authorityViews = async (directory: string, name: AuthorityName): Promise<CertificateView[]> => {
  const { base } = AUTHORITIES[name];
  const path = certificatePath(directory, base);
  // During a rotation the second of the bundle is the one that comes or goes.
  return inspectBundle(await readBundle(directory, name)).map((certificate, index) =>
    viewOf(certificate, {
      name: index === 0 ? base : `${base} (${index + 1})`,
      path,
      kind: 'authority',
      authority: name,
    }),
  );
};

/** Every certificate below the folder, and beside it what its server presents now. Authorities first. */
export const listServedCertificates = async (
  directory: string,
  config: ClusterConfig,
): Promise<CertificateView[]> => {
  const addresses = servingAddresses(config);
  const authorities = await Promise.all(AUTHORITY_NAMES.map((name) => authorityViews(directory, name)));
  const leaves = await Promise.all(
    (await listCertificates(directory)).map(async ({ name, kind, path, authority, certificate }) => {
      const view = viewOf(certificate, { name, path, kind, authority: authority ?? '' });
      const address = addresses.get(name);
      const presented = address && (await presentedCertificate(address));
      if (!presented) return view;
      return {
        ...view,
        served: {
          address: `${address.host}:${address.port}`,
          serial: presented.serialNumber,
          notAfterMs: presented.notAfterMs,
        },
      };
    }),
  );
  return [...authorities.flat(), ...leaves];
};
