// @vitest-environment happy-dom
import { afterEach, expect, test } from 'vitest';
import { isEditing } from './is-editing.ts';

afterEach(() => document.body.replaceChildren());

const element = (html: string): Element => {
  document.body.innerHTML = html;
  return document.querySelector('[data-target]') ?? document.body.firstElementChild!;
};

test.each([
  '<input>',
  '<input type="search">',
  '<input type="number">',
  '<textarea></textarea>',
  '<select></select>',
  '<div contenteditable></div>',
  '<div contenteditable="plaintext-only"><b data-target></b></div>',
  '<div role="textbox"></div>',
  '<div role="combobox"></div>',
  '<div class="native-edit-context"></div>',
  '<div class="monaco-editor"><div><span data-target></span></div></div>',
  '<div class="xterm"><div><canvas data-target></canvas></div></div>',
])('%s takes text', (html) => {
  expect(isEditing(element(html))).toBe(true);
});

test('an element with an edit context takes text', () => {
  expect(isEditing(Object.assign(element('<div></div>'), { editContext: {} }))).toBe(true);
});

test.each([
  '<button></button>',
  '<input type="checkbox">',
  '<input type="radio">',
  '<div contenteditable="false"></div>',
  '<div role="row" tabindex="0"></div>',
  '<main tabindex="-1"></main>',
])('%s takes none', (html) => {
  expect(isEditing(element(html))).toBe(false);
});

test('nothing, the window and the document take none', () => {
  expect([null, window, document].map(isEditing)).toEqual([false, false, false]);
});
