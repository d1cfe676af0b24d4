import { child, index, type FieldPath } from '../../../api/field/field-path.ts';
import {
  duplicate,
  invalid,
  required,
  type FieldError,
  type FieldErrorList,
} from '../../../api/field/field-error.ts';
import type { Environment, Program } from '../../../cel/index.ts';
import type { JwtAuthenticator } from './jwt-authenticator.ts';
import { emailClaimsOf } from './email-claims.ts';
import { extraKeyErrors, issuerErrors } from './issuer-rules.ts';

/** A compiled expression; what it gives is JSON data. */
export interface Expression {
  readonly program: Program;
  evaluate(
    variables: Readonly<Record<string, unknown>>,
  ): { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly error: string };
}

/** A condition and the text that explains its failure. */
export interface CompiledRule {
  readonly expression: Expression;
  readonly message: string;
}

/** The expressions of one authenticator, ready to run. */
export interface CompiledExpressions {
  readonly username?: Expression;
  readonly groups?: Expression;
  readonly uid?: Expression;
  readonly extra: readonly { readonly key: string; readonly expression: Expression }[];
  readonly claimRules: readonly CompiledRule[];
  readonly userRules: readonly CompiledRule[];
}

export interface CompiledAuthenticator {
  readonly authenticator: JwtAuthenticator;
  readonly expressions: CompiledExpressions;
}

const hasExpression = ({
  claimMappings,
  claimValidationRules,
  userValidationRules,
}: JwtAuthenticator): boolean =>
  [claimMappings.username, claimMappings.groups, claimMappings.uid].some(
    ({ expression }) => expression !== '',
  ) ||
  claimMappings.extra.length > 0 ||
  userValidationRules.length > 0 ||
  claimValidationRules.some(({ expression }) => expression !== '');

interface Compilers {
  claims(path: FieldPath, text: string, isCondition?: boolean): Expression | undefined;
  user(path: FieldPath, text: string): Expression | undefined;
}

/** CEL is loaded only for a configuration that uses it. */
const createCompilers = async (errors: FieldError[]): Promise<Compilers> => {
  const { createEnvironment, fromEscaped, toNative, types } = await import('../../../cel/index.ts');
  const userType = types.structOf('kubernetes.UserInfo');
  const userFields: Readonly<Record<string, ReturnType<typeof types.structOf>>> = {
    username: types.STRING,
    uid: types.STRING,
    groups: types.listOf(types.STRING),
    extra: types.mapOf(types.STRING, types.listOf(types.STRING)),
  };
  const claims = createEnvironment({
    version: 'stored',
    variables: { claims: types.mapOf(types.STRING, types.DYN) },
  });
  const user = createEnvironment({
    version: 'stored',
    variables: { user: userType },
    structs: (name) =>
      name === userType.name ? { type: userType, field: (field) => userFields[field] } : undefined,
  });
  const withEscapedExtra = (known: unknown): object => {
    const { extra, ...rest } = known as { readonly extra?: unknown };
    return { ...rest, extra: fromEscaped(extra ?? {}) };
  };
  const compile = (
    environment: Environment,
    path: FieldPath,
    text: string,
    isCondition: boolean,
  ): Expression | undefined => {
    const compiled = environment.compile(text, isCondition ? { expectedType: types.BOOL } : {});
    if (compiled.ok) {
      const { program } = compiled;
      return {
        program,
        evaluate(variables) {
          const { claims: given, user: known } = variables;
          const result = program.evaluate({
            ...(given !== undefined && { claims: fromEscaped(given) }),
            ...(known !== undefined && { user: withEscapedExtra(known) }),
          });
          return result.ok ? { ok: true, value: toNative(result.value) } : { ok: false, error: result.error };
        },
      };
    }
    const detail = compiled.reason === 'invalid' ? `compilation failed: ${compiled.text}` : compiled.text;
    errors.push(invalid(path, text, detail));
    return undefined;
  };
  return {
    claims: (path, text, isCondition = false) => compile(claims, path, text, isCondition),
    user: (path, text) => compile(user, path, text, true),
  };
};

/** For a configuration without expressions: its compilers are never called. */
const NO_COMPILERS: Compilers = { claims: () => undefined, user: () => undefined };

const compileClaimRules = (
  { claimValidationRules }: JwtAuthenticator,
  path: FieldPath,
  compilers: Compilers,
  errors: FieldError[],
): CompiledRule[] => {
  const compiled: CompiledRule[] = [];
  const claims = new Set<string>();
  const expressions = new Set<string>();
  for (const [at, { claim, requiredValue, expression, message }] of claimValidationRules.entries()) {
    const where = index(path, at);
    if (claim !== '' && expression !== '') {
      errors.push(invalid(where, claim, "claim and expression can't both be set"));
    } else if (claim === '' && expression === '') {
      errors.push(required(where, 'claim or expression is required'));
    } else if (claim !== '') {
      if (message !== '')
        errors.push(invalid(child(where, 'message'), message, 'may not be specified when claim is set'));
      if (claims.has(claim)) errors.push(duplicate(child(where, 'claim'), claim));
      claims.add(claim);
    } else {
      if (requiredValue !== '')
        errors.push(
          invalid(
            child(where, 'requiredValue'),
            requiredValue,
            'may not be specified when expression is set',
          ),
        );
      if (expressions.has(expression)) {
        errors.push(duplicate(child(where, 'expression'), expression));
        continue;
      }
      expressions.add(expression);
      const condition = compilers.claims(child(where, 'expression'), expression, true);
      if (condition) compiled.push({ expression: condition, message });
    }
  }
  return compiled;
};

const compilePrefixed = (
  { claim, prefix, expression }: JwtAuthenticator['claimMappings']['username'],
  path: FieldPath,
  compilers: Compilers,
  { errors, isRequired }: { readonly errors: FieldError[]; readonly isRequired: boolean },
): Expression | undefined => {
  if (claim !== '' && expression !== '') {
    errors.push(invalid(path, '', "claim and expression can't both be set"));
  } else if (claim === '' && expression === '') {
    if (isRequired) errors.push(required(path, 'claim or expression is required'));
  } else if (expression !== '') {
    if (prefix !== undefined)
      errors.push(invalid(child(path, 'prefix'), prefix, 'may not be specified when expression is set'));
    return compilers.claims(child(path, 'expression'), expression);
  } else if (prefix === undefined) {
    errors.push(
      required(
        child(path, 'prefix'),
        'prefix is required when claim is set. It can be set to an empty string to disable prefixing',
      ),
    );
  }
  return undefined;
};

const compileExtra = (
  { claimMappings }: JwtAuthenticator,
  path: FieldPath,
  compilers: Compilers,
  errors: FieldError[],
): { key: string; expression: Expression }[] => {
  const compiled: { key: string; expression: Expression }[] = [];
  const seen = new Set<string>();
  for (const [at, { key, valueExpression }] of claimMappings.extra.entries()) {
    const where = index(path, at);
    errors.push(...extraKeyErrors(child(where, 'key'), key));
    if (seen.has(key)) {
      errors.push(duplicate(child(where, 'key'), key));
      continue;
    }
    seen.add(key);
    if (valueExpression === '') {
      errors.push(required(child(where, 'valueExpression')));
      continue;
    }
    const value = compilers.claims(child(where, 'valueExpression'), valueExpression);
    if (value) compiled.push({ key, expression: value });
  }
  return compiled;
};

const compileUserRules = (
  { userValidationRules }: JwtAuthenticator,
  path: FieldPath,
  compilers: Compilers,
  errors: FieldError[],
): CompiledRule[] => {
  const compiled: CompiledRule[] = [];
  const seen = new Set<string>();
  for (const [at, { expression, message }] of userValidationRules.entries()) {
    const where = child(index(path, at), 'expression');
    if (expression === '') errors.push(required(where));
    else if (seen.has(expression)) errors.push(duplicate(where, expression));
    else {
      seen.add(expression);
      const condition = compilers.user(where, expression);
      if (condition) compiled.push({ expression: condition, message });
    }
  }
  return compiled;
};

const EMAIL_RULE =
  'claims.email_verified must be used in claimMappings.username.expression or claimMappings.extra[*].valueExpression or claimValidationRules[*].expression when claims.email is used in claimMappings.username.expression';

export interface CompileOptions {
  readonly path: FieldPath;
  /** Issuers that this server signs for itself. */
  readonly disallowedIssuers: readonly string[];
}

/** Checks an authenticator by upstream's rules and compiles its expressions. */
export const compileJwtAuthenticator = async (
  authenticator: JwtAuthenticator,
  { path, disallowedIssuers }: CompileOptions,
): Promise<{ readonly compiled: CompiledAuthenticator; readonly errors: FieldErrorList }> => {
  const errors: FieldError[] = [];
  errors.push(...issuerErrors(authenticator.issuer, child(path, 'issuer'), disallowedIssuers));
  const compilers = hasExpression(authenticator) ? await createCompilers(errors) : NO_COMPILERS;
  const claimRules = compileClaimRules(authenticator, child(path, 'claimValidationRules'), compilers, errors);
  const mappings = child(path, 'claimMappings');
  const { username: usernameMapping, groups: groupsMapping, uid: uidMapping } = authenticator.claimMappings;
  const username = compilePrefixed(usernameMapping, child(mappings, 'username'), compilers, {
    errors,
    isRequired: true,
  });
  const groups = compilePrefixed(groupsMapping, child(mappings, 'groups'), compilers, {
    errors,
    isRequired: false,
  });
  if (uidMapping.claim !== '' && uidMapping.expression !== '')
    errors.push(invalid(child(mappings, 'uid'), '', "claim and expression can't both be set"));
  const uid =
    uidMapping.claim === '' && uidMapping.expression !== ''
      ? compilers.claims(child(mappings, 'uid', 'expression'), uidMapping.expression)
      : undefined;
  const extra = compileExtra(authenticator, child(mappings, 'extra'), compilers, errors);
  const read = emailClaimsOf(username?.program);
  const verifying = [...claimRules, ...extra].some(
    ({ expression }) => emailClaimsOf(expression.program).verified,
  );
  if (read.email && !read.verified && !verifying)
    errors.push(invalid(child(mappings, 'username', 'expression'), usernameMapping.expression, EMAIL_RULE));
  const userRules = compileUserRules(authenticator, child(path, 'userValidationRules'), compilers, errors);
  return {
    compiled: {
      authenticator,
      expressions: {
        ...(username && { username }),
        ...(groups && { groups }),
        ...(uid && { uid }),
        extra,
        claimRules,
        userRules,
      },
    },
    errors,
  };
};
