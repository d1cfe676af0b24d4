import { groupVersionKindText, type GroupVersionKind } from '../../api/meta/index.ts';

/** Served still, and warned about with upstream's sentences. */
const DEPRECATIONS: Readonly<Record<string, string>> = {
  'v1, Kind=ComponentStatus': 'v1 ComponentStatus is deprecated in v1.19+',
  'v1, Kind=Endpoints': 'v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice',
};

/** Empty for what is not deprecated. */
export const deprecationOf = (kind: GroupVersionKind): string =>
  DEPRECATIONS[groupVersionKindText(kind)] ?? '';
