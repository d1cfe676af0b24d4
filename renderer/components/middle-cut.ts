/** Longer ends would leave no room for a start. */
const END_CHARS_MAX = 20;

/** Where a text may be cut: before its last part, or before its last characters where that is too long. */
export const splitForCut = (text: string): { readonly start: string; readonly end: string } => {
  const separator = Math.max(...['/', '\\', ':'].map((mark) => text.lastIndexOf(mark)));
  const atSeparator = separator > 0 && text.length - separator <= END_CHARS_MAX;
  const cut = atSeparator ? separator : Math.max(0, text.length - END_CHARS_MAX / 2);
  return { start: text.slice(0, cut), end: text.slice(cut) };
};

/** For places that cannot measure, such as the label of a button. */
export const cutMiddle = (text: string, charsMax: number): string => {
  if (text.length <= charsMax) return text;
  const { end } = splitForCut(text);
  return `${text.slice(0, Math.max(1, charsMax - end.length - 1))}…${end}`;
};
