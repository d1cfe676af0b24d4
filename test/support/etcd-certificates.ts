import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../../core/base/node/clock.ts';
import { alternativeNames, createAuthority, issueLeaf, openAuthority } from '../../core/pki/index.ts';
import type { ClusterCertificates } from './etcd-cluster.ts';

/** An authority and one server, peer and client certificate that fit every member of a cluster of 127.<octet>.0.n. */
export const makeCertificates = (directory: string, octet: number, members = 5): ClusterCertificates => {
  mkdirSync(directory, { recursive: true });
  const root = createAuthority({ clock: systemClock, commonName: 'etcd-ca' });
  const authority = openAuthority(root);
  const addresses = Array.from({ length: members }, (_, i) => `127.${octet}.0.${i + 1}`);
  const write = (name: string, text: string): string => {
    const path = join(directory, name);
    writeFileSync(path, text, { mode: 0o600 });
    return path;
  };
  const leaf = (name: string) => {
    const credential = issueLeaf(authority, {
      clock: systemClock,
      subject: { commonName: name },
      usages: ['server', 'client'],
      alternativeNames: alternativeNames(['localhost', ...addresses]),
    });
    return {
      credential,
      certFile: write(`${name}.crt`, credential.certificatePem),
      keyFile: write(`${name}.key`, credential.privateKeyPem),
    };
  };
  const caFile = write('ca.crt', root.certificatePem);
  const server = leaf('server');
  const peer = leaf('peer');
  const client = leaf('client');
  return {
    caFile,
    serverCertFile: server.certFile,
    serverKeyFile: server.keyFile,
    peerCertFile: peer.certFile,
    peerKeyFile: peer.keyFile,
    clientCertFile: client.certFile,
    clientKeyFile: client.keyFile,
    client: {
      ca: root.certificatePem,
      cert: client.credential.certificatePem,
      key: client.credential.privateKeyPem,
    },
  };
};
