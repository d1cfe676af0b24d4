/** One clause of an Accept header. */
export interface AcceptClause {
  readonly type: string;
  readonly subtype: string;
  readonly parameters: ReadonlyMap<string, string>;
  readonly quality: number;
}

/** More clauses than any client sends; what is behind them is not looked at. */
const CLAUSES_MAX = 32;

const parseClause = (text: string): AcceptClause | undefined => {
  const [media = '', ...rest] = text.split(';').map((part) => part.trim());
  const slash = media.indexOf('/');
  if (slash < 0 && media !== '*') return undefined;
  const parameters = new Map<string, string>();
  for (const part of rest) {
    const equals = part.indexOf('=');
    if (equals > 0) parameters.set(part.slice(0, equals), part.slice(equals + 1).replace(/^"|"$/g, ''));
  }
  const quality = Number(parameters.get('q') ?? '1');
  return {
    type: slash < 0 ? '*' : media.slice(0, slash),
    subtype: slash < 0 ? '*' : media.slice(slash + 1),
    parameters,
    quality: Number.isFinite(quality) ? quality : 1,
  };
};

/** What a client takes, the most wanted first; no header takes anything. */
export const parseAccept = (header: string | undefined): readonly AcceptClause[] =>
  (header === undefined || header === '' ? '*/*' : header)
    .split(',', CLAUSES_MAX)
    .map((text) => parseClause(text.trim()))
    .filter((clause) => clause !== undefined)
    .sort((a, b) => b.quality - a.quality);

export const takes = ({ type, subtype }: AcceptClause, mediaType: string): boolean => {
  const [wantedType, wantedSubtype] = mediaType.split('/');
  return (type === '*' || type === wantedType) && (subtype === '*' || subtype === wantedSubtype);
};
