/** What one evaluation may cost before it is cancelled (upstream: `celconfig.PerCallLimit`). */
export const PER_CALL_COST_LIMIT = 1_000_000;
/** What all expressions of one policy binding or one custom resource may cost together. */
export const RUNTIME_COST_BUDGET = 10_000_000;
/** What all match conditions of one webhook or policy may cost together. */
export const RUNTIME_COST_BUDGET_MATCH_CONDITIONS = 2_500_000;
/** The estimated cost that one rule of a CustomResourceDefinition may have. */
export const STATIC_ESTIMATED_COST_LIMIT = 10_000_000n;
/** The estimated cost that all rules of a CustomResourceDefinition may have together. */
export const STATIC_ESTIMATED_CRD_COST_LIMIT = 100_000_000n;
/** The longest string a messageExpression may produce. */
export const MESSAGE_EXPRESSION_BYTES_MAX = 5 * 1024;

/** The largest request an API server accepts: what bounds the size of data that has no bound in its schema. */
export const REQUEST_BYTES_MAX = 3 * 1024 * 1024;

/** cel-go's limits of the parser. */
export const EXPRESSION_CODE_POINTS_MAX = 100_000;
export const RECURSION_DEPTH_MAX = 250;
export const ISSUES_MAX = 100;
/** A longer source line is not repeated below the error. */
export const SNIPPET_BYTES_MAX = 16_384;

/** Compiled regular expressions kept for patterns that are known at run time only. */
export const REGEX_CACHE_ENTRIES_MAX = 256;

/**
 * Characters or elements one call may produce. Upstream has no such bound; a few calls of `replace` would multiply
 * a string until the process has no memory left, long before their cost is noticed.
 */
export const RESULT_SIZE_MAX = 16 * 1024 * 1024;
/** Digits after the point that `format` writes. */
export const FORMAT_PRECISION_MAX = 1000;
/** Elements that one evaluation may compare or copy beyond what its cost counts; an honest one stays below. */
export const WORK_STEPS_MAX = 10_000_000;
/** Nodes that macros may copy: each `optMap` in a chain doubles what is before it. */
export const COPIED_NODES_MAX = 100_000;
/** Parts of one type, and types visited to check one expression: `[{v: v}].map(v, ...)` doubles a type at each level. */
export const TYPE_SIZE_MAX = 10_000;
export const TYPE_STEPS_MAX = 2_000_000;
