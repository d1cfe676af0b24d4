/**
 * The policy of the page allows style sheets of our own files and nothing written inline. Editor and terminal
 * write their themes into `<style>` elements, which the browser would refuse. They get an element of no meaning
 * in its place, which stands for a constructed sheet: the same rules, made by script that the policy has already
 * let in.
 */
const STAND_IN = 'x-style';
let isInstalled = false;

const standIn = (element: HTMLElement): HTMLElement => {
  const sheet = new CSSStyleSheet();
  let text = '';
  document.adoptedStyleSheets.push(sheet);
  const remove = element.remove.bind(element);
  return Object.defineProperties(element, {
    sheet: { get: () => sheet },
    textContent: {
      get: () => text,
      set(next: string) {
        text = next;
        sheet.replaceSync(next);
      },
    },
    remove: {
      value: () => {
        document.adoptedStyleSheets = document.adoptedStyleSheets.filter((each) => each !== sheet);
        remove();
      },
    },
  });
};

/** Once a page; before the first editor or terminal is made. */
export const adoptStyleElements = (): void => {
  if (isInstalled) return;
  isInstalled = true;
  const create = document.createElement.bind(document) as (name: string, options?: unknown) => HTMLElement;
  document.createElement = ((name: string, options?: unknown) =>
    name.toLowerCase() === 'style'
      ? standIn(create(STAND_IN))
      : create(name, options)) as typeof document.createElement;
};
