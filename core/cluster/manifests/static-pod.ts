import { stringify } from 'yaml';

/** One component of a host, as kubeadm writes it into `manifests/`. */
export interface StaticPodSpec {
  readonly component: string;
  /** Flags by name, without dashes; a list is joined by commas. */
  readonly flags: Readonly<Record<string, string | number | boolean | readonly string[]>>;
  readonly image: string;
  /** Beside `component`; `tier: control-plane` where nothing is said. */
  readonly labels?: Readonly<Record<string, string>>;
  readonly requests: { readonly cpu: string; readonly memory?: string };
  readonly annotations?: Readonly<Record<string, string>>;
  readonly probe: { readonly host: string; readonly port: number; readonly scheme: 'HTTP' | 'HTTPS' };
  readonly probes: { readonly liveness: string; readonly readiness?: string; readonly startup: string };
  readonly ports?: readonly {
    readonly name: string;
    readonly containerPort: number;
    /** TCP where nothing is said. */
    readonly protocol?: 'TCP' | 'UDP';
  }[];
}

/** The data folder in a manifest: the host fills it in, so that the folder can be moved. */
export const DATA_VARIABLE = 'PILOTHOUSE_DATA';
export const inData = (path: string): string => `$(${DATA_VARIABLE})/${path}`;

const valueText = (value: string | number | boolean | readonly string[]): string =>
  typeof value === 'object' ? value.join(',') : String(value);

const probe = (spec: StaticPodSpec, path: string, failureThreshold: number) => ({
  failureThreshold,
  httpGet: { host: spec.probe.host, path, port: spec.probe.port, scheme: spec.probe.scheme },
  periodSeconds: 10,
  timeoutSeconds: 15,
});

export const staticPodYaml = (spec: StaticPodSpec): string => {
  const { component, flags, image, annotations, probes } = spec;
  return stringify(
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        ...(annotations && { annotations: { ...annotations } }),
        labels: { component, ...(spec.labels ?? { tier: 'control-plane' }) },
        name: component,
        namespace: 'kube-system',
      },
      spec: {
        containers: [
          {
            name: component,
            image,
            imagePullPolicy: 'IfNotPresent',
            command: [
              component,
              ...Object.entries(flags).map(([name, value]) => `--${name}=${valueText(value)}`),
            ],
            ...(spec.ports && { ports: spec.ports.map((port) => ({ protocol: 'TCP', ...port })) }),
            livenessProbe: { ...probe(spec, probes.liveness, 8), initialDelaySeconds: 10 },
            ...(probes.readiness !== undefined && {
              // kubeadm looks every second; each look is a handshake, and nothing routes by it.
              readinessProbe: probe(spec, probes.readiness, 3),
            }),
            // kubeadm looks after 10 s first. Components in threads serve within a second, a new cluster within five: looked
            // at before, each would begin its life with warnings.
            startupProbe: { ...probe(spec, probes.startup, 240), initialDelaySeconds: 5, periodSeconds: 1 },
            resources: { requests: { ...spec.requests } },
          },
        ],
        hostNetwork: true,
        priority: 2000001000,
        priorityClassName: 'system-node-critical',
        securityContext: { seccompProfile: { type: 'RuntimeDefault' } },
      },
    },
    { lineWidth: 0 },
  );
};
