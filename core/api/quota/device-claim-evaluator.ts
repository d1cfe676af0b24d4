import { ofUnits } from '../quantity/index.ts';
import type { ResourceV1ResourceClaim } from '../schema/generated/types.ts';
import { objectCountName, type Evaluator } from './evaluator.ts';
import { addResources, maxResources, NO_RESOURCES, type ResourceList } from './resource-list.ts';

const CLAIMS = { group: 'resource.k8s.io', resource: 'resourceclaims' };
const COUNT = objectCountName(CLAIMS);
const BY_CLASS = '.deviceclass.resource.k8s.io/devices';
/** The most devices that one claim can be given: what "all" may come to. */
const DEVICES_MAX = 32;

interface DeviceRequest {
  readonly deviceClassName?: string;
  readonly allocationMode?: string;
  readonly count?: number;
}

const devicesOf = ({ deviceClassName = '', allocationMode, count = 0 }: DeviceRequest): ResourceList => {
  const devices = allocationMode === 'All' ? DEVICES_MAX : allocationMode === 'ExactCount' ? count : 0;
  return new Map([[`${deviceClassName}${BY_CLASS}`, ofUnits(BigInt(devices))]]);
};

/** Claims for devices: one of several alternatives is charged as the largest of each class. */
export const deviceClaimEvaluator: Evaluator = {
  resource: CLAIMS,
  handles: ({ operation, subresource }) =>
    subresource === '' && (operation === 'CREATE' || operation === 'UPDATE'),
  matchingResources: (asked) => asked.filter((name) => name === COUNT || name.endsWith(BY_CLASS)),
  matchesScope: () => false,
  missing: () => undefined,
  usage(object) {
    const requests = (object as ResourceV1ResourceClaim).spec?.devices?.requests ?? [];
    const wanted = requests.map(({ firstAvailable = [], exactly }): ResourceList => {
      if (firstAvailable.length > 0) return firstAvailable.map(devicesOf).reduce(maxResources, NO_RESOURCES);
      return exactly ? devicesOf(exactly) : NO_RESOURCES;
    });
    return wanted.reduce(addResources, new Map([[COUNT, ofUnits(1n)]]));
  },
};
