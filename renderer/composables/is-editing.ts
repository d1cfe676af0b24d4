/** Inputs that take clicks and arrows, not text. */
const CHOICES = ['button', 'checkbox', 'color', 'file', 'image', 'radio', 'range', 'reset', 'submit'];

/**
 * Whatever takes text: fields, editable elements by attribute, role or edit context (Monaco's is a plain `div`), and
 * everything inside of an editor or a terminal.
 */
const EDITABLE = [
  'textarea',
  'select',
  '[contenteditable]:not([contenteditable="false"])',
  '[role="textbox"]',
  '[role="searchbox"]',
  '[role="combobox"]',
  '[role="spinbutton"]',
  '.native-edit-context',
  '.monaco-editor',
  '.xterm',
].join(', ');

const isTextField = (element: Element): boolean =>
  element instanceof HTMLInputElement && !CHOICES.includes(element.type);

/** A key that is pressed here belongs to what is edited: no shortcut of the page or the app may take it. */
export const isEditing = (target: EventTarget | null): boolean =>
  target instanceof Element &&
  (isTextField(target) ||
    target.closest(EDITABLE) !== null ||
    ('editContext' in target && target.editContext !== null && target.editContext !== undefined));
