import { readonly, ref, type Ref } from 'vue';

const visible = ref(document.visibilityState !== 'hidden');
document.addEventListener('visibilitychange', () => {
  visible.value = document.visibilityState !== 'hidden';
});

/** Whether this window is visible. One listener for the whole page. */
export const usePageVisible = (): Readonly<Ref<boolean>> => readonly(visible);
