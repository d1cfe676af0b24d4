import { defineStore } from 'pinia';
import { computed, ref, shallowRef } from 'vue';
import { readRemembered, remember } from './remembered.ts';

export interface EditorBuffer {
  readonly id: string;
  readonly title: string;
  readonly text: string;
  /** What was opened or saved last; the buffer is changed while it differs. */
  readonly savedText: string;
}

export const BUFFERS_MAX = 20;
export const BUFFER_CHARACTERS_MAX = 512 * 1024;
export const BUFFERS_STORAGE_KEY = 'pilothouse.editor';

interface Kept {
  readonly buffers: readonly EditorBuffer[];
  readonly currentId: string | undefined;
}

const isBuffer = (value: unknown): value is EditorBuffer => {
  const { id, title, text, savedText } = (value ?? {}) as Record<string, unknown>;
  return [id, title, text, savedText].every((each) => typeof each === 'string');
};

const restore = (): Kept => {
  try {
    const kept = JSON.parse(readRemembered(BUFFERS_STORAGE_KEY) ?? '{}') as Partial<Kept>;
    const buffers = (Array.isArray(kept.buffers) ? kept.buffers : []).filter(isBuffer).slice(0, BUFFERS_MAX);
    return { buffers, currentId: kept.currentId };
  } catch {
    return { buffers: [], currentId: undefined }; // written by another version, or damaged
  }
};

/** Texts that are being edited. Every change is kept at once, so that a crash loses nothing. */
export const useEditorBuffers = defineStore('editor-buffers', () => {
  const kept = restore();
  const buffers = shallowRef<readonly EditorBuffer[]>(kept.buffers);
  const currentId = ref(kept.currentId);
  const current = computed(() => buffers.value.find(({ id }) => id === currentId.value) ?? buffers.value[0]);

  const keep = (): void =>
    remember(BUFFERS_STORAGE_KEY, JSON.stringify({ buffers: buffers.value, currentId: currentId.value }));
  const replace = (id: string, change: Partial<EditorBuffer>): void => {
    buffers.value = buffers.value.map((buffer) => (buffer.id === id ? { ...buffer, ...change } : buffer));
    keep();
  };

  /** False when there are too many already, or the text is too long to be kept. */
  const open = (title: string, text: string, options: { readonly isSaved?: boolean } = {}): boolean => {
    if (buffers.value.length >= BUFFERS_MAX || text.length > BUFFER_CHARACTERS_MAX) return false;
    const id = crypto.randomUUID();
    buffers.value = [...buffers.value, { id, title, text, savedText: options.isSaved === false ? '' : text }];
    currentId.value = id;
    keep();
    return true;
  };

  return {
    buffers,
    current,
    open,
    edit: (id: string, text: string) => replace(id, { text: text.slice(0, BUFFER_CHARACTERS_MAX) }),
    markSaved: (id: string) =>
      replace(id, { savedText: buffers.value.find((buffer) => buffer.id === id)?.text ?? '' }),
    rename: (id: string, title: string) => replace(id, { title }),
    show(id: string) {
      currentId.value = id;
      keep();
    },
    close(id: string) {
      const at = buffers.value.findIndex((buffer) => buffer.id === id);
      buffers.value = buffers.value.filter((buffer) => buffer.id !== id);
      if (currentId.value === id) currentId.value = (buffers.value[at] ?? buffers.value[at - 1])?.id;
      keep();
    },
  };
});
