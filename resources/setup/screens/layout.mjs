/** What a person would call broken in the layout of the page as it stands: cut, overlapping or overflowing text. */

const TOLD_MAX = 6;

/** Runs in the page. */
const find = () => {
  const NARROW_PX = 90;
  const problems = [];
  const root = document.documentElement;
  if (root.scrollWidth > root.clientWidth)
    problems.push(`page scrolls sideways by ${root.scrollWidth - root.clientWidth} px`);

  const isHiddenFor = (element) =>
    element.closest('.visually-hidden, .monaco-editor, .xterm, [aria-hidden="true"], .vue-flow');
  const pieces = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode;
    const text = node.textContent.trim();
    const element = node.parentElement;
    if (!text || !element || isHiddenFor(element)) continue;
    // In a narrow window the navigation shows its icons alone.
    if (element.closest('nav')?.clientWidth < NARROW_PX) continue;
    if (!element.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true })) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const rects = [...range.getClientRects()].filter(({ width, height }) => width > 1 && height > 1);
    if (rects.length > 0) pieces.push({ text: text.slice(0, 60), element, rects });
  }

  const nameOf = (element) =>
    `${element.tagName.toLowerCase()}${[...element.classList].map((name) => `.${name}`).join('')}`;
  const clipOf = (element) => {
    for (let at = element; at && at !== document.body; at = at.parentElement) {
      const style = getComputedStyle(at);
      if (style.overflowX === 'hidden' || style.overflowX === 'clip') return { at, style };
      if (style.overflowX === 'auto' || style.overflowX === 'scroll') return undefined;
    }
    return undefined;
  };
  /** Where the text of an element is no longer shown, because something around it scrolls or clips. */
  const endOf = (element) => {
    const end = { right: Infinity, bottom: Infinity };
    for (let at = element; at && at !== document.body; at = at.parentElement) {
      if (getComputedStyle(at).overflowX === 'visible') continue;
      const { right, bottom } = at.getBoundingClientRect();
      end.right = Math.min(end.right, right);
      end.bottom = Math.min(end.bottom, bottom);
    }
    return end;
  };
  const isOnTop = (element, x, y) => {
    const top = document.elementFromPoint(x, y);
    return top !== null && (top === element || element.contains(top) || top.contains(element));
  };

  /** Below something that does not let it through, such as a drawer over a list. */
  const isCovered = (element, x, y) => {
    for (const top of document.elementsFromPoint(x, y)) {
      if (top === element || top.contains(element) || element.contains(top)) return false;
      const { backgroundColor } = getComputedStyle(top);
      if (backgroundColor.startsWith('rgb(')) return true;
    }
    return false;
  };

  for (const { text, element, rects } of pieces) {
    const clip = clipOf(element);
    const right = Math.max(...rects.map((rect) => rect.right));
    if (clip) {
      const box = clip.at.getBoundingClientRect();
      const isCut = right > box.right + 1.5 && box.width > 0 && rects.some((rect) => rect.left < box.right);
      if (isCut && clip.style.textOverflow !== 'ellipsis')
        problems.push(`cut: "${text}" in ${nameOf(clip.at)}`);
      else if (isCut && !element.closest('[title]') && !clip.at.querySelector('[title]'))
        problems.push(`shortened without a title: "${text}" in ${nameOf(clip.at)}`);
    }
    const holder = element.closest('button, [role="tab"], .chip, th');
    if (holder && holder.getClientRects().length === 1) {
      const lines = new Set(rects.map((rect) => Math.round(rect.top))).size;
      if (lines > 1 && !holder.matches('th, .wraps, [role="option"]') && text.length < 40)
        problems.push(`wraps: "${text}" in ${nameOf(holder)}`);
    }
  }

  const seen = pieces.flatMap(({ text, element, rects }) =>
    rects
      .filter(
        (rect) => rect.top >= 0 && rect.bottom <= innerHeight && rect.left >= 0 && rect.right <= innerWidth,
      )
      .filter((rect) => isOnTop(element, rect.left + rect.width / 2, rect.top + rect.height / 2))
      .map((rect) => ({ text, element, rect })),
  );
  seen.sort((a, b) => a.rect.top - b.rect.top);
  for (let i = 0; i < seen.length; i += 1)
    for (let j = i + 1; j < seen.length && seen[j].rect.top < seen[i].rect.bottom - 3; j += 1) {
      const [a, b] = [seen[i], seen[j]];
      if (a.element === b.element) continue;
      const wide = Math.min(a.rect.right, b.rect.right) - Math.max(a.rect.left, b.rect.left);
      const high = Math.min(a.rect.bottom, b.rect.bottom) - Math.max(a.rect.top, b.rect.top);
      if (wide <= 3 || high <= 4) continue;
      const ends = [endOf(a.element), endOf(b.element)];
      const isShown = ends.every(
        ({ right, bottom }) =>
          Math.max(a.rect.left, b.rect.left) + 3 < right && Math.max(a.rect.top, b.rect.top) + 4 < bottom,
      );
      const [x, y] = [
        Math.max(a.rect.left, b.rect.left) + wide / 2,
        Math.max(a.rect.top, b.rect.top) + high / 2,
      ];
      if (isShown && ![a, b].some(({ element }) => isCovered(element, x, y)))
        problems.push(`overlap: "${a.text}" and "${b.text}" (${nameOf(a.element)}, ${nameOf(b.element)})`);
    }
  return [...new Set(problems)];
};

export const layoutProblems = async (page) => {
  const problems = await page.evaluate(find);
  const more = problems.length - TOLD_MAX;
  return more > 0 ? [...problems.slice(0, TOLD_MAX), `and ${more} more`] : problems;
};
