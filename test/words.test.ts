import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { REPLACED_LABELS, REPLACED_SENTENCES } from './support/replaced-words.ts';

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '..');

/** Phrases that read translated, each with the plain English to use instead. */
const PHRASES: readonly (readonly [pattern: RegExp, instead: string])[] = [
  [/\banew\b/i, 'again, or a verb: renew, relist, recompute'],
  [/\bof before\b/i, 'previous, old'],
  [/\bthe former\b/i, 'the previous'],
  [/\bmend(?:s|ed|ing)?\b/i, 'fix, repair'],
  [/\bgo(?:es)? on\b(?! (?:its|their) own)|\bwent on\b/i, 'continues, resumes, keeps running'],
  // Well formed, well known and well below are plain English.
  [/\b(?:is|are|be|being|everything) well(?=[.,;:)]|$| again| and| or)|\bwell again\b/i, 'healthy'],
  [/\b(?:came|comes) to no end\b/i, 'failed, did not finish'],
  // `pilothouse:nobody` is a user name.
  [/(?<!:)\bnobody\b/i, 'no client, not responding, anonymous'],
  [/\bby (?:itself|themselves)\b/i, 'automatically, on its own'],
  [/\bat once\b/i, 'immediately, concurrently'],
  [/\b(?:needs? a|worth a) look\b/i, 'inspect, check'],
  [/\bwhoever\b/i, 'name the process or the person'],
  [/\bdo(?:es)? not answer(?=[.,;:)]|$)|\banswers? nothing\b/i, 'is unreachable, is not responding'],
  [/\bunder way\b/i, 'in progress'],
  [
    /\b(?:somebody|anybody|everybody) (?:looks?|looked|types|searches|asks|reads|listens|scrapes)\b|\bneeds? somebody\b/i,
    'while a page shows it, on request, needs action',
  ],
  [/\bon purpose\b/i, 'injected, intentional'],
  [/\bthere is no [^;.]*; there is\b/i, '"x" not found; known: a, b'],
  [/\bis left to it\b|\bwhile it is at it\b/i, 'say what happens'],
  [/\bwants? (?:a|an|one of|true or false|every)\b/i, 'requires, must be'],
];

/** In everything that users read. In comments they may be exact. */
const USER_PHRASES: readonly (readonly [pattern: RegExp, instead: string])[] = [
  ...PHRASES,
  [/\bbrings? (?:it|them|members|nodes|the \w+(?: of the \w+)?) back\b|\bbring back\b/i, 'recover, restart'],
  [/\b(?:ends?|stops?|closes?) (?:it |them )?in (?:good )?order\b/i, 'gracefully'],
  [/\bworked out anew\b|\bbe worked out\b/i, 'calculate'],
  [/\blook at it\b/i, 'inspect, check'],
  [/\blooked at or not\b/i, 'whether or not a page is open'],
  [/\bwhat (?:it|they) (?:chooses?|says?|has|have)\b/i, 'name the thing'],
  [/\bone clear line\b/i, 'one message'],
  [/\bstands? (?:in|at|beside|there)\b/i, 'is in, is next to'],
  [/\bmade again\b/i, 'recreated'],
];

/** In names of tests, which are claims about behaviour. */
const CLAIM_PHRASES: readonly (readonly [pattern: RegExp, instead: string])[] = [
  ...PHRASES,
  // A claim begins with its subject.
  [/^(?:what|whose|whom?)\b(?!-)/i, 'name the thing, the process or the person'],
  [/\b(?:is|are|was|were|be|been) made\b|\bmade (?:again|by|of|when|before)\b/i, 'created, sent, taken'],
  [/\bstands?\b(?![-\w])(?! by\b)/i, 'is, are listed, appears'],
  // A person or a client is told something; a failure is reported.
  [
    /(?<!\b(?:user|API|watchers|observers|warned level) )\b(?:is|are) told(?= (?:with|in|once|as|on|beside|for)\b|[,;]|$)/,
    'is reported, is shown',
  ],
];

/** In messages and labels, where these words have a technical meaning only here. */
const LABEL_PHRASES: readonly (readonly [pattern: RegExp, instead: string])[] = [
  [/\bwhole\b(?! number)/i, 'verified, complete'],
  [/\bin order\b/i, 'passed, gracefully'],
  [/\baway\b/i, 'down, unreachable'],
  // `ends on {date}`; a line may end on a colon.
  [/\bends? (?:in|within|on|from) (?:…|\d)/i, 'expires'],
  [/\bsomebody\b|\banybody\b|\beverybody\b/i, 'a user, any client, all members'],
];

const GERMAN: readonly (readonly [pattern: RegExp, instead: string])[] = [
  [/\bniemand\b/i, 'kein Mitglied, antwortet nicht'],
  // One word for one thing.
  [/\bMember(?:n|s)?\b/, 'Mitglied'],
  [/\bVorprüfung/, 'Preflight-Check'],
  [/\bProbel[aä]uf/, 'Dry Run'],
  [/\bEreignisse\b/, 'Events, Einträge'],
  [/Richtlinie/, 'Policy'],
  [/[Vv]erdicht(?:en|et|ung)/, 'kompaktieren'],
  [/Festplatte/, 'Datenträger'],
  [/\bMaschinen?\b/, 'Rechner'],
  [/Load-Balancer\b/, 'Load Balancer'],
  [/Control-Planes?\b(?!-)/, 'Control Plane'],
  [/Anmeldedaten/, 'Zugangsdaten'],
  [/Audit-Protokoll/, 'Audit-Log, Audit-Logging'],
  [/\bStörung(?:en)?\b/, 'Fehler'],
  [/\bReplikate?s?\b/, 'Replica'],
  [/\b(?:der|den|einen) Kubelet\b/, 'das Kubelet'],
  [/\bangehalten\b/i, 'pausiert'],
  [/(?<![-/.\w])kubeconfig(?= |$)/, 'Kubeconfig'],
  [/\bvon selbst\b/i, 'automatisch'],
  [/\bvorgezeigt\b/i, 'ausgeliefert'],
  [/\beinen (?:Blick|Menschen|Gedanken)\b/i, 'Handlungsbedarf, überprüfen'],
  [/\bzu keinem Ende\b/i, 'konnte nicht gestartet werden'],
  [/\bHerzschl[aä]g/i, 'Heartbeat'],
];

const tracked = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  cwd: ROOT,
  encoding: 'utf8',
})
  .split('\n')
  .filter((file) => file !== '' && existsSync(join(ROOT, file)));

const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

/** Texts of a source file that a person may read: its string literals, without those of imports and keys. */
const literalsOf = (file: string): string[] => textsOf(file).filter((text) => text.includes(' '));

const textsOf = (file: string): string[] => {
  const source = ts.createSourceFile(file, read(file), ts.ScriptTarget.Latest, true);
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    const isKey =
      ts.isPropertyAssignment(node.parent ?? node) && (node.parent as ts.PropertyAssignment).name === node;
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return;
    if (ts.isStringLiteralLike(node) && !isKey) found.push(node.text);
    if (ts.isTemplateExpression(node))
      found.push([node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)].join('…'));
    node.forEachChild(visit);
  };
  visit(source);
  return found;
};

const offences = (
  files: readonly string[],
  textsOf: (file: string) => readonly string[],
  phrases: readonly (readonly [RegExp, string])[],
): string[] =>
  files.flatMap((file) => {
    // Parsing is slow, so only files that contain a phrase at all, or may be equal to one, are parsed.
    const whole = read(file).replaceAll(/\s+/g, ' ');
    if (!phrases.some(([pattern]) => pattern.source.startsWith('^') || pattern.test(whole))) return [];
    return textsOf(file).flatMap((text) => {
      const flat = text.replaceAll(/\{\w+\}/g, '…').replaceAll(/\s+/g, ' ');
      return phrases.flatMap(([pattern, instead]) => {
        const hit = pattern.exec(flat);
        if (!hit) return [];
        const around = flat.slice(Math.max(0, hit.index - 30), hit.index + hit[0].length + 30);
        return [`${file}: "${around}": instead of "${hit[0]}" write: ${instead}`];
      });
    });
  });

/** Comments of a source file, without what they quote as code. */
const commentsOf = (file: string): string[] => {
  const text = read(file);
  const blocks = text.match(/\/\*[\s\S]*?\*\/|<!--[\s\S]*?-->/g) ?? [];
  const lines = text.match(/(?<=^|\s)\/\/ .*$/gm) ?? [];
  return [...blocks, ...lines].map((comment) =>
    comment.replaceAll(/`[^`]*`/g, '…').replaceAll(/^\s*\*\s?/gm, ''),
  );
};

/** Names of tests, those over a table too: claims that a person reads. */
const testNamesOf = (file: string): string[] =>
  [...read(file).matchAll(/(?:\btest(?:\.\w+)*\(|\]\)\(|^\)\()\s*(['"`])((?:(?!\1)[^\\]|\\.)*)\1/gm)].map(
    ([, , name]) => name ?? '',
  );

const isSource = (file: string): boolean => file.endsWith('.ts') && !file.endsWith('.test.ts');

test('the console speaks plain English', () => {
  const files = tracked.filter((file) =>
    /^(?:renderer\/locales\/en|core\/contract\/sentences)\/[^/]+$/.test(file),
  );
  expect(files.length).toBeGreaterThan(10);
  expect(offences(files, textsOf, [...USER_PHRASES, ...LABEL_PHRASES])).toEqual([]);
});

/** Counted things of which there can be one. */
const COUNTED =
  /\{\w+\} (?:more |other )?(?:pods|nodes|hosts|members|objects|keys|documents|rows|changes|certificates|conflicts|fields|backends|connections|warnings|problems|events|requests|controllers|clusters|contexts|values|entries|restarts|operations|snapshots|namespaces|kinds|revisions|servers|components|replicas|files|columns|views|matches|drills|hints|points|ports|releases|rules|failures|faults)\b/i;
/** There are always several of these, or the count is one of a larger number. */
const ALWAYS_SEVERAL =
  / of \{count\}|\{\w+\} of \{|\{max\}|more than \{|\b(?:within|first|last|all) \{|\{(?:selector|revision|keys)\}|members (?:tolerate|healthy)|already has|ports reject|certificates are valid|\bneeds \{count\}/i;

test('a number of things has a form for one', () => {
  const files = tracked.filter((file) =>
    /^(?:renderer\/locales\/en|core\/contract\/sentences)\/[^/]+$/.test(file),
  );
  const found = files.flatMap((file) => {
    const source = ts.createSourceFile(file, read(file), ts.ScriptTarget.Latest, true);
    const texts: string[] = [];
    const visit = (node: ts.Node): void => {
      const isForm = ts.isPropertyAssignment(node) && /^(?:one|other)$/.test(node.name.getText());
      if (!isForm && ts.isPropertyAssignment(node) && ts.isStringLiteralLike(node.initializer)) {
        const { text } = node.initializer;
        if (COUNTED.test(text) && !ALWAYS_SEVERAL.test(text)) texts.push(`${file}: "${text}"`);
      }
      node.forEachChild(visit);
    };
    visit(source);
    return texts;
  });
  expect(found).toEqual([]);
});

const exactly = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');

test('a wording that was replaced does not come back', () => {
  const sentences = REPLACED_SENTENCES.map(([old, instead]) => [new RegExp(exactly(old)), instead] as const);
  const labels = REPLACED_LABELS.map(([old, instead]) => [new RegExp(`^${exactly(old)}$`), instead] as const);
  const locales = tracked.filter((file) =>
    /^(?:renderer\/locales\/en|core\/contract\/sentences)\/[^/]+$/.test(file),
  );
  const others = tracked.filter(
    (file) => isSource(file) && /^(?:main|core\/cluster|core\/contract\/schemas)\//.test(file),
  );
  expect([
    ...offences(locales, textsOf, [...sentences, ...labels]),
    ...offences(others, literalsOf, sentences),
    ...offences(
      tracked.filter((file) => file.endsWith('.md')),
      (file) => [read(file)],
      sentences,
    ),
  ]).toEqual([]);
});

test('the console speaks natural German', () => {
  const files = tracked.filter((file) => /^(?:renderer\/locales|core\/contract\/sentences)\/de\//.test(file));
  expect(files.length).toBeGreaterThan(10);
  expect(offences(files, textsOf, GERMAN)).toEqual([]);
});

test('commands, operations and errors of clusters are plain English', () => {
  const files = tracked.filter(
    (file) => isSource(file) && /^(main|core\/(cluster|component|pki))\//.test(file),
  );
  expect(files.length).toBeGreaterThan(200);
  expect(offences(files, literalsOf, USER_PHRASES)).toEqual([]);
});

test('documents are plain English', () => {
  const files = tracked.filter((file) => file.endsWith('.md'));
  expect(files).toEqual(expect.arrayContaining(['README.md', 'CHANGELOG.md', 'docs/lost-quorum.md']));
  expect(offences(files, (file) => [read(file)], USER_PHRASES)).toEqual([]);
});

test('comments are plain English', () => {
  const files = tracked.filter((file) => /\.(?:ts|vue|mjs|css)$/.test(file) && file !== 'test/words.test.ts');
  expect(files.length).toBeGreaterThan(1000);
  expect(offences(files, commentsOf, PHRASES)).toEqual([]);
});

test('names of tests are plain English', () => {
  const files = tracked.filter((file) => file.endsWith('.test.ts'));
  expect(files.length).toBeGreaterThan(300);
  expect(offences(files, testNamesOf, CLAIM_PHRASES)).toEqual([]);
});

test('help of flags is plain English', () => {
  const files = tracked.filter(
    (file) =>
      isSource(file) && /^core\/(?:etcd|apiserver|scheduler|controllers|cloud|kubelet|proxy)\//.test(file),
  );
  expect(files.length).toBeGreaterThan(300);
  const helpOf = (file: string): string[] => (/flags|config/.test(file) ? literalsOf(file) : []);
  expect(offences(files, helpOf, PHRASES)).toEqual([]);
});
