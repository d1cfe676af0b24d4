import { ref, watch, type Ref } from 'vue';
import { useRoute, useRouter } from 'vue-router';

export interface ListSort {
  readonly id: string;
  readonly isDescending: boolean;
}

/** `Restarts`, or `-Restarts` for the largest first. */
export const sortText = ({ id, isDescending }: ListSort): string => `${isDescending ? '-' : ''}${id}`;
export const sortOf = (text: string): ListSort | undefined => {
  if (text === '' || text === '-') return undefined;
  return text.startsWith('-') ? { id: text.slice(1), isDescending: true } : { id: text, isDescending: false };
};

/** Filter and order of a list. They stand in the address: a link says it all, and a reload changes nothing. */
export const useListAddress = (): {
  readonly query: Ref<string>;
  readonly onlyProblems: Ref<boolean>;
  readonly sort: Ref<ListSort | undefined>;
} => {
  const route = useRoute();
  const router = useRouter();
  const path = route.path;
  const read = (key: string): string => {
    const value = route.query[key];
    return typeof value === 'string' ? value : '';
  };
  const query = ref(read('filter'));
  const onlyProblems = ref(read('problems') === '1');
  const sort = ref(sortOf(read('sort')));

  // Told from outside: a link, or back.
  watch(
    () => [read('filter'), read('problems'), read('sort')] as const,
    ([filter, problems, order]) => {
      if (route.path !== path) return;
      query.value = filter;
      onlyProblems.value = problems === '1';
      if (sortText(sort.value ?? { id: '', isDescending: false }) !== order) sort.value = sortOf(order);
    },
  );
  watch([query, onlyProblems, sort], () => {
    void router.replace({
      path: route.path,
      query: {
        ...route.query,
        filter: query.value === '' ? undefined : query.value,
        problems: onlyProblems.value ? '1' : undefined,
        sort: sort.value ? sortText(sort.value) : undefined,
      },
    });
  });
  return { query, onlyProblems, sort };
};
