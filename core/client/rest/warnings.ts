export interface Warning {
  readonly code: number;
  readonly agent: string;
  readonly text: string;
}

const WARNINGS_MAX = 100;
const ENTRY = /^\s*(\d{3}) (\S+) "((?:[^"\\]|\\.)*)"(?: "(?:[^"\\]|\\.)*")?\s*(?:,|$)/;

/** Reads a Warning header (RFC 7234, section 5.5), which may hold several; what follows a malformed one is left. */
export const parseWarnings = (header: string): Warning[] => {
  const warnings: Warning[] = [];
  let rest = header;
  while (rest !== '' && warnings.length < WARNINGS_MAX) {
    const match = ENTRY.exec(rest);
    if (!match) break;
    warnings.push({ code: Number(match[1]), agent: match[2]!, text: match[3]!.replace(/\\(.)/g, '$1') });
    rest = rest.slice(match[0].length);
  }
  return warnings;
};

/** Texts remembered; a server that writes something new each time is not logged for ever. */
const TEXTS_MAX = 1000;
const seenTexts = new Set<string>();

/** True once for each text of the process: a controller meets the same deprecation with every write. */
export const isFirstOf = ({ text }: Warning): boolean => {
  if (seenTexts.has(text) || seenTexts.size >= TEXTS_MAX) return false;
  seenTexts.add(text);
  return true;
};
