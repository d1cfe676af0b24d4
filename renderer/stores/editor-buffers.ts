import { defineStore } from 'pinia';
import { computed, onScopeDispose, ref, shallowRef } from 'vue';
import { onRememberedElsewhere, readRemembered, remember, rememberedKeys } from './remembered.ts';

export interface EditorBuffer {
  readonly id: string;
  readonly title: string;
  readonly text: string;
  /** What was opened or saved last; the buffer is changed while it differs. */
  readonly savedText: string;
  readonly openedAtMs: number;
}

export const BUFFERS_MAX = 20;
export const BUFFER_CHARACTERS_MAX = 512 * 1024;
/** Of each text on its own: several windows keep theirs beside each other, and one that is too large takes none along. */
export const BUFFER_STORAGE_PREFIX = 'pilothouse.editor.text.';
const CURRENT_STORAGE_KEY = 'pilothouse.editor.current';

const parse = (kept: string | undefined): EditorBuffer | undefined => {
  try {
    const value = JSON.parse(kept ?? 'null') as Partial<EditorBuffer> | null;
    const { id, title, text, savedText, openedAtMs = 0 } = value ?? {};
    return [id, title, text, savedText].every((each) => typeof each === 'string')
      ? ({ id, title, text, savedText, openedAtMs } as EditorBuffer)
      : undefined;
  } catch {
    return undefined; // written by another version, or damaged
  }
};

const restore = (): readonly EditorBuffer[] =>
  rememberedKeys(BUFFER_STORAGE_PREFIX)
    .flatMap((key) => parse(readRemembered(key)) ?? [])
    .sort((a, b) => a.openedAtMs - b.openedAtMs);

const keyOf = (id: string): string => `${BUFFER_STORAGE_PREFIX}${id}`;

/** Texts that are being edited. Every change is kept at the same time, so that a crash loses nothing. */
export const useEditorBuffers = defineStore('editor-buffers', () => {
  const buffers = shallowRef<readonly EditorBuffer[]>(restore());
  const currentId = ref(readRemembered(CURRENT_STORAGE_KEY));
  const current = computed(() => buffers.value.find(({ id }) => id === currentId.value) ?? buffers.value[0]);

  const keep = (buffer: EditorBuffer): void => remember(keyOf(buffer.id), JSON.stringify(buffer));
  const show = (id: string | undefined): void => {
    currentId.value = id;
    remember(CURRENT_STORAGE_KEY, id);
  };
  /** Of one that was closed meanwhile nothing is kept. */
  const replace = (id: string, change: Partial<EditorBuffer>): void => {
    const before = buffers.value.find((buffer) => buffer.id === id);
    if (!before) return;
    const after = { ...before, ...change };
    buffers.value = buffers.value.map((buffer) => (buffer === before ? after : buffer));
    keep(after);
  };
  const insert = (buffer: EditorBuffer): boolean => {
    if (buffers.value.length >= BUFFERS_MAX) return false;
    buffers.value = [...buffers.value, buffer].sort((a, b) => a.openedAtMs - b.openedAtMs);
    keep(buffer);
    show(buffer.id);
    return true;
  };

  // A text that is open in two windows is the same in both. One that is new there, or closed there, is no matter of ours.
  const following = onRememberedElsewhere((key, value) => {
    const changed = key.startsWith(BUFFER_STORAGE_PREFIX) ? parse(value) : undefined;
    if (changed) buffers.value = buffers.value.map((buffer) => (buffer.id === changed.id ? changed : buffer));
  });
  onScopeDispose(() => following.dispose());

  return {
    buffers,
    current,
    /** False when there are too many already, or the text is too long to be kept. */
    open(title: string, text: string, options: { readonly isSaved?: boolean } = {}): boolean {
      if (text.length > BUFFER_CHARACTERS_MAX) return false;
      const newestAtMs = buffers.value.at(-1)?.openedAtMs ?? 0;
      return insert({
        id: crypto.randomUUID(),
        title,
        text,
        savedText: options.isSaved === false ? '' : text,
        openedAtMs: Math.max(Date.now(), newestAtMs + 1),
      });
    },
    /** Brings back one that was closed, at its place. */
    reopen: insert,
    edit: (id: string, text: string) => replace(id, { text: text.slice(0, BUFFER_CHARACTERS_MAX) }),
    markSaved: (id: string) =>
      replace(id, { savedText: buffers.value.find((buffer) => buffer.id === id)?.text ?? '' }),
    rename: (id: string, title: string) => replace(id, { title }),
    show,
    close(id: string) {
      const at = buffers.value.findIndex((buffer) => buffer.id === id);
      const shownId = current.value?.id;
      buffers.value = buffers.value.filter((buffer) => buffer.id !== id);
      remember(keyOf(id), undefined);
      if (shownId === id) show((buffers.value[at] ?? buffers.value[at - 1])?.id);
    },
  };
});
