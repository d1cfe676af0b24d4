import { createPinia, setActivePinia } from 'pinia';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { BUFFERS_MAX, BUFFERS_STORAGE_KEY, useEditorBuffers } from './editor-buffers.ts';

beforeEach(() => setActivePinia(createPinia()));
afterEach(() => localStorage.removeItem(BUFFERS_STORAGE_KEY));

/** What a page finds that is loaded after a crash. */
const afterCrash = () => {
  setActivePinia(createPinia());
  return useEditorBuffers();
};

test('an edit that was never saved is there after a crash', () => {
  const buffers = useEditorBuffers();
  buffers.open('web.yaml', 'a: 1\n');
  buffers.edit(buffers.current!.id, 'a: 2\n');
  const found = afterCrash();
  expect(found.current).toMatchObject({ title: 'web.yaml', text: 'a: 2\n', savedText: 'a: 1\n' });
});

test('the manifest that was in front is in front again', () => {
  const buffers = useEditorBuffers();
  buffers.open('a', '');
  buffers.open('b', '');
  buffers.show(buffers.buffers[0]!.id);
  expect(afterCrash().current?.title).toBe('a');
});

test('closing shows the neighbour, and the last one leaves none', () => {
  const buffers = useEditorBuffers();
  for (const title of ['a', 'b', 'c']) buffers.open(title, '');
  buffers.show(buffers.buffers[1]!.id);
  buffers.close(buffers.current!.id);
  expect(buffers.current?.title).toBe('c');
  buffers.close(buffers.current!.id);
  buffers.close(buffers.current!.id);
  expect(buffers.current).toBeUndefined();
});

test('no more are opened than can be kept', () => {
  const buffers = useEditorBuffers();
  const opened = Array.from({ length: BUFFERS_MAX + 1 }, (_, index) => buffers.open(`${index}`, ''));
  expect([opened.at(-2), opened.at(-1)]).toEqual([true, false]);
});

test('what another version wrote is no reason to fail', () => {
  localStorage.setItem(BUFFERS_STORAGE_KEY, '{"buffers":[{"id":1}, "x"]}');
  expect(afterCrash().buffers).toEqual([]);
});
