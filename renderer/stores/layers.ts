import { defineStore } from 'pinia';
import { ref } from 'vue';

/** Which of the shell's own layers is open. One at a time: opening one closes the other. */
export const useLayerStore = defineStore('layers', () => {
  const paletteOpen = ref(false);
  const shortcutsOpen = ref(false);
  return {
    paletteOpen,
    shortcutsOpen,
    openPalette() {
      shortcutsOpen.value = false;
      paletteOpen.value = true;
    },
    openShortcuts() {
      paletteOpen.value = false;
      shortcutsOpen.value = true;
    },
  };
});
