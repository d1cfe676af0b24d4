import { computed, shallowRef, type ComputedRef, type ShallowRef } from 'vue';
import { ContractError, verbatim, type AdmissionFigures } from '../../../core/contract/index.ts';
import { useCall } from '../../composables/useCall.ts';
import { usePoll } from '../../composables/usePoll.ts';
import { listAt } from '../../kinds/kube-object.ts';
import { objectPath } from '../../kinds/object-path.ts';
import { useDiscoveryStore } from '../../stores/discovery.ts';
import { ADMISSION_KINDS, admissionEntries, type AdmissionEntry, type AdmissionLists } from './entries.ts';

const ASK_EVERY_MS = 5_000;
const GROUP = 'admissionregistration.k8s.io';

/** Webhooks and policies of a cluster with their figures, asked again while a page shows it. */
export const useAdmission = (
  cluster: string,
): {
  readonly entries: ComputedRef<readonly AdmissionEntry[]>;
  readonly lastAtMs: Readonly<ShallowRef<number | undefined>>;
  /** Why the lists are not known. */
  readonly error: Readonly<ShallowRef<ContractError | undefined>>;
  /** Why there are no figures; the lists may be known all the same. */
  readonly figuresError: Readonly<ShallowRef<ContractError | undefined>>;
  ask(): void;
} => {
  const discovery = useDiscoveryStore();
  const read = useCall('kube.request');
  const measure = useCall('xray.admission');
  const lists = shallowRef<AdmissionLists>({});
  const figures = shallowRef<readonly AdmissionFigures[]>([]);
  const lastAtMs = shallowRef<number>();
  const error = shallowRef<ContractError>();
  const figuresError = shallowRef<ContractError>();

  const ask = async (): Promise<void> => {
    const known: Record<string, AdmissionLists[keyof AdmissionLists]> = {};
    let denied: string | undefined;
    for (const plural of ADMISSION_KINDS) {
      const resource = discovery.byName.get(`${plural}.${GROUP}`);
      if (!resource) continue;
      const result = await read.run({ cluster, method: 'GET', path: objectPath(resource, '') });
      if (!result.ok) {
        error.value = result.error;
        return;
      }
      // What this user may not list is left out; the rest is worth showing.
      if (result.value.ok) known[plural] = listAt(result.value.body, 'items');
      else denied ??= result.value.refusal.message;
    }
    if (denied !== undefined && Object.keys(known).length === 0) {
      error.value = new ContractError('Forbidden', verbatim(denied));
      return;
    }
    const measured = await measure.run({ cluster });
    if (measured.ok) figures.value = measured.value;
    figuresError.value = measured.ok ? undefined : measured.error;
    lists.value = known;
    error.value = undefined;
    lastAtMs.value = Date.now();
  };
  const { hurry } = usePoll(ask, ASK_EVERY_MS);
  return {
    entries: computed(() => admissionEntries(lists.value, figures.value)),
    lastAtMs,
    error,
    figuresError,
    ask: hurry,
  };
};
