import type { V1Service } from '../../../api/schema/index.ts';
import type { AdmissionPlugin } from '../attributes.ts';
import { handlesOnly, isResource } from '../matching.ts';
import { refusal } from '../refusal.ts';

const SERVICES = { group: '', resource: 'services' };

/** Addresses that are not the cluster's would take traffic away from anyone who has them. Those that are there may stay. */
export const denyServiceExternalIPs = (): AdmissionPlugin => ({
  name: 'DenyServiceExternalIPs',
  handles: handlesOnly('CREATE', 'UPDATE'),
  validate(attributes) {
    if (attributes.subresource !== '' || !isResource(attributes, SERVICES)) return;
    const wanted = (attributes.object as V1Service).spec?.externalIPs ?? [];
    const known = new Set((attributes.oldObject as V1Service | undefined)?.spec?.externalIPs ?? []);
    if (wanted.some((address) => !known.has(address)))
      throw refusal(attributes, 'Use of external IPs is denied by admission control');
  },
});
