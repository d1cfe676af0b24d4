import { readFile } from 'node:fs/promises';
import { X509Certificate } from 'node:crypto';
import { certificatePath } from '../../../pki/index.ts';
import { ETCD_ITEMS } from '../items/etcd.ts';
import { SECURITY_ITEMS } from '../items/security.ts';
import {
  bad,
  type BenchmarkCheck,
  commandsOf,
  equals,
  flagCheck,
  given,
  measuredBy,
  notApplicable,
  ok,
} from './check.ts';

const ETCD = 'etcd';

const uniqueAuthority: BenchmarkCheck = {
  id: '2.7',
  title: 'etcd has its own certificate authority',
  async measure(look) {
    if ((await commandsOf(look, ETCD)).length === 0)
      return notApplicable('this cluster uses an external etcd');
    const fingerprint = async (name: string): Promise<string> =>
      new X509Certificate(await readFile(certificatePath(look.dataDirectory, name), 'utf8')).fingerprint256;
    const [own, cluster] = await Promise.all([fingerprint('etcd/ca'), fingerprint('ca')]);
    return own === cluster
      ? bad('etcd and the cluster share an authority', 'create another authority for etcd')
      : ok(`pki/etcd/ca.crt (${own.slice(0, 11)}…) is not pki/ca.crt (${cluster.slice(0, 11)}…)`);
  },
};

/** Section 2. */
export const ETCD_CHECKS: readonly BenchmarkCheck[] = [
  flagCheck('2.1', 'etcd serves TLS', given(ETCD, ['cert-file', 'key-file'])),
  flagCheck(
    '2.2',
    'etcd requires client certificates',
    equals(ETCD, ['client-cert-auth', 'true'], { probe: measuredBy(SECURITY_ITEMS.insecurePorts) }),
  ),
  flagCheck(
    '2.3',
    'etcd does not issue its own certificates',
    equals(ETCD, ['auto-tls', 'false'], { otherwise: 'false' }),
  ),
  flagCheck('2.4', 'etcd peers use TLS', given(ETCD, ['peer-cert-file', 'peer-key-file'])),
  flagCheck(
    '2.5',
    'etcd peers require certificates',
    equals(ETCD, ['peer-client-cert-auth', 'true'], { probe: measuredBy(ETCD_ITEMS.peerCertificates) }),
  ),
  flagCheck(
    '2.6',
    'etcd peers do not issue their own certificates',
    equals(ETCD, ['peer-auto-tls', 'false'], { otherwise: 'false' }),
  ),
  uniqueAuthority,
];
