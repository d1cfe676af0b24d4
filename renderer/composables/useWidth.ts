import { onBeforeUnmount, onMounted, shallowRef, type Ref, type ShallowRef } from 'vue';

/** The measured width of an element: charts are laid out for it, so that their text keeps its size. */
export const useWidth = (holder: Readonly<Ref<HTMLElement | undefined>>): Readonly<ShallowRef<number>> => {
  const width = shallowRef(0);
  const observer = new ResizeObserver(([entry]) => {
    if (entry) width.value = Math.floor(entry.contentRect.width);
  });
  onMounted(() => holder.value && observer.observe(holder.value));
  onBeforeUnmount(() => observer.disconnect());
  return width;
};
