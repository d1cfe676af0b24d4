/**
 * Finds keys that stand twice in one object of a JSON text, which `JSON.parse` silently accepts. The text
 * must be valid JSON: parse it first.
 */
const FOUND_MAX = 100;

interface Frame {
  readonly isArray: boolean;
  readonly path: string;
  readonly seen: Set<string> | undefined;
  index: number;
  key: string;
}

const open = (isArray: boolean, path: string): Frame => ({
  isArray,
  path,
  seen: isArray ? undefined : new Set(),
  index: 0,
  key: '',
});

const placeIn = (frame: Frame | undefined): string => {
  if (!frame) return '';
  if (frame.isArray) return `${frame.path}[${frame.index}]`;
  return frame.path === '' ? frame.key : `${frame.path}.${frame.key}`;
};

/** The end of the string that opens at `start`: the index after its closing quote. */
const endOfString = (text: string, start: number): number => {
  let at = start + 1;
  while (text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at + 1;
};

/** Upstream's strict errors, `duplicate field "spec.foo"`, in the order of the text. */
export const findDuplicateFields = (text: string): readonly string[] => {
  const found: string[] = [];
  const stack: Frame[] = [];
  let expectsKey = false;
  for (let at = 0; at < text.length && found.length < FOUND_MAX; at += 1) {
    const top = stack[stack.length - 1];
    switch (text.charAt(at)) {
      case '{':
        stack.push(open(false, placeIn(top)));
        expectsKey = true;
        break;
      case '[':
        stack.push(open(true, placeIn(top)));
        expectsKey = false;
        break;
      case '}':
      case ']':
        stack.pop();
        expectsKey = false;
        break;
      case ',':
        if (top?.isArray) top.index += 1;
        else expectsKey = true;
        break;
      case '"': {
        const end = endOfString(text, at);
        if (expectsKey && top?.seen) {
          top.key = JSON.parse(text.slice(at, end)) as string;
          if (top.seen.has(top.key)) found.push(`duplicate field "${placeIn(top)}"`);
          top.seen.add(top.key);
          expectsKey = false;
        }
        at = end - 1;
        break;
      }
      default:
    }
  }
  return [...new Set(found)];
};
