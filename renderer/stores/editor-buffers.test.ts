// @vitest-environment happy-dom
import { createPinia, setActivePinia } from 'pinia';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { BUFFERS_MAX, BUFFER_STORAGE_PREFIX, useEditorBuffers } from './editor-buffers.ts';

beforeEach(() => setActivePinia(createPinia()));
afterEach(() => localStorage.clear());

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

test('state written by another version does not cause a failure', () => {
  localStorage.setItem(`${BUFFER_STORAGE_PREFIX}1`, '{"id":1}');
  localStorage.setItem(`${BUFFER_STORAGE_PREFIX}2`, 'x');
  expect(afterCrash().buffers).toEqual([]);
});

test('two windows keep what was typed in each of them', () => {
  const first = useEditorBuffers();
  first.open('a', 'a: 1');
  const second = afterCrash();
  first.open('b', 'b: 1');
  second.edit(second.current!.id, 'a: 2');
  expect(afterCrash().buffers.map(({ title, text }) => [title, text])).toEqual([
    ['a', 'a: 2'],
    ['b', 'b: 1'],
  ]);
});

test('a text that another window changes is shown as it is there', () => {
  const buffers = useEditorBuffers();
  buffers.open('a', 'a: 1');
  const { id } = buffers.current!;
  const newValue = JSON.stringify({ ...buffers.current!, text: 'a: 2' });
  window.dispatchEvent(new StorageEvent('storage', { key: `${BUFFER_STORAGE_PREFIX}${id}`, newValue }));
  expect(buffers.current?.text).toBe('a: 2');
});

test('a late change does not reopen a closed text; its undo does', () => {
  const buffers = useEditorBuffers();
  for (const title of ['a', 'b']) buffers.open(title, title);
  const closed = buffers.buffers[0]!;
  buffers.close(closed.id);
  buffers.edit(closed.id, 'late');
  expect(afterCrash().buffers.map(({ title }) => title)).toEqual(['b']);
  buffers.reopen(closed);
  expect([buffers.current?.text, afterCrash().buffers.map(({ title }) => title)]).toEqual(['a', ['a', 'b']]);
});
