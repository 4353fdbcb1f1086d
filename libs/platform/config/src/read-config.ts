import { DomainError } from '@dak/kernel';
import { VARIABLES, type VariableName, type VariableValue } from './catalog';

export type Config<Names extends VariableName> = { readonly [N in Names]: VariableValue<N> };

/** Set by test runs and their tools only. */
const TEST_PREFIX = 'DAK_TEST_';

/**
 * Reads the named variables once, at the start of an app.
 * @throws DomainError `invalid` whose sentence lists every variable that is unknown or wrong
 */
export function readConfig<Names extends VariableName>(
  names: readonly Names[],
  environment: NodeJS.ProcessEnv,
): Config<Names> {
  const problems: string[] = [];
  for (const name of Object.keys(environment)) {
    if (!name.startsWith('DAK_') || name.startsWith(TEST_PREFIX) || name in VARIABLES) continue;
    const near = nearest(name);
    problems.push(`${name} is not a setting of Dak${near ? ` (did you mean ${near}?)` : ''}`);
  }
  const config: Record<string, unknown> = {};
  for (const name of names) {
    const raw = environment[name];
    const parsed = VARIABLES[name].schema.safeParse(raw === '' ? undefined : raw);
    if (parsed.success) config[name] = parsed.data;
    else problems.push(`${name} ${parsed.error.issues[0]?.message ?? 'is not valid'}`);
  }
  if (problems.length > 0) {
    throw new DomainError('invalid', 'bad_configuration', `${problems.join('; ')}.`);
  }
  return config as Config<Names>;
}

/** A configuration in which the named variables are present. */
export type CompleteConfig<Names extends VariableName, Needed extends Names> = Omit<
  Config<Names>,
  Needed
> & { readonly [N in Needed]: NonNullable<VariableValue<N>> };

/**
 * As {@link readConfig}, for a process that cannot do without some of them.
 * @param needed why each of them is needed; part of the sentence when it is missing
 */
export function readCompleteConfig<Names extends VariableName, Needed extends Names>(
  names: readonly Names[],
  needed: Readonly<Record<Needed, string>>,
  environment: NodeJS.ProcessEnv,
): CompleteConfig<Names, Needed> {
  const config = readConfig(names, environment);
  const missing = (Object.keys(needed) as Needed[]).filter((name) => config[name] === undefined);
  if (missing.length > 0) {
    const sentences = missing.map((name) => `${name} is missing (${needed[name]})`);
    throw new DomainError('invalid', 'bad_configuration', `${sentences.join('; ')}.`);
  }
  return config as CompleteConfig<Names, Needed>;
}

function nearest(name: string): string | null {
  const close = Object.keys(VARIABLES)
    .map((candidate) => ({ candidate, distance: editDistance(name, candidate) }))
    .sort((a, b) => a.distance - b.distance)[0];
  return close !== undefined && close.distance <= 3 ? close.candidate : null;
}

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const change = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(change, row[j]! + 1, next[j - 1]! + 1));
    }
    row = next;
  }
  return row[b.length]!;
}
