import type { V1Pod, V1Toleration } from '../../../api/schema/index.ts';
import type { AdmissionPlugin } from '../attributes.ts';
import { handlesOnly, isResource, PODS } from '../matching.ts';

/** --default-not-ready-toleration-seconds and --default-unreachable-toleration-seconds */
export interface DefaultTolerationSecondsOptions {
  readonly notReadySeconds?: number | undefined;
  readonly unreachableSeconds?: number | undefined;
}

const DEFAULT_SECONDS = 300;

const covers = ({ key = '', effect = '' }: V1Toleration, taint: string): boolean =>
  (key === taint || key === '') && (effect === 'NoExecute' || effect === '');

/** A pod stays for five minutes on a node that is lost, unless it says otherwise. */
export const defaultTolerationSeconds = ({
  notReadySeconds = DEFAULT_SECONDS,
  unreachableSeconds = DEFAULT_SECONDS,
}: DefaultTolerationSecondsOptions = {}): AdmissionPlugin => ({
  name: 'DefaultTolerationSeconds',
  handles: handlesOnly('CREATE', 'UPDATE'),
  admit(attributes) {
    const spec = (attributes.object as V1Pod | undefined)?.spec;
    if (!isResource(attributes, PODS) || attributes.subresource !== '' || !spec) return;
    const tolerations = spec.tolerations ?? [];
    const missing = [
      { key: 'node.kubernetes.io/not-ready', tolerationSeconds: notReadySeconds },
      { key: 'node.kubernetes.io/unreachable', tolerationSeconds: unreachableSeconds },
    ].filter(({ key }) => !tolerations.some((toleration) => covers(toleration, key)));
    if (missing.length === 0) return;
    spec.tolerations = [
      ...tolerations,
      ...missing.map(({ key, tolerationSeconds }) => ({
        key,
        operator: 'Exists',
        effect: 'NoExecute',
        tolerationSeconds,
      })),
    ];
  },
});
