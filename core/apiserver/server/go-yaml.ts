import { Document, isScalar, Scalar, visit } from 'yaml';

/** What YAML 1.1 reads as a bool, null, a float, an integer, a time or a merge key, as go-yaml lists it. */
const WORDS =
  /^(?:|~|<<|y|Y|yes|Yes|YES|n|N|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF|null|Null|NULL|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/;
const NUMBER =
  /^[-+]?(?:0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO]?[0-7]+|(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?)$/;
const BASE_60 = /^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$/;
const TIME = /^[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt ][0-9:.]+ ?(?:Z|[-+][0-9:]+)?)?$/;

/** Go's emitter escapes tabs, too. */
const UNPRINTABLE = /[^ -\u{10ffff}]|\u007f/u;

const needsDoubleQuotes = (text: string): boolean =>
  UNPRINTABLE.test(text) ||
  WORDS.test(text) ||
  NUMBER.test(text.replaceAll('_', '')) ||
  BASE_60.test(text) ||
  TIME.test(text);

/**
 * YAML as sigs.k8s.io/yaml writes it: sorted keys, lists as far out as their key, texts with line breaks as blocks, texts
 * that would be read as something else in double quotes, others that need quotes in single ones. Lines are not folded.
 */
export const goYaml = (value: unknown): string => {
  const document = new Document(value, { sortMapEntries: true, aliasDuplicateObjects: false });
  visit(document, {
    Scalar(_key, node) {
      if (!isScalar(node) || typeof node.value !== 'string') return;
      if (node.value.includes('\n')) node.type = Scalar.BLOCK_LITERAL;
      else if (needsDoubleQuotes(node.value)) node.type = Scalar.QUOTE_DOUBLE;
    },
  });
  return document.toString({ lineWidth: 0, indentSeq: false, singleQuote: true });
};
