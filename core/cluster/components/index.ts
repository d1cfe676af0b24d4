import { ReasonError } from '../../base/errors.ts';
import type { Component, ComponentOptions, RunningComponent } from './component.ts';

export type * from './component.ts';

/** Each is loaded when it is first asked for: a scheduler needs nothing of an API server. */
const COMPONENTS: Readonly<Record<string, () => Promise<Component>>> = {
  etcd: async () => (await import('./etcd.ts')).etcd,
  'kube-apiserver': async () => (await import('./kube-apiserver.ts')).kubeApiServer,
  'kube-controller-manager': async () => (await import('./kube-controller-manager.ts')).kubeControllerManager,
  'cloud-controller-manager': async () =>
    (await import('./cloud-controller-manager.ts')).cloudControllerManager,
  kubelet: async () => (await import('./kubelet.ts')).kubelet,
  'kube-dns': async () => (await import('./kube-dns.ts')).kubeDns,
  'kube-proxy': async () => (await import('./kube-proxy.ts')).kubeProxy,
  'kube-scheduler': async () => (await import('./kube-scheduler.ts')).kubeScheduler,
};

export const COMPONENT_NAMES: readonly string[] = Object.keys(COMPONENTS);

export const isComponent = (name: string): boolean => Object.hasOwn(COMPONENTS, name);

export const loadComponent = async (name: string): Promise<Component> => {
  const load = Object.hasOwn(COMPONENTS, name) ? COMPONENTS[name] : undefined;
  if (load === undefined)
    throw new ReasonError(
      'UnknownComponent',
      `component "${name}" not found; known components: ${COMPONENT_NAMES.join(', ')}`,
    );
  return load();
};

/** One component with upstream's flags, until it is closed or fails. */
export const runComponent = async (
  name: string,
  args: readonly string[],
  options: ComponentOptions,
): Promise<RunningComponent> => (await loadComponent(name)).start(args, options);
