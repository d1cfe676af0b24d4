import { stringify } from 'yaml';
import { isConflict, isNotFound } from '../../api/meta/status.ts';
import { CONFIG_MAP, type Client, type ConfigMap } from '../../client/index.ts';
import { CLUSTER_DOMAIN, dnsServiceAddress, podRange, serviceRange } from '../config/addresses.ts';
import type { ClusterConfig } from '../config/config.ts';
import { advertisedEndpoint } from '../config/endpoints.ts';

const yaml = (value: unknown): string => stringify(value, { lineWidth: 0 });

/** The authority and the address of a cluster, without any credential. */
export const clusterInfoKubeconfig = (server: string, authorityPem: string): string =>
  yaml({
    apiVersion: 'v1',
    clusters: [
      {
        cluster: {
          'certificate-authority-data': Buffer.from(authorityPem).toString('base64'),
          server,
        },
        name: '',
      },
    ],
    contexts: null,
    'current-context': '',
    kind: 'Config',
    users: null,
  });

/** As kubeadm writes it: what `kubeadm join` and `kubeadm upgrade` know of a cluster. */
const clusterConfiguration = ({ metadata, spec }: ClusterConfig, endpoint: string): string =>
  yaml({
    apiServer: {},
    apiVersion: 'kubeadm.k8s.io/v1beta4',
    caCertificateValidityPeriod: '87600h0m0s',
    certificateValidityPeriod: '8760h0m0s',
    certificatesDir: '/etc/kubernetes/pki',
    clusterName: metadata.name,
    controlPlaneEndpoint: endpoint,
    controllerManager: {},
    dns: {},
    encryptionAlgorithm: 'ECDSA-P256',
    etcd: { local: { dataDir: '/var/lib/etcd' } },
    imageRepository: 'registry.k8s.io',
    kind: 'ClusterConfiguration',
    kubernetesVersion: spec.kubernetesVersion,
    networking: {
      dnsDomain: CLUSTER_DOMAIN,
      podSubnet: podRange(spec),
      serviceSubnet: serviceRange(spec),
    },
    proxy: {},
    scheduler: {},
  });

/** Kubelets that join have their serving certificates signed, since API servers here trust no others. */
const kubeletConfiguration = ({ spec }: ClusterConfig): string =>
  yaml({
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    authentication: {
      anonymous: { enabled: false },
      webhook: { cacheTTL: '0s', enabled: true },
      x509: { clientCAFile: '/etc/kubernetes/pki/ca.crt' },
    },
    authorization: {
      mode: 'Webhook',
      webhook: { cacheAuthorizedTTL: '0s', cacheUnauthorizedTTL: '0s' },
    },
    cgroupDriver: 'systemd',
    clusterDNS: [dnsServiceAddress(spec)],
    clusterDomain: CLUSTER_DOMAIN,
    healthzBindAddress: '127.0.0.1',
    healthzPort: 10_248,
    kind: 'KubeletConfiguration',
    rotateCertificates: true,
    serverTLSBootstrap: true,
    staticPodPath: '/etc/kubernetes/manifests',
  });

const proxyConfiguration = ({ spec }: ClusterConfig): string =>
  yaml({
    apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
    clientConnection: { kubeconfig: '/var/lib/kube-proxy/kubeconfig.conf' },
    clusterCIDR: podRange(spec),
    kind: 'KubeProxyConfiguration',
    mode: '',
  });

const SERVICE_ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';

const proxyKubeconfig = (server: string): string =>
  yaml({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      { cluster: { 'certificate-authority': `${SERVICE_ACCOUNT}/ca.crt`, server }, name: 'default' },
    ],
    contexts: [{ context: { cluster: 'default', namespace: 'default', user: 'default' }, name: 'default' }],
    'current-context': 'default',
    users: [{ name: 'default', user: { tokenFile: `${SERVICE_ACCOUNT}/token` } }],
  });

/** The ConfigMaps that joining machines read. */
export const joinConfigMaps = (config: ClusterConfig, authorityPem: string): readonly ConfigMap[] => {
  const { address, port } = advertisedEndpoint(config);
  const endpoint = `${address}:${port}`;
  const server = `https://${endpoint}`;
  const map = (namespace: string, name: string, data: Record<string, string>): ConfigMap => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace, name },
    data,
  });
  return [
    map('kube-public', 'cluster-info', { kubeconfig: clusterInfoKubeconfig(server, authorityPem) }),
    map('kube-system', 'kubeadm-config', { ClusterConfiguration: clusterConfiguration(config, endpoint) }),
    map('kube-system', 'kubelet-config', { kubelet: kubeletConfiguration(config) }),
    map('kube-system', 'kube-proxy', {
      'config.conf': proxyConfiguration(config),
      'kubeconfig.conf': proxyKubeconfig(server),
    }),
  ];
};

const ATTEMPTS_MAX = 5;

/** Writes what differs, and keeps what others added: signatures, and settings of an operator under other keys. */
const ensureConfigMap = async (client: Client, wanted: ConfigMap): Promise<void> => {
  const { namespace, name = '' } = wanted.metadata ?? {};
  const maps = client.resource(CONFIG_MAP, namespace);
  for (let attempt = 1; ; attempt += 1)
    try {
      const found = await maps.find(name);
      if (!found) {
        await maps.create(wanted);
        return;
      }
      const isSame = Object.entries(wanted.data ?? {}).every(([key, text]) => found.data?.[key] === text);
      if (!isSame) await maps.update({ ...found, data: { ...found.data, ...wanted.data } });
      return;
    } catch (error) {
      if (attempt === ATTEMPTS_MAX || !(isConflict(error) || isNotFound(error))) throw error;
    }
};

export const writeJoinConfigMaps = async (
  client: Client,
  config: ClusterConfig,
  authorityPem: string,
): Promise<void> => {
  await Promise.all(joinConfigMaps(config, authorityPem).map((map) => ensureConfigMap(client, map)));
};
