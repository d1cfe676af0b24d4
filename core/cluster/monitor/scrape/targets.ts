import type { ClusterConfig } from '../../config/config.ts';
import { planHosts } from '../../config/hosts.ts';
import { PORTS } from '../../manifests/control-plane.ts';
import type { Trust } from './cluster-access.ts';
import type { Component } from './measures.ts';

/** One component on one host, and the pages that tell its figures. */
export interface Target {
  readonly component: Component;
  /** The host, the node or the member. */
  readonly instance: string;
  readonly urls: readonly string[];
  readonly trust: Trust;
}

/** More nodes than a chart has lines are not asked. */
export const NODES_SAMPLED_MAX = 64;

/** Members that are not ours are known by where they answer. */
export const externalMember = (clientUrl: string): string => new URL(clientUrl).host;

/** What a cluster of ours has to scrape. Members of an etcd that is not ours answer on their client port. */
export const targetsOf = (config: ClusterConfig): readonly Target[] => {
  const hosts = planHosts(config);
  const controlPlanes = hosts.filter(({ role }) => role === 'control-plane');
  const manager = (component: Component, port: number): Target[] =>
    controlPlanes.map(({ name, address }) => ({
      component,
      instance: name,
      urls: [`https://${address}:${port}/metrics`],
      trust: 'any',
    }));
  return [
    ...controlPlanes.map(({ name, address }): Target => ({
      component: 'kube-apiserver',
      instance: name,
      urls: [`https://${address}:${PORTS.apiServer}/metrics`],
      trust: 'cluster',
    })),
    ...hosts.flatMap(({ etcd }): Target[] =>
      etcd
        ? [
            {
              component: 'etcd',
              instance: etcd.name,
              urls: [`http://${etcd.address}:${PORTS.etcdMetrics}/metrics`],
              trust: 'any',
            },
          ]
        : [],
    ),
    ...(config.spec.externalEtcd?.endpoints ?? []).map((url): Target => ({
      component: 'etcd',
      instance: externalMember(url),
      urls: [`${url.replace(/\/+$/, '')}/metrics`],
      trust: 'etcd',
    })),
    ...manager('kube-controller-manager', PORTS.controllerManager),
    ...manager('kube-scheduler', PORTS.scheduler),
    ...manager('cloud-controller-manager', PORTS.cloudControllerManager),
    ...hosts
      .flatMap(({ nodes }) => nodes)
      .slice(0, NODES_SAMPLED_MAX)
      .map(({ name, address }): Target => ({
        component: 'kubelet',
        instance: name,
        urls: ['/metrics', '/metrics/resource'].map((path) => `https://${address}:${PORTS.kubelet}${path}`),
        trust: 'cluster',
      })),
    ...hosts
      .filter(({ role }) => role === 'workers')
      .map(({ name, address }): Target => ({
        component: 'kube-proxy',
        instance: name,
        urls: [`http://${address}:${PORTS.proxyMetrics}/metrics`],
        trust: 'any',
      })),
  ];
};
