/** Factors of cel-go's and Kubernetes' cost models. A unit is about 50 ns upstream. */
export const COST = {
  listCreate: 10,
  mapCreate: 30,
  structCreate: 40,
  /** Per character, to look at all of a string once. */
  stringTraversal: 0.1,
  /** Per character of a pattern: upstream guesses four characters for one state. */
  regexLength: 0.25,
  /** Two authorization checks per expression and not more. */
  authorizationCheck: 350_000,
  /** Requirements per character of a selector, and what one costs. */
  selectorRequirements: 0.5,
  selectorRequirement: 50,
  /** Longest pattern of a named format, for estimates. */
  formatPatternLength: 128,
  /** Longest name of a format. */
  formatNameLength: 64,
} as const;
