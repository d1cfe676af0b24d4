/**
 * Trusted Types for the editor, under the one name that the page's policy lists. What it writes carries `style`
 * attributes, which the policy refuses as inline styles: they travel as `data-style` and are set by script.
 */
interface TrustedPolicy {
  createHTML(text: string): unknown;
  createScriptURL(url: string): unknown;
}
interface TrustedTypesFactory {
  createPolicy(
    name: string,
    rules: { createHTML(text: string): string; createScriptURL(url: string): string },
  ): TrustedPolicy;
}

const TAG = /<[a-z][^>]*>/gi;
export const styleAsData = (html: string): string =>
  html.replaceAll(TAG, (tag) => tag.replaceAll(/ style="/g, ' data-style="'));

/** A worker may only come from where the page came from. */
export const ownScript = (url: string): string => {
  if (new URL(url, document.baseURI).origin !== location.origin && location.origin !== 'null')
    throw new TypeError(`${url} is not a script of this page`);
  return url;
};

let policy: TrustedPolicy | undefined;

export const editorPolicy = (): TrustedPolicy => {
  if (policy) return policy;
  const rules = { createHTML: styleAsData, createScriptURL: ownScript };
  const factory = (globalThis as { trustedTypes?: TrustedTypesFactory }).trustedTypes;
  policy = factory ? factory.createPolicy('monaco', rules) : rules;
  return policy;
};

const applyStyles = (node: Node): void => {
  if (!(node instanceof HTMLElement)) return;
  const styled = node.matches('[data-style]') ? [node] : [];
  for (const element of [...styled, ...node.querySelectorAll<HTMLElement>('[data-style]')]) {
    // What script has set since then is newer than what the text said.
    const later = element.style.cssText;
    element.style.cssText = `${element.dataset['style'] ?? ''};${later}`;
    delete element.dataset['style'];
  }
};

/** Gives elements below `root` the styles that they were written with, before they are painted. */
export const followStyles = (root: Node): (() => void) => {
  const observer = new MutationObserver((records) => {
    for (const record of records) for (const node of record.addedNodes) applyStyles(node);
  });
  observer.observe(root, { childList: true, subtree: true });
  return () => observer.disconnect();
};
