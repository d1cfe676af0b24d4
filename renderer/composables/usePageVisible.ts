import { readonly, ref, type Ref } from 'vue';

const visible = ref(document.visibilityState !== 'hidden');
document.addEventListener('visibilitychange', () => {
  visible.value = document.visibilityState !== 'hidden';
});

/** Whether somebody can see this window. One listener for the whole page. */
export const usePageVisible = (): Readonly<Ref<boolean>> => readonly(visible);
